package jsonrpc

import "go.lsp.dev/jsonrpc2"

// Error is the error that a request is answered with.
type Error = jsonrpc2.Error

// Code says what kind of error it is.
type Code = jsonrpc2.Code

// The codes of JSON-RPC 2.0 and LSP 3.17 that are used.
const (
	InvalidRequest       = jsonrpc2.InvalidRequest
	MethodNotFound       = jsonrpc2.MethodNotFound
	InvalidParams        = jsonrpc2.InvalidParams
	ServerNotInitialized = jsonrpc2.ServerNotInitialized
	// RequestCancelled answers a request that was cancelled.
	RequestCancelled Code = -32800
	// RequestFailed answers a request that was understood and could not be
	// fulfilled.
	RequestFailed Code = -32803
)

// NewError makes an error to answer with.
func NewError(code Code, message string) *Error { return jsonrpc2.NewError(code, message) }

// Errorf is NewError with a format.
func Errorf(code Code, format string, args ...any) *Error {
	return jsonrpc2.Errorf(code, format, args...)
}
