package lsptest

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coderag-ls/engine"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
)

// spy gets hold of the view that a server makes, which can list all that it
// finds.
type spy struct {
	mu   sync.Mutex // guards view
	view inventory
}

type inventory interface {
	Inventory(ctx context.Context) ([]string, error)
}

// on puts the spy into a server.
func (p *spy) on(o lsp.Options) lsp.Options {
	open := o.Open
	o.Open = func(ctx context.Context, eo engine.Options) (lsp.Workspace, error) {
		ws, err := open(ctx, eo)
		if err != nil {
			return nil, err
		}
		return spied{ws, p}, nil
	}
	return o
}

type spied struct {
	lsp.Workspace
	spy *spy
}

func (w spied) NewView() lsp.View {
	v := w.Workspace.NewView()
	if listed, ok := v.(inventory); ok {
		w.spy.mu.Lock()
		w.spy.view = listed
		w.spy.mu.Unlock()
	}
	return v
}

// list lists what the newest view finds.
func (p *spy) list() ([]string, error) {
	p.mu.Lock()
	view := p.view
	p.mu.Unlock()
	if view == nil {
		return nil, nil // no folder is open
	}
	return view.Inventory(context.Background())
}

// check holds the index against one made from nothing, with the same documents
// open.
func (s *session) check() error {
	for name := range s.running {
		if _, err := s.finish(name); err != nil {
			return err
		}
	}
	watched := &spy{}
	settings := map[string]any{}
	for k, v := range s.settings {
		settings[k] = v
	}
	settings["index.watch"] = false
	config := s.config
	config.InitializationOptions = settings
	config.Server = watched.on(s.host.Server(s.tb, s.tb.TempDir()))
	fresh := Start(s.tb, config)
	s.e.mu.Lock()
	for _, b := range s.e.buffers {
		fresh.Open(b.uri, b.language, b.content)
	}
	s.e.mu.Unlock()
	want, err := s.picture(fresh, watched, true)
	if err != nil {
		return fmt.Errorf("a fresh index: %w", err)
	}
	if err := fresh.Shutdown(); err != nil {
		return fmt.Errorf("shutting a fresh index down: %w", err)
	}
	err = s.e.Expect(func() (Verdict, string) {
		got, err := s.picture(s.e, s.spy, false)
		why := ""
		if err != nil {
			why = err.Error()
		} else if why = differ(got, want); why == "" {
			return Met, ""
		}
		if s.untold {
			return Unmet, why
		}
		return Unmeetable, why
	})
	if err != nil && s.untold { // was it missed, or is it wrong?
		s.e.Sync(wire.SyncParams{Scan: true})
		if got, again := s.picture(s.e, s.spy, false); again == nil && differ(got, want) == "" {
			err = fmt.Errorf("the watcher missed something, a scan finds it: %w", err)
		}
	}
	if err != nil {
		return fmt.Errorf("the index is not what one made from nothing is: %w", err)
	}
	return nil
}

// part is what was found out about an index.
type part struct {
	about string
	lines []string
}

// picture is all that can be found out about an index.
func (s *session) picture(e *Editor, from *spy, scan bool) ([]part, error) {
	if len(s.config.Folders) == 0 {
		return nil, nil
	}
	var synced wire.SyncResult
	if err := e.Call(lsp.MethodSync, wire.SyncParams{Scan: scan, Vectors: true}, &synced); err != nil {
		return nil, err
	}
	listed, err := from.list()
	if err != nil {
		return nil, err
	}
	var st wire.Status
	if err := e.Call(lsp.MethodStatus, nil, &st); err != nil {
		return nil, err
	}
	state := []string{
		fmt.Sprintf("%d of %d files, %d pending, stale %v, vectors %v", st.Coverage.Indexed, st.Coverage.Total, st.Coverage.Pending, st.Coverage.Stale, st.Coverage.VectorsReady),
	}
	// What rules leave out nobody watches: it is as the last scan found it.
	byRules := []string{"ignored", "excluded", "secret"}
	for _, reason := range byRules {
		delete(st.Coverage.Skipped, reason)
	}
	state = append(state, fmt.Sprintf("%d chunks, %d symbols, %v, skipped %v", st.Chunks, st.Symbols, st.Languages, st.Coverage.Skipped))
	for _, f := range st.SkippedFiles {
		if slices.Contains(byRules, f.Reason) {
			continue
		}
		state = append(state, fmt.Sprintf("skipped %s: %s", f.Path, f.Reason))
	}
	all := []part{{"what is found", listed}, {"the state", state}}
	defer func(asked []string) { s.asked = asked }(s.asked) // these are not the session's own
	for _, c := range s.questions(listed) {
		answer, err := s.queryOf(e, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c, err)
		}
		all = append(all, part{c.String(), strings.Split(answer, "\n")})
	}
	return all, nil
}

// questions are those that an index is compared by: about some of the symbols
// that it holds, what the session asked last, and about nothing in particular.
func (s *session) questions(listed []string) []command {
	name := regexp.MustCompile(`^  \S+ \S+ "(\w+)" \d+-\d+ at`)
	var names []string
	for _, line := range listed {
		if m := name.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	all := []string{"how does it work", "return error func"}
	for i := range min(6, len(names)) {
		all = append(all, names[i*len(names)/min(6, len(names))])
	}
	all = append(all, s.asked[max(0, len(s.asked)-4):]...)
	var commands []command
	for i, q := range all {
		commands = append(commands, command{verb: "search", args: []string{q}})
		if i%2 == 0 {
			commands = append(commands, command{verb: "ask", args: []string{q}})
		}
	}
	s.e.mu.Lock()
	open := slices.Sorted(maps.Keys(s.e.buffers))
	s.e.mu.Unlock()
	for _, uri := range open[:min(8, len(open))] {
		if path, err := pathOf(uri); err == nil {
			if rel, err := filepath.Rel(s.dir, path); err == nil {
				commands = append(commands, command{verb: "lens", args: []string{filepath.ToSlash(rel)}})
			}
		}
	}
	slices.SortFunc(commands, func(a, b command) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(commands, func(a, b command) bool { return a.String() == b.String() })
}

// differ says how two pictures do; "" where they do not.
func differ(got, want []part) string {
	for i, w := range want {
		if i >= len(got) {
			return "there is nothing about " + w.about
		}
		g := got[i]
		if g.about != w.about {
			return fmt.Sprintf("asked %q, want %q", g.about, w.about)
		}
		if slices.Equal(g.lines, w.lines) {
			continue
		}
		return fmt.Sprintf("%s: %d lines, want %d\n%s", w.about, len(g.lines), len(w.lines), difference(g.lines, w.lines))
	}
	return ""
}

// difference lists the lines that only one side has.
func difference(got, want []string) string {
	const most = 12
	var out []string
	only := func(mark string, of, than []string) {
		has := map[string]int{}
		for _, line := range than {
			has[line]++
		}
		for _, line := range of {
			if has[line]--; has[line] < 0 && len(out) < 2*most {
				out = append(out, mark+line)
			}
		}
	}
	only("have ", got, want)
	only("want ", want, got)
	if len(out) == 0 {
		return "in another order:\n" + strings.Join(got, "\n") + "\nwant\n" + strings.Join(want, "\n")
	}
	return strings.Join(out, "\n")
}
