package tree

import (
	"fmt"
	"strings"
	"testing"
)

func TestBuild(t *testing.T) {
	got := Build([]string{"README.md", "src/net/retry.go", "src/net/client.go", "src/deep/a/b/c/d/e.go", "docs/x.md", "bad\nname.go"}, 800)
	want := "docs/\n x.md\nsrc/\n deep/a/b/c/d/\n  e.go\n net/\n  client.go\n  retry.go\nREADME.md\nbad?name.go\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if Build(nil, 10) != "" {
		t.Error("something of nothing")
	}
}

func TestBudget(t *testing.T) {
	var paths []string
	for i := range 125 {
		paths = append(paths, fmt.Sprintf("src/pkg%d/sub%d/file_number_%d.py", i%10, i%3, i))
	}
	if got := Build(paths, 800); len(got) > 3200 || !strings.Contains(got, "file_number_7.py") {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
	for i := range 30000 {
		paths = append(paths, fmt.Sprintf("d%d/e%d/f%d/g%d/h%d.go", i%7, i%11, i%13, i%17, i))
	}
	for _, tokens := range []int{50, 200, 800} {
		if got := Build(paths, tokens); len(got) > tokens*4+4 || !strings.Contains(got, "d0/") {
			t.Errorf("%d tokens: %d bytes", tokens, len(got))
		}
	}
}
