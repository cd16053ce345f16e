package lexical_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"coderag-ls/engine/lexical"
)

// vocabulary is words that are their own stems, frequent ones first.
func vocabulary() []string {
	var out []string
	for i := range 40 {
		out = append(out, fmt.Sprintf("w%c%cx", 'b'+i%20, 'b'+i/20))
	}
	return out
}

func randomWords(rng *rand.Rand, vocab []string, n int) string {
	var b strings.Builder
	for range n {
		i := int(math.Abs(rng.NormFloat64()) * float64(len(vocab)) / 3)
		b.WriteString(vocab[min(i, len(vocab)-1)])
		b.WriteByte(' ')
	}
	return b.String()
}

func randomDoc(rng *rand.Rand, vocab []string) lexical.Doc {
	d := lexical.Doc{
		Body: randomWords(rng, vocab, rng.IntN(40)),
		Name: randomWords(rng, vocab, rng.IntN(3)), Path: randomWords(rng, vocab, rng.IntN(4)),
		Defs: strings.Fields(randomWords(rng, vocab, rng.IntN(3))), Summary: randomWords(rng, vocab, rng.IntN(6)),
	}
	for at := 0; at < len(d.Body); { // at word ends
		end := at + 5*rng.IntN(6)
		d.Comments = append(d.Comments, lexical.Span{Start: at, End: min(end, len(d.Body))})
		at = end + 5*rng.IntN(10)
	}
	return d
}

// fields are a document's words by field, taken apart without the package.
func fields(d lexical.Doc) (f [lexical.NumFields][]string) {
	at := 0
	for _, c := range d.Comments {
		f[lexical.Body] = append(f[lexical.Body], strings.Fields(d.Body[at:c.Start])...)
		f[lexical.Comment] = append(f[lexical.Comment], strings.Fields(d.Body[c.Start:c.End])...)
		at = c.End
	}
	f[lexical.Body] = append(f[lexical.Body], strings.Fields(d.Body[at:])...)
	f[lexical.Name], f[lexical.Path], f[lexical.Defs], f[lexical.Summary] = strings.Fields(d.Name), strings.Fields(d.Path), d.Defs, strings.Fields(d.Summary)
	return f
}

func count(words []string, w string) (n float64) {
	for _, x := range words {
		if x == w {
			n++
		}
	}
	return n
}

// reference is BM25F written down from the paper, with idf = ln(1 + (N-df+.5)/(df+.5)).
func reference(docs []lexical.Doc, q lexical.Query) []float64 {
	all := make([][lexical.NumFields][]string, len(docs))
	var avg [lexical.NumFields]float64
	for i, d := range docs {
		all[i] = fields(d)
		for f := range avg {
			avg[f] += float64(len(all[i][f])) / float64(len(docs))
		}
	}
	scores := make([]float64, len(docs))
	for _, t := range q.Terms {
		tfs := make([]float64, len(docs))
		df := 0.0
		for i := range docs {
			found := false
			for f, words := range all[i] {
				if n := count(words, t.Text); n > 0 {
					found = true
					b := q.Params.B[f]
					tfs[i] += q.Params.Weights[f] * n / (1 - b + b*float64(len(words))/avg[f])
				}
			}
			if found {
				df++
			}
		}
		idf := math.Log(1 + (float64(len(docs))-df+0.5)/(df+0.5))
		for i, tf := range tfs {
			scores[i] += t.Weight * idf * tf * (q.Params.K1 + 1) / (q.Params.K1 + tf)
		}
	}
	return scores
}

// split puts documents into segments of random sizes.
func split(rng *rand.Rand, docs []lexical.Doc) []lexical.Part {
	tok := lexical.NewTokenizer()
	b := lexical.NewBuilder(tok)
	var parts []lexical.Part
	for _, d := range docs {
		b.Add(d)
		if rng.IntN(20) == 0 {
			parts = append(parts, lexical.Part{Segment: b.Build()})
			if rng.IntN(2) == 0 {
				b = lexical.NewBuilder(tok)
			}
		}
	}
	return append(parts, lexical.Part{Segment: b.Build()})
}

// number is a hit's place among all documents.
func number(parts []lexical.Part, h lexical.Hit) int {
	n := h.Doc
	for _, p := range parts[:h.Part] {
		n += p.Segment.Len()
	}
	return n
}

func TestC5SearchAgreesWithTheFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	vocab := vocabulary()
	var se lexical.Searcher
	for round := range 60 {
		docs := make([]lexical.Doc, 1+rng.IntN(120))
		for i := range docs {
			docs[i] = randomDoc(rng, vocab)
		}
		parts := split(rng, docs)
		q := lexical.Query{Params: lexical.DefaultParams()}
		if round%2 == 1 {
			q.Params.K1 = rng.Float64() * 3
			for f := range q.Params.B {
				q.Params.B[f], q.Params.Weights[f] = rng.Float64(), rng.Float64()*4
			}
		}
		for i := range 1 + rng.IntN(6) {
			q.Terms = append(q.Terms, lexical.Term{Text: vocab[rng.IntN(len(vocab))], Weight: rng.Float64() + 0.1, Group: i})
		}
		want := reference(docs, q)
		k := 1 + rng.IntN(len(docs)+5)
		got, err := se.Search(t.Context(), parts, q, k)
		if err != nil {
			t.Fatal(err)
		}
		ranked := slices.Sorted(slices.Values(want))
		slices.Reverse(ranked)
		positive := 0
		for _, s := range want {
			if s > 0 {
				positive++
			}
		}
		if len(got.Hits) != min(k, positive) || got.Stats.Candidates != positive {
			t.Fatalf("%d hits of %d candidates, want %d of %d", len(got.Hits), got.Stats.Candidates, min(k, positive), positive)
		}
		for i, h := range got.Hits {
			n := number(parts, h)
			if math.Abs(h.Score-want[n]) > 1e-5*(1+want[n]) || math.Abs(h.Score-ranked[i]) > 1e-5*(1+ranked[i]) {
				t.Fatalf("hit %d is document %d with %v; the formula says %v, and %v for this rank", i, n, h.Score, want[n], ranked[i])
			}
			ex := lexical.Explain(parts, q, h)
			if math.Abs(ex.Score-h.Score) > 1e-5*(1+h.Score) {
				t.Fatalf("explained as %v, scored %v", ex.Score, h.Score)
			}
			var groups uint32
			for _, m := range ex.Terms {
				groups |= 1 << m.Group
			}
			if groups != h.Groups {
				t.Fatalf("groups %b, explained %b", h.Groups, groups)
			}
		}
		for i := 1; i < len(got.Hits); i++ {
			a, b := got.Hits[i-1], got.Hits[i]
			if cmp.Or(cmp.Compare(b.Score, a.Score), a.Part-b.Part, a.Doc-b.Doc) >= 0 {
				t.Fatalf("hits out of order: %+v, %+v", a, b)
			}
		}
	}
}

func TestSearchDoesNotDependOnSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	vocab := vocabulary()
	docs := make([]lexical.Doc, 200)
	for i := range docs {
		docs[i] = randomDoc(rng, vocab)
	}
	q := lexical.Query{Terms: lexical.NewTokenizer().Query(strings.Join(vocab[3:8], " "))}
	var se lexical.Searcher
	var want []lexical.Hit
	for round := range 5 {
		parts := split(rng, docs)
		r, err := se.Search(t.Context(), parts, q, 50)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Hits {
			r.Hits[i].Doc, r.Hits[i].Part = number(parts, r.Hits[i]), 0
		}
		if round == 0 {
			want = r.Hits
		} else if !slices.Equal(r.Hits, want) {
			t.Fatalf("round %d: other hits", round)
		}
	}
}

func TestLiveFilterAndRequired(t *testing.T) {
	parts := index(
		lexical.Doc{Body: "alpha bravo"}, lexical.Doc{Body: "alpha"}, lexical.Doc{Body: "bravo"}, lexical.Doc{Body: "alpha bravo bravo"})
	q := lexical.Query{Terms: lexical.NewTokenizer().Query("alpha bravo")}
	var se lexical.Searcher
	docs := func() (out []int) {
		t.Helper()
		r, err := se.Search(t.Context(), parts, q, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range r.Hits {
			out = append(out, h.Doc)
		}
		slices.Sort(out)
		return out
	}
	check := func(what string, want ...int) {
		t.Helper()
		if got := docs(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("all", 0, 1, 2, 3)
	parts[0].Live = lexical.FullBitmap(4)
	parts[0].Live.Clear(0)
	check("live", 1, 2, 3)
	if got := lexical.Lookup(parts, "Alpha"); len(got) != 2 || got[0].Doc != 1 || got[1].Doc != 3 {
		t.Errorf("Lookup of live: %v", got)
	}
	parts[0].Filter = lexical.NewBitmap(4)
	parts[0].Filter.Set(0)
	parts[0].Filter.Set(2)
	check("filter", 2)
	parts[0].Live, parts[0].Filter = nil, nil
	q.Terms[1].Required = true
	check("required", 0, 2, 3)
	q.Terms[0].Required = true
	check("both required", 0, 3)
	q.Terms = append(q.Terms, lexical.Term{Text: "zulu", Weight: 1, Group: 5, Required: true})
	check("missing required")
	if n := parts[0].Segment.Len(); lexical.FullBitmap(n).Count() != n {
		t.Error("Count")
	}
}

func TestStats(t *testing.T) {
	parts := index(lexical.Doc{Body: "alpha bravo"}, lexical.Doc{Body: "alpha"})
	var se lexical.Searcher
	q := lexical.Query{Terms: lexical.NewTokenizer().Query("alpha bravo zulu")}
	r, err := se.Search(t.Context(), parts, q, 10)
	if err != nil {
		t.Fatal(err)
	}
	st := r.Stats
	if st.Docs != 2 || st.Terms[0].DF != 2 || st.Terms[1].DF != 1 || st.Terms[2].DF != 0 || st.Terms[1].IDF <= st.Terms[0].IDF {
		t.Errorf("stats: %+v", st)
	}
	if k := st.Known(); math.Abs(k-2.0/3) > 1e-9 {
		t.Errorf("known share is %v", k)
	}
	if a, b := st.Coverage(r.Hits[0]), st.Coverage(r.Hits[1]); r.Hits[0].Doc != 0 || a <= b || a >= 1 || b <= 0 {
		t.Errorf("coverage of the hits: %v, %v", a, b)
	}
	empty, err := se.Search(t.Context(), nil, q, 10)
	if err != nil || len(empty.Hits) > 0 || empty.Stats.Known() != 0 {
		t.Errorf("without segments: %+v, %v", empty, err)
	}
}

func TestSearchStopsWithItsContext(t *testing.T) {
	parts := index(lexical.Doc{Body: "alpha"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var se lexical.Searcher
	q := lexical.Query{Terms: lexical.NewTokenizer().Query("alpha")}
	if _, err := se.Search(ctx, parts, q, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if r, err := se.Search(t.Context(), parts, q, 1); err != nil || len(r.Hits) != 1 {
		t.Errorf("afterwards: %v, %v", r, err)
	}
}

func TestSearcherIsShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var docs []lexical.Doc
	for range 100 {
		docs = append(docs, randomDoc(rng, vocabulary()))
	}
	parts := split(rng, docs)
	var se lexical.Searcher
	var queries []lexical.Query
	var want [][]lexical.Hit
	for _, w := range vocabulary()[:8] {
		q := lexical.Query{Terms: []lexical.Term{{Text: w, Weight: 1}}}
		r, err := se.Search(t.Context(), parts, q, 20)
		if err != nil {
			t.Fatal(err)
		}
		queries, want = append(queries, q), append(want, r.Hits)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 80 {
				n := (i + g) % len(queries)
				r, err := se.Search(context.Background(), parts, queries[n], 20)
				if err != nil || !slices.Equal(r.Hits, want[n]) {
					t.Errorf("query %d: other hits, %v", n, err)
				}
			}
		})
	}
	wg.Wait()
}

func stored(t testing.TB, s *lexical.Segment) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := s.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo: %d bytes of %d, %v", n, b.Len(), err)
	}
	return b.Bytes()
}

func TestMergeEqualsBuiltFromScratch(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	vocab := vocabulary()
	for range 30 {
		docs := make([]lexical.Doc, rng.IntN(150))
		for i := range docs {
			docs[i] = randomDoc(rng, vocab)
			docs[i].Body += fmt.Sprintf(" only_in_%d", i)
		}
		parts := split(rng, docs)
		scratch := lexical.NewBuilder(lexical.NewTokenizer())
		n := 0
		var want [][]int
		for pi, p := range parts {
			want = append(want, make([]int, p.Segment.Len()))
			if rng.IntN(3) > 0 {
				parts[pi].Live = lexical.FullBitmap(p.Segment.Len())
			}
			for d := range p.Segment.Len() {
				if parts[pi].Live != nil && rng.IntN(3) == 0 {
					parts[pi].Live.Clear(d)
					want[pi][d] = lexical.NoDoc
				} else {
					want[pi][d] = scratch.Add(docs[n])
				}
				n++
			}
		}
		merged, moved := lexical.Merge(parts)
		if !slices.EqualFunc(moved, want, slices.Equal) {
			t.Fatalf("documents moved to %v, want %v", moved, want)
		}
		if !bytes.Equal(stored(t, merged), stored(t, scratch.Build())) {
			t.Fatal("merged segment differs from one built of the same documents")
		}
	}
}

func TestBuilderIsReusable(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	b := lexical.NewBuilder(lexical.NewTokenizer())
	for range 5 {
		fresh := lexical.NewBuilder(lexical.NewTokenizer())
		for range 50 {
			d := randomDoc(rng, vocabulary())
			if b.Add(d) != fresh.Add(d) {
				t.Fatal("other document number")
			}
		}
		if !bytes.Equal(stored(t, b.Build()), stored(t, fresh.Build())) {
			t.Fatal("a used builder makes another segment")
		}
	}
	if s := b.Build(); s.Len() != 0 || s.NumTerms() != 0 {
		t.Fatal("an empty builder makes documents")
	}
}

// TestFrequencies has terms of every posting form: often, in many fields, with
// gaps of any size.
func TestFrequencies(t *testing.T) {
	b := lexical.NewBuilder(lexical.NewTokenizer())
	for i := range 20000 {
		d := lexical.Doc{Body: "zulu"}
		switch {
		case i == 0:
			d.Body = strings.Repeat("often ", 70000)
		case i == 19999:
			d = lexical.Doc{Body: "often often", Name: "often.go", Defs: []string{"often", "often"}, Summary: strings.Repeat("often ", 300)}
		}
		b.Add(d)
	}
	parts := []lexical.Part{{Segment: b.Build()}}
	got := lexical.LookupTerm(parts, "often")
	want := []lexical.Occurrence{
		{Doc: 0, TF: lexical.Frequencies{lexical.Body: 65535}},
		{Doc: 19999, TF: lexical.Frequencies{lexical.Body: 2, lexical.Name: 1, lexical.Defs: 2, lexical.Summary: 300}},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := lexical.DF(parts, "zulu"); n != 19998 {
		t.Errorf("DF is %d", n)
	}
	if n := parts[0].Segment.FieldLen(0, lexical.Body); n != 65535 {
		t.Errorf("length is %d", n)
	}
	var se lexical.Searcher
	r, err := se.Search(t.Context(), parts, lexical.Query{Terms: []lexical.Term{{Text: "often", Weight: 1}}}, 3)
	if err != nil || len(r.Hits) != 2 {
		t.Errorf("search: %v, %v", r.Hits, err)
	}
}

func TestTerms(t *testing.T) {
	b := lexical.NewBuilder(lexical.NewTokenizer())
	var parts []lexical.Part
	for i := range 3 {
		for j := range 40 {
			b.Add(lexical.Doc{Body: fmt.Sprintf("getItem%c%c common_%d", 'A'+i, 'A'+j%20, j%2)})
		}
		parts = append(parts, lexical.Part{Segment: b.Build()})
	}
	all := lexical.Terms(parts, "", 0)
	if !slices.IsSortedFunc(all, func(a, b lexical.TermCount) int { return cmp.Compare(a.Text, b.Text) }) {
		t.Error("terms out of order")
	}
	for _, term := range all {
		if n := lexical.DF(parts, term.Text); n != term.DF || n == 0 {
			t.Errorf("%q: DF is %d, Terms says %d", term.Text, n, term.DF)
		}
	}
	got := lexical.Terms(parts, lexical.Exact("getItemB"), 0)
	if len(got) != 20 || got[0] != (lexical.TermCount{Text: "=getitemba", DF: 2}) {
		t.Errorf("identifiers: %d, first %v", len(got), got[0])
	}
	if got := lexical.Terms(parts, "=common", 1); len(got) != 1 || got[0] != (lexical.TermCount{Text: "=common_0", DF: 60}) {
		t.Errorf("with a limit: %v", got)
	}
	if got := lexical.Terms(parts, "zzz", 0); len(got) != 0 {
		t.Errorf("unknown prefix: %v", got)
	}
}

func TestC5Comments(t *testing.T) {
	parts := index(lexical.Doc{Body: "alpha bravo charlie delta", Comments: []lexical.Span{
		{Start: -5, End: 5}, {Start: 3, End: 11}, {Start: 9, End: 8}, {Start: 20, End: 900}}})
	for term, f := range map[string]lexical.Field{"alpha": lexical.Comment, "bravo": lexical.Comment, "charli": lexical.Body, "delta": lexical.Comment} {
		if got := lexical.LookupTerm(parts, term); len(got) != 1 || !got[0].Has(f) {
			t.Errorf("%q: %v, want field %s", term, got, f)
		}
	}
}
