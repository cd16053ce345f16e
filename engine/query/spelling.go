package query

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"coderag-ls/engine/lexical"
)

// Repair is a name of the question that nothing has, with the defined name that
// was searched for instead.
type Repair struct{ Asked, Name string }

const (
	// minRepaired is the least length of a name that is repaired, in letters and
	// digits: every short word is near to another.
	minRepaired = 5
	// twoEdits is the length from which on two letters may be wrong.
	twoEdits = 9
)

// repairs finds the defined names that the question's unknown ones are
// misspellings of: the same letters in another style (get_user for getUser), or
// one or two edits away (Damerau, 1964: a letter more, less, another, or two
// swapped). Digits must be equal, since parse2 is not parse1, and so must each word's
// first letter, since few people mistype it and get is not set.
func (an *Analyzer) repairs(a *Analysis, vocab Vocabulary) []Repair {
	var out []Repair
	for i := range a.Entities {
		e := &a.Entities[i]
		switch e.Kind {
		case Pascal, Camel, Snake, Dotted, Identifier:
		default:
			continue
		}
		asked := e.Text[lastPart(e.Text):]
		if vocab.Defined(asked) || vocab.DF(lexical.Exact(asked)) > 0 {
			continue // as it is known, if only as somebody else's
		}
		if name := an.nearest(asked, e.Kind, vocab); name != "" {
			out = append(out, Repair{asked, name})
		}
	}
	return out
}

// lastPart is where the last part of a dotted name begins.
func lastPart(s string) int { return strings.LastIndexAny(s, ".:>#") + 1 }

// nearest is the defined name that asked is a misspelling of, "" where there is
// none. Of several the one with fewest edits counts, then the one that occurs
// most, then the first by name.
func (an *Analyzer) nearest(asked string, kind EntityKind, vocab Vocabulary) string {
	key := folded(asked)
	if len(key) < minRepaired {
		return ""
	}
	most := 1
	switch known := an.allKnown(asked, vocab); {
	case known && kind == Identifier:
		return "" // a word of the code that happens to be no name
	case !known && len(key) >= twoEdits:
		most = 2
	}
	digits := digitsOf(key)
	best, edits, uses := "", most+1, 0
	for name := range vocab.Names() {
		if name == "" || abs(len(name)-len(asked)) > most+4 {
			continue // more underscores than that no style has
		}
		other := folded(name)
		if abs(len(other)-len(key)) > most || len(other) == 0 || other[0] != key[0] || digitsOf(other) != digits {
			continue
		}
		n := distance(key, other, edits)
		if n > edits || n > most || !an.sameInitials(asked, name) {
			continue
		}
		df := vocab.DF(lexical.Exact(name))
		if n < edits || cmp.Or(cmp.Compare(df, uses), strings.Compare(best, name)) > 0 {
			best, edits, uses = name, n, df
		}
	}
	return best
}

// sameInitials reports whether the words of two names begin alike, where they
// are as many: countNumbats is not countWombats.
func (an *Analyzer) sameInitials(a, b string) bool {
	x, y := an.tok.Stems(a), an.tok.Stems(b)
	if len(x) != len(y) {
		return true
	}
	for i := range x {
		if x[i][0] != y[i][0] {
			return false
		}
	}
	return true
}

// allKnown reports whether all words of a name occur in the index.
func (an *Analyzer) allKnown(name string, vocab Vocabulary) bool {
	return !slices.ContainsFunc(an.tok.Stems(name), func(s string) bool { return vocab.DF(s) == 0 })
}

// folded is a name without its style: letters and digits in lower case.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

func digitsOf(s string) string {
	if !strings.ContainsAny(s, "0123456789") {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

func abs(n int) int { return max(n, -n) }

// distance is the optimal string alignment distance of two names in bytes, or
// most+1 where it is more.
func distance(a, b string, most int) int {
	if a == b {
		return 0
	}
	var rows [3][64]int
	if len(a) >= len(rows[0]) || len(b) >= len(rows[0]) {
		return most + 1
	}
	before, last, now := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
			least = min(least, now[j])
		}
		if least > most {
			return most + 1
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}

// mended is the question with its misspelt names put right.
func mended(q string, entities []Entity, repairs []Repair) string {
	var b strings.Builder
	at := 0
	for _, e := range entities {
		cut := e.Start + lastPart(e.Text)
		i := slices.IndexFunc(repairs, func(r Repair) bool { return e.Text[lastPart(e.Text):] == r.Asked })
		if i < 0 || e.Kind == Error || e.Kind == Quoted || e.Kind == Path || cut < at || !strings.HasPrefix(q[cut:], repairs[i].Asked) {
			continue
		}
		b.WriteString(q[at:cut])
		b.WriteString(repairs[i].Name)
		at = cut + len(repairs[i].Asked)
	}
	b.WriteString(q[at:])
	return b.String()
}
