package lexical_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/lexical"
)

// sources are the package's own files as documents, cut into pieces.
func sources(t *testing.T) []lexical.Doc {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) < 10 {
		t.Fatalf("%v, %v", names, err)
	}
	var docs []lexical.Doc
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(data), "\n")
		for i, piece := range slices.Collect(slices.Chunk(lines, 40)) {
			body := strings.Join(piece, "")
			d := lexical.Doc{Body: body, Name: strings.TrimSuffix(name, ".go"), Path: "engine/lexical/", Summary: strings.TrimSpace(piece[0]), Prose: i%5 == 4}
			if at := strings.Index(body, "//"); at >= 0 {
				d.Comments = []lexical.Span{{Start: at, End: at + strings.IndexByte(body[at:]+"\n", '\n')}}
			}
			if i%2 == 0 {
				d.Defs = []string{"sendStaticFile", "HTTPServer"}
			}
			docs = append(docs, d)
		}
	}
	return docs
}

// segmentOf makes a segment of those of the documents that take accepts.
func segmentOf(docs []lexical.Doc, take func(i int) bool) (*lexical.Segment, []int) {
	b := lexical.NewBuilder(lexical.NewTokenizer())
	var numbers []int
	for i, d := range docs {
		if take(i) {
			b.Add(d)
			numbers = append(numbers, i)
		}
	}
	return b.Build(), numbers
}

// TestTermsAreWhatAddCounts: the terms of a document are those of its segment,
// as often, and their lengths are its fields'.
func TestTermsAreWhatAddCounts(t *testing.T) {
	b := lexical.NewBuilder(lexical.NewTokenizer())
	for _, d := range sources(t) {
		terms := b.Terms(d)
		lengths := lexical.Lengths(terms)
		if b.Len() != 0 {
			t.Fatal("asking for terms added a document")
		}
		b.Add(d)
		seg := b.Build()
		count := map[string]lexical.Frequencies{}
		for f, list := range terms {
			if got := seg.FieldLen(0, lexical.Field(f)); uint64(got) != lengths[f] {
				t.Errorf("%s: length %d, in the segment %d", lexical.Field(f), lengths[f], got)
			}
			for _, term := range list {
				tf := count[term]
				tf[f]++
				count[term] = tf
			}
		}
		if len(count) != seg.NumTerms() {
			t.Fatalf("%d terms, in the segment %d", len(count), seg.NumTerms())
		}
		for term, tf := range count {
			found := lexical.LookupTerm([]lexical.Part{{Segment: seg}}, term)
			if len(found) != 1 || found[0].TF != tf {
				t.Fatalf("%q occurs %v, in the segment %+v", term, tf, found)
			}
		}
	}
}

// TestBackground: documents of which only a sample is searched score what they score
// among all, also beside documents that are not in the background.
func TestBackground(t *testing.T) {
	docs := sources(t)
	shared := func(i int) bool { return i%3 != 0 }
	local := func(i int) bool { return i%3 == 0 }
	some := func(i int) bool { return shared(i) && i%7 == 1 }
	all, _ := segmentOf(docs, shared)
	sample, sampled := segmentOf(docs, some)
	own, owned := segmentOf(docs, local)

	tok := lexical.NewTokenizer()
	q := lexical.Query{Terms: tok.Query("how are postings of a HTTPServer merged into segments sendStaticFile")}
	background := &lexical.Background{Docs: all.Len(), DF: map[string]int{}}
	b := lexical.NewBuilder(tok)
	for i, d := range docs {
		if shared(i) {
			for f, n := range lexical.Lengths(b.Terms(d)) {
				background.Terms[f] += n
			}
		}
	}
	for _, term := range q.Terms {
		background.DF[term.Text] = lexical.DF([]lexical.Part{{Segment: all}}, term.Text)
	}
	_, every := segmentOf(docs, shared)
	score := func(parts []lexical.Part, q lexical.Query, numbers ...[]int) (map[int]float64, lexical.Stats) {
		var se lexical.Searcher
		res, err := se.Search(t.Context(), parts, q, 1000)
		if err != nil {
			t.Fatal(err)
		}
		scores := map[int]float64{}
		for _, h := range res.Hits {
			scores[numbers[h.Part][h.Doc]] = h.Score
			if x := lexical.Explain(parts, q, h); math.Abs(x.Score-h.Score) > 1e-4*h.Score {
				t.Errorf("document %d scores %v, explained as %v", numbers[h.Part][h.Doc], h.Score, x.Score)
			}
		}
		return scores, res.Stats
	}
	whole, wholeStats := score([]lexical.Part{{Segment: own}, {Segment: all}}, q, owned, every)
	q.Background = background
	seen, stats := score([]lexical.Part{{Segment: own}, {Segment: sample, Sample: true}}, q, owned, sampled)
	if stats.Docs != wholeStats.Docs || !slices.Equal(stats.Terms, wholeStats.Terms) || !slices.Equal(stats.Groups, wholeStats.Groups) {
		t.Errorf("statistics %+v, of all %+v", stats, wholeStats)
	}
	fromSample := 0
	for i, s := range seen {
		if math.Abs(s-whole[i]) > 1e-5*s {
			t.Errorf("document %d scores %v, among all %v", i, s, whole[i])
		}
		if shared(i) {
			fromSample++
		}
	}
	if fromSample < 3 || len(seen) == fromSample {
		t.Fatalf("%d hits, %d from the sample: the test tests nothing", len(seen), fromSample)
	}
	// Of a term that the background lacks, what the sample shows counts.
	clear(background.DF)
	if df := background.DFIn([]lexical.Part{{Segment: sample, Sample: true}}, "segment"); df == 0 {
		t.Error("a word that the sample has is unknown")
	}
}
