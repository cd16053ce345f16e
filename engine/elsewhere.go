package engine

import (
	"cmp"
	"context"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"sync"

	"coderag-ls/engine/index"
	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
)

const (
	// maxElsewhere is how many files are read to find lines that left theirs.
	maxElsewhere = 200
	// maxAlike is how many files one citation is looked for in by its words or
	// its file's name.
	maxAlike = 30
	// maxWords is how many words of cited lines are looked up.
	maxWords = 12
)

// findElsewhere looks for lines that are not in the cited file any more: in the
// chunks that have their hash, in files of the same name, and in those that
// hold their rarest word.
func (c *citationCheck) findElsewhere(ctx context.Context, missing []int) error {
	missing = slices.DeleteFunc(missing, func(i int) bool { return !c.telling(&c.all[i]) })
	if len(missing) == 0 {
		return nil
	}
	snap, err := c.inner.Snapshot(ctx)
	if err != nil {
		return err
	}
	wanted := map[*index.File][]int{}
	want := func(f *index.File, i int) {
		if !slices.Contains(wanted[f], i) && f.Path != c.all[i].Path {
			wanted[f] = append(wanted[f], i)
		}
	}
	c.byHash(snap, missing, want)
	c.byName(snap, missing, want)
	for _, i := range missing {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, f := range rarest(snap, c.all[i].was) {
			want(f, i)
		}
	}
	// Files of the same name first, for each citation; else in path order.
	files := make([]*index.File, 0, len(wanted))
	for f := range wanted {
		files = append(files, f)
	}
	named := func(f *index.File) int {
		if slices.ContainsFunc(wanted[f], func(i int) bool { return sameBase(f.Path, c.all[i].Path) }) {
			return 0
		}
		return 1
	}
	slices.SortFunc(files, func(a, b *index.File) int {
		return cmp.Or(cmp.Compare(named(a), named(b)), strings.Compare(a.Path, b.Path))
	})
	for _, f := range files[:min(len(files), maxElsewhere)] {
		if _, ok := c.ix.Admits(f.Path); !ok {
			continue // it has become a symlink, or is left out by now
		}
		which := slices.DeleteFunc(wanted[f], func(i int) bool { return c.all[i].state != "" })
		if len(which) == 0 {
			continue
		}
		if err := c.findIn(ctx, c.text(f.Abs()), which, func(one *citedLines) { one.abs, one.path = f.Abs(), f.Path }); err != nil {
			return err
		}
	}
	return nil
}

// telling reports whether lines say enough to be known again in another file: a
// closing bracket stands in all of them.
func (c *citationCheck) telling(one *citedLines) bool {
	if one.was == "" {
		return one.Lines() >= 3
	}
	return len(strings.Join(strings.Fields(one.was), "")) >= 20
}

// byHash finds files with a chunk that has the cited hash.
func (c *citationCheck) byHash(snap *index.Snapshot, missing []int, want func(*index.File, int)) {
	bySHA8 := map[[4]byte][]int{}
	for _, i := range missing {
		var key [4]byte
		if _, err := hex.Decode(key[:], []byte(c.all[i].SHA8)); err == nil {
			bySHA8[key] = append(bySHA8[key], i)
		}
	}
	for d := range snap.Docs() {
		for _, i := range bySHA8[[4]byte(d.Hash[:4])] {
			if d.EndLine-d.StartLine+1 == c.all[i].Lines() {
				want(d.File, i)
			}
		}
	}
}

// byName finds files of the cited one's name in other folders. Where it is
// there still, it was not renamed.
func (c *citationCheck) byName(snap *index.Snapshot, missing []int, want func(*index.File, int)) {
	byBase := map[string][]int{}
	for _, i := range missing {
		if c.all[i].source.doc == nil {
			base := path.Base(c.all[i].Path)
			byBase[base] = append(byBase[base], i)
		}
	}
	if len(byBase) == 0 {
		return
	}
	counts := map[string]int{}
	for _, f := range snap.Files() {
		base := path.Base(f.Path)
		if counts[base]++; counts[base] <= maxAlike {
			for _, i := range byBase[base] {
				want(f, i)
			}
		}
	}
}

// rarest returns the files that hold the word of some lines that fewest files
// hold.
func rarest(snap *index.Snapshot, lines string) []*index.File {
	words := strings.FieldsFunc(lines, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 4 })
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	words = slices.Compact(words)
	var best []index.Ref
	for _, word := range words[:min(len(words), maxWords)] {
		if refs := snap.Identifier(word, maxAlike+1); len(refs) > 0 && (best == nil || len(refs) < len(best)) {
			best = refs
		}
	}
	var files []*index.File
	for _, r := range best {
		if f := snap.Doc(r).File; !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	return files
}

// maxCited is how much of cited lines is remembered, in bytes.
const maxCited = 4 << 20

// citedTexts remembers cited lines that were seen where they were cited: when
// they change they are known, and found wherever they went. The zero value is
// ready.
type citedTexts struct {
	mu    sync.Mutex
	texts map[citedKey]string
	size  int
}

type citedKey struct {
	sha8  string
	lines int
}

func (t *citedTexts) remember(c snippet.Citation, lines string) {
	key := citedKey{c.SHA8, c.Lines()}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, have := t.texts[key]; have || len(lines) > maxCited/16 {
		return
	}
	if t.texts == nil || t.size+len(lines) > maxCited {
		t.texts, t.size = map[citedKey]string{}, 0
	}
	// Clones, not to hold the whole files.
	key.sha8 = strings.Clone(key.sha8)
	t.texts[key] = strings.Clone(lines)
	t.size += len(lines)
}

func (t *citedTexts) recall(c snippet.Citation) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.texts[citedKey{c.SHA8, c.Lines()}]
	if was != "" && !c.Matches(text.HexHash(was)) {
		return ""
	}
	return was
}
