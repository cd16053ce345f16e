package treesitter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A parse leaves nothing behind: what it allocated is taken back at once, whether it
// ended, was stopped or failed, and whatever language came before.
func TestParsesDoNotTouchEachOther(t *testing.T) {
	g := NewGrammars()
	p := g.NewParser()
	defer p.Close()
	names := g.Languages()
	slices.Sort(names)
	text := func(language string) string {
		data, err := os.ReadFile(filepath.Join("..", "testdata", language+".txtar"))
		if err != nil {
			data = []byte("x = 1\n") // some languages share another one's file
		}
		return strings.Repeat(string(data), 3)
	}
	outline := func(p *Parser, language string) string {
		t.Helper()
		o, err := p.Outline(t.Context(), language, text(language), time.Minute, 100)
		if err != nil {
			t.Fatalf("%s: %v", language, err)
		}
		return fmt.Sprintf("%+v %+v %d %s %+v", o.Defs, o.Imports, o.ErrorBytes, o.Separator, o.nodes)
	}
	want := map[string]string{}
	for _, name := range names {
		alone := g.NewParser()
		want[name] = outline(alone, name)
		alone.Close()
	}
	for round := range 3 {
		for i, name := range names {
			if got := outline(p, name); got != want[name] {
				t.Fatalf("round %d, %s after %s: another outline than that of a new parser", round, name, names[max(i-1, 0)])
			}
			if err := p.ParseOnly(name, text(name)); err != nil {
				t.Fatal(err)
			}
			long := strings.Repeat(text(name), 2_000_000/len(text(name)))
			if _, err := p.Outline(t.Context(), name, long, time.Microsecond, 100); err != nil && !errors.Is(err, ErrDeadline) {
				t.Fatalf("%s, stopped: %v", name, err)
			}
		}
	}
}
