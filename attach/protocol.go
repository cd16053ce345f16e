package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
	"coderag-ls/internal/jsonrpc"
)

// Protocol is the version of what is said over the socket. It changes whenever
// a process of the former version would misunderstand the other, and whenever an
// owner of the former version would lack a method: TestProtocol holds the two
// together.
//
// 2: view/excerpt, view/tree, view/citations.
const Protocol = 2

// The methods of the owner. Those of a view are named after *engine.View's.
const (
	methodHello       = "attach/hello"
	methodPing        = "attach/ping"
	methodOpenView    = "attach/openView"
	methodTouch       = "attach/touch"
	methodKeep        = "attach/keep"
	methodDirectories = "attach/directories"
	methodSettings    = "attach/settings"

	methodAsk       = "view/ask"
	methodSearch    = "view/search"
	methodContext   = "view/context"
	methodSimilar   = "view/similar"
	methodExplain   = "view/explain"
	methodText      = "view/text"
	methodSymbols   = "view/symbols"
	methodResolve   = "view/resolve"
	methodTree      = "view/tree"
	methodCitations = "view/citations"
	methodExcerpt   = "view/excerpt"
	methodStatus    = "view/status"
	methodReindex   = "view/reindex"
	methodSync      = "view/sync"
	methodPause     = "view/pause"
)

// The notifications: the first two are the client's, the others the owner's.
const (
	noteApply     = "view/apply"
	noteCloseView = "view/close"

	noteEvent    = "attach/event"
	noteProgress = "attach/progress"
	noteChanged  = "attach/changed"
	noteNotice   = "attach/notice"
)

// version is what both sides of a handshake say first.
type version struct {
	Protocol int    `json:"protocol"`
	Schema   int    `json:"schema"`
	Program  string `json:"program"`
	PID      int    `json:"pid"`
}

func (v version) String() string {
	return fmt.Sprintf("coderag-ls %s (protocol %d, schema %d, pid %d)", v.Program, v.Protocol, v.Schema, v.PID)
}

func (v version) fits(other version) bool {
	return v.Protocol == other.Protocol && v.Schema == other.Schema
}

type helloParams struct {
	version
	Roots    []folder       `json:"roots"`
	Settings clientSettings `json:"settings"`
}

type helloResult struct {
	version
	settingsResult
}

// folder is a workspace folder as the two sides compare it.
type folder struct {
	Name string `json:"name"`
	Dir  string `json:"dir"`
}

// clientSettings are a client's: how its questions are searched and answered,
// and what it would index with, by name, if it were the owner. Settings of the
// machine (paths, keys) stay where they are.
type clientSettings struct {
	Search config.Search     `json:"search"`
	Answer config.Answer     `json:"answer"`
	Index  map[string]string `json:"index"`
}

type settingsResult struct {
	// Differences says which settings of the index are the owner's and not the
	// client's.
	Differences []string `json:"differences"`
}

type touchParams struct {
	Cause  string   `json:"cause"`
	Paths  []string `json:"paths"`
	Rescan bool     `json:"rescan"`
}

type keepParams struct {
	Path string `json:"path"`
	Dir  bool   `json:"dir"`
}

// viewParams are the parameters of a view's methods.
type viewParams[P any] struct {
	View   int64 `json:"view"`
	Params P     `json:"params"`
}

type applyParams struct {
	Cause   string        `json:"cause"`
	Changes []file.Change `json:"changes"`
}

type askParams struct {
	wire.AskParams
	// Stream names the question in events, 0 where none are wanted.
	Stream int64 `json:"stream"`
}

type askResult struct {
	Result wire.AskResult `json:"result"`
	// Events were sent before: the answer may overtake them.
	Events int `json:"events"`
}

type eventParams struct {
	Stream int64        `json:"stream"`
	Event  engine.Event `json:"event"`
}

type explainParams struct {
	Name string        `json:"name"`
	Near wire.Document `json:"near"`
}

type textResult struct {
	Content string `json:"content"`
	OK      bool   `json:"ok"`
}

type statusResult struct {
	wire.Status
	settingsResult
}

// The codes of errors beside JSON-RPC's and LSP's.
const (
	codeClosing  jsonrpc.Code = -32010 // the owner ends: ask the next one
	codeMismatch jsonrpc.Code = -32011 // the versions differ
	codeRoots    jsonrpc.Code = -32012 // the owner serves other folders
)

// encodeError gives an error of the engine the code by which decodeError knows
// it again.
func encodeError(ctx context.Context, err error) error {
	var rpc *jsonrpc.Error
	var query *engine.QueryError
	switch {
	case err == nil, errors.As(err, &rpc), ctx.Err() != nil:
		return err
	case errors.As(err, &query):
		return jsonrpc.NewError(jsonrpc.InvalidParams, query.Reason)
	case errors.Is(err, engine.ErrClosed):
		return jsonrpc.NewError(codeClosing, err.Error())
	}
	return jsonrpc.NewError(jsonrpc.RequestFailed, err.Error())
}

// errLost is how a call ends where the owner is gone before it answered.
var errLost = errors.New("the process that kept the index is gone")

// decodeError is the error of a call as the engine itself would have returned
// it; errLost where there was no answer.
func decodeError(ctx context.Context, err error) error {
	var answered *jsonrpc.ResponseError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.As(err, &answered):
		return fmt.Errorf("%w: %w", errLost, err)
	}
	switch jsonrpc.Code(answered.Code) {
	case jsonrpc.InvalidParams:
		return &engine.QueryError{Reason: answered.Message}
	case codeClosing, jsonrpc.RequestCancelled: // not by us
		return errLost
	}
	return errors.New(answered.Message)
}

// decode decodes parameters.
func decode[P any](raw json.RawMessage) (P, error) {
	var p P
	if len(raw) == 0 {
		return p, nil
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, jsonrpc.Errorf(jsonrpc.InvalidRequest, "bad parameters: %v", err)
	}
	return p, nil
}
