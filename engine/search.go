package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/query"
	"coderag-ls/engine/search"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// maxQuestion is the longest question that is taken, in bytes: beyond it is a
// mistake (a pasted file), not a question.
const maxQuestion = 64 << 10

// maxTopK bounds what one request may ask for.
const maxTopK = 200

// QueryError is a question that cannot be asked; Error says why and what to
// do.
type QueryError struct{ Reason string }

func (e *QueryError) Error() string { return e.Reason }

// checkQuery refuses what is no question.
func checkQuery(p *wire.SearchParams) error {
	switch {
	case strings.TrimSpace(p.Query) == "":
		return &QueryError{Reason: "the question is empty: ask something, or name a symbol"}
	case len(p.Query) > maxQuestion:
		return &QueryError{Reason: fmt.Sprintf("the question has %d bytes, the most is %d: shorten it, or ask about a range of a document", len(p.Query), maxQuestion)}
	case p.TopK < 0 || p.TopK > maxTopK:
		return &QueryError{Reason: fmt.Sprintf("topK is %d, want 0 to %d", p.TopK, maxTopK)}
	}
	p.Query = strings.ToValidUTF8(p.Query, "\uFFFD")
	return nil
}

// found is a question with what was found for it.
type found struct {
	state
	analysis query.Analysis
	result   search.Result
	document string // the workspace path of the client's document, "" for none
	timings  map[string]float64
	cached   bool
	began    time.Time
}

// find understands a question and searches, unless the same was found before.
func (v *View) find(ctx context.Context, p wire.AskParams) (*found, error) {
	began := time.Now()
	if err := checkQuery(&p.SearchParams); err != nil {
		return nil, err
	}
	st, err := v.begin(ctx)
	if err != nil {
		return nil, err
	}
	if st.omit, err = file.NewGlobs(p.Filters.Omit); err != nil {
		return nil, &QueryError{Reason: err.Error()}
	}
	if err := v.knows(&st, p.Filters.Repositories); err != nil {
		return nil, err
	}
	f := &found{state: st, began: began, timings: map[string]float64{}}
	f.stage("snapshot", began)
	in := v.input(f, p.SearchParams)
	if err := v.joinQuestion(ctx, f, p.Query, p.History, &in); err != nil {
		return nil, err
	}
	c := v.lookUp(f, p, in)
	if f.cached {
		return f, ctx.Err()
	}
	at := time.Now()
	vocab := search.NewVocabulary(f.snap)
	f.analysis = analyzer(f.state).FollowUp(p.Query, p.History, vocab)
	f.stage("analysis", at)
	if c.near(ctx, f); f.cached {
		return f, ctx.Err()
	}
	if err := f.search(ctx, in); err != nil {
		return f, err
	}
	c.keep(f)
	return f, nil
}

// input is the search that a request asks for.
func (v *View) input(f *found, p wire.SearchParams) search.Input {
	in := search.Input{
		Snapshot: f.snap, Analysis: &f.analysis, Filters: p.Filters, TopK: p.TopK,
		Settings: f.settings.Search, Embedders: f.ix.Embedders(),
	}
	if f.shared != nil && len(p.Filters.Repositories) > 0 {
		in.Filters.Repositories = f.shared.sh.local(p.Filters.Repositories)
	}
	in.Document, in.Line = v.place(f.ix, p.Document)
	f.document = in.Document
	in.Editor.Open = v.openFiles(f.ix)
	if in.Document != "" || len(in.Editor.Open) > 0 {
		in.Editor.Edited = search.Edited{Day: search.DayOf(time.Now()), Version: f.ix.EditedVersion(), At: f.ix.Edited}
	}
	if in.Settings.Centrality > 0 {
		in.Importance = v.graph(f.state).Centrality
	}
	return in
}

// analyzer understands questions as the settings want it.
func analyzer(st state) *query.Analyzer {
	set := st.settings.Search
	return query.NewWithout(st.ix.Tokenizer(), query.Off{FastPath: !set.FastPath, Expansion: !set.Expansion, Spelling: !set.Spelling})
}

// openFiles are the workspace paths of the client's buffers, in order.
func (v *View) openFiles(ix *index.Index) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var open []string
	for abs := range v.buffers {
		if path, ok := ix.WorkspacePath(abs); ok {
			open = append(open, path)
		}
	}
	slices.Sort(open)
	return open
}

// requests are the searches of a plan, one for each request, which searches
// what it asks for within its own filters and the client's: those that the
// client gives count before those of the plan.
func (f *found) requests(in search.Input) []search.Input {
	plan := &f.analysis.Plan
	all := make([]search.Input, len(plan.Requests))
	for i, r := range plan.Requests {
		one := in
		if len(plan.Requests) > 1 {
			a := analyzer(f.state).Analyze(r.Query, search.NewVocabulary(f.snap))
			one.Analysis = &a
		}
		if len(one.Filters.SourceTypes) == 0 {
			one.Filters.SourceTypes = r.SourceTypes
		}
		if len(one.Filters.FilePatterns) == 0 {
			one.Filters.FilePatterns = r.FilePatterns
		}
		one.Filters.Folders = append(slices.Clone(one.Filters.Folders), r.Folders...)
		if one.TopK == 0 {
			one.TopK = r.TopK
		}
		all[i] = one
	}
	return all
}

func (f *found) search(ctx context.Context, in search.Input) error {
	at := time.Now()
	var err error
	if f.result, err = search.New(f.ix.Tokenizer()).All(ctx, f.requests(in)); err != nil {
		if bad := (*search.FilterError)(nil); errors.As(err, &bad) {
			err = &QueryError{Reason: bad.Reason}
		}
		return err
	}
	if f.shared != nil && f.shared.partial {
		f.result.Partial = true // not to be kept
	}
	f.analysis.Plan.Fallback = f.result.Fallback
	f.stage("search", at)
	for name, ms := range f.result.Timings {
		f.timings["search."+name] = ms
	}
	return nil
}

// degraded says what does not take part, "" where all does: what failed in the
// search, and a server that makes no vectors now.
func (f *found) degraded() string {
	told := f.result.Degraded
	if f.shared != nil && f.shared.degraded != "" {
		if told != "" {
			told += "; "
		}
		told += f.shared.degraded
	}
	if !f.settings.Search.Hybrid {
		return told
	}
	also := f.missing
	if name, why := f.ix.Away(); why != nil && !strings.Contains(told, name) {
		also = fmt.Sprintf("%s took part with the vectors that it has made so far: %v", name, why)
	}
	if told != "" && also != "" {
		told += "; "
	}
	return told + also
}

// stateDegraded says in an answer what did not take part in its search.
func (f *found) stateDegraded(res *wire.AskResult, emit func(Event)) {
	res.Degraded = f.degraded()
	if res.Degraded == "" {
		return
	}
	note := "\n\n*Searched with less than usual: " + res.Degraded + ".*\n"
	res.Answer = strings.TrimRight(res.Answer, "\n") + note
	if emit != nil {
		emit(Event{Text: note})
	}
}

func (f *found) stage(name string, since time.Time) {
	f.timings[name] = milliseconds(time.Since(since))
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// place returns the workspace path and the line (1-based, 0 for none) of a
// client's document; "" where it is none of ours.
func (v *View) place(ix *index.Index, d *wire.Document) (path string, line int) {
	if d == nil {
		return "", 0
	}
	abs, err := text.PathFromURI(d.URI)
	if err != nil {
		return "", 0 // untitled: and other schemes are not indexed
	}
	path, ok := ix.WorkspacePath(filepath.Clean(abs))
	if !ok {
		return "", 0
	}
	if d.Range != nil {
		line = d.Range.Start.Line + 1
	}
	return path, line
}

// Search ranks chunks.
func (v *View) Search(ctx context.Context, p wire.SearchParams) (wire.SearchResult, error) {
	defer v.e.gate.Request()()
	f, err := v.find(ctx, wire.AskParams{SearchParams: p})
	if err != nil {
		return wire.SearchResult{}, v.failed("search", err)
	}
	res := f.searchResult(ctx)
	return res, v.answered(ctx, "search", res.Metrics)
}

// searchResult reads the hits' lines as they stand; a hit whose lines are gone
// is left out.
func (f *found) searchResult(ctx context.Context) wire.SearchResult {
	at := time.Now()
	res := wire.SearchResult{
		Hits: []wire.Hit{}, Plan: f.analysis.Plan, Coverage: f.ix.Coverage(f.snap), Model: f.model(),
		Degraded: f.degraded(),
	}
	docs := map[*index.File]*text.Document{}
	for _, h := range f.result.Hits {
		d := f.snap.Doc(h.Ref)
		doc, ok := docs[d.File]
		if !ok {
			if content, exists := f.read(ctx, d.File); exists {
				doc = text.New(content)
			}
			docs[d.File] = doc
		}
		start, end, lines, ok := locate(doc, d)
		if !ok {
			continue
		}
		uri, web := f.opened(d.File.Path, text.URIFromPath(d.File.Abs()), start, end)
		res.Hits = append(res.Hits, wire.Hit{
			URI: uri, WebLink: web, Path: d.File.Path, Root: d.File.Root.Name, StartLine: start, EndLine: end,
			Symbol: d.Name, Kind: string(d.Kind), SourceType: string(d.SourceType), Language: d.Language,
			Score: h.Score, Why: nonNil(h.Why), Text: lines,
		})
	}
	f.stage("read", at)
	res.Metrics = f.metrics()
	return res
}

// locate finds a chunk's lines in its file as it stands: where they were, else
// where they moved to.
func locate(doc *text.Document, d *index.Doc) (start, end int, lines string, ok bool) {
	if doc == nil {
		return 0, 0, "", false
	}
	if lines, ok = doc.Lines(d.StartLine, d.EndLine); ok && text.Hash(lines) == d.Hash {
		return d.StartLine, d.EndLine, lines, true
	}
	n := d.EndLine - d.StartLine
	for start = 1; start+n <= doc.LineCount(); start++ {
		if lines, ok = doc.Lines(start, start+n); ok && text.Hash(lines) == d.Hash {
			return start, start + n, lines, true
		}
	}
	return 0, 0, "", false
}

func (f *found) model() wire.ModelInfo {
	return wire.ModelInfo{Embedder: index.ModelNames(f.result.Models)}
}

func (f *found) metrics() wire.Metrics {
	m := wire.Metrics{Timings: f.timings, Candidates: f.result.Candidates, CacheHit: f.cached}
	for i, h := range f.result.Hits {
		if i == 0 {
			m.TopScore = h.Score
		}
		m.MeanScore += h.Score / float64(len(f.result.Hits))
	}
	f.stage("total", f.began)
	return m
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// maxSimilar is how much of a range is compared, in bytes: what is longer is
// about many things.
const maxSimilar = 8 << 10

// Similar ranks chunks by likeness to a range of a document. The range's own
// chunk is left out.
func (v *View) Similar(ctx context.Context, p wire.RangeParams) (wire.SearchResult, error) {
	defer v.e.gate.Request()()
	abs, err := text.PathFromURI(p.Document.URI)
	if err != nil {
		return wire.SearchResult{}, &QueryError{Reason: fmt.Sprintf("similar code: %v", err)}
	}
	content, ok := v.Text(ctx, abs)
	if !ok {
		return wire.SearchResult{}, &QueryError{Reason: fmt.Sprintf("similar code: there is no text file %s", abs)}
	}
	body, start, end, err := v.slice(content, p.Document.Range)
	if err != nil {
		return wire.SearchResult{}, err
	}
	began := time.Now()
	st, err := v.begin(ctx)
	if err != nil {
		return wire.SearchResult{}, err
	}
	f := &found{state: st, began: began, timings: map[string]float64{}}
	sp := wire.SearchParams{TopK: p.TopK}
	if sp.TopK > 0 {
		sp.TopK = min(sp.TopK+3, maxTopK) // the range's own chunks are dropped below
	}
	in := v.input(f, sp)
	if st.ix.Unsent(abs) {
		in.Embedders = localEmbedders(st.ix, v.e.current())
	}
	if st.shared.sends(st.ix, abs) {
		if err := v.joinQuestion(ctx, f, clip(body, maxSimilar), nil, &in); err != nil {
			return wire.SearchResult{}, v.failed("similar", err)
		}
	}
	st = f.state
	// Code names what it uses: nothing in it is a misspelling, nor a question.
	f.analysis = query.NewWithout(st.ix.Tokenizer(), query.Off{Spelling: true}).Analyze(clip(body, maxSimilar), search.NewVocabulary(st.snap))
	f.analysis.Plan.Requests[0].FilePatterns = nil
	f.analysis.Intent = query.FindSimilar
	f.analysis.Plan.Intent = string(query.FindSimilar)
	if err := f.search(ctx, in); err != nil {
		return wire.SearchResult{}, v.failed("similar", err)
	}
	own, _ := st.ix.WorkspacePath(filepath.Clean(abs))
	kept := f.result.Hits[:0]
	for _, h := range f.result.Hits {
		if d := st.snap.Doc(h.Ref); d.File.Path != own || d.EndLine < start || d.StartLine > end {
			kept = append(kept, h)
		}
	}
	if p.TopK > 0 {
		kept = kept[:min(p.TopK, len(kept))]
	}
	f.result.Hits = kept
	res := f.searchResult(ctx)
	return res, v.answered(ctx, "similar", res.Metrics)
}

// slice returns the text of a range (all where it is nil) and its lines,
// 1-based and inclusive.
func (v *View) slice(content string, r *wire.Range) (body string, start, end int, err error) {
	doc := text.New(content)
	if r == nil {
		return content, 1, doc.LineCount(), nil
	}
	v.mu.Lock()
	enc := v.encoding
	v.mu.Unlock()
	from, err := doc.Offset(text.Position(r.Start), enc)
	if err != nil {
		return "", 0, 0, &QueryError{Reason: fmt.Sprintf("range start: %v", err)}
	}
	to, err := doc.Offset(text.Position(r.End), enc)
	if err != nil {
		return "", 0, 0, &QueryError{Reason: fmt.Sprintf("range end: %v", err)}
	}
	start, end = doc.LineAt(from), doc.LineAt(to)
	if to <= from { // a bare position means its line
		from, to = doc.LineStart(start), doc.LineEnd(start)
		end = start
	}
	return content[from:to], start, end, nil
}

// clip cuts s to at most n bytes at a character's border.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
