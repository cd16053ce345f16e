// Package lsp is the language server: it speaks the Language Server Protocol
// over one connection and answers from a Workspace.
//
// One goroutine reads messages and registers cancellations the moment they are
// read. Another handles the messages in order: notifications that change
// something run inline, every request runs in a goroutine of its own, started
// after all notifications before it were handled. So a slow answer never
// delays a keystroke, and no request misses one.
//
// Types of the protocol come from go.lsp.dev/protocol where it has them;
// ext.go declares what it lacks and the coderag/* methods, whose parameters
// and results are package wire's.
package lsp
