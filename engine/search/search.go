// Package search finds the chunks that answer a question. Metadata filters
// narrow the index; words and vectors are searched at the same time; the two
// lists are fused; the files of the best chunks are ranked by a linear formula
// of few features, each of which can be told in words; and the chunks of each
// file are ordered by how well they answer.
//
// Results are in a total order: score, then path, then line.
package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"coderag-ls/engine/config"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/query"
	"coderag-ls/engine/wire"
)

// Searcher searches snapshots. It is safe for concurrent use.
type Searcher struct {
	tok *lexical.Tokenizer
}

// New returns a searcher. tok must be of the kind that the index was made
// with.
func New(tok *lexical.Tokenizer) *Searcher { return &Searcher{tok: tok} }

// Input is one search.
type Input struct {
	Snapshot *index.Snapshot
	Analysis *query.Analysis
	// Filters are hard, except Folders.
	Filters wire.Filters
	// TopK is the number of hits; 0 means Settings.TopK.
	TopK     int
	Settings config.Search
	// Embedders embed the question, the model in the binary first; those whose vectors the snapshot does not
	// have are not asked.
	Embedders []embed.Embedder
	// Document is the workspace path of the file that the user looks at, "" for
	// none; Line is where, 0 for anywhere. Files near it rank a little higher.
	Document string
	Line     int
	// Passages reports what the best files' chunks are ranked by, too
	// (FileScore.Passages).
	Passages bool
	Editor   Editor
	// Importance is how central files are, nil where that does not count
	// (search.centrality).
	Importance Importance `json:"-"`
}

// Result is what a search found.
type Result struct {
	// Hits in total order, best first.
	Hits []Hit
	// Further are the next hits, for an answer, which tells the lines most likely to
	// answer in whichever file they are.
	Further    []Hit
	Candidates wire.Candidates
	// Fallback tells which filters had to be dropped because nothing passed
	// them, "" if none.
	Fallback string
	// Relevance is the calibrated relevance of the best hit, 0 to 1, also where
	// the cut left no hit.
	Relevance float64
	// Signals are what Relevance is made of.
	Signals Signals
	// Models are the models that took part.
	Models []embed.Model
	// Degraded says what did not take part and why, for the user, "" where all
	// did.
	Degraded string
	// Partial is set where a list could not be searched for what may be another
	// time: the next search may find more.
	Partial bool
	// Files are the candidate files in rank order with what their scores are
	// made of.
	Files []FileScore
	// Timings are milliseconds per stage.
	Timings map[string]float64
}

// Hit is one ranked chunk.
type Hit struct {
	Ref index.Ref
	// Score is the calibrated relevance, 0 to 1.
	Score float64
	// Share is how near the hit comes to the best one, 0 to 1.
	Share float64
	// Odds are the log-odds of the hit's lines against those of the others,
	// whichever their files: what is quoted first has the best. Hits
	// are in the order of their files.
	Odds float64
	// Why tells in words what raised the hit.
	Why []string
	// Lead is set on the best chunk of a file.
	Lead bool
	// Requests are the searches of All that found it, by their number; nil where
	// there was one only.
	Requests []int
}

// list is one ranked list of chunks.
type list struct {
	model    *embed.Model // nil for the lexical list
	embedder embed.Embedder
	query    []float32 // unit vector of the question
	weight   float64
	hits     []index.Scored
	// coverage is that of lexical.Stats.Coverage per hit.
	coverage []float64
	groups   []uint32
	title    map[index.Ref]float64 // of the lexical list: the scores of byTitle
	err      error
}

// Depth of the lists that the file features are made of: chunks beyond the
// fusion's own candidates still tell how much of a file is about the question.
// Measured on 473 repository questions: file NDCG@10 is the same from 300 up.
const (
	lexicalDepth = 400
	vectorDepth  = 200
)

// Search runs one search. It fails only with ctx, or where every list failed.
func (s *Searcher) Search(ctx context.Context, in Input) (Result, error) {
	start := time.Now()
	res := Result{Timings: map[string]float64{}}
	stage := func(name string) {
		now := time.Now()
		res.Timings[name] = float64(now.Sub(start).Microseconds()) / 1000
		start = now
	}
	topK := in.TopK
	if topK <= 0 {
		topK = in.Settings.TopK
	}
	if topK <= 0 {
		topK = config.Default().Search.TopK
	}
	filter, fallback, err := newFilter(in.Snapshot, in.Filters, in.Settings.Fallback)
	if err != nil {
		return Result{}, err
	}
	res.Fallback = fallback
	stage("filter")
	if in.Snapshot.Len() == 0 {
		return res, ctx.Err()
	}
	lists, stats, err := s.lists(ctx, &in, filter, topK, &res)
	if err != nil {
		return Result{}, err
	}
	stage("lists")
	r := newRanking(s, &in, filter, lists, stats)
	r.fuse(topK, &res)
	r.collect()
	r.rank(max(passageFiles, in.wanted(topK)+maxFurther))
	res.Files = r.files()
	res.Signals = r.signals()
	res.Relevance = res.Signals.relevance(len(r.near) > 0)
	res.Hits, res.Further = r.hits(in.wanted(topK), res.Relevance)
	stage("rank")
	return res, ctx.Err()
}

// wanted is how many hits are told where topK is the setting's or the request's:
// what is but a name needs few, what is broad many (PRD, adaptive top-K).
func (in *Input) wanted(topK int) int {
	if in.TopK > 0 || !in.Settings.AdaptiveTopK {
		return topK
	}
	switch a := in.Analysis; {
	case a.Plan.Route == query.RouteFast:
		return max(1, topK/2)
	case len(a.Entities) > 0:
		return topK
	case a.Intent == query.UnderstandModule, a.Intent == query.FindUsage, a.Intent == query.FindSimilar:
		return topK + topK/2
	}
	return topK
}

// lists searches words and vectors at the same time.
func (s *Searcher) lists(ctx context.Context, in *Input, f *filter, topK int, res *Result) ([]*list, *lexical.Stats, error) {
	words := &list{weight: in.Settings.BM25Weight}
	lists := []*list{words}
	if in.Settings.Hybrid {
		// In the order of the embedders, the embedded model first: the features
		// of a file depend on it.
		have := in.Snapshot.Models()
		for i, e := range in.Embedders {
			m := e.Model()
			if !slices.ContainsFunc(have, func(h embed.Model) bool { return h.Fingerprint == m.Fingerprint }) {
				continue
			}
			l := &list{model: &m, embedder: e, weight: in.Settings.VectorWeight}
			if i > 0 {
				l.weight = in.Settings.MiniLMWeight
			}
			lists = append(lists, l)
		}
	}
	var stats lexical.Stats
	var wg tasks
	for _, l := range lists[1:] {
		wg.Go(func() { l.err = s.nearest(ctx, in, f, topK, l) })
	}
	wg.Go(func() {
		found, err := in.Snapshot.Lexical(ctx, lexical.Query{Terms: in.Analysis.Terms, Params: params(in.Settings)},
			max(in.Settings.BM25K, 2*topK, lexicalDepth), f.keep())
		words.hits, words.coverage, words.groups, words.err = found.Hits, found.Coverage, found.Groups, err
		stats = found.Stats
		words.boostSymbols(in.Snapshot, in.Settings.SymbolBoost)
	})
	var untitled error
	wg.Go(func() { words.title, untitled = s.byTitle(ctx, in, f) })
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	var errs []string
	if words.err == nil {
		words.err = untitled
	}
	ok := lists[:0]
	for _, l := range lists {
		switch {
		case l.err == nil:
			ok = append(ok, l)
			if l.model != nil {
				res.Models = append(res.Models, *l.model)
			}
		case l.model == nil:
			errs = append(errs, fmt.Sprintf("words were not searched: %v", l.err))
		default:
			errs = append(errs, fmt.Sprintf("%s did not take part: %v", l.model.Name, l.err))
		}
	}
	res.Partial = len(errs) > 0
	switch {
	case len(ok) == 0:
		return nil, nil, fmt.Errorf("searching: %s", strings.Join(errs, "; "))
	case len(errs) > 0:
	case !in.Settings.Hybrid:
		errs = append(errs, "vectors are switched off (search.hybrid)")
	case len(ok) == 1:
		errs = append(errs, "no embedding model took part: words only")
	}
	res.Degraded = strings.Join(errs, "; ")
	return ok, &stats, nil
}

// perSymbol is what each symbol that a chunk defines adds to the factor of its
// lexical score (SYN, symbol boosting).
const perSymbol = 0.1

// boostSymbols multiplies the scores of chunks that define symbols, by at most
// most.
func (l *list) boostSymbols(s *index.Snapshot, most float64) {
	if most <= 1 || l.err != nil {
		return
	}
	order := make([]int, len(l.hits))
	for i := range l.hits {
		order[i] = i
		l.hits[i].Score *= float32(min(most, 1+perSymbol*float64(len(s.Doc(l.hits[i].Ref).Symbols))))
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.hits[b].Score, l.hits[a].Score), s.Compare(l.hits[a].Ref, l.hits[b].Ref))
	})
	hits, coverage, groups := slices.Clone(l.hits), slices.Clone(l.coverage), slices.Clone(l.groups)
	for to, from := range order {
		l.hits[to], l.coverage[to], l.groups[to] = hits[from], coverage[from], groups[from]
	}
}

// nearest embeds the question and searches one model's list.
func (s *Searcher) nearest(ctx context.Context, in *Input, f *filter, topK int, l *list) error {
	question := in.Analysis.Query
	if l.embedder != in.Embedders[0] {
		question = in.Analysis.Plain()
	}
	vectors, err := l.embedder.Embed(ctx, []string{question})
	if err != nil {
		return fmt.Errorf("embedding the question: %w", err)
	}
	l.query = vectors[0]
	if embed.Normalize(l.query) == 0 {
		return nil // no known word in it: no neighbour
	}
	l.hits, err = in.Snapshot.Vectors(ctx, l.model.Fingerprint, l.query, max(in.Settings.VectorK, 2*topK, vectorDepth), f.keep())
	return err
}

// params are the lexical weights of the settings.
func params(s config.Search) lexical.Params {
	p := lexical.DefaultParams()
	p.K1 = s.BM25K1
	p.B[lexical.Body], p.B[lexical.Comment] = s.BM25B, s.BM25B
	p.Weights[lexical.Comment] = s.CommentWeight
	p.Weights[lexical.Name] = s.NameWeight
	p.Weights[lexical.Path] = s.PathWeight
	p.Weights[lexical.Defs] = s.SymbolWeight
	p.Weights[lexical.Summary] = s.SummaryWeight
	return p
}

// compareHits is the total order of hits.
func compareHits(s *index.Snapshot) func(a, b Hit) int {
	return func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), s.Compare(a.Ref, b.Ref))
	}
}
