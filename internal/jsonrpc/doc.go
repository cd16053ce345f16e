// Package jsonrpc speaks JSON-RPC 2.0 in the frames of LSP's base protocol, in
// both directions of one stream: between an editor and the language server, and
// between processes that share an index. It bounds what a message may cost,
// handles messages in order and lets a cancellation overtake them, and answers
// every request exactly once. It is the only importer of go.lsp.dev/jsonrpc2.
package jsonrpc
