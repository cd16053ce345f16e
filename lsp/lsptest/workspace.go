package lsptest

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
)

// Workspace is a small lsp.Workspace for tests of the server alone: a query's
// hits are the lines that hold it, in path and line order, so that a test sees
// in an answer which text was searched. It is not fast and knows no index.
type Workspace struct {
	mu       sync.Mutex // guards all below
	hook     func(ctx context.Context, method string) error
	options  engine.Options
	settings config.Settings
	roots    []file.Root
	buffers  map[string]string // by absolute path
	applied  []string          // "didOpen Opened main.go", ...
	touched  []string
	closed   bool
	paused   bool
}

var _ lsp.Workspace = (*Workspace)(nil)

// SetBefore has f called first in every query, with the method's name; its
// error is the query's. Tests hold queries up and fail them with it.
func (w *Workspace) SetBefore(f func(ctx context.Context, method string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook = f
}

// Open is an lsp.Options.Open that opens w.
func (w *Workspace) Open(_ context.Context, o engine.Options) (lsp.Workspace, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.options, w.settings, w.roots, w.closed = o, o.Settings, o.Roots, false
	w.buffers = map[string]string{}
	return w, nil
}

// Options are what the workspace was opened with.
func (w *Workspace) Options() engine.Options {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.options
}

// Settings are those in force.
func (w *Workspace) Settings() config.Settings {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settings
}

// Roots are the folders.
func (w *Workspace) Roots() []file.Root {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.roots
}

// Applied lists the buffer changes: cause, kind and base name.
func (w *Workspace) Applied() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.applied)
}

// Touched lists the paths that may have changed on disk.
func (w *Workspace) Touched() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.touched)
}

// Closed reports whether the workspace was closed.
func (w *Workspace) Closed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

func (w *Workspace) NewView() lsp.View { return view{w} }

func (w *Workspace) SetSettings(_ context.Context, s config.Settings) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settings = s
	return nil
}

func (w *Workspace) SetRoots(_ context.Context, roots []file.Root) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.roots = roots
	return nil
}

func (w *Workspace) Touch(_ context.Context, _ string, paths []string, _ bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touched = append(w.touched, paths...)
	return nil
}

func (w *Workspace) SetWatch(int, int, string) {}

func (w *Workspace) Keep(string, bool) bool { return true }

func (w *Workspace) Holds(string) (holds, known bool) { return false, false }

func (w *Workspace) Known([]string) []string { return nil }

func (w *Workspace) AwaitOwner(context.Context) error { return nil }

func (w *Workspace) Directories(context.Context) ([]string, error) { return nil, nil }

func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	return nil
}

func (w *Workspace) before(ctx context.Context, method string) error {
	w.mu.Lock()
	hook := w.hook
	w.mu.Unlock()
	if hook != nil {
		if err := hook(ctx, method); err != nil {
			return err
		}
	}
	return ctx.Err()
}

type view struct{ w *Workspace }

func (v view) Close() {}

func (v view) Apply(ctx context.Context, cause string, changes []file.Change) error {
	if err := v.w.before(ctx, "apply"); err != nil {
		return err
	}
	v.w.mu.Lock()
	defer v.w.mu.Unlock()
	for _, c := range changes {
		kind := [...]string{file.Touched: "touched", file.Opened: "opened", file.Edited: "edited", file.Closed: "closed"}[c.Kind]
		v.w.applied = append(v.w.applied, fmt.Sprintf("%s: %s %s", cause, kind, filepath.Base(c.Path)))
		if c.Kind == file.Closed {
			delete(v.w.buffers, c.Path)
		} else {
			v.w.buffers[c.Path] = c.Text
		}
	}
	return nil
}

// files returns the workspace's files: absolute paths by citation path.
func (v view) files() map[string]string {
	roots := v.w.Roots()
	all := map[string]string{}
	for _, root := range roots {
		prefix := ""
		if len(roots) > 1 {
			prefix = root.Name + "/"
		}
		_ = filepath.WalkDir(root.Dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				rel, _ := filepath.Rel(root.Dir, path)
				all[prefix+filepath.ToSlash(rel)] = path
			}
			return nil
		})
	}
	return all
}

func (v view) coverage() wire.Coverage {
	n := len(v.files())
	return wire.Coverage{Indexed: n, Total: n, Skipped: map[string]int{}, VectorsReady: 1}
}

func (v view) Sync(ctx context.Context, _ wire.SyncParams) (wire.SyncResult, error) {
	return wire.SyncResult{Coverage: v.coverage()}, v.w.before(ctx, "sync")
}

// hits are the lines that hold a text.
func (v view) hits(ctx context.Context, query string) []wire.Hit {
	files := v.files()
	hits := []wire.Hit{}
	for _, path := range sortedKeys(files) {
		content, _ := v.Text(ctx, files[path])
		d := text.New(content)
		for n := 1; n <= d.LineCount(); n++ {
			if line := d.Line(n); strings.Contains(line, query) {
				symbol := ""
				if fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '(' }); len(fields) > 1 && fields[0] == "func" {
					symbol = fields[1]
				}
				hits = append(hits, wire.Hit{
					URI: text.URIFromPath(files[path]), Path: path, StartLine: n, EndLine: n, Kind: "lines", Symbol: symbol,
					Language: strings.TrimPrefix(filepath.Ext(path), "."), Why: []string{"holds the text"}, Text: line, Score: 1,
				})
			}
		}
	}
	return hits
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (v view) citations(ctx context.Context, query string) []wire.Citation {
	citations := []wire.Citation{}
	for _, h := range v.hits(ctx, query) {
		r := text.LSPRange(h.StartLine, h.EndLine)
		citations = append(citations, wire.Citation{
			ID: fmt.Sprintf("%s:%d-%d", h.Path, h.StartLine, h.EndLine), URI: h.URI, Path: h.Path,
			Range:     wire.Range{Start: wire.Position(r.Start), End: wire.Position(r.End)},
			StartLine: h.StartLine, EndLine: h.EndLine, Text: h.Text, SHA256: text.HexHash(h.Text),
			Symbol: h.Symbol, Language: h.Language, Why: h.Why, Verified: wire.VerifiedExact,
		})
	}
	return citations
}

func (v view) Ask(ctx context.Context, p wire.AskParams, emit func(engine.Event)) (wire.AskResult, error) {
	if p.Query == "" {
		return wire.AskResult{}, &engine.QueryError{Reason: "the question is empty"}
	}
	if err := v.w.before(ctx, "ask"); err != nil {
		return wire.AskResult{}, err
	}
	if emit == nil {
		emit = func(engine.Event) {}
	}
	r := wire.AskResult{Citations: v.citations(ctx, p.Query), Coverage: v.coverage()}
	for _, c := range r.Citations {
		line := fmt.Sprintf("%s [%s]\n", c.Text, c.ID)
		emit(engine.Event{Text: line})
		emit(engine.Event{Citation: &c})
		r.Answer += line
	}
	r.NoAnswer = len(r.Citations) == 0
	return r, nil
}

func (v view) Search(ctx context.Context, p wire.SearchParams) (wire.SearchResult, error) {
	if p.Query == "" {
		return wire.SearchResult{}, &engine.QueryError{Reason: "the query is empty"}
	}
	if err := v.w.before(ctx, "search"); err != nil {
		return wire.SearchResult{}, err
	}
	hits := v.hits(ctx, p.Query)
	if p.TopK > 0 && len(hits) > p.TopK {
		hits = hits[:p.TopK]
	}
	return wire.SearchResult{Hits: hits, Coverage: v.coverage()}, nil
}

func (v view) Context(ctx context.Context, p wire.AskParams) (wire.ContextResult, error) {
	r := wire.ContextResult{Primary: v.citations(ctx, p.Query), Related: []wire.Related{}, Coverage: v.coverage()}
	for _, c := range r.Primary {
		r.Content += c.Text + "\n"
	}
	return r, v.w.before(ctx, "context")
}

// Similar searches for the range's text.
func (v view) Similar(ctx context.Context, p wire.RangeParams) (wire.SearchResult, error) {
	selected, err := v.selection(ctx, p.Document)
	if err != nil {
		return wire.SearchResult{}, err
	}
	return wire.SearchResult{Hits: v.hits(ctx, selected), Coverage: v.coverage()}, v.w.before(ctx, "similar")
}

// selection reads a range as the engine does: in UTF-16.
func (v view) selection(ctx context.Context, d wire.Document) (string, error) {
	path, err := text.PathFromURI(d.URI)
	if err != nil {
		return "", err
	}
	content, ok := v.Text(ctx, path)
	if !ok || d.Range == nil {
		return content, nil
	}
	doc := text.New(content)
	start, err := doc.Offset(text.Position(d.Range.Start), text.UTF16)
	if err != nil {
		return "", err
	}
	end, err := doc.Offset(text.Position(d.Range.End), text.UTF16)
	if err != nil {
		return "", err
	}
	if start == end { // a cursor: the word behind it
		rest := content[start:]
		if i := strings.IndexFunc(rest, func(r rune) bool { return strings.ContainsRune(" .,:;()[]{}\"\t\r\n", r) }); i >= 0 {
			rest = rest[:i]
		}
		return rest, nil
	}
	return content[start:end], nil
}

func (v view) Explain(ctx context.Context, name string, _ wire.Document) (wire.ExplainResult, error) {
	if err := v.w.before(ctx, "explain"); err != nil {
		return wire.ExplainResult{}, err
	}
	r := wire.ExplainResult{Symbol: name, Kind: "function", Usages: []wire.Citation{}, Tests: []wire.Citation{}, Coverage: v.coverage()}
	r.Definitions = v.citations(ctx, "func "+name+"(")
	r.Found = name != "" && len(r.Definitions) > 0
	if r.Found {
		r.Signature = r.Definitions[0].Text
		for _, c := range v.citations(ctx, name+"(") {
			if !strings.Contains(c.Text, "func "+name) {
				r.Usages = append(r.Usages, c)
			}
		}
		r.UsageCount = len(r.Usages)
	}
	return r, nil
}

func (v view) Text(_ context.Context, path string) (string, bool) {
	v.w.mu.Lock()
	content, ok := v.w.buffers[path]
	v.w.mu.Unlock()
	if ok {
		return content, true
	}
	data, err := os.ReadFile(path)
	return string(data), err == nil
}

func (v view) Symbols(ctx context.Context, path string) ([]engine.SymbolUse, error) {
	var all []engine.SymbolUse
	for _, h := range v.hits(ctx, "func ") {
		if h.Symbol != "" && h.URI == text.URIFromPath(path) {
			uses := len(v.hits(ctx, h.Symbol+"(")) - 1
			all = append(all, engine.SymbolUse{Name: h.Symbol, Kind: "function", NameLine: h.StartLine, Uses: uses})
		}
	}
	return all, nil
}

// Citations looks for cited lines in the cited file only.
func (v view) Citations(ctx context.Context, p wire.CitationsParams) (wire.CitationsResult, error) {
	result := wire.CitationsResult{Citations: []wire.CheckedCitation{}}
	if err := v.w.before(ctx, "citations"); err != nil {
		return result, err
	}
	for _, c := range snippet.All(text.New(p.Text)) {
		if p.Line != 0 && p.Line != c.Line {
			continue
		}
		one := wire.CheckedCitation{
			Line: c.Line, Path: c.Path, StartLine: c.StartLine, EndLine: c.EndLine, SHA8: c.SHA8, State: wire.CitationGone,
		}
		if abs, ok := v.Resolve(c.Path); ok {
			content, _ := v.Text(ctx, abs)
			d := text.New(content)
			one.URI, one.State = text.URIFromPath(abs), wire.CitationExact
			start, ok := snippet.Find(d, c.StartLine, c.EndLine, c.Matches)
			if !ok {
				one.State = wire.CitationChanged
				start, _, _ = snippet.Instead(d, nil, c.StartLine, c.EndLine)
			} else if start != c.StartLine {
				one.State = wire.CitationMoved
			}
			if lines, ok := d.Lines(start, start+c.Lines()-1); ok && one.State != wire.CitationExact {
				one.Now = &wire.Citation{URI: one.URI, Path: c.Path, StartLine: start, EndLine: start + c.Lines() - 1, Text: lines, SHA256: text.HexHash(lines)}
			}
		}
		result.Citations = append(result.Citations, one)
	}
	return result, nil
}

func (v view) Resolve(path string) (string, bool) {
	abs, ok := v.files()[path]
	return abs, ok
}

// Tree implements lsp.View: the paths, one on each line.
func (v view) Tree(ctx context.Context, _ wire.TreeParams) (wire.TreeResult, error) {
	return wire.TreeResult{Tree: strings.Join(slices.Sorted(maps.Keys(v.files())), "\n")}, v.w.before(ctx, "tree")
}

func (v view) Status(ctx context.Context) (wire.Status, error) {
	v.w.mu.Lock()
	paused := v.w.paused
	v.w.mu.Unlock()
	return wire.Status{
		Version: "test", Paused: paused, Coverage: v.coverage(), Notices: []string{},
		SkippedFiles: []wire.SkippedFile{{Path: "x", Reason: "binary"}},
	}, v.w.before(ctx, "status")
}

func (v view) SetPaused(ctx context.Context, paused bool) error {
	if err := v.w.before(ctx, "pause"); err != nil {
		return err
	}
	v.w.mu.Lock()
	defer v.w.mu.Unlock()
	v.w.paused = paused
	return nil
}

func (v view) Reindex(ctx context.Context, _ wire.ReindexParams) error {
	return v.w.before(ctx, "reindex")
}
