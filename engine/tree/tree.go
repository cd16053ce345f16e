// Package tree draws a workspace's files as a tree that is short enough for a
// language model to read (PRD, codebase tree generation).
package tree

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// depth is how many levels of folders are drawn at most (PRD: 4).
const depth = 4

// node is a folder.
type node struct {
	name    string
	folders map[string]*node
	files   []string
	total   int // files below
}

// Build draws the tree of slash paths within a budget of tokens (a quarter of
// the bytes each): folders end with /, a folder with many files counts them by
// type instead, and where that is still too long fewer levels are drawn. "" is
// the tree of nothing.
func Build(paths []string, tokens int) string {
	root := &node{folders: map[string]*node{}}
	for _, p := range paths {
		at := root
		at.total++
		dir, file := path.Split(p)
		for _, name := range strings.FieldsFunc(dir, func(r rune) bool { return r == '/' }) {
			next := at.folders[name]
			if next == nil {
				next = &node{name: name, folders: map[string]*node{}}
				at.folders[name] = next
			}
			at = next
			at.total++
		}
		at.files = append(at.files, file)
	}
	out := ""
	for levels := depth; levels >= 1; levels-- {
		for _, most := range []int{40, 8, 0} {
			var b strings.Builder
			root.draw(&b, tokens*4, 0, levels, most)
			if out = b.String(); (len(out)+3)/4 <= tokens {
				return out
			}
		}
	}
	if most := tokens * 4; len(out) > most { // very many folders at the top
		cut := strings.LastIndexByte(out[:most], '\n') + 1
		out = out[:cut] + "...\n"
	}
	return out
}

// draw writes what a folder holds, and stops when that is too long; most is how
// many files are named.
func (n *node) draw(b *strings.Builder, limit, indent, levels, most int) {
	pad := strings.Repeat(" ", indent)
	names := make([]string, 0, len(n.folders))
	for name := range n.folders {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if b.Len() > limit {
			return
		}
		f := n.folders[name]
		label := clean(name)
		for len(f.files) == 0 && len(f.folders) == 1 { // a/b/c on one line
			for _, only := range f.folders {
				f = only
			}
			label += "/" + clean(f.name)
		}
		if levels <= 1 {
			fmt.Fprintf(b, "%s%s/ (%s)\n", pad, label, kinds(f.all()))
			continue
		}
		fmt.Fprintf(b, "%s%s/\n", pad, label)
		f.draw(b, limit, indent+1, levels-1, most)
	}
	if len(n.files) > most {
		fmt.Fprintf(b, "%s(%s)\n", pad, kinds(n.files))
		return
	}
	slices.Sort(n.files)
	for _, file := range n.files {
		b.WriteString(pad + clean(file) + "\n")
	}
}

// all are the names of the files below.
func (n *node) all() []string {
	all := slices.Clone(n.files)
	for _, f := range n.folders {
		all = append(all, f.all()...)
	}
	return all
}

// kinds counts files by their ending, the most common first.
func kinds(files []string) string {
	counts := map[string]int{}
	for _, f := range files {
		ext := path.Ext(f)
		if ext == "" {
			ext = "other"
		}
		counts[clean(ext)]++
	}
	var all []string
	for ext := range counts {
		all = append(all, ext)
	}
	slices.SortFunc(all, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for i, ext := range all {
		if i == 4 {
			parts = append(parts, fmt.Sprintf("%d more types", len(all)-i))
			break
		}
		noun := "files"
		if counts[ext] == 1 {
			noun = "file"
		}
		parts = append(parts, fmt.Sprintf("%d %s %s", counts[ext], ext, noun))
	}
	return strings.Join(parts, ", ")
}

// clean keeps a name on its line, and short.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, name)
	if r := []rune(name); len(r) > 80 {
		name = string(r[:79]) + "…"
	}
	return name
}
