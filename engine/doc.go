// Package engine answers questions about a workspace and proves each answer
// with citations that were checked when they were given. The language server,
// the command line and the MCP server are thin doors to it.
//
// This comment is the tour of the whole, bottom up. Each package's own comment
// goes deeper; docs/decisions says why things are as they are.
//
// # Ground
//
// [coderag-ls/engine/text] knows lines, columns and URIs, and is the only code
// that counts them. Line numbers are 1-based and inclusive, as citations write
// them; LSP's positions count from 0 in the encoding that was negotiated.
//
// [coderag-ls/engine/file] knows which files a workspace has: ignore files,
// built-in excludes, secrets, binary and minified files, links and devices.
// Whatever is skipped has a reason that the user can see. It reads text
// (transcoded to UTF-8) and detects languages. A missing file is data; an
// unreadable one is not a deleted one.
//
// [coderag-ls/engine/chunk] cuts a file into chunks, the units that are
// searched and cited: code along its syntax tree (chunk/treesitter is the only
// package that knows tree-sitter), Markdown by section, data by key, prose by
// words. It also learns the file's symbols and imports. It never fails: what
// cannot be parsed is cut by lines, with definitions found by their looks.
//
// [coderag-ls/engine/lexical] is the word index: a tokenizer that takes
// identifiers apart and keeps them whole, and BM25F over weighted fields.
// Documents become immutable segments; a search runs over many at once.
//
// [coderag-ls/engine/vector] scans int8 vectors exactly, with AVX2 or NEON
// where the processor has them.
//
// [coderag-ls/engine/embed] makes vectors: embed/static is a small model of
// code that is part of the binary, fast enough to keep up with parsing;
// embed/onnx runs all-MiniLM-L6-v2 where it is installed; embed/remote asks a server
// where one is set. Each model has a list
// of its own; vectors of two models never meet.
//
// [coderag-ls/engine/store] keeps all this between runs: one record per file,
// vectors by the hash of what was embedded, so that moving or switching
// branches embeds nothing again; store/vectorcache keeps vectors for all indexes of
// a user, so that another worktree embeds nothing, either. store/bunt is the
// implementation, store/mem what stands in where nothing can be written,
// storetest what both must pass.
//
// # The live index
//
// [coderag-ls/engine/index] joins them. Events are hints: a scan compared with
// the store is the truth. Paths that may have changed go through a queue, most
// urgent first, to workers, which read, chunk, tokenise and embed; what they
// made is committed to the store, then published in a new immutable snapshot,
// and only then counts as done. Old text stays searchable until the new text
// is. In a large new workspace words are searchable first, by blocks of lines.
// A slow model's vectors are filled in behind. Editors' unsaved buffers stand
// in front of the snapshot, in a view per client, and are never stored.
//
// [coderag-ls/engine/sharedindex] is an index for many repositories and
// editors in a distributed engine that others run (store/weaviate; sharedindex/mem for
// tests, sharedindextest is what all must pass). Files of the workspace that it holds as
// they stand are not indexed here. What it finds for a question stands beside the snapshot as
// small parts (Index.Outside, Snapshot.Beside), weighed by the statistics of
// all that it holds, and is ranked with the rest.
//
// # Finding and answering
//
// [coderag-ls/engine/query] understands a question without a language model:
// intent, names, paths, hints, terms. [coderag-ls/engine/search] applies
// filters, searches words and vectors at the same time, fuses the lists, and
// ranks files by a linear formula whose parts can be told in words.
// [coderag-ls/engine/search/cached] keeps what was found while the index stays as
// it is.
// [coderag-ls/engine/answer] makes an answer of the best chunks: what the thing
// is, the lines that matter, where it is used. Every citation is read again
// from the text as it stands; lines that moved are found again, lines that are
// gone are not cited. Where a language model is set, [coderag-ls/assist] has it write
// the answer ([coderag-ls/engine/llm]), in the process of whoever asks, from what was
// found; [coderag-ls/engine/ground] holds it to that while it writes.
// [coderag-ls/engine/graph] knows how files hang together:
// imports resolved by the rules of their languages, tests, inheritance, calls;
// an edit costs it a few milliseconds. [coderag-ls/engine/pack] tells what stands
// around an answer and makes a budgeted context for others to read. [coderag-ls/engine/snippet] writes cited snippets into
// documents, recognises them again for ever after, finds their lines where they
// went to ([View.Citations]) and mends what no longer holds.
// [coderag-ls/engine/eval] measures it all; [coderag-ls/engine/requests] keeps the
// figures of the last requests for the status.
//
// [coderag-ls/engine/wire] declares every request and result once, and
// [coderag-ls/engine/config] every setting; documentation and schemas are
// generated from both.
//
// # Many processes, one index
//
// [coderag-ls/attach] is what the doors open: the first process on a workspace
// opens the engine and serves it on a local socket, later ones attach to it, and
// when it ends one of them takes over. Only cmd/coderag-ls knows; to the language
// server it is a workspace like any other. [coderag-ls/internal/jsonrpc] carries
// the messages of both.
//
// [coderag-ls/metrics] offers a server's figures to Prometheus where that is wanted.
//
// # This package
//
// An [Engine] is one open workspace; a [View] is the workspace as one client
// sees it. Whatever a view is asked sees every change applied to it before. The
// doors (lsp, attach, cmd/coderag-ls) and the watcher know only this package, wire,
// config, text, file and snippet; internal/archtest holds them to it.
package engine
