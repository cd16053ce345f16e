package answer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/answer"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"It is so [src/a.go:12-20].", []string{"src/a.go:12-20"}},
		{"It is so [src/a.go:12].", []string{"src/a.go:12-12"}},
		{"see (src/a.go#L3) and (b.py#L3-L9)", []string{"src/a.go:3-3", "b.py:3-9"}},
		{"bare a:1, quoted `b/c.rs:2-3`, and **d.ts:4**!", []string{"a:1-1", "b/c.rs:2-3", "d.ts:4-4"}},
		{"[my notes.md:3-4] with a space", []string{"my notes.md:3-4"}},
		{"[a.go:1-2, b.go:3]", []string{"a.go:1-2", "b.go:3-3"}},
		{"[a.go:1-2][b.go:3-4]", []string{"a.go:1-2", "b.go:3-4"}},
		{"<a.go:5>", []string{"a.go:5-5"}},
		{"a dash: a.go:5–7", []string{"a.go:5-7"}},
		{"reversed [a.go:9-3]", []string{"a.go:9-9"}},
		{"compilers write a.go:5:7: bad", []string{"a.go:5-5"}},
		{"größe.py:3 and 日本/語.md:1-2", []string{"größe.py:3-3", "日本/語.md:1-2"}},
		{"at 12:30, 3:2 wins, http://localhost:8080/x, [1:2]", nil},
		{"zero a.go:0, huge a.go:99999999999", nil},
		{"nothing: here, a: b, x#y", nil},
		{"```go\na.go:1-2\n```\nafter [b.go:1]", []string{"b.go:1-1"}},
		{"~~~\n[a.go:1]\n```\n~~~\n[b.go:2]", []string{"b.go:2-2"}},
		{"````\n```\n[a.go:1]\n````\n[b.go:2]", []string{"b.go:2-2"}},
		{"```\nnever closed [a.go:1]", nil},
		{"", nil},
	} {
		var got []string
		for _, m := range answer.Parse(c.in, nil) {
			got = append(got, answer.ID(m.Path, m.StartLine, m.EndLine))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("Parse(%q) = %v, want %v", c.in, got, c.want)
		}
	}
}

// TestParseKnown: with a list of files, bare words that name none are prose;
// brackets cite whatever they hold.
func TestParseKnown(t *testing.T) {
	known := func(p string) bool { return p == "a" || p == "src/b.go" }
	var got []string
	for _, m := range answer.Parse("host:80 and a:1 and src/b.go:2 and [gone.go:3-4]", known) {
		got = append(got, m.Path)
	}
	if want := []string{"a", "src/b.go", "gone.go"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"[a.go:1-2]", "(a#L1-L2)", "a:1", "```\n[a:1]\n```", "[[a:1]", "<a:1>:2", "a.go:5–7", "#L", ":1", "[x y.md:3]", "\xff:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		for _, m := range answer.Parse(s, nil) {
			if m.Start < last || m.End > len(s) || m.Start >= m.End || m.Path == "" || m.StartLine < 1 || m.EndLine < m.StartLine {
				t.Fatalf("%+v in %q", m, s)
			}
			if !strings.Contains(s[m.Start:m.End], m.Path) {
				t.Fatalf("%q is not where %+v says", m.Path, m)
			}
			last = m.End
		}
	})
}

// FuzzParseFindsWhatIsWritten: a citation as answers write it is found
// whatever stands around it.
func FuzzParseFindsWhatIsWritten(f *testing.F) {
	f.Add("see ", " there", "src/a b.go", 3, 7)
	f.Add("[", "]", "a", 1, 1)
	f.Fuzz(func(t *testing.T, before, after, path string, start, n int) {
		if start < 1 || n < 0 || start > 1e6 || n > 1e6 || strings.ContainsAny(path, "[]()<>`\"\n\r:#\x00") || strings.TrimSpace(path) != path || !strings.ContainsAny(path, "abcxyz") ||
			strings.ContainsAny(before+after, "`~[]()<>#:\n0123456789") || len(path) > 200 || strings.Contains(path, "//") {
			t.Skip()
		}
		s := fmt.Sprintf("%s[%s:%d-%d]%s", before, path, start, start+n, after)
		got := answer.Parse(s, func(p string) bool { return p == path })
		if len(got) != 1 || got[0].Path != path || got[0].StartLine != start || got[0].EndLine != start+n {
			t.Fatalf("Parse(%q) = %+v", s, got)
		}
	})
}
