package answer

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
)

// usage is one line of code that names a symbol.
type usage struct {
	ref    index.Ref
	place  Place
	line   int           // as the file stands
	text   string        // trimmed
	caller *chunk.Symbol // the definition around it, or nil
	call   bool          // the name is called
	test   bool
	code   bool // of a source file, not of documentation
	// imported: the line imports the name; comment: it says it in a comment or
	// a string.
	imported, comment bool
	score             float64
}

// relevance turns the order of uses into 0 to 1.
func (u *usage) relevance() float64 { return max(0, min(1, u.score/8)) }

// Bounds on looking for uses: an identifier may stand in thousands of chunks.
const (
	maxUsageDocs  = 400 // chunks that are ranked
	maxUsageFiles = 8   // files that are read, and half as many tests
)

// target is the symbol whose uses are looked for.
type target struct {
	name string
	// home is the file of its definition, nil where it is not known; start and
	// end are the definition's lines there.
	home       *index.File
	start, end int
}

// usages finds where a symbol is used, best first: code before tests before
// prose, calls before mentions, near the definition before far from it. n is
// how many lines outside its definitions name it; of files that are not read a
// chunk counts as one line.
func (v *Verifier) usages(ctx context.Context, t target) (found []usage, n int) {
	type chunkUse struct {
		ref   index.Ref
		score float64
	}
	var uses []chunkUse
	for _, r := range v.snap.Identifier(t.name, maxUsageDocs) {
		d := v.snap.Doc(r)
		if d.File == t.home && d.StartLine >= t.start && d.EndLine <= t.end {
			continue // within the definition itself
		}
		var s float64
		switch d.File.Class.SourceType {
		case file.Code:
			s = 4
		case file.Markdown:
			s = 1
		}
		if d.File.Class.Generated || d.File.Class.Vendored {
			s -= 2
		}
		if d.File.Class.Example || strings.Contains(d.File.Path, "bench") {
			s -= 1.5
		}
		if t.home != nil {
			switch {
			case d.File == t.home:
				s += 0.25
			case sameDir(d.File, t.home):
				s += 0.5
			}
			if d.File.Class.Language == t.home.Class.Language {
				s += 1
			}
		}
		if isDefinition(d.Kind) {
			s += 0.5
		}
		uses = append(uses, chunkUse{r, s})
	}
	slices.SortStableFunc(uses, func(a, b chunkUse) int { return cmp.Compare(b.score, a.score) })
	// Tests are read too, but must not take the room of other code.
	tests, others := 0, 0
	for _, u := range uses {
		d := v.snap.Doc(u.ref)
		if _, have := v.files[d.File]; !have {
			read, most := &others, maxUsageFiles
			if d.File.Class.Test {
				read, most = &tests, maxUsageFiles/2
			}
			if *read == most {
				n++
				continue
			}
			*read++
		}
		p, ok := v.Locate(ctx, u.ref)
		if !ok {
			continue
		}
		found = append(found, v.usesIn(t, u.ref, p, u.score)...)
	}
	n += len(found)
	slices.SortStableFunc(found, func(a, b usage) int { return cmp.Compare(b.score, a.score) })
	return found, n
}

// usesIn finds the lines of one chunk that name the symbol.
func (v *Verifier) usesIn(t target, r index.Ref, p Place, score float64) []usage {
	d := v.snap.Doc(r)
	shift := p.shift(d)
	var found []usage
	for n := p.Start; n <= p.End; n++ {
		if d.File == t.home && n-shift >= t.start && n-shift <= t.end {
			continue
		}
		line := p.Doc.Line(n)
		at := wordIn(line, t.name)
		if at < 0 || defines(d.File, t.name, n-shift) {
			continue
		}
		u := usage{ref: r, place: p, line: n, text: strings.TrimSpace(line), caller: enclosing(d.File, n-shift), test: d.File.Class.Test, code: d.File.Class.SourceType == file.Code, score: score}
		rest := strings.TrimLeft(line[at+len(t.name):], " \t")
		u.call = strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "!(") || strings.HasPrefix(rest, "::<") || strings.HasPrefix(line[at+len(t.name):], "{")
		u.comment, u.imported = comment(u.text) || quoted(line, at), imports(u.text)
		if u.caller != nil && u.caller.Name == t.name {
			u.score -= 1.5 // itself, or another of its name
		}
		switch {
		case u.comment:
			u.score -= 3
		case u.imported:
			u.score -= 2
		case u.call:
			u.score += 1
		}
		found = append(found, u)
	}
	return found
}

// defines reports whether a line (as indexed) is where a file defines the name.
func defines(f *index.File, name string, line int) bool {
	return slices.ContainsFunc(f.Symbols, func(s chunk.Symbol) bool { return s.NameLine == line && s.Name == name })
}

// wordIn is the byte offset of an identifier in a line, -1 where it is not
// there as a whole.
func wordIn(line, name string) int {
	for from := 0; ; {
		i := strings.Index(line[from:], name)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(name)
		if (i == 0 || !isWord(line[i-1])) && (end == len(line) || !isWord(line[end])) {
			return i
		}
		from = i + 1
	}
}

func comment(line string) bool {
	for _, mark := range [...]string{"//", "#", "*", "/*", "--", ";", "\"\"\"", "'''", "<!--", "%"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

// quoted reports whether a place in a line stands within a string, as far as
// the line itself tells.
func quoted(line string, at int) bool {
	var open byte
	for i := 0; i < at; i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
		case open != 0:
			if c == open {
				open = 0
			}
		case c == '"' || c == '`':
			open = c
		case c == '\'' && (i == 0 || !isWord(line[i-1])): // no apostrophe, no lifetime's end
			if strings.IndexByte(line[i+1:], '\'') >= 0 {
				open = c
			}
		}
	}
	return open != 0 && strings.IndexByte(line[at:], open) >= 0
}

func imports(line string) bool {
	for _, word := range [...]string{"import ", "from ", "use ", "using ", "require", "#include", "export {", "export *", "package "} {
		if strings.HasPrefix(line, word) {
			return true
		}
	}
	return strings.Contains(line, "require(")
}

// byCaller keeps the best line of each caller.
func byCaller(found []usage, snap *index.Snapshot) []usage {
	type key struct {
		file   *index.File
		caller *chunk.Symbol
	}
	seen := map[key]bool{}
	var out []usage
	for _, u := range found {
		k := key{snap.Doc(u.ref).File, u.caller}
		if !seen[k] {
			seen[k] = true
			out = append(out, u)
		}
	}
	return out
}
