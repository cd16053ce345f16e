package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/vector"
)

// LexicalResult is what a lexical search found, best first.
type LexicalResult struct {
	Hits  []Scored
	Stats lexical.Stats
	// Coverage holds, per hit, the share of the question's words that it holds
	// (lexical.Stats.Coverage).
	Coverage []float64
	// Groups holds, per hit, which words of the question it holds
	// (lexical.Hit.Groups).
	Groups []uint32
}

// Lexical returns the k best documents for a query. keep, where given, decides
// which documents count.
func (s *Snapshot) Lexical(ctx context.Context, q lexical.Query, k int, keep func(*Doc) bool) (LexicalResult, error) {
	parts := s.Parts()
	if q.Background == nil {
		q.Background = s.background
	}
	if keep != nil {
		for i := range parts {
			parts[i].Filter = s.filter(i, keep)
		}
	}
	var res lexical.Result
	hits, err := untied(k, func(k int) ([]lexical.Hit, error) {
		var err error
		res, err = s.words.Search(ctx, parts, q, k)
		return res.Hits, err
	}, func(h lexical.Hit) float64 { return h.Score }, func(h lexical.Hit) Ref { return Ref{int32(h.Part), int32(h.Doc)} }, s)
	if err != nil {
		return LexicalResult{}, err
	}
	out := LexicalResult{Stats: res.Stats, Hits: make([]Scored, len(hits)), Coverage: make([]float64, len(hits)), Groups: make([]uint32, len(hits))}
	for i, h := range hits {
		out.Hits[i] = Scored{Ref: Ref{int32(h.Part), int32(h.Doc)}, Score: float32(h.Score)}
		out.Coverage[i], out.Groups[i] = res.Stats.Coverage(h), h.Groups
	}
	return out, nil
}

// untied returns the k best hits of a search, equal scores in order of path and
// line: parts and documents are numbered as workers happened to finish them,
// and the same files must give the same answers. Where equal scores run over
// the cut, more are searched for until the end of them is seen.
func untied[H any](k int, search func(k int) ([]H, error), score func(H) float64, ref func(H) Ref, s *Snapshot) ([]H, error) {
	if k <= 0 {
		return nil, nil
	}
	ask := k + 1
	hits, err := search(ask)
	for err == nil && len(hits) == ask && score(hits[k-1]) == score(hits[ask-1]) {
		ask *= 8
		hits, err = search(ask)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(hits, func(a, b H) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), s.Compare(ref(a), ref(b)))
	})
	return hits[:min(k, len(hits))], nil
}

// filter is the set of a part's live documents that keep accepts.
func (s *Snapshot) filter(part int, keep func(*Doc) bool) lexical.Bitmap {
	docs := s.parts[part].docs
	set := lexical.NewBitmap(len(docs))
	for d := range docs {
		if s.isLive(part, d) && keep(&docs[d]) {
			set.Set(d)
		}
	}
	return set
}

func (s *Snapshot) isLive(part, doc int) bool { return s.live[part][doc>>6]>>(doc&63)&1 != 0 }

// Vectors returns the k documents nearest to a unit query vector in one
// model's list (Model.Fingerprint), by cosine.
func (s *Snapshot) Vectors(ctx context.Context, fingerprint string, query []float32, k int, keep func(*Doc) bool) ([]Scored, error) {
	q, err := vector.NewQuery(query)
	if err != nil {
		return nil, fmt.Errorf("searching vectors: %w", err)
	}
	var parts []vector.Part
	var lists []*List
	var at []int
	for i := range s.parts {
		list := listOf(s.lists[i], fingerprint)
		if list == nil || list.Matrix.Len() == 0 {
			continue
		}
		p := vector.Part{Matrix: list.Matrix}
		docs := s.parts[i].docs
		switch {
		case list.Docs == nil:
			p.Live = vector.Bitmap(s.live[i])
			if keep != nil {
				p.Keep = func(row int) bool { return keep(&docs[row]) }
			}
		default:
			p.Keep = func(row int) bool {
				d := int(list.Docs[row])
				return s.isLive(i, d) && (keep == nil || keep(&docs[d]))
			}
		}
		parts, lists, at = append(parts, p), append(lists, list), append(at, i)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return untied(k, func(k int) ([]Scored, error) {
		hits := vector.Search(parts, q, k)
		out := make([]Scored, len(hits))
		for i, h := range hits {
			doc := int32(h.Row)
			if lists[h.Part].Docs != nil {
				doc = lists[h.Part].Docs[h.Row]
			}
			out[i] = Scored{Ref: Ref{int32(at[h.Part]), doc}, Score: h.Score}
		}
		return out, ctx.Err()
	}, func(h Scored) float64 { return float64(h.Score) }, func(h Scored) Ref { return h.Ref }, s)
}

// VectorScores returns the cosine of a unit query vector to each document in
// one model's list; ok is false where a document has no vector.
func (s *Snapshot) VectorScores(fingerprint string, query []float32, refs []Ref) (scores []float32, ok []bool, err error) {
	q, err := vector.NewQuery(query)
	if err != nil {
		return nil, nil, fmt.Errorf("scoring vectors: %w", err)
	}
	scores, ok = make([]float32, len(refs)), make([]bool, len(refs))
	for i, r := range refs {
		list := listOf(s.lists[r.Part], fingerprint)
		if list == nil {
			continue
		}
		if row, has := list.row(r.Doc); has {
			scores[i], ok[i] = list.Matrix.Dot(q, row), true
		}
	}
	return scores, ok, nil
}

// ContentScores returns the cosines of a unit query vector to what documents of
// one file hold, without the path's words that their rows in one model's list
// have, and to the sum of all of it. A document without a vector has 0; ok is
// false where none of them has one.
func (s *Snapshot) ContentScores(fingerprint string, query []float32, f *File, refs []Ref) (scores []float64, whole float64, ok bool) {
	path := f.PathVectors[fingerprint]
	scores = make([]float64, len(refs))
	sum, row := make([]float32, len(query)), make([]float32, 0, len(query))
	for i, r := range refs {
		list := listOf(s.lists[r.Part], fingerprint)
		if list == nil {
			continue
		}
		at, has := list.row(r.Doc)
		if !has {
			continue
		}
		if path == nil {
			path = list.path(at)
		}
		row = list.Matrix.AppendRow(row[:0], at)
		without, weight := path, list.Model.PathWeight
		if without == nil {
			without, weight = row, 0
		}
		ok = true
		if dot, length := addContent(sum, row, without, query, list.Norms[at], weight); length > 0 {
			scores[i] = float64(dot) / math.Sqrt(float64(length))
		}
	}
	var dot, length float64
	for j, c := range sum {
		dot += float64(c) * float64(query[j])
		length += float64(c) * float64(c)
	}
	if length > 0 {
		whole = dot / math.Sqrt(length)
	}
	return scores, whole, ok
}

// addContent adds norm*row - weight*path to sum, and returns that vector's product
// with the query and its squared length. All have the same length. Four sums at a
// time do not wait for one another.
func addContent(sum, row, path, query []float32, norm, weight float32) (dot, length float32) {
	n := len(row)
	sum, path, query = sum[:n], path[:n], query[:n]
	var d, l [4]float32
	j := 0
	for ; j+4 <= n; j += 4 {
		c0, c1 := norm*row[j]-weight*path[j], norm*row[j+1]-weight*path[j+1]
		c2, c3 := norm*row[j+2]-weight*path[j+2], norm*row[j+3]-weight*path[j+3]
		sum[j] += c0
		sum[j+1] += c1
		sum[j+2] += c2
		sum[j+3] += c3
		d[0] += c0 * query[j]
		d[1] += c1 * query[j+1]
		d[2] += c2 * query[j+2]
		d[3] += c3 * query[j+3]
		l[0] += c0 * c0
		l[1] += c1 * c1
		l[2] += c2 * c2
		l[3] += c3 * c3
	}
	for ; j < n; j++ {
		c := norm*row[j] - weight*path[j]
		sum[j] += c
		d[0] += c * query[j]
		l[0] += c * c
	}
	return d[0] + d[1] + d[2] + d[3], l[0] + l[1] + l[2] + l[3]
}

// PathScore is the cosine of a unit query vector to a file's path, 0 where its
// vector is not known. refs are documents of the file.
func (s *Snapshot) PathScore(fingerprint string, query []float32, f *File, refs []Ref) float64 {
	path := f.PathVectors[fingerprint]
	for i := 0; i < len(refs) && path == nil; i++ {
		if list := listOf(s.lists[refs[i].Part], fingerprint); list != nil {
			if at, ok := list.row(refs[i].Doc); ok {
				path = list.path(at)
			}
		}
	}
	return float64(embed.Cosine(query, path))
}

// path returns the path vector in a row, nil where the list does not keep it.
func (l *List) path(row int) []float32 {
	if row >= len(l.Paths) || l.Paths[row].Values == nil {
		return nil
	}
	return dequantise(l.Paths[row])
}

// Vector appends the stored vector of a document to dst; ok is false where it
// has none.
func (s *Snapshot) Vector(fingerprint string, r Ref, dst []float32) (v []float32, ok bool) {
	list := listOf(s.lists[r.Part], fingerprint)
	if list == nil {
		return dst, false
	}
	row, has := list.row(r.Doc)
	if !has {
		return dst, false
	}
	return list.Matrix.AppendRow(dst, row), true
}

// Identifier returns at most k documents whose text has the identifier as a
// whole, without regard to case, in path and line order.
func (s *Snapshot) Identifier(name string, k int) []Ref {
	found := lexical.Lookup(s.Parts(), name)
	refs := make([]Ref, len(found))
	for i, o := range found {
		refs[i] = Ref{int32(o.Part), int32(o.Doc)}
	}
	slices.SortFunc(refs, s.Compare)
	return refs[:min(k, len(refs))]
}

// Compare orders documents by path, then line.
func (s *Snapshot) Compare(a, b Ref) int {
	x, y := s.Doc(a), s.Doc(b)
	switch {
	case x.File.Path != y.File.Path:
		if x.File.Path < y.File.Path {
			return -1
		}
		return 1
	case x.StartLine != y.StartLine:
		return x.StartLine - y.StartLine
	}
	return x.Index - y.Index
}
