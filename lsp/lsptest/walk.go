package lsptest

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Walk says how a random session goes.
type Walk struct {
	Seed uint64
	// Steps is how many commands are played; after Every of them and at the end
	// the index is held against one made from nothing.
	Steps, Every int
	Mode         Mode
	// Shrinking bounds the time that is spent on making a failure's script short.
	Shrinking time.Duration
}

// Walk plays a random session. Where something goes wrong, it fails with the
// seed and a script of what led there, as short as it could be made.
func (h Host) Walk(t testing.TB, w Walk) {
	t.Helper()
	var g *walker
	began := time.Now()
	err := Try(func(tb testing.TB) {
		g = &walker{s: h.newSession(tb, w.Mode), rng: rand.New(rand.NewPCG(w.Seed, 1))}
		if err := g.walk(w); err != nil {
			tb.Fatal(err)
		}
	})
	t.Logf("seed %d, %v: %d steps, %d checks, %d restarts, %d switches of a branch in %v", w.Seed, w.Mode, g.steps, g.checks, g.count["restart"], g.count["git"], time.Since(began).Round(time.Millisecond))
	if err == nil {
		return
	}
	script := h.shrink(w, g.base, g.since)
	how := "plays by itself:"
	if script == nil {
		script, how = append(slices.Clone(g.base), g.since...), "does not fail again by itself; all since the last check was:"
	}
	lines := make([]string, len(script))
	for i, c := range script {
		lines[i] = c.String()
	}
	t.Errorf("seed %d, %v, step %d: %v\nThis %s\n%s", w.Seed, w.Mode, g.steps, err, how, strings.Join(lines, "\n"))
}

// walker makes up commands that make sense as things are.
type walker struct {
	s   *session
	rng *rand.Rand
	n   int // numbers what is written, so that all of it is new

	base          []command // leads to where the last check found all well
	since         []command // what was done since
	configured    []command
	steps, checks int
	count         map[string]int
}

// branches are those that the walk switches between.
var branches = [...]string{"main", "one", "two"}

func (g *walker) walk(w Walk) error {
	g.count = map[string]int{}
	g.base = []command{
		{verb: "write", args: []string{"go.mod", "module walk\n"}},
		{verb: "git", args: []string{"init", "-q", "-b", branches[0]}},
		{verb: "git", args: []string{"add", "-A"}},
		{verb: "git", args: []string{"commit", "-q", "-m", "base"}},
		{verb: "git", args: []string{"branch", branches[1]}},
		{verb: "git", args: []string{"branch", branches[2]}},
	}
	for _, c := range g.base {
		if err := g.s.do(c); err != nil {
			return err
		}
	}
	for g.steps = 1; g.steps <= w.Steps; g.steps++ {
		if err := g.step(); err != nil {
			return err
		}
		if g.steps%w.Every == 0 && g.steps < w.Steps {
			if err := g.s.check(); err != nil {
				return err
			}
			g.checks++
			g.rebase()
		}
	}
	g.checks++
	return g.s.end()
}

// step plays one command that can be played.
func (g *walker) step() error {
	for {
		c := g.next()
		if pathless(c) {
			continue
		}
		if len(g.s.running) > 0 && !slices.Contains([]string{"edit", "type", "start", "cancel", "finish"}, c.verb) {
			for name := range g.s.running {
				c = command{verb: "finish", args: []string{name}}
			}
		}
		g.since = append(g.since, c)
		switch err := g.s.do(c); {
		case errors.Is(err, errInapplicable):
			if c.verb != "git" { // that may have been half done
				g.since = g.since[:len(g.since)-1]
			}
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", c, err)
		}
		if c.verb == "config" {
			g.configured = append(g.configured, c)
		}
		g.count[c.verb]++
		return nil
	}
}

// pathless reports whether a command names no file, since there was none to
// choose.
func pathless(c command) bool {
	switch c.verb {
	case "git", "ask", "search", "context", "sync", "restart", "start", "config":
		return false
	}
	return c.args[0] == "" || c.args[0] == "." || strings.HasPrefix(c.args[0], "/")
}

// rebase makes the state of now the one that a script begins with.
func (g *walker) rebase() {
	g.since, g.base = nil, slices.Clone(g.configured)
	for _, path := range g.files() {
		at := g.s.path(path)
		if target, err := os.Readlink(at); err == nil {
			g.base = append(g.base, command{verb: "ln", args: []string{target, path}})
		} else if data, err := os.ReadFile(at); err == nil && len(data) < 1<<16 {
			g.base = append(g.base, command{verb: "write", args: []string{path, string(data)}})
		}
	}
	g.base = append(g.base, command{verb: "git", args: []string{"init", "-q", "-b", branches[0]}})
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "--allow-empty", "-m", "base"}, {"branch", branches[1]}, {"branch", branches[2]}} {
		g.base = append(g.base, command{verb: "git", args: args})
	}
	for _, path := range g.open() {
		content, _ := g.s.e.content(g.s.path(path))
		g.base = append(g.base, command{verb: "open", args: []string{path, content}})
	}
}

// files are the workspace's, links included, in order.
func (g *walker) files() []string {
	var all []string
	_ = filepath.WalkDir(g.s.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case !d.IsDir():
			rel, err := filepath.Rel(g.s.dir, path)
			if err != nil {
				return err
			}
			all = append(all, filepath.ToSlash(rel))
		}
		return nil
	})
	return all
}

// open are the open documents, in order.
func (g *walker) open() []string {
	g.s.e.mu.Lock()
	defer g.s.e.mu.Unlock()
	var all []string
	for uri := range g.s.e.buffers {
		if path, err := pathOf(uri); err == nil {
			if rel, err := filepath.Rel(g.s.dir, path); err == nil {
				all = append(all, filepath.ToSlash(rel))
			}
		}
	}
	slices.Sort(all)
	return all
}

// shrink looks for a short script that fails; nil where none does.
func (h Host) shrink(w Walk, base, since []command) []command {
	deadline := time.Now().Add(w.Shrinking)
	fails := func(script []command) bool {
		return Try(func(tb testing.TB) {
			s := h.newSession(tb, w.Mode)
			for _, c := range script {
				if err := s.do(c); err != nil && !errors.Is(err, errInapplicable) {
					tb.Fatal(err)
				}
			}
			if err := s.end(); err != nil {
				tb.Fatal(err)
			}
		}) != nil
	}
	script := append(slices.Clone(base), since...)
	if w.Shrinking <= 0 || !fails(script) {
		return nil
	}
	// Zeller and Hildebrandt's ddmin (2002), with complements only.
	for parts := 2; len(script) > 1 && time.Now().Before(deadline); {
		size := (len(script) + parts - 1) / parts
		shorter := false
		for at := 0; at < len(script) && time.Now().Before(deadline); {
			without := slices.Concat(script[:at], script[min(len(script), at+size):])
			if fails(without) {
				script, shorter = without, true
				continue
			}
			at += size
		}
		switch {
		case !shorter && size == 1:
			return script
		case !shorter:
			parts = min(2*parts, len(script))
		default:
			parts = max(2, min(parts, len(script)))
		}
	}
	return script
}
