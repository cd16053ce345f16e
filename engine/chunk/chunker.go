package chunk

import (
	"context"
	"errors"
	"strings"
	"sync"

	"coderag-ls/engine/chunk/treesitter"
	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
)

// Input is one file to chunk.
type Input struct {
	// Path is slash-separated, relative to the root.
	Path  string
	Class file.Class
	Text  *text.Document
}

// Chunker cuts files into chunks. It is safe for concurrent use: each call
// takes a worker with a parser of its own from a pool. Close frees them.
type Chunker struct {
	opts       Options
	grammars   *treesitter.Grammars
	syntaxes   map[string]*syntax
	layers     layers
	frameworks []framework

	mu     sync.Mutex
	idle   []*worker // guarded by mu
	closed bool      // guarded by mu
}

// New returns a chunker.
func New(opts Options) *Chunker {
	opts = opts.withDefaults()
	return &Chunker{opts: opts, grammars: treesitter.NewGrammars(), syntaxes: syntaxes(), layers: compileLayers(opts.Layers), frameworks: frameworks()}
}

// Close frees the parsers that are not in use; those in use are freed when
// their file is done. Chunk may still be called, but keeps no parser then.
func (c *Chunker) Close() {
	c.mu.Lock()
	idle := c.idle
	c.idle, c.closed = nil, true
	c.mu.Unlock()
	for _, w := range idle {
		w.parser.Close()
	}
}

func (c *Chunker) get() *worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.idle); n > 0 {
		w := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return w
	}
	return &worker{c: c, parser: c.grammars.NewParser()}
}

func (c *Chunker) put(w *worker) {
	w.release()
	c.mu.Lock()
	if !c.closed {
		c.idle = append(c.idle, w)
		w = nil
	}
	c.mu.Unlock()
	if w != nil {
		w.parser.Close()
	}
}

// Chunk cuts one file. It never fails: where the file cannot be parsed, or ctx
// ends, it is cut by lines.
func (c *Chunker) Chunk(ctx context.Context, in Input) File {
	w := c.get()
	defer c.put(w)
	return w.chunk(ctx, in)
}

// The reasons for File.Fallback.
const (
	fallbackNoGrammar = "no grammar"
	fallbackErrors    = "parse errors"
	fallbackTooLarge  = "too large"
	fallbackGenerated = "generated"
	fallbackDeadline  = "deadline"
)

// maxErrorShare is the share of a file's bytes that the parser may make nothing
// of before its tree is not trusted.
const maxErrorShare = 0.3

// worker holds what chunking one file needs, reused from file to file.
type worker struct {
	c      *Chunker
	parser *treesitter.Parser

	in      Input
	src     source
	syntax  *syntax
	defs    []def
	imports []imported
	pieces  []piece
	breaks  []lineBreak
	outline *treesitter.Outline // nil where there is none
	broken  bool                // breaks are those of this file
	chunks  []Chunk
	tight   tightener // scratch of embedHash
}

// release drops what would keep the last file's text in memory.
func (w *worker) release() {
	clear(w.pieces)
	w.in, w.src.text, w.src.text, w.outline = Input{}, "", "", nil
	clear(w.defs)
	clear(w.imports)
	w.defs, w.imports, w.chunks = w.defs[:0], w.imports[:0], nil
	if usual := 1 << 16; cap(w.src.starts) > usual || cap(w.defs) > usual {
		w.src, w.defs, w.breaks, w.pieces, w.tight = source{}, nil, nil, nil, tightener{}
	}
	w.parser.Trim()
}

func (w *worker) chunk(ctx context.Context, in Input) File {
	w.in = in
	w.src.reset(in.Text.Content())
	w.syntax = w.c.syntaxes[in.Class.Language]
	w.broken, w.outline, w.chunks = false, nil, nil
	w.defs, w.imports, w.pieces = w.defs[:0], w.imports[:0], w.pieces[:0]
	var f File
	if w.src.count() == 0 {
		return f
	}
	f.Fallback = w.cut(ctx)
	f.Chunks = w.finish()
	f.Symbols = w.symbols()
	f.Imports = w.importList()
	return f
}

// cut makes the pieces of the file by the way that fits its kind, and returns why
// source code was cut without a syntax tree, or "".
func (w *worker) cut(ctx context.Context) (fallback string) {
	class := w.in.Class
	small := len(w.src.text) <= w.c.opts.MaxParseBytes
	switch {
	case class.SourceType == file.Markdown && small && !w.deepQuotes() && w.try(w.markdown):
	case class.Language == "restructuredtext" && small:
		w.rst()
	case class.Language == "csv" || class.Language == "tsv":
		w.csv()
	case class.Language == "jupyter notebook" && w.notebook():
	case dataLanguage(class.Language):
		w.data()
	case class.SourceType == file.Text && !w.c.grammars.Has(class.Language) && !scripted(class.Language) || class.SourceType == file.Markdown:
		w.prose()
	default:
		return w.code(ctx)
	}
	return ""
}

// try runs a way of cutting that relies on a parser of others; a panic in it
// undoes what it did, so that another way can be taken.
func (w *worker) try(cut func()) (ok bool) {
	defer func() {
		if recover() != nil {
			w.pieces, ok = w.pieces[:0], false
		}
	}()
	cut()
	return true
}

// code cuts source code and returns why it was done without a syntax tree, or "".
func (w *worker) code(ctx context.Context) (fallback string) {
	fallback = w.parse(ctx)
	if fallback != "" {
		w.recognise()
	}
	w.enclose()
	w.pack()
	return fallback
}

// parse finds the definitions with the syntax tree.
func (w *worker) parse(ctx context.Context) (fallback string) {
	class, src := w.in.Class, w.src.text
	switch {
	case !w.c.grammars.Has(class.Language) && !scripted(class.Language):
		return fallbackNoGrammar
	case class.Generated:
		return fallbackGenerated
	case len(src) > w.c.opts.MaxParseBytes:
		return fallbackTooLarge
	}
	grammar := class.Language
	if scripted(grammar) {
		src, grammar = scripts(src)
	}
	if grammar == "c" && strings.HasSuffix(w.in.Path, ".h") && looksLikeCPP(src) {
		grammar = "c++"
	}
	o, err := w.parser.Outline(ctx, grammar, src, w.c.opts.ParseDeadline, w.c.opts.MaxChars*4/5)
	switch {
	case errors.Is(err, treesitter.ErrNoGrammar):
		return fallbackNoGrammar
	case err != nil:
		return fallbackDeadline
	case float64(o.ErrorBytes) > maxErrorShare*float64(len(src)):
		return fallbackErrors
	}
	w.outline = o
	w.fromOutline(o)
	return ""
}

// looksLikeCPP reports whether a header taken for C holds a line that only C++
// has: the extension tells them not apart.
func looksLikeCPP(src string) bool {
	for _, word := range [...]string{"class ", "namespace ", "template", "public:", "private:", "using ", "virtual "} {
		for rest := src; ; {
			i := strings.Index(rest, word)
			if i < 0 {
				break
			}
			j := i
			for j > 0 && (rest[j-1] == ' ' || rest[j-1] == '\t') {
				j--
			}
			if j == 0 || rest[j-1] == '\n' {
				return true
			}
			rest = rest[i+len(word):]
		}
	}
	return false
}

// symbols are the file's definitions that have a name of their own.
func (w *worker) symbols() []Symbol {
	n := 0
	for i := range w.defs {
		if w.defs[i].isSymbol() {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	out := make([]Symbol, 0, n)
	for i := range w.defs {
		if w.defs[i].isSymbol() {
			out = append(out, w.defs[i].Symbol)
		}
	}
	return out
}

func (w *worker) importList() []Import {
	if len(w.imports) == 0 {
		return nil
	}
	out := make([]Import, len(w.imports))
	for i, m := range w.imports {
		out[i] = m.Import
	}
	return out
}

// qualified joins a parent's name and a name.
func qualified(parent, name, sep string) string {
	if parent == "" || name == "" {
		return parent + name
	}
	return strings.Join([]string{parent, name}, sep)
}
