package lsp

import (
	"encoding/json"

	"go.lsp.dev/protocol"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// The methods of this server beyond LSP. Their parameters and results are
// package wire's; positions in parameters count in the negotiated encoding.
const (
	// MethodAsk answers a question: AskParams -> AskResult. With a
	// partialResultToken the answer also streams as $/progress (Partial).
	MethodAsk = "coderag/ask"
	// MethodSearch ranks chunks: SearchParams -> SearchResult.
	MethodSearch = "coderag/search"
	// MethodContext packs budgeted Markdown: AskParams -> ContextResult.
	MethodContext = "coderag/context"
	// MethodSimilar ranks chunks like a range: RangeParams -> SearchResult.
	MethodSimilar = "coderag/similar"
	// MethodExplain explains the symbol at a range's start: RangeParams ->
	// ExplainResult.
	MethodExplain = "coderag/explain"
	// MethodStatus tells the state of the index: no parameters -> Status.
	MethodStatus = "coderag/status"
	// MethodReindex indexes paths again, everything where none are given:
	// ReindexParams -> null. It answers when the work is queued.
	MethodReindex = "coderag/reindex"
	// MethodSync answers when every change sent before it is searchable:
	// SyncParams -> SyncResult.
	MethodSync = "coderag/sync"
	// MethodPause stops background work until MethodResume or the server's end:
	// no parameters -> PauseResult. What is open or changes is searchable all the
	// same.
	MethodPause  = "coderag/pause"
	MethodResume = "coderag/resume"
	// MethodPrompt shows what MethodAsk would send to a language model, and sends
	// nothing: AskParams -> PromptResult.
	MethodPrompt = "coderag/prompt"
	// MethodComplete is asked of the client by the server, where the client's
	// capabilities say experimental.coderag.complete: true and no other model is
	// set: the client's own language model completes CompleteParams ->
	// CompleteResult. While it does, the client sends the text as it comes in
	// $/progress notifications with the partialResultToken of the parameters, the
	// value {kind: "text", text}; it may send none and answer with the whole. The
	// server takes the request back ($/cancelRequest) when the user cancels or its
	// time is over: no more tokens should be spent then.
	MethodComplete = "coderag/complete"
	// MethodSecret is asked of the client by the server, where the client's
	// capabilities say experimental.coderag.secret: true: a key from the client's
	// secret store, SecretParams -> SecretResult.
	MethodSecret = "coderag/secret"
	// MethodStatusChanged is the notification, a few times a second at most,
	// that the state of the index changed: Status without skippedFiles.
	MethodStatusChanged = "coderag/statusChanged"
)

// The commands of workspace/executeCommand. They have names of their own so
// that an editor's "coderag.ask" and the like never collide with them. The
// only argument is the parameters of the method of the same name; ask, search,
// context and explain also take a plain string.
const (
	CommandAsk     = "coderag.server.ask"
	CommandSearch  = "coderag.server.search"
	CommandContext = "coderag.server.context"
	CommandSimilar = "coderag.server.similar"
	CommandExplain = "coderag.server.explain"
	CommandStatus  = "coderag.server.status"
	CommandReindex = "coderag.server.reindex"
	CommandSync    = "coderag.server.sync"
	CommandPause   = "coderag.server.pause"
	CommandResume  = "coderag.server.resume"
	// CommandInsert inserts a cited snippet through workspace/applyEdit:
	// InsertParams -> InsertResult.
	CommandInsert = "coderag.server.insert"
	// CommandMend mends citations of a document through workspace/applyEdit:
	// MendParams -> InsertResult.
	CommandMend = "coderag.server.mend"
)

// ActionKind is the kind of the code actions that insert cited snippets.
const ActionKind protocol.CodeActionKind = "refactor.insert.coderag"

// The results of the coderag/* methods.
type (
	AskResult     = wire.AskResult
	SearchResult  = wire.SearchResult
	ContextResult = wire.ContextResult
	ExplainResult = wire.ExplainResult
	Status        = wire.Status
	SyncResult    = wire.SyncResult
	PauseResult   = wire.PauseResult
	PromptResult  = wire.PromptResult
)

// Token is a progress token of the client's: a number or a string, sent back
// as it came (go.lsp.dev/protocol's type keeps 32 bits of a number).
type Token = json.RawMessage

// WorkDone asks for progress reports on a request.
type WorkDone struct {
	WorkDoneToken Token `json:"workDoneToken,omitempty"`
}

// AskParams are those of coderag/ask and coderag/context.
type AskParams struct {
	wire.AskParams
	WorkDone
	PartialResultToken Token `json:"partialResultToken,omitempty"`
}

// SearchParams are those of coderag/search.
type SearchParams struct {
	wire.SearchParams
	WorkDone
}

// RangeParams are those of coderag/similar and coderag/explain.
type RangeParams struct {
	wire.RangeParams
	WorkDone
}

// ReindexParams are those of coderag/reindex.
type ReindexParams = wire.ReindexParams

// SyncParams are those of coderag/sync.
type SyncParams struct {
	wire.SyncParams
	WorkDone
}

// The kinds of Partial.
const (
	PartialText     = "text"
	PartialCitation = "citation"
	PartialRetract  = "retract"
)

// Partial is a part of an answer as it is made, the value of a $/progress
// notification for the partialResultToken. The response still is the whole
// result, where LSP would have it empty: a client need not collect the parts.
type Partial struct {
	Kind string `json:"kind"`
	// Text is Markdown to append (kind "text").
	Text string `json:"text,omitempty"`
	// Citation is one that was checked (kind "citation").
	Citation *wire.Citation `json:"citation,omitempty"`
	// ID names a citation that no longer holds (kind "retract").
	ID string `json:"id,omitempty"`
}

// InsertParams are those of the insert command.
type InsertParams struct {
	// Document is the target; the snippet goes below the range's end.
	Document wire.Document `json:"document"`
	// Citation names what is inserted, "path:start-end" as in Citation.ID.
	// Where it is empty, Query is searched and its best hit taken; where that
	// is empty too, the last answer's first citation is.
	Citation string `json:"citation,omitempty"`
	Query    string `json:"query,omitempty"`
}

// InsertResult tells what the insert and mend commands did.
type InsertResult struct {
	Applied       bool   `json:"applied"`
	FailureReason string `json:"failureReason,omitempty"`
	Citation      string `json:"citation,omitempty"` // path:start-end of what was inserted
}

// The types below are LSP's where go.lsp.dev/protocol 0.12, which stands at
// LSP 3.16, lacks them or cannot hold all that clients send.

// serverCapabilities adds what LSP 3.17 added.
type serverCapabilities struct {
	protocol.ServerCapabilities
	DiagnosticProvider *diagnosticOptions `json:"diagnosticProvider,omitempty"`
	PositionEncoding   text.Encoding      `json:"positionEncoding"`
}

type diagnosticOptions struct {
	Identifier            string `json:"identifier"`
	InterFileDependencies bool   `json:"interFileDependencies"`
	WorkspaceDiagnostics  bool   `json:"workspaceDiagnostics"`
}

type initializeResult struct {
	Capabilities serverCapabilities   `json:"capabilities"`
	ServerInfo   *protocol.ServerInfo `json:"serverInfo"`
}

// initializeParams is what is used of the client's parameters. The library's
// type refuses the whole message where one of hundreds of fields is not as
// expected; here only what is needed can be wrong.
type initializeParams struct {
	ProcessID             *int              `json:"processId"`
	ClientInfo            *clientInfo       `json:"clientInfo"`
	RootPath              *string           `json:"rootPath"`
	RootURI               *string           `json:"rootUri"`
	Capabilities          capabilities      `json:"capabilities"`
	InitializationOptions json.RawMessage   `json:"initializationOptions"`
	WorkspaceFolders      []workspaceFolder `json:"workspaceFolders"`
	Trace                 string            `json:"trace"`
}

type clientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type workspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

type textDocumentIdentifier struct {
	URI string `json:"uri"`
}

// contentChange has no range where Text is the whole document; the library's
// type cannot tell that from the range 0:0-0:0.
type contentChange struct {
	Range *text.Range `json:"range"`
	Text  string      `json:"text"`
}

type positionParams struct {
	TextDocument textDocumentIdentifier `json:"textDocument"`
	Position     text.Position          `json:"position"`
	WorkDone
}

type documentParams struct {
	TextDocument textDocumentIdentifier `json:"textDocument"`
	WorkDone
}

// progressParams are those of $/progress, in both directions.
type progressParams struct {
	Token Token `json:"token"`
	Value any   `json:"value"`
}

// workDone is the value of work-done progress. The library's types cannot say
// 0 %, and a client that is told none at the start may ignore all later ones.
type workDone struct {
	Kind        string  `json:"kind"` // begin, report, end
	Title       string  `json:"title,omitempty"`
	Cancellable bool    `json:"cancellable,omitempty"`
	Message     string  `json:"message,omitempty"`
	Percentage  *uint32 `json:"percentage,omitempty"`
}
