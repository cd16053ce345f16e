package lsptest

import (
	"fmt"
	"path"
	"strings"
)

// next makes up a command. It may turn out not to be possible.
func (g *walker) next() command {
	files, open := g.files(), g.open()
	made := func(verb string, args ...string) command { return command{verb: verb, args: args} }
	anyOpen := func() string { return pick(g, open) }
	anyFile := func() string { return pick(g, files) }
	type choice struct {
		weight int
		make   func() command
	}
	choices := []choice{
		{30, func() command { return g.edit(anyOpen()) }},
		{3, func() command { return made("type", anyOpen(), "\n", g.words(3)) }},
		{2, func() command { return made("settext", anyOpen(), g.content(anyOpen())) }},
		{8, func() command { return made("save", anyOpen()) }},
		{7, func() command { return made("open", anyFile()) }},
		{2, func() command { p := g.path(); return made("open", p, g.content(p)) }},
		{6, func() command { return made("close", anyOpen()) }},
		{8, func() command { p := anyFile(); return made("write", p, g.content(p)) }},
		{6, func() command { p := g.path(); return made("write", p, g.content(p)) }},
		{4, func() command { p := anyFile(); return made("swap", p, g.content(p)) }},
		{1, func() command { return made("fill", g.path(), g.words(40)+"\n", "9000") }},
		{1, func() command { return made("write", anyFile(), "\x00\x01"+g.words(3)) }},
		{4, func() command { return made("rm", anyFile()) }},
		{1, func() command { return made("rm", path.Dir(anyFile())) }},
		{5, func() command { return made("mv", anyFile(), g.path()) }},
		{1, func() command { p := anyFile(); return made("mv", p, path.Join(path.Dir(p), swapCase(path.Base(p)))) }},
		{2, func() command { return made("mv", path.Dir(anyFile()), g.dir()) }},
		{1, func() command { p := anyFile(); return made("mv", p, p+"x") }},
		{1, func() command { return made("write", anyFile()+"/in.go", g.content("in.go")) }},
		{1, func() command { return made("ln", path.Base(anyFile()), path.Join(path.Dir(anyFile()), "link.go")) }},
		{1, func() command { return made("mkdir", g.dir()) }},
		{1, func() command {
			return made("write", path.Join(path.Dir(anyFile()), ".gitignore"), pick(g, []string{"*.md\n", "d1/\n", "*.py\n!f2.py\n", "\n", "f1.*\n"}))
		}},
		{1, func() command { return made("rm", path.Join(path.Dir(anyFile()), ".gitignore")) }},
		{5, func() command { return made("git", g.git()...) }},
		{4, func() command { return made("search", g.words(1+g.rng.IntN(3))) }},
		{3, func() command { return made("ask", pick(g, []string{"how does %s work?", "where is %s used?", "%s"})) }},
		{1, func() command { return made("context", g.words(2)) }},
		{1, func() command { return made("lens", anyOpen()) }},
		{2, func() command { return made("sync") }},
		{1, func() command { return made("sync", "scan") }},
		{2, func() command {
			g.n++
			return made("start", fmt.Sprint("r", g.n), pick(g, []string{"ask", "search", "context"}), g.words(2))
		}},
	}
	if g.rng.IntN(200) == 0 {
		if g.rng.IntN(2) == 0 {
			return made("restart", "abrupt")
		}
		return made("restart")
	}
	if g.rng.IntN(400) == 0 {
		return made("config", "index.exclude", pick(g, []string{`["d0/**"]`, `["*.txt"]`, "null"}))
	}
	sum := 0
	for _, c := range choices {
		sum += c.weight
	}
	at := g.rng.IntN(sum)
	for _, c := range choices {
		if at -= c.weight; at < 0 {
			one := c.make()
			if one.verb == "ask" {
				one.args[0] = strings.ReplaceAll(one.args[0], "%s", g.words(1))
			}
			return one
		}
	}
	return made("sync")
}

// pick takes one of several, the zero value where there is none.
func pick[T any](g *walker, of []T) (one T) {
	if len(of) == 0 {
		return one
	}
	return of[g.rng.IntN(len(of))]
}

// dir is a folder, which need not be there.
func (g *walker) dir() string {
	dir := fmt.Sprintf("d%d", g.rng.IntN(4))
	if g.rng.IntN(3) == 0 {
		dir += fmt.Sprintf("/e%d", g.rng.IntN(3))
	}
	return dir
}

// path is a file's, which need not be there.
func (g *walker) path() string {
	return fmt.Sprintf("%s/f%d.%s", g.dir(), g.rng.IntN(6), pick(g, []string{"go", "go", "py", "md", "txt", "json", "js"}))
}

// swapCase changes the case of letters.
func swapCase(s string) string {
	if up := strings.ToUpper(s); up != s {
		return up
	}
	return strings.ToLower(s)
}

// words are some that occur elsewhere, too.
func (g *walker) words(n int) string {
	all := []string{
		"wombat", "quoll", "numbat", "feed", "count", "zebra", "load", "parse", "config", "retry", "grüße", "日本", "😀", "runDo", "getItem",
		fmt.Sprintf("Do%d", g.rng.IntN(40)), fmt.Sprintf("item_%d", g.rng.IntN(40)),
	}
	words := make([]string, n)
	for i := range words {
		words[i] = pick(g, all)
	}
	return strings.Join(words, " ")
}

// function is a definition in a language.
func (g *walker) function(ext string) string {
	g.n++
	name := fmt.Sprintf("Do%d", g.rng.IntN(40))
	switch ext {
	case ".py":
		return fmt.Sprintf("def %s(x):\n    \"\"\"%s.\"\"\"\n    return item_%d(x, %d)\n\n", name, g.words(4), g.rng.IntN(40), g.n)
	case ".js":
		return fmt.Sprintf("// %s\nexport function %s(x) {\n  return item_%d(x, %d);\n}\n\n", g.words(3), name, g.rng.IntN(40), g.n)
	case ".md":
		return fmt.Sprintf("## Part %s %d\n\n%s\n\n", g.words(1), g.n, g.words(12))
	case ".json":
		return fmt.Sprintf("{\"item_%d\": \"%s\", \"n\": %d}\n", g.rng.IntN(40), g.words(2), g.n)
	case ".txt":
		return g.words(9) + "\n"
	}
	return fmt.Sprintf("// %s %s.\nfunc %s(x int) int {\n\tif x > %d {\n\t\treturn Do%d(x)\n\t}\n\treturn item_%d(x)\n}\n\n", name, g.words(4), name, g.n, g.rng.IntN(40), g.rng.IntN(40))
}

// content is a whole file.
func (g *walker) content(name string) string {
	ext := strings.ToLower(path.Ext(name))
	var b strings.Builder
	if ext == ".go" {
		fmt.Fprintf(&b, "package d%d\n\nimport \"fmt\"\n\n", g.rng.IntN(4))
	}
	for range g.rng.IntN(6) {
		b.WriteString(g.function(ext))
	}
	s := b.String()
	switch g.rng.IntN(12) {
	case 0:
		s = strings.ReplaceAll(s, "\n", "\r\n")
	case 1:
		s = strings.TrimRight(s, "\n")
	case 2:
		s = ""
	}
	return s
}

// edit changes an open document, in one to three places.
func (g *walker) edit(name string) command {
	content, open := g.s.e.content(g.s.path(name))
	if !open {
		return command{verb: "open", args: []string{pick(g, g.files())}}
	}
	args := []string{name}
	for range 1 + g.rng.IntN(3) {
		starts := lineStarts(content)
		first := g.rng.IntN(len(starts))
		last := min(len(starts)-1, first+g.rng.IntN(4))
		a, b := starts[first], starts[last]
		text := ""
		switch g.rng.IntN(6) {
		case 0: // lines go
		case 1: // a definition comes
			b = a
			text = g.function(strings.ToLower(path.Ext(name)))
		case 2: // a line comes
			b = a
			text = "// " + g.words(3) + "\n"
		case 3: // something within a line
			a += g.rng.IntN(max(1, lineEnd(content, a)-a))
			b = a
			text = g.words(1)
		case 4: // from within one line to within another
			a += g.rng.IntN(max(1, lineEnd(content, a)-a))
			if b += g.rng.IntN(max(1, lineEnd(content, b)-b)); b < a {
				a, b = b, a
			}
			text = g.words(2) + "\n"
		case 5: // the end
			a, b = len(content), len(content)
			text = "\n" + g.function(strings.ToLower(path.Ext(name)))
		}
		for splits(content, a) {
			a--
		}
		for splits(content, b) {
			b++
		}
		args = append(args, fmt.Sprintf("%s-%s", spot(content, a), spot(content, b)), text)
		content = content[:a] + text + content[b:]
	}
	return command{verb: "edit", args: args}
}

// lineEnd is where the line of an offset ends, without its line end.
func lineEnd(s string, at int) int {
	for at < len(s) && newline(s[at:]) == 0 {
		at++
	}
	return at
}

// spot writes an offset as line and byte, from 1.
func spot(s string, at int) string {
	line, start := 0, 0
	for i, begins := range lineStarts(s) {
		if begins <= at {
			line, start = i, begins
		}
	}
	return fmt.Sprintf("%d:%d", line+1, at-start+1)
}

// git are the arguments of a git command that changes the work tree, or of one
// that keeps it.
func (g *walker) git() []string {
	return pick(g, [][]string{
		{"add", "-A"}, {"commit", "-q", "-a", "-m", "more"}, {"commit", "-q", "-a", "-m", "more"},
		{"checkout", "-q", "-f", pick(g, branches[:])}, {"checkout", "-q", "-f", pick(g, branches[:])}, {"checkout", "-q", pick(g, branches[:])},
		{"stash", "-q"}, {"stash", "pop", "-q"}, {"reset", "-q", "--hard"}, {"reset", "-q", "--hard", "HEAD~1"}, {"merge", "-q", "-X", "ours", "-m", "merged", pick(g, branches[:])},
		{"clean", "-q", "-f", "-d", "d2"},
	})
}
