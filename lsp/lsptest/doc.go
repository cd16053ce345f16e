// Package lsptest drives a language server as editors do: an Editor speaks
// framed JSON-RPC over a pipe with the capabilities of a real client, Run
// plays sessions written down in txtar files, and Workspace is a small
// deterministic index for tests of the server alone.
//
// Nothing here waits by sleeping: Sync is the barrier for what was sent, Await
// for what the server sends by itself.
package lsptest
