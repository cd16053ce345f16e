package lexical

import "math"

// Term is one term of a query.
type Term struct {
	// Text is the term as the dictionary holds it: a stemmed word or an Exact identifier.
	Text string
	// Weight multiplies the term's score; 1 for what the user wrote, less for
	// what was added.
	Weight float64
	// Group numbers the word of the question that the term stands for, from 0.
	// Expansions of a word have its group. Groups past 31 count as 31.
	Group int
	// Required leaves out documents in which no term of the group occurs.
	Required bool
}

// MaxGroups is the number of groups that are told apart.
const MaxGroups = 32

// Query is what to search for.
type Query struct {
	Terms  []Term
	Params Params
	// Background are the statistics of documents of which the parts hold some
	// only (Part.Sample); nil where they hold all.
	Background *Background
}

// Background are statistics of documents that a search sees a sample of. With
// them a document in the sample scores what it would among all of them.
type Background struct {
	// Docs is the number of documents, Terms the sum of their lengths by field.
	Docs  int
	Terms [NumFields]uint64
	// DF is in how many of them terms occur, by Term.Text. Of a term that it lacks
	// no more is known than the sample shows.
	DF map[string]int
}

// DFIn is DF over parts of which some are a sample of the background's documents.
// b may be nil.
func (b *Background) DFIn(parts []Part, term string) int {
	others, sample := 0, 0
	for _, p := range parts {
		e, ok := p.Segment.find(term)
		switch {
		case !ok:
		case p.Sample && b != nil:
			sample += p.df(e)
		default:
			others += p.df(e)
		}
	}
	if b == nil {
		return others
	}
	return others + max(b.DF[term], sample)
}

// Params are BM25F's. The zero value means DefaultParams.
type Params struct {
	// Weights multiply a field's term frequencies (w_f).
	Weights [NumFields]float64
	// B is the length normalisation by field, 0 (none) to 1 (full) (b_f).
	B [NumFields]float64
	// K1 is where a term's frequency saturates.
	K1 float64
}

// DefaultParams are what measured best over questions about 24 repositories and
// commit messages of 9 (coordinate search, then rounded; the optimum is flat). Against the
// customary k1 = 1.2, b = 0.75 and weights of 1 to 3 they gain 0.04 NDCG@10 on
// both: chunks are of much the same size, so that more occurrences say more and saturate
// late, and a file's name says what the file is about. Only the ratios of the
// weights and K1 matter; Body is 0.5 so that the others are near the customary
// numbers.
func DefaultParams() Params {
	return Params{
		Weights: [NumFields]float64{Body: 0.5, Comment: 0.75, Name: 7, Path: 4, Defs: 2, Summary: 1},
		B:       [NumFields]float64{Body: 0.9, Comment: 0.25, Name: 0.9, Path: 0.25, Defs: 0.5, Summary: 0.5},
		K1:      5,
	}
}

// Weights of what a question's words become.
const (
	keywordWeight = 0.7 // a keyword, where the question has other words
	pieceWeight   = 0.5 // "256" of "sha256"
	exactWeight   = 1.5 // the whole identifier beside its parts
	nameWeight    = 0.5 // a word in the form of a type's name ("Router"), as an identifier
)

// Query turns a question, an identifier or any text into terms. Stop words are left out
// and keywords weigh less, unless nothing else is there. A word written like an
// identifier also looks for that identifier. Repeated words count once.
func (t *Tokenizer) Query(text string) []Term {
	var terms []Term
	at := map[string]int{}
	group := 0
	add := func(s string, weight float64, g int) {
		if i, ok := at[s]; ok {
			terms[i].Weight = max(terms[i].Weight, weight)
			return
		}
		at[s] = len(terms)
		terms = append(terms, Term{Text: s, Weight: weight, Group: min(g, MaxGroups-1)})
	}
	var r run
	content := false
	first := true
	var stopped []string
	for i := 0; ; {
		start, end, resume := t.next(text, i)
		if start >= len(text) {
			break
		}
		i = resume
		t.analyse(text[start:end], &r)
		single := r.form == formPlain || r.form == formCaps
		begins := first
		first = false
		if single && len(r.words) == 1 {
			if w := r.words[0].text; QueryStopWord(w) && !(r.form == formCaps && len(w) > 1) {
				stopped = append(stopped, w)
				continue
			}
		}
		for _, w := range r.words {
			if len(w.text) == 1 && w.text[0] < 0x80 {
				continue
			}
			weight, g := 1.0, group
			switch {
			case w.piece:
				weight, g = pieceWeight, max(group-1, 0)
			case single && Keyword(w.text):
				weight = keywordWeight
			default:
				content = true
			}
			n := len(terms)
			add(t.stems.stem(w.text), weight, g)
			if !w.piece && len(terms) > n {
				group++
			}
		}
		if len(r.ident) < 2 {
			continue
		}
		n := len(terms)
		switch {
		case r.form == formCompound:
			add(Exact(r.ident), exactWeight, group)
			content = true
		case r.form == formPlain && text[start] >= 'A' && text[start] <= 'Z' && !begins:
			add(Exact(r.ident), nameWeight, max(group-1, 0))
			continue
		}
		if len(terms) > n {
			group++
		}
	}
	if len(terms) == 0 {
		for _, w := range stopped {
			if !StopWord(w) {
				add(t.stems.stem(w), 1, group)
				group++
			}
		}
		return terms
	}
	if !content {
		for i := range terms {
			if terms[i].Weight == keywordWeight {
				terms[i].Weight = 1
			}
		}
	}
	return terms
}

// Exact is the exact term of an identifier.
func Exact(identifier string) string { return string(exactMark) + lowerIdent(identifier) }

// idf is the inverse document frequency of Robertson and Sparck Jones with
// one added under the logarithm, so that it is never negative.
func idf(docs, df float64) float64 { return math.Log1p((docs - df + 0.5) / (df + 0.5)) }
