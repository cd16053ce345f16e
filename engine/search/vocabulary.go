package search

import (
	"strings"

	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
)

// Vocabulary answers the analysis's questions from a snapshot
// (query.Vocabulary). It is used by one goroutine.
type Vocabulary struct {
	snap  *index.Snapshot
	parts []lexical.Part
}

// NewVocabulary returns the vocabulary of a snapshot.
func NewVocabulary(s *index.Snapshot) *Vocabulary {
	return &Vocabulary{snap: s, parts: s.Parts()}
}

// Defined implements query.Vocabulary.
func (v *Vocabulary) Defined(name string) bool { return len(v.snap.Definitions(name)) > 0 }

// DF implements query.Vocabulary.
func (v *Vocabulary) DF(term string) int { return lexical.DF(v.parts, term) }

// HasFile implements query.Vocabulary.
func (v *Vocabulary) HasFile(path string) bool {
	if path == "" {
		return false
	}
	for _, f := range v.snap.Files() {
		if namesFile(f.Path, path) {
			return true
		}
	}
	return false
}

// namesFile reports whether a path as a question writes it names a workspace
// path: it is its end by whole segments, whatever the case.
func namesFile(path, asked string) bool {
	at := len(path) - len(asked)
	return at >= 0 && strings.EqualFold(path[at:], asked) && (at == 0 || path[at-1] == '/')
}
