package ground

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"coderag-ls/engine/answer"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// disk are files by path. It implements answer.Texts.
type disk map[string]string

// Text implements answer.Texts.
func (d disk) Text(_ context.Context, path string) (*text.Document, bool) {
	s, ok := d[path]
	return text.New(s), ok
}

// workspace makes files whose lines are all different, and passages of them.
func workspace() (disk, []Passage) {
	d := disk{}
	var passages []Passage
	for f := range 6 {
		var b strings.Builder
		for n := 1; n <= 60; n++ {
			fmt.Fprintf(&b, "func handle_%d_%d(value int) int { return value*%d + limit_%d }\n", f, n, 100+f*60+n, n)
		}
		path := fmt.Sprintf("pkg%d/file%d.go", f%3, f)
		d[path] = b.String()
		for _, r := range [][2]int{{5, 20}, {18, 30}, {45, 50}} {
			passages = append(passages, passage(d, path, r[0], r[1]))
		}
	}
	return d, passages
}

func passage(d disk, path string, start, end int) Passage {
	lines, _ := text.New(d[path]).Lines(start, end)
	return Passage{Citation: wire.Citation{
		ID: answer.ID(path, start, end), Path: path, StartLine: start, EndLine: end, Text: lines, SHA256: text.HexHash(lines), Verified: wire.VerifiedExact,
	}, Given: lines}
}

// given reports whether a line of a file was shown.
func given(passages []Passage, path string, line int) bool {
	for _, p := range passages {
		if p.Path == path && p.StartLine <= line && line <= p.EndLine {
			return true
		}
	}
	return false
}

// write gives a text to a Writer in random parts.
func write(t *testing.T, d disk, passages []Passage, s string, rnd *rand.Rand) Result {
	t.Helper()
	var streamed strings.Builder
	known := map[string]bool{}
	w := New(t.Context(), Options{Passages: passages, Texts: d,
		Text: func(s string) {
			streamed.WriteString(s)
			for _, m := range answer.Parse(streamed.String(), nil) {
				if id := answer.ID(m.Path, m.StartLine, m.EndLine); !known[id] && m.Path != "localhost" {
					t.Errorf("%s is cited before it is told", id)
				}
			}
		},
		Citation: func(c wire.Citation) { known[c.ID] = true },
	})
	for len(s) > 0 {
		n := 1 + rnd.IntN(min(len(s), 17))
		w.Write(strings.ToValidUTF8(s[:n], "?"))
		s = s[n:]
	}
	r := w.Close()
	if streamed.String() != r.Markdown {
		t.Errorf("streamed %q, made %q", streamed.String(), r.Markdown)
	}
	return r
}

// TestHostile: thousands of answers of a model that cites what it likes. What
// comes out cites only lines that it was given, word for word as they stand.
func TestHostile(t *testing.T) {
	d, passages := workspace()
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []func() string{
		func() string {
			return fmt.Sprintf("[pkg%d/file%d.go:%d-%d]", rnd.IntN(4), rnd.IntN(8), rnd.IntN(70), rnd.IntN(90))
		},
		func() string { return fmt.Sprintf("(file%d.go#L%d)", rnd.IntN(8), rnd.IntN(70)) },
		func() string {
			return fmt.Sprintf("pkg%d/file%d.go:%d", rnd.IntN(3), rnd.IntN(6), rnd.IntN(70))
		},
		func() string { return "[/etc/passwd:1-3]" }, func() string { return "[../../secret/key.go:1]" },
		func() string { return "[C:\\Users\\me\\key.go:1-2]" }, func() string { return "(file:///etc/shadow:4)" },
		func() string {
			return fmt.Sprintf("[pkg0/file0.go:%d-%d](http://evil.test/?q=x)", 5+rnd.IntN(5), 12+rnd.IntN(8))
		},
		func() string { return "![pkg0/file0.go:5-6](http://evil.test/p.png)" }, func() string { return "![x](http://evil.test/y.png)" },
		func() string { return "<img src=x onerror=alert(1)>" }, func() string { return "\x1b[31m\u202eevil\u200b" },
		func() string { return "\n" }, func() string { return ". " }, func() string { return " the value is `handle_1_7` " },
		func() string { return "\n```go\nfunc x() {}\n" }, func() string { return "\n```\n" }, func() string { return "[" }, func() string { return "`" },
		func() string { return "[pkg0/file0.go:5-6, pkg1/file1.go:7-8]" }, func() string { return "\nFOLLOW-UP: see [/etc/passwd:1-2]?\n" },
	}
	cited := 0
	for range 4000 {
		var s strings.Builder
		for range 1 + rnd.IntN(14) {
			s.WriteString(pieces[rnd.IntN(len(pieces))]())
		}
		r := write(t, d, passages, s.String(), rnd)
		ids := map[string]bool{}
		for _, c := range r.Citations {
			cited++
			ids[c.ID] = true
			lines, ok := text.New(d[c.Path]).Lines(c.StartLine, c.EndLine)
			if !ok || lines != c.Text || text.HexHash(lines) != c.SHA256 || c.ID != answer.ID(c.Path, c.StartLine, c.EndLine) {
				t.Fatalf("%q gives %+v, there stands %q", s.String(), c, lines)
			}
			for n := c.StartLine; n <= c.EndLine; n++ {
				if !given(passages, c.Path, n) {
					t.Fatalf("%q cites line %d of %s, which was not given", s.String(), n, c.Path)
				}
			}
		}
		for _, m := range answer.Parse(r.Markdown, nil) {
			if id := answer.ID(m.Path, m.StartLine, m.EndLine); !ids[id] {
				t.Fatalf("%q gives %q, which cites %s", s.String(), r.Markdown, id)
			}
		}
		outside := withoutCode(r.Markdown)
		for _, bad := range []string{"](", "![", "<img", "\x1b", "\u202e"} {
			if strings.Contains(outside, bad) {
				t.Fatalf("%q gives %q, which holds %q", s.String(), r.Markdown, bad)
			}
		}
	}
	if cited < 2000 {
		t.Errorf("only %d citations were made", cited)
	}
}

// withoutCode takes fenced blocks and code spans out.
func withoutCode(s string) string {
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(s) {
		switch f := fenceOf(line); {
		case fence == "" && f != "":
			fence = f
		case fence != "":
			if body := strings.TrimSpace(line); strings.HasPrefix(body, fence) && strings.Trim(body, fence[:1]) == "" {
				fence = ""
			}
		default:
			for i, part := range strings.Split(line, "`") {
				if i%2 == 0 {
					out.WriteString(part + "\x00")
				}
			}
		}
	}
	return out.String()
}

// TestLiar measures how many false sentences are marked, and how many true
// ones.
func TestLiar(t *testing.T) {
	d, passages := workspace()
	rnd := rand.New(rand.NewPCG(3, 4))
	truths := []func(f, n int) string{
		func(f, n int) string {
			return fmt.Sprintf("`handle_%d_%d` multiplies its `value` by %d", f, n, 100+f*60+n)
		},
		func(f, n int) string { return fmt.Sprintf("It adds `limit_%d` to the product", n) },
		func(f, n int) string { return fmt.Sprintf("The function handle_%d_%d() takes an int", f, n) },
		func(f, n int) string { return fmt.Sprintf("Its body is `return value*%d + limit_%d`", 100+f*60+n, n) },
		func(f, n int) string { return "The result depends on the argument and on a constant" },
		func(f, n int) string { return fmt.Sprintf("Die Funktion `handle_%d_%d` gibt eine Zahl zurück", f, n) },
		func(f, n int) string { return fmt.Sprintf("- **handle_%d_%d**: computes an int from an int", f, n) },
	}
	lies := []func(f, n int) string{
		func(f, n int) string { return fmt.Sprintf("`handle_%d_%d` calls `eraseDisk`", f, n) },
		func(f, n int) string { return fmt.Sprintf("It multiplies by %d", 7000+n) },
		func(f, n int) string { return fmt.Sprintf("Its body is `return value/%d - limit_%d`", 100+f*60+n, n) },
		func(f, n int) string { return fmt.Sprintf("It is handle_%d_%d() that does it", f, n+1) },
		func(f, n int) string { return "The function opens a NetworkSocket and sends the value" },
		func(f, n int) string { return fmt.Sprintf("`handle_%d_%d` prints \"hello, world\" to the log", f, n) },
	}
	var markedLies, allLies, markedTruths, allTruths int
	for range 600 {
		f, n := rnd.IntN(6), 5+rnd.IntN(25)
		cite := fmt.Sprintf("[pkg%d/file%d.go:%d-%d]", f%3, f, n, n)
		sentence, lie := "", rnd.IntN(2) == 0
		where := rnd.IntN(3)
		if lie {
			sentence = lies[rnd.IntN(len(lies))](f, n)
			switch rnd.IntN(6) {
			case 0:
				sentence, cite = truths[rnd.IntN(4)](f, n), fmt.Sprintf("[pkg%d/file%d.go:45-46]", f%3, f) // other lines
			case 1:
				sentence, cite = truths[rnd.IntN(len(truths))](f, n), "" // no proof
			case 2:
				sentence, cite = truths[rnd.IntN(len(truths))](f, n), "[pkg0/none.go:1-2]"
			}
		} else {
			sentence = truths[rnd.IntN(len(truths))](f, n)
		}
		s := sentence + " " + cite + "."
		if where == 0 {
			s = sentence + ". " + cite
		}
		r := write(t, d, passages, s+"\n", rnd)
		marked := len(r.Unsupported) > 0
		if marked != strings.Contains(r.Markdown, wire.UnsupportedMark) {
			t.Fatalf("%q gives %q, %v", s, r.Markdown, r.Unsupported)
		}
		switch {
		case lie:
			allLies++
			if marked {
				markedLies++
			} else {
				t.Logf("not found out: %q", s)
			}
		default:
			allTruths++
			if marked {
				markedTruths++
				t.Logf("accused: %q", s)
			}
		}
	}
	t.Logf("%d of %d false sentences marked, %d of %d true ones", markedLies, allLies, markedTruths, allTruths)
	if markedLies*100 < allLies*95 || markedTruths*100 > allTruths*5 {
		t.Errorf("%d of %d false sentences marked, %d of %d true ones", markedLies, allLies, markedTruths, allTruths)
	}
}

// TestMoved: lines that moved while the model wrote are cited where they stand,
// lines that are gone are not.
func TestMoved(t *testing.T) {
	d, passages := workspace()
	path := passages[0].Path
	d[path] = "// new\n// lines\n" + d[path]
	rnd := rand.New(rand.NewPCG(5, 6))
	r := write(t, d, passages, "`handle_0_7` is there ["+path+":7-7].", rnd)
	if want := "`handle_0_7` is there [" + path + ":9-9]."; r.Markdown != want || r.Citations[0].Verified != wire.VerifiedMoved {
		t.Errorf("%q, want %q", r.Markdown, want)
	}
	d[path] = "all new\n"
	if r := write(t, d, passages, "`handle_0_7` is there ["+path+":7-7].", rnd); len(r.Citations) != 0 || r.Dropped != 1 || strings.Contains(r.Markdown, path) {
		t.Errorf("%+v", r)
	}
}

// TestUnits: what is no claim is not marked, and what is quoted must stand in
// the sources.
func TestUnits(t *testing.T) {
	d, passages := workspace()
	rnd := rand.New(rand.NewPCG(7, 8))
	line := strings.Split(passages[0].Text, "\n")[0]
	for s, marks := range map[string]int{
		"# How it works\n\nThe steps:\n\n":                                   0,
		"1. The value is multiplied [pkg0/file0.go:5-5].\n":                  0,
		"See e.g. the product [pkg0/file0.go:5-5].\n":                        0,
		"```go\n" + line + "\n```\n":                                         0,
		"```go\n// ...\n" + line + "\n```\n":                                 0,
		"```go\nos.RemoveAll(\"/\")\n```\n":                                  1,
		"```go\nos.RemoveAll(\"/\")":                                         1,
		"| name | what |\n|---|---|\n| x | y [pkg0/file0.go:5] |":            1, // the head names what nothing proves
		"Based on the available codebase context, the cause is not shown.\n": 0,
		"The value is multiplied.\n":                                         1,
		"値を掛ける。[pkg0/file0.go:5-5]\n":                                        0,
		"It listens on localhost:8080 [pkg0/file0.go:5-5].\n":                1,
	} {
		r := write(t, d, passages, s, rnd)
		if len(r.Unsupported) != marks {
			t.Errorf("%q gives %q with %d marks, want %d", s, r.Markdown, len(r.Unsupported), marks)
		}
	}
}
