package file

import (
	"maps"
	"slices"

	"coderag-ls/engine/text"
)

// Buffer is a document as an editor holds it, saved or not.
type Buffer struct {
	// Path is absolute.
	Path    string
	Text    string
	Hash    Hash // of Text
	Version int32
	// Language is the editor's language id; may be "".
	Language string
}

// Overlay is the set of an editor's buffers at one moment. It is immutable: the
// zero value is the empty one, and Apply returns another.
type Overlay struct {
	buffers map[string]Buffer
}

// Get returns the buffer of an absolute path.
func (o *Overlay) Get(path string) (Buffer, bool) {
	b, ok := o.buffers[path]
	return b, ok
}

// Paths returns the paths of the buffers, sorted.
func (o *Overlay) Paths() []string { return slices.Sorted(maps.Keys(o.buffers)) }

// Apply returns the overlay after the changes, in their order, and the sorted
// paths of the buffers that appeared, went or have another text. Touched
// changes, of the disk, change no buffer. An edit of a buffer that was not
// opened opens it.
func (o *Overlay) Apply(changes []Change) (*Overlay, []string) {
	next := &Overlay{buffers: maps.Clone(o.buffers)}
	if next.buffers == nil {
		next.buffers = map[string]Buffer{}
	}
	touched := map[string]bool{}
	for _, c := range changes {
		switch c.Kind {
		case Opened, Edited:
			b := Buffer{Path: c.Path, Text: c.Text, Version: c.Version, Language: c.Language}
			if c.Kind == Edited {
				b.Language = next.buffers[c.Path].Language
			}
			next.buffers[c.Path] = b
		case Closed:
			delete(next.buffers, c.Path)
		default:
			continue
		}
		touched[c.Path] = true
	}
	var changed []string
	for _, path := range slices.Sorted(maps.Keys(touched)) {
		before, was := o.buffers[path]
		after, is := next.buffers[path]
		if is {
			after.Hash = text.Hash(after.Text)
			next.buffers[path] = after
		}
		if was != is || before.Hash != after.Hash {
			changed = append(changed, path)
		}
	}
	return next, changed
}
