// Package mcp is the door for agents: a server of the Model Context Protocol
// (https://modelcontextprotocol.io) that offers what the other doors do, through
// the same engine and in the same words (package wire).
//
// The tools are coderag_search, coderag_ask, coderag_context and
// coderag_status. A result has a text for the model, which ends with how
// complete the index was, and the same as structured content: the wire's
// result, whose schema is derived from its type. Files are resources,
// coderag:///PATH#L10-L20 or their file URIs; only what is indexed can be read.
//
// A [Server] is spoken to on a pair of streams ([Server.Serve]) or over HTTP
// ([Server.ServeHTTP]), there only with its token and under its own names. It
// follows the protocol's versions with and without sessions.
//
// The package knows nothing of who keeps the index or how files are watched:
// the program hands it a function that opens workspaces.
package mcp
