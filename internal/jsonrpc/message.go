package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"
)

// message is one JSON-RPC message as received. go.lsp.dev/jsonrpc2's own types
// hold ids in 32 bits and take a null id for none, so the envelope is decoded
// here; its codes and error type are used as they are.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *ResponseError  `json:"error"`

	hasID bool
}

// ResponseError is the error that a response came with. Codes outside 32 bits,
// which the library's type refuses, must not lose the message.
type ResponseError struct {
	Code    float64 `json:"code"`
	Message string  `json:"message"`
}

func (e *ResponseError) Error() string { return e.Message }

// nullID is the id of an answer to a message whose id is not known.
var nullID = json.RawMessage("null")

// decodeMessage decodes one message. The error is a *jsonrpc2.Error to answer
// with; the message then carries the id to answer to, if it has a usable one.
func decodeMessage(data []byte) (*message, error) {
	var m message
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) > 0 && trimmed[0] != '{' && json.Valid(data) {
		return &message{ID: nullID, hasID: true}, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "a message must be a JSON object, not %.20q", trimmed)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		code := jsonrpc2.ParseError
		if json.Valid(data) {
			code = jsonrpc2.InvalidRequest // good JSON, bad envelope
		}
		m = message{ID: idOf(data), hasID: true}
		return &m, jsonrpc2.Errorf(code, "decoding a message: %v", err)
	}
	m.hasID = m.ID != nil // a null id decodes to "null"
	if m.hasID && m.Method != "" {
		if _, err := IDKey(m.ID); err != nil {
			m.ID = nullID
			return &m, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "request %s: %v", m.Method, err)
		}
	}
	if m.Method == "" && (!m.hasID || m.Result == nil && m.Error == nil) {
		if _, err := IDKey(m.ID); err != nil {
			m.ID = nullID
		}
		m.hasID = true
		return &m, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "a message must have a method, or an id with a result or an error")
	}
	return &m, nil
}

// idOf finds the id of a message that does not decode as a whole.
func idOf(data []byte) json.RawMessage {
	var only struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(data, &only) == nil {
		if _, err := IDKey(only.ID); err == nil {
			return only.ID
		}
	}
	return nullID
}

// IDKey returns a key by which equal ids compare equal: 7 and "7" differ,
// "a" and "\u0061" do not.
func IDKey(id json.RawMessage) (string, error) {
	if len(id) == 0 {
		return "", errors.New("no id")
	}
	switch c := id[0]; {
	case c == '"':
		var s string
		if err := json.Unmarshal(id, &s); err != nil {
			return "", fmt.Errorf("id %.40s: %w", id, err)
		}
		return "s" + s, nil
	case c == '-' || c >= '0' && c <= '9':
		return "n" + string(id), nil
	default:
		return "", fmt.Errorf("the id must be a number or a string, not %.40s", id)
	}
}

// isBatch reports whether data is a JSON-RPC batch, which LSP does not have.
func isBatch(data []byte) bool {
	trimmed := bytes.TrimLeft(data, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '['
}

// outgoing are the messages that are sent. Exactly one of Result and Error is
// set in a response.
type outgoing struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
}

type okResponse struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"` // null is a result
}

type errorResponse struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *jsonrpc2.Error `json:"error"`
}

// encode is json.Marshal without HTML escaping: code is full of < and &.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
