package search

import (
	"context"
	"path"
	"strings"

	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
)

// byTitle searches the words of a longer text's title alone: what it goes on to
// say dilutes what it is about.
func (s *Searcher) byTitle(ctx context.Context, in *Input, f *filter) (map[index.Ref]float64, error) {
	if in.Analysis.Title == "" || in.Analysis.Title == in.Analysis.Query {
		return nil, nil
	}
	found, err := in.Snapshot.Lexical(ctx, lexical.Query{Terms: s.tok.Query(in.Analysis.Title), Params: params(in.Settings)}, lexicalDepth, f.keep())
	if err != nil {
		return nil, err
	}
	scores := make(map[index.Ref]float64, len(found.Hits))
	for _, h := range found.Hits {
		scores[h.Ref] = float64(h.Score)
	}
	return scores, nil
}

// titleFeatures tell how a file answers to the title of a longer text, and to the
// part of the project that the text begins with.
func (r *ranking) titleFeatures() {
	if len(r.words.title) > 0 {
		for _, c := range r.cands {
			lex := best(c.passages, func(p *passage) float64 { return r.words.title[p.ref] })
			c.features[fTitleTopZ] = lex[0] + lex[1]/2 + lex[2]/4
		}
		r.scale(fTitleTopZ)
		r.standardise(fTitleTopZ, fTitleTopZ)
	}
	if len(r.an.Scope) == 0 {
		return
	}
	for _, c := range r.cands {
		dir, base := path.Split(c.file.Path)
		near := path.Base(dir) + " " + base
		c.features[fScope] = r.named(c.file.Path, r.an.Scope)
		c.features[fScopeNear] = r.named(near, r.an.Scope)
	}
}

// scale divides a feature by the best candidate's.
func (r *ranking) scale(i int) {
	var most float64
	for _, c := range r.cands {
		most = max(most, c.features[i])
	}
	for _, c := range r.cands {
		c.features[i] /= max(most, 1e-9)
	}
}

// pathWords parts a path into its words.
var pathWords = strings.NewReplacer("/", " ", "_", " ", ".", " ", "-", " ")

// named is the share of the stems that stand in a path.
func (r *ranking) named(path string, stems []string) float64 {
	has := map[string]bool{}
	for _, t := range r.s.tok.Query(pathWords.Replace(path)) {
		has[t.Text] = true
	}
	n := 0
	for _, s := range stems {
		if has[s] {
			n++
		}
	}
	return float64(n) / float64(len(stems))
}
