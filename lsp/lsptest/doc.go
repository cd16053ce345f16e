// Package lsptest drives a language server as editors do. An Editor speaks
// framed JSON-RPC over a pipe with the capabilities of a real client and counts
// lines and columns by itself; Host.Run plays sessions that are written down in
// txtar files; Host.Walk plays random ones; Workspace is a small deterministic
// index for tests of the server alone.
//
// # Sessions
//
// A session is the comment of a txtar file, a command a line. The archive's
// files are the workspace as it stands at first, but for those under want/,
// which are expectations. Words are parted by spaces; one in double quotes is a
// Go string. FILE and DIR are workspace paths; TEXT, where it names a place, is
// found in FILE and stands for where it begins; RANGE is L:C-L:C, lines and
// bytes from 1.
//
//	# anything               a comment
//
// Before all else:
//
//	client NAME              whose capabilities are sent (default vscode), in its own encodings
//	setting NAME JSON        a setting
//	folders DIR...           the workspace folders, instead of the whole as one
//	only client|server|incremental|full
//	                         play it in these modes only
//
// In the editor:
//
//	open FILE [TEXT]         open a file as it stands on disk, or with a text
//	close FILE
//	edit FILE RANGE NEW...   replace ranges in one notification; each is of the text that the ones before it left
//	replace FILE OLD NEW     replace the first OLD
//	type FILE TEXT NEW       insert NEW before TEXT, a character at a time
//	settext FILE NEW         replace all, sent as a whole
//	save FILE                write the buffer to disk
//	version FILE N           the next change is version N
//	config NAME JSON         change a setting; null takes it back
//	folder add|remove DIR    change the workspace folders
//	notify METHOD JSON       send a notification as it is; file:///W is the workspace
//
// On disk, behind the editor's back:
//
//	write FILE TEXT          write a file
//	fill FILE TEXT N         write TEXT N times
//	swap FILE TEXT           write a new file and move it into place, as editors save
//	mkdir DIR
//	rm PATH, mv PATH PATH    remove or move a file, a link or a folder with all in it
//	ln TARGET PATH           make a symbolic link
//	git ARGS...              run git in the workspace
//
// Queries. Their answers are the output that expectations are about. Every hit
// and citation in them is read again and held against the editor's text, else
// the disk's:
//
//	sync [scan] [vectors]    wait until what was told is searchable
//	ask QUERY, search QUERY  answer and citations; the hits
//	context QUERY            the citations of the packed context
//	explain FILE TEXT, hover FILE TEXT
//	links FILE, lens FILE    document links, resolved; code lenses
//	diagnostics FILE         what is said of its citations
//	fixall FILE              apply what is offered to fix all of them
//	action FILE TEXT [N]     the code actions there; with N, the N-th from 1 is applied
//	insert FILE TEXT ID      the insert command
//	show FILE                the buffer
//	status                   files, chunks, what is skipped
//	embedded                 how many chunks were embedded since this was last asked
//	messages                 what the user was shown
//	start NAME VERB ARG      send ask, search, context, status or sync and go on
//	cancel NAME
//	finish NAME              wait for its answer
//
// Expectations of the last output:
//
//	expect NAME              it is the file want/NAME
//	contains TEXT...         it holds all of them
//	lacks TEXT...            it holds none of them
//
// The session:
//
//	restart [abrupt]         end the server, in order or by hanging up, and start another; the editor opens its documents again
//	check                    hold the index against one made from nothing
//
// # Verdicts
//
// Nothing waits by sleeping. An expectation is Met, Unmet or Unmeetable. It is
// Unmet as long as something that was done may still make it true: where the
// server watches the disk itself, that is after any change there. The query is
// then asked again whenever the server says something. It is Unmeetable once
// all was told and synced: the session fails at once.
//
// # Modes and the oracle
//
// Each session is played with the client telling of changes on disk and with
// the server watching them, with incremental edits and with full texts, in two
// position encodings. After each, the index is held against one made from
// nothing with the same buffers open: files, chunks, vectors and symbols (View
// Inventory), what is skipped, hits, answers and code lenses. Every request
// must have been answered exactly once, and no goroutine and no file descriptor
// be left.
package lsptest
