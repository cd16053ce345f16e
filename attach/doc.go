// Package attach lets many processes share one index: the first that opens a
// workspace owns it, the others attach to the owner through a local socket and
// see the same index, each with its own unsaved buffers in front of it.
//
// # Who owns
//
// A workspace is a set of folders. Its owner is the process that holds the
// lock of the folders' index directories (store.ErrLocked for everybody else);
// the system gives the lock back however the owner ends, so there is never more
// than one writer and never a stale lock. The owner listens (package socket),
// and writes into a file OWNER in each index directory who it is, where it
// listens and which folders it serves. Nothing is written into the workspace.
//
// Another process finds the lock taken, reads that file, and attaches where the
// folders are the same. Where they are not (two windows whose folders overlap),
// or the owner cannot be spoken to (it was stopped, speaks another protocol, or
// found no place for a socket), the folder gets a second index beside the first
// (file.Root.Copy) and the user is told: no one is refused and no one waits for
// ever.
//
// # When the owner ends
//
// The connections close, in order or because the process was killed. Every
// attached process then does what it did at first: one gets the lock and opens
// the index, the others attach to it. Buffers and settings are told again from
// what each process keeps of its own; requests that were under way are asked
// again. An owner that stays silent for too long counts as ended.
//
// # What goes over the socket
//
// JSON-RPC 2.0 in LSP's frames (internal/jsonrpc), the types of engine/wire. A
// connection begins with a handshake that names the versions of protocol and
// schema, and ends there where they differ. The index's settings are the
// owner's; those of searching and answering are each client's own.
//
// A [Workspace] hides which of the two this process is: it has the methods of
// *engine.Engine, its views those of *engine.View.
package attach
