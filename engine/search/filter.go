package search

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/wire"

	"github.com/bmatcuk/doublestar/v4"
)

// EmergencyFallback marks a search in which no filter at all could be kept
// (PRD, graduated relaxation).
const EmergencyFallback = "[EMERGENCY FALLBACK]"

// filter decides which documents are searched.
type filter struct {
	// files are those that pass the file-level filters; nil means all.
	files map[*index.File]bool
	// doc decides on chunk-level filters; nil means all.
	doc func(*index.Doc) bool
	// folders raise what lies in them.
	folders []string
}

// FilterError is a filter that is none; Error says which and why.
type FilterError struct{ Reason string }

func (e *FilterError) Error() string { return e.Reason }

// newFilter compiles the filters and relaxes them until a document passes:
// file patterns go first, then the other explicit filters, then the source
// types. fallback says what was dropped. Without relax none is: nothing may pass.
func newFilter(s *index.Snapshot, w wire.Filters, relax bool) (f *filter, fallback string, err error) {
	w = trimmed(w)
	for _, p := range w.FilePatterns {
		if !doublestar.ValidatePattern(p) {
			return nil, "", &FilterError{fmt.Sprintf("%q is not a valid file pattern", p)}
		}
	}
	for _, t := range w.SourceTypes {
		switch file.SourceType(t) {
		case file.Code, file.Markdown, file.Text:
		default:
			return nil, "", &FilterError{fmt.Sprintf("%q is not a source type: use code, markdown or text", t)}
		}
	}
	omit, err := file.NewGlobs(w.Omit)
	if err != nil {
		return nil, "", &FilterError{err.Error()}
	}
	in, err := Repositories(w.Repositories)
	if err != nil {
		return nil, "", &FilterError{err.Error()}
	}
	var dropped []string
	for {
		f = compile(s, w, omit, in)
		if f.any(s) || s.Len() == 0 {
			break
		}
		switch {
		case !relax:
			return f, "", nil
		case len(w.FilePatterns) > 0:
			dropped = append(dropped, "no file matches "+strings.Join(w.FilePatterns, ", ")+": searched without file patterns")
			w.FilePatterns = nil
		case len(w.Languages)+len(w.Layers)+len(w.Symbols)+len(w.Imports)+len(w.ChunkTypes) > 0:
			dropped = append(dropped, "nothing passes the filters on "+strings.Join(explicit(w), ", ")+": searched without them")
			w.Languages, w.Layers, w.Symbols, w.Imports, w.ChunkTypes = nil, nil, nil, nil, nil
		case len(w.SourceTypes) > 0:
			dropped = append(dropped, EmergencyFallback+" nothing of type "+strings.Join(w.SourceTypes, ", ")+" is indexed: searched all types")
			w.SourceTypes = nil
		default:
			return f, strings.Join(dropped, "; "), nil
		}
	}
	return f, strings.Join(dropped, "; "), nil
}

// trimmed drops empty entries, which clients send for "none".
func trimmed(w wire.Filters) wire.Filters {
	for _, list := range []*[]string{&w.Repositories, &w.SourceTypes, &w.Folders, &w.FilePatterns, &w.Languages, &w.Layers, &w.Symbols, &w.Imports, &w.ChunkTypes} {
		var kept []string
		for _, x := range *list {
			if x = strings.TrimSpace(x); x != "" {
				kept = append(kept, x)
			}
		}
		*list = kept
	}
	for i, p := range w.FilePatterns {
		w.FilePatterns[i] = strings.TrimPrefix(strings.TrimPrefix(strings.ReplaceAll(p, `\`, "/"), "./"), "/")
	}
	return w
}

func explicit(w wire.Filters) []string {
	var names []string
	for name, list := range map[string][]string{"language": w.Languages, "layer": w.Layers, "symbol": w.Symbols, "import": w.Imports, "chunk type": w.ChunkTypes} {
		if len(list) > 0 {
			names = append(names, name+" "+strings.Join(list, "|"))
		}
	}
	slices.Sort(names)
	return names
}

func compile(s *index.Snapshot, w wire.Filters, omit file.Globs, in func(repository string) bool) *filter {
	f := &filter{folders: w.Folders}
	if len(w.SourceTypes)+len(w.FilePatterns)+len(w.Languages)+len(w.Omit)+len(w.Repositories) > 0 {
		f.files = map[*index.File]bool{}
		for _, fl := range s.Files() {
			if (len(w.SourceTypes) == 0 || slices.Contains(w.SourceTypes, string(fl.Class.SourceType))) &&
				(len(w.Languages) == 0 || anyFold(w.Languages, fl.Class.Language)) &&
				(len(w.FilePatterns) == 0 || matchesPattern(w.FilePatterns, fl)) &&
				(len(w.Repositories) == 0 || in(repository(fl))) &&
				!fl.Named(omit) {
				f.files[fl] = true
			}
		}
	}
	if len(w.Layers)+len(w.Symbols)+len(w.Imports)+len(w.ChunkTypes) > 0 {
		f.doc = func(d *index.Doc) bool {
			return (len(w.Layers) == 0 || anyFold(w.Layers, d.Layer)) &&
				(len(w.ChunkTypes) == 0 || anyFold(w.ChunkTypes, string(d.Kind))) &&
				(len(w.Symbols) == 0 || slices.ContainsFunc(d.Symbols, func(n string) bool { return anyFold(w.Symbols, n) })) &&
				(len(w.Imports) == 0 || slices.ContainsFunc(d.Imports, func(n string) bool { return anyFold(w.Imports, n) }))
		}
	}
	return f
}

// matchesPattern matches a pattern without a slash with the base name, one
// with a slash with the path in the workspace or in its root.
func matchesPattern(patterns []string, f *index.File) bool {
	for _, p := range patterns {
		if !strings.Contains(p, "/") {
			if doublestar.MatchUnvalidated(p, path.Base(f.Path)) {
				return true
			}
			continue
		}
		if doublestar.MatchUnvalidated(p, f.Path) || f.Rel != f.Path && doublestar.MatchUnvalidated(p, f.Rel) {
			return true
		}
	}
	return false
}

func anyFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return strings.EqualFold(x, s) })
}

// any reports whether a document passes.
func (f *filter) any(s *index.Snapshot) bool {
	if f.files == nil && f.doc == nil {
		return s.Len() > 0
	}
	for _, fl := range s.Files() {
		if f.files != nil && !f.files[fl] {
			continue
		}
		for _, r := range s.DocsOf(fl) {
			if f.doc == nil || f.doc(s.Doc(r)) {
				return true
			}
		}
	}
	return false
}

// keep returns the filter as a function for one list, nil where all pass. It
// remembers the last file, since documents of a file come together; it must
// not be shared by goroutines.
func (f *filter) keep() func(*index.Doc) bool {
	if f.files == nil && f.doc == nil {
		return nil
	}
	var last *index.File
	in := false
	return func(d *index.Doc) bool {
		if f.files != nil {
			if d.File != last {
				last, in = d.File, f.files[d.File]
			}
			if !in {
				return false
			}
		}
		return f.doc == nil || f.doc(d)
	}
}

// inFolder reports whether a path lies in one of the named folders, by whole
// segments at any depth.
func inFolder(folders []string, p string) bool {
	for _, f := range folders {
		f = strings.Trim(strings.ReplaceAll(strings.TrimPrefix(f, "./"), `\`, "/"), "/")
		if f != "" && (strings.HasPrefix(p, f+"/") || strings.Contains(p, "/"+f+"/")) {
			return true
		}
	}
	return false
}
