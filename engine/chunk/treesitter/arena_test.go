package treesitter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// Lua's scanner has one state for the whole process: neither files parsed at the
// same time nor the file before change what is found.
func TestLuaFilesDoNotTouchEachOther(t *testing.T) {
	g := NewGrammars()
	files := []string{
		strings.Repeat("local function f(a)\n  return [[long]] .. \"b\" .. 'c' -- note\nend\n", 50),
		strings.Repeat("--[==[ a block\n]==]\nlocal t = { x = 'y', [1] = [=[z]=] }\n", 50) + "local s = 'not ended",
		"local s = [===[ not ended either\n",
		strings.Repeat("function M.g()\n  print(\"x\", 'y')\nend\n", 50),
	}
	parse := func(p *Parser, src string) string {
		o, err := p.Outline(t.Context(), "lua", src, time.Minute, 100)
		if err != nil {
			t.Error(err)
			return ""
		}
		return fmt.Sprintf("%+v %d %+v", o.Defs, o.ErrorBytes, o.nodes)
	}
	want := make([]string, len(files))
	for i, src := range files {
		p := g.NewParser()
		want[i] = parse(p, src)
		p.Close()
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			p := g.NewParser()
			defer p.Close()
			for n := range 200 {
				i := (n*7 + worker) % len(files)
				if got := parse(p, files[i]); got != want[i] {
					t.Errorf("file %d, round %d: another outline", i, n)
					return
				}
			}
		})
	}
	wg.Wait()
}
