package search

import (
	"iter"
	"strings"

	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
)

// Vocabulary answers the analysis's questions from a snapshot
// (query.Vocabulary). It is used by one goroutine.
type Vocabulary struct {
	snap       *index.Snapshot
	parts      []lexical.Part
	background *lexical.Background
}

// NewVocabulary returns the vocabulary of a snapshot.
func NewVocabulary(s *index.Snapshot) *Vocabulary {
	return &Vocabulary{snap: s, parts: s.Parts(), background: s.Background()}
}

// Defined implements query.Vocabulary.
func (v *Vocabulary) Defined(name string) bool { return len(v.snap.Definitions(name)) > 0 }

// DF implements query.Vocabulary.
func (v *Vocabulary) DF(term string) int { return v.background.DFIn(v.parts, term) }

// HasFile implements query.Vocabulary.
func (v *Vocabulary) HasFile(path string) bool { return len(filesNamed(v.snap, path)) > 0 }

// Names implements query.Vocabulary.
func (v *Vocabulary) Names() iter.Seq[string] { return v.snap.Names() }

// filesNamed returns the files that a path as a question writes it names: those
// that it is the end of, else, for the absolute path of another machine or of a
// stack trace, the one that is the longest end of it.
func filesNamed(s *index.Snapshot, asked string) []*index.File {
	if asked = trimSlash(asked); asked == "" {
		return nil
	}
	var named, ends []*index.File
	for _, f := range s.Files() {
		switch {
		case namesFile(f.Path, asked):
			named = append(named, f)
		case strings.Contains(f.Path, "/") && namesFile(asked, f.Path):
			if len(ends) > 0 && len(f.Path) > len(ends[0].Path) {
				ends = ends[:0]
			}
			if len(ends) == 0 || len(f.Path) == len(ends[0].Path) {
				ends = append(ends, f)
			}
		}
	}
	if len(named) > 0 {
		return named
	}
	return ends
}

// namesFile reports whether a path as a question writes it names a workspace
// path: it is its end by whole segments, whatever the case.
func namesFile(path, asked string) bool {
	at := len(path) - len(asked)
	return at >= 0 && strings.EqualFold(path[at:], asked) && (at == 0 || path[at-1] == '/')
}
