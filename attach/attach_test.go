package attach

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coderag-ls/attach/socket"
	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

func TestMain(m *testing.M) {
	// buntdb's own goroutine notices at its next tick, up to a second later,
	// that the database was closed.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

// desk is where a test's processes keep their indexes. Workspaces of one
// process share and fight as those of several do: locks are of descriptors.
type desk struct {
	t     *testing.T
	cache string

	mu      sync.Mutex
	notices []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	cache, err := os.MkdirTemp("", "desk-") // short enough for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(cache) })
	return &desk{t: t, cache: cache}
}

// folder makes a workspace folder with one file.
func (d *desk) folder(name, word string) string {
	d.t.Helper()
	dir := filepath.Join(d.t.TempDir(), name)
	write(d.t, filepath.Join(dir, name+".go"), source(word))
	return dir
}

// source is Go code that defines a word.
func source(word string) string {
	return fmt.Sprintf("package zoo\n\n// %s counts marsupials.\nfunc %s(n int) int { return n + 1 }\n", word, word)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (d *desk) options(dirs ...string) Options {
	s := config.Default()
	s.Index.CacheDir, s.Embed.Provider = d.cache, "static"
	o := Options{Options: engine.Options{Version: "1.2.3", Settings: s, Notice: d.notice}}
	for _, dir := range dirs {
		o.Roots = append(o.Roots, file.Root{Name: filepath.Base(dir), Dir: dir})
	}
	return o
}

func (d *desk) notice(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notices = append(d.notices, text)
}

// told reports whether a notice with all of the texts was given.
func (d *desk) told(texts ...string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.notices, func(n string) bool {
		return !slices.ContainsFunc(texts, func(t string) bool { return !strings.Contains(n, t) })
	})
}

// open opens a workspace as a process of its own would.
func (d *desk) open(o Options) (*Workspace, *View) {
	d.t.Helper()
	w, err := Open(d.t.Context(), o)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		if err := w.Close(); err != nil {
			d.t.Error(err)
		}
	})
	return w, w.NewView()
}

func (w *Workspace) isOwner() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now != nil && w.now.owns()
}

// edit opens a buffer.
func edit(t *testing.T, v *View, path, content string) {
	t.Helper()
	if err := v.Apply(t.Context(), "test", []file.Change{{Path: path, Kind: file.Opened, Text: content, Version: 1}}); err != nil {
		t.Fatal(err)
	}
}

// finds reports whether a search has a hit whose text holds the query.
func finds(t *testing.T, v *View, query string) bool {
	t.Helper()
	if _, err := v.Sync(t.Context(), wire.SyncParams{}); err != nil {
		t.Fatal(err)
	}
	r, err := v.Search(t.Context(), wire.SearchParams{Query: query})
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(r.Hits, func(h wire.Hit) bool { return strings.Contains(h.Text, query) })
}

func wantFinds(t *testing.T, v *View, queries ...string) {
	t.Helper()
	for _, q := range queries {
		if !finds(t, v, q) {
			t.Errorf("%q is not found", q)
		}
	}
}

func wantMisses(t *testing.T, v *View, queries ...string) {
	t.Helper()
	for _, q := range queries {
		if finds(t, v, q) {
			t.Errorf("%q is found", q)
		}
	}
}

func statusOf(t *testing.T, v *View) wire.Status {
	t.Helper()
	st, err := v.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// await waits for something that happens in the background.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not happen", what)
		}
	}
}

// TestShare: two processes, one index, and each its own edits of one file.
func TestShare(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	path := filepath.Join(dir, "zoo.go")
	first, mine := d.open(d.options(dir))
	second, theirs := d.open(d.options(dir))
	if !first.isOwner() || second.isOwner() {
		t.Fatalf("owners: %v, %v", first.isOwner(), second.isOwner())
	}
	edit(t, mine, path, source("Wallaby"))
	edit(t, theirs, path, source("Numbat"))
	wantFinds(t, mine, "Wallaby")
	wantMisses(t, mine, "Numbat", "Quokka")
	wantFinds(t, theirs, "Numbat")
	wantMisses(t, theirs, "Wallaby", "Quokka")

	own, other := statusOf(t, mine), statusOf(t, theirs)
	if !own.Owner || own.OwnedBy.PID != os.Getpid() || own.OwnedBy.Clients != 1 || other.Owner || other.OwnedBy != own.OwnedBy {
		t.Errorf("owner says %v %+v, the other %v %+v", own.Owner, own.OwnedBy, other.Owner, other.OwnedBy)
	}
	if len(own.Notices)+len(other.Notices) > 0 {
		t.Errorf("notices %q, %q", own.Notices, other.Notices)
	}

	// Everything a view can do.
	ctx := t.Context()
	if content, ok := theirs.Text(ctx, path); !ok || content != source("Numbat") {
		t.Errorf("text %q, %v", content, ok)
	}
	if abs, ok := theirs.Resolve("zoo.go"); !ok || abs != path {
		t.Errorf("resolved to %q, %v", abs, ok)
	}
	if _, ok := theirs.Resolve("none.go"); ok {
		t.Error("a file that does not exist is resolved")
	}
	symbols, err := theirs.Symbols(ctx, path)
	if err != nil || len(symbols) != 1 || symbols[0].Name != "Numbat" {
		t.Errorf("symbols %v, %v", symbols, err)
	}
	explained, err := theirs.Explain(ctx, "Numbat", wire.Document{URI: text.URIFromPath(path)})
	if err != nil || !explained.Found || explained.Definitions[0].Path != "zoo.go" {
		t.Errorf("explained %+v, %v", explained, err)
	}
	for _, v := range []*View{mine, theirs} {
		lines, err := v.Excerpt(ctx, wire.ExcerptParams{Path: "zoo.go", StartLine: 1, EndLine: 1})
		if want, _, _ := strings.Cut(source("Numbat"), "\n"); err != nil || lines.Text != want {
			t.Errorf("excerpt %+v, %v", lines, err)
		}
	}
	packed, err := theirs.Context(ctx, wire.AskParams{SearchParams: wire.SearchParams{Query: "what counts marsupials?"}})
	if err != nil || !strings.Contains(packed.Content, "Numbat") {
		t.Errorf("context %q, %v", packed.Content, err)
	}
	similar, err := theirs.Similar(ctx, wire.RangeParams{Document: wire.Document{URI: text.URIFromPath(path)}})
	if err != nil || similar.Hits == nil {
		t.Errorf("similar %v, %v", similar.Hits, err)
	}
	if dirs, err := second.Directories(ctx); err != nil || !slices.Equal(dirs, []string{dir}) {
		t.Errorf("directories %q, %v", dirs, err)
	}
	if !second.Keep(path, false) || second.Keep(filepath.Join(dir, ".git"), true) {
		t.Error("the rules are not the owner's")
	}
	for _, paused := range []bool{true, false} {
		if err := theirs.SetPaused(ctx, paused); err != nil {
			t.Error(err)
		}
	}
	write(t, filepath.Join(dir, "more.go"), source("Bilby"))
	if err := second.Touch(ctx, "test", []string{filepath.Join(dir, "more.go")}, false); err != nil {
		t.Fatal(err)
	}
	wantFinds(t, mine, "Bilby")
	if err := theirs.Reindex(ctx, wire.ReindexParams{}); err != nil {
		t.Error(err)
	}
	var bad *engine.QueryError
	if _, err := theirs.Ask(ctx, wire.AskParams{}, nil); !errors.As(err, &bad) || !strings.Contains(bad.Reason, "empty") {
		t.Errorf("an empty question: %v", err)
	}

	// Closed buffers and views are forgotten.
	if err := theirs.Apply(ctx, "test", []file.Change{{Path: path, Kind: file.Closed}}); err != nil {
		t.Fatal(err)
	}
	wantFinds(t, theirs, "Quokka")
	theirs.Close()
	if _, err := theirs.Search(ctx, wire.SearchParams{Query: "x"}); err == nil {
		t.Error("a closed view answers")
	}
	wantFinds(t, second.NewView(), "Quokka")
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	await(t, "leaving", func() bool { return statusOf(t, mine).OwnedBy.Clients == 0 })
}

// TestStreams: the parts of an answer come before it, whole and in order.
func TestStreams(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	_, mine := d.open(d.options(dir))
	_, theirs := d.open(d.options(dir))
	wantFinds(t, mine, "Quokka")
	answers := map[*View]string{}
	for _, v := range []*View{mine, theirs} {
		var parts []string
		r, err := v.Ask(t.Context(), wire.AskParams{SearchParams: wire.SearchParams{Query: "what does Quokka count?"}}, func(e engine.Event) {
			switch {
			case e.Citation != nil:
				parts = append(parts, "cite "+e.Citation.ID)
			default:
				parts = append(parts, e.Text)
			}
		})
		if err != nil || len(r.Citations) == 0 || len(parts) == 0 {
			t.Fatalf("%v, %d citations, parts %q", err, len(r.Citations), parts)
		}
		answers[v] = r.Answer + "\n" + strings.Join(parts, "\n")
	}
	if answers[mine] != answers[theirs] {
		t.Errorf("answers differ:\n%s\n%s", answers[mine], answers[theirs])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := theirs.Ask(ctx, wire.AskParams{SearchParams: wire.SearchParams{Query: "Quokka"}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestTakeOver: owner after owner ends, and nobody loses a buffer.
func TestTakeOver(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	path := filepath.Join(dir, "zoo.go")
	var all []*Workspace
	var views []*View
	words := []string{"Wallaby", "Numbat", "Wombat", "Bilby"}
	for _, word := range words {
		w, v := d.open(d.options(dir))
		edit(t, v, path, source(word))
		all, views = append(all, w), append(views, v)
	}
	for len(all) > 0 {
		for i, v := range views {
			wantFinds(t, v, words[i])
			wantMisses(t, v, words[(i+1)%len(words)], "Quokka")
		}
		i := slices.IndexFunc(all, (*Workspace).isOwner)
		if i < 0 {
			t.Fatal("nobody owns the index")
		}
		if again := slices.IndexFunc(all[i+1:], (*Workspace).isOwner); again >= 0 {
			t.Fatal("two own the index")
		}
		awaited := make(chan error, len(all))
		for j, w := range all {
			if j != i && len(all) == 2 {
				go func() { awaited <- w.AwaitOwner(t.Context()) }()
			}
		}
		// Asked while the owner goes: answered by the next one.
		var asking sync.WaitGroup
		for j, v := range views {
			if j == i {
				continue
			}
			asking.Go(func() {
				for range 20 {
					r, err := v.Search(t.Context(), wire.SearchParams{Query: words[j]})
					if err != nil {
						t.Errorf("%s: %v", words[j], err)
					} else if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Text, words[j]) {
						t.Errorf("%s: %v", words[j], r.Hits)
					}
				}
			})
		}
		if err := all[i].Close(); err != nil {
			t.Error(err)
		}
		asking.Wait()
		if len(all) == 2 {
			if err := <-awaited; err != nil {
				t.Error(err)
			}
		}
		all, views, words = slices.Delete(all, i, i+1), slices.Delete(views, i, i+1), slices.Delete(words, i, i+1)
		if len(all) == 1 {
			words = append(words, "Nobody")
		}
	}
	if left, _ := filepath.Glob(filepath.Join(d.cache, "*", "*", "OWNER*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if left, _ := filepath.Glob(filepath.Join(d.cache, "*", "*", "socket")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestHerd: many begin at once, one owns.
func TestHerd(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	const herd = 6
	all := make([]*Workspace, herd)
	var started sync.WaitGroup
	for i := range all {
		started.Go(func() {
			var err error
			if all[i], err = Open(t.Context(), d.options(dir)); err != nil {
				t.Error(err)
			}
		})
	}
	started.Wait()
	if t.Failed() {
		return
	}
	defer func() {
		for _, w := range all {
			w.Close()
		}
	}()
	owners := 0
	for _, w := range all {
		if w.isOwner() {
			owners++
		}
		wantFinds(t, w.NewView(), "Quokka")
	}
	if owners != 1 {
		t.Errorf("%d own the index", owners)
	}
	if dirs, _ := filepath.Glob(filepath.Join(d.cache, "v[0-9]*", "*")); len(dirs) != 1 {
		t.Errorf("indexes: %q", dirs)
	}
}

// TestOtherFolders: windows whose folders overlap do not disturb each other.
func TestOtherFolders(t *testing.T) {
	d := newDesk(t)
	a, b := d.folder("aa", "Quokka"), d.folder("bb", "Numbat")
	first, onlyA := d.open(d.options(a))
	both, views := d.open(d.options(a, b))
	again, more := d.open(d.options(b, a)) // in another order
	if !first.isOwner() || !both.isOwner() || again.isOwner() {
		t.Errorf("owners %v %v %v", first.isOwner(), both.isOwner(), again.isOwner())
	}
	wantFinds(t, onlyA, "Quokka")
	wantMisses(t, onlyA, "Numbat")
	wantFinds(t, views, "Quokka", "Numbat")
	wantFinds(t, more, "Quokka", "Numbat")
	if r, err := more.Search(t.Context(), wire.SearchParams{Query: "Numbat"}); err != nil || r.Hits[0].Path != "bb/bb.go" {
		t.Errorf("%v, %v", r.Hits, err)
	}
	if len(d.notices) > 0 {
		t.Errorf("notices %q", d.notices)
	}

	// A window opens and closes a folder; its buffers stay.
	edit(t, onlyA, filepath.Join(a, "aa.go"), source("Wombat"))
	if err := first.SetRoots(t.Context(), d.options(a, b).Roots); err != nil {
		t.Fatal(err)
	}
	if first.isOwner() {
		t.Error("the folders have two owners")
	}
	wantFinds(t, onlyA, "Wombat", "Numbat")
	wantMisses(t, onlyA, "Quokka")
	wantFinds(t, views, "Quokka")
	if err := first.SetRoots(t.Context(), []file.Root{{Name: "none", Dir: filepath.Join(a, "none")}}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a folder that is not there: %v", err)
	}
	wantFinds(t, onlyA, "Wombat", "Numbat")
	if err := first.SetRoots(t.Context(), d.options(b).Roots); err != nil {
		t.Fatal(err)
	}
	wantFinds(t, onlyA, "Numbat")
	wantMisses(t, onlyA, "Quokka")
}

// TestLeavingOwner: the owner opens another folder; those who shared go on.
func TestLeavingOwner(t *testing.T) {
	d := newDesk(t)
	a, b := d.folder("aa", "Quokka"), d.folder("bb", "Numbat")
	first, mine := d.open(d.options(a))
	second, theirs := d.open(d.options(a))
	edit(t, theirs, filepath.Join(a, "aa.go"), source("Bilby"))
	if err := first.SetRoots(t.Context(), d.options(a, b).Roots); err != nil {
		t.Fatal(err)
	}
	wantFinds(t, theirs, "Bilby")
	wantMisses(t, theirs, "Numbat")
	wantFinds(t, mine, "Quokka", "Numbat")
	if !first.isOwner() || !second.isOwner() {
		t.Errorf("owners %v, %v", first.isOwner(), second.isOwner())
	}
}

// TestSettings: the owner's index, everybody's own way of asking.
func TestSettings(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	for i := range 15 {
		write(t, filepath.Join(dir, fmt.Sprintf("f%d.go", i)), source(fmt.Sprintf("Possum%d", i)))
	}
	o := d.options(dir)
	first, mine := d.open(o)
	other := o
	other.Settings.Chunk.MaxChars, other.Settings.Search.TopK, other.Settings.Search.MinRelevance = 2000, 10, 0
	second, theirs := d.open(other)
	if !d.told("chunk.maxChars is 1500 there, 2000 here") || d.told("topK") {
		t.Errorf("notices %q", d.notices)
	}
	count := func(v *View) int {
		if _, err := v.Sync(t.Context(), wire.SyncParams{}); err != nil {
			t.Fatal(err)
		}
		r, err := v.Search(t.Context(), wire.SearchParams{Query: "counts marsupials"})
		if err != nil {
			t.Fatal(err)
		}
		return len(r.Hits)
	}
	if n := count(theirs); n != 10 {
		t.Errorf("%d hits, want 10", n)
	}
	if n := count(mine); n <= 10 {
		t.Errorf("%d hits, want more than 10", n)
	}
	if st := statusOf(t, theirs); len(st.Notices) != 1 || !strings.Contains(st.Notices[0], "chunk.maxChars") {
		t.Errorf("notices %q", st.Notices)
	}
	other.Settings.Search.TopK, other.Settings.Chunk.MaxChars = 12, 1500
	if err := second.SetSettings(t.Context(), other.Settings); err != nil {
		t.Fatal(err)
	}
	if n := count(theirs); n != 12 {
		t.Errorf("%d hits, want 12", n)
	}
	if st := statusOf(t, theirs); len(st.Notices) != 0 {
		t.Errorf("notices %q", st.Notices)
	}

	// The owner's index is opened anew under its clients.
	o.Settings.Chunk.MaxChars = 1200
	if err := first.SetSettings(t.Context(), o.Settings); err != nil {
		t.Fatal(err)
	}
	wantFinds(t, theirs, "Quokka")
	if st := statusOf(t, theirs); len(st.Notices) != 1 || !strings.Contains(st.Notices[0], "chunk.maxChars is 1200 there, 1500 here") {
		t.Errorf("notices %q", st.Notices)
	}
	// With the owner, its settings go.
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if n := count(theirs); n != 12 {
		t.Errorf("%d hits, want 12", n)
	}
	if st := statusOf(t, theirs); !st.Owner || len(st.Notices) != 0 {
		t.Errorf("%+v", st)
	}
}

// TestMismatch: processes that do not understand each other keep apart, and say
// so.
func TestMismatch(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	_, mine := d.open(d.options(dir))
	o := d.options(dir)
	o.protocol, o.Version = 99, "9.9.9"
	second, theirs := d.open(o)
	if !second.isOwner() || !d.told("1.2.3 (protocol 2,", "9.9.9 (protocol 99,", "update both") {
		t.Errorf("owner %v, notices %q", second.isOwner(), d.notices)
	}
	wantFinds(t, mine, "Quokka")
	wantFinds(t, theirs, "Quokka")
	if st := statusOf(t, theirs); len(st.Notices) != 1 || !strings.Contains(st.Notices[0], "protocol 99") {
		t.Errorf("notices %q", st.Notices)
	}
	third, _ := d.open(o)
	if third.isOwner() {
		t.Error("the second index has two owners")
	}
}

// TestOlderOwner: a process of the former protocol, which lacks methods that are
// called here, is not attached to, whoever of the two came first.
func TestOlderOwner(t *testing.T) {
	for _, olderFirst := range []bool{true, false} {
		d := newDesk(t)
		dir := d.folder("zoo", "Quokka")
		former := d.options(dir)
		former.protocol, former.Version = Protocol-1, "1.0.0"
		present := d.options(dir)
		order := []Options{former, present}
		if !olderFirst {
			slices.Reverse(order)
		}
		first, _ := d.open(order[0])
		second, _ := d.open(order[1])
		if !first.isOwner() || !second.isOwner() || !d.told(fmt.Sprintf("(protocol %d,", Protocol-1), fmt.Sprintf("(protocol %d,", Protocol), "update both") {
			t.Errorf("older first %v: owners %v, %v, notices %q", olderFirst, first.isOwner(), second.isOwner(), d.notices)
		}
		for _, w := range []*Workspace{first, second} {
			v := w.NewView()
			wantFinds(t, v, "Quokka")
			if r, err := v.Excerpt(t.Context(), wire.ExcerptParams{Path: "zoo.go", StartLine: 1, EndLine: 1}); err != nil || r.Text == "" {
				t.Errorf("older first %v: lines %+v, %v", olderFirst, r, err)
			}
			if r, err := v.Tree(t.Context(), wire.TreeParams{Tokens: 100}); err != nil || !strings.Contains(r.Tree, "zoo.go") {
				t.Errorf("older first %v: tree %+v, %v", olderFirst, r, err)
			}
			v.Close()
		}
	}
}

// TestProtocol: whoever adds a method or takes one away raises Protocol, because
// an owner of the former version does not know it.
func TestProtocol(t *testing.T) {
	const protocol = 2
	want := []string{
		"attach/directories", "attach/keep", "attach/touch",
		"view/ask", "view/citations", "view/context", "view/excerpt", "view/explain", "view/pause", "view/reindex", "view/resolve",
		"view/search", "view/similar", "view/status", "view/symbols", "view/sync", "view/text", "view/tree",
	}
	got := slices.Sorted(maps.Keys(handlers()))
	if Protocol != protocol || !slices.Equal(got, want) {
		t.Errorf("protocol %d has the methods\n%q, written down are those of protocol %d:\n%q\nraise Protocol, then write the new ones down here", Protocol, got, protocol, want)
	}
}

// TestUnsharedIndex: a process that holds the lock and says nothing.
func TestUnsharedIndex(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	o := d.options(dir)
	e, err := engine.Open(t.Context(), o.Options)
	if err != nil {
		t.Fatal(err)
	}
	o.Patience = 100 * time.Millisecond
	w, v := d.open(o)
	wantFinds(t, v, "Quokka")
	if !w.isOwner() || !d.told(fmt.Sprint("pid ", os.Getpid()), "does not share it", dir) {
		t.Errorf("notices %q", d.notices)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestAwaitedOwner: one that is still opening is waited for.
func TestAwaitedOwner(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	o := d.options(dir)
	e, err := engine.Open(t.Context(), o.Options)
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan *Workspace)
	go func() {
		w, err := Open(t.Context(), o)
		if err != nil {
			t.Error(err)
		}
		opened <- w
	}()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	w := <-opened
	defer w.Close()
	if dirs, _ := filepath.Glob(filepath.Join(d.cache, "v[0-9]*", "*")); len(dirs) != 1 {
		t.Errorf("indexes: %q", dirs)
	}
}

// TestHangingOwner: one that accepts connections and answers nothing.
func TestHangingOwner(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	o := d.options(dir)
	e, err := engine.Open(t.Context(), o.Options)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	index, err := engine.IndexDir(o.Settings, o.Roots[0])
	if err != nil {
		t.Fatal(err)
	}
	l, address, err := socket.Listen(index)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := Record{version: o.version(), Address: address, Roots: foldersOf(o.Roots), Since: time.Now()}
	if err := r.write(index); err != nil {
		t.Fatal(err)
	}
	o.Hello = 50 * time.Millisecond
	w, v := d.open(o)
	wantFinds(t, v, "Quokka")
	if !w.isOwner() || !d.told("does not answer", fmt.Sprint("pid ", os.Getpid())) {
		t.Errorf("notices %q", d.notices)
	}
}

// TestSilentOwner: one that stops answering in the middle is given up.
func TestSilentOwner(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	o := d.options(dir)
	o.Hang, o.Hello = 200*time.Millisecond, 200*time.Millisecond
	w, mine := d.open(o)
	index := statusOf(t, mine).Roots[0].Index

	// Between the second process and the owner stands one that can stop.
	record, ok := Who(index)
	if !ok {
		t.Fatal("no record")
	}
	between, err := os.MkdirTemp("", "between-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(between)
	l, address, err := socket.Listen(between)
	if err != nil {
		t.Fatal(err)
	}
	valve := newValve(l, record.Address)
	defer valve.close()
	real := record.Address
	record.Address = address
	if err := record.write(index); err != nil {
		t.Fatal(err)
	}
	second, theirs := d.open(o)
	edit(t, theirs, filepath.Join(dir, "zoo.go"), source("Numbat"))
	wantFinds(t, theirs, "Numbat")
	valve.stop()
	wantFinds(t, theirs, "Numbat") // by an index of its own
	if !second.isOwner() || !d.told("does not answer") {
		t.Errorf("owner %v, notices %q", second.isOwner(), d.notices)
	}
	record.Address = real
	if err := record.write(index); err != nil {
		t.Fatal(err)
	}
	wantFinds(t, mine, "Quokka")
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// valve passes connections on until it is stopped.
type valve struct {
	l       net.Listener
	stopped chan struct{}
	once    sync.Once
	tasks   sync.WaitGroup
	mu      sync.Mutex
	conns   []net.Conn
}

func newValve(l net.Listener, to string) *valve {
	v := &valve{l: l, stopped: make(chan struct{})}
	v.tasks.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := socket.Dial(context.Background(), to)
			if err != nil {
				in.Close()
				continue
			}
			v.mu.Lock()
			v.conns = append(v.conns, in, out)
			v.mu.Unlock()
			v.tasks.Go(func() { v.pass(in, out) })
			v.tasks.Go(func() { v.pass(out, in) })
		}
	})
	return v
}

func (v *valve) pass(from, to net.Conn) {
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		select {
		case <-v.stopped:
			return // with both ends open
		default:
		}
		if err != nil {
			to.Close()
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (v *valve) stop() { v.once.Do(func() { close(v.stopped) }) }

func (v *valve) close() {
	v.stop()
	v.l.Close()
	v.mu.Lock()
	for _, c := range v.conns {
		c.Close()
	}
	v.mu.Unlock()
	v.tasks.Wait()
}

// TestLeftovers: what a killed owner leaves stands in nobody's way.
func TestLeftovers(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	o := d.options(dir)
	index, err := engine.IndexDir(o.Settings, o.Roots[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(index, 0o700); err != nil {
		t.Fatal(err)
	}
	l, address, err := socket.Listen(index)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	dead := o.version()
	dead.PID = 1 << 30
	for name, record := range map[string]func() error{
		"a socket and a record": func() error { return Record{version: dead, Address: address, Roots: foldersOf(o.Roots)}.write(index) },
		"of other folders": func() error {
			return Record{version: dead, Address: address, Roots: []folder{{"x", "/x"}}}.write(index)
		},
		"garbage": func() error { return os.WriteFile(recordPath(index), []byte("{\x00"), 0o600) },
		"a foreign address": func() error {
			return Record{version: dead, Address: recordPath(index), Roots: foldersOf(o.Roots)}.write(index)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := record(); err != nil {
				t.Fatal(err)
			}
			d := &desk{t: t, cache: d.cache}
			w, v := d.open(o)
			second, _ := d.open(o)
			wantFinds(t, v, "Quokka")
			if !w.isOwner() || second.isOwner() || len(d.notices) > 0 {
				t.Errorf("owners %v %v, notices %q", w.isOwner(), second.isOwner(), d.notices)
			}
			second.Close()
			w.Close()
		})
	}
}

// TestNoSocket: an owner that cannot listen works, and says what that means.
func TestNoSocket(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	o := d.options(dir)
	// The index directory's path is too long for a socket, and there is nowhere
	// else to put one.
	o.Settings.Index.CacheDir = filepath.Join(d.cache, strings.Repeat("long/", 25))
	missing := filepath.Join(d.cache, "missing")
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", missing)
	o.Patience = 50 * time.Millisecond
	_, v := d.open(o)
	wantFinds(t, v, "Quokka")
	if !d.told("cannot share this index", missing) || len(statusOf(t, v).Notices) != 1 {
		t.Errorf("notices %q", d.notices)
	}
	second, theirs := d.open(o)
	wantFinds(t, theirs, "Quokka")
	if !second.isOwner() || !d.told("does not share it") {
		t.Errorf("notices %q", d.notices)
	}
}

// TestLongPath: a path that is too long for a socket costs nothing but a
// directory elsewhere, which does not stay.
func TestLongPath(t *testing.T) {
	d := newDesk(t)
	dir := d.folder("zoo", "Quokka")
	o := d.options(dir)
	o.Settings.Index.CacheDir = filepath.Join(d.cache, strings.Repeat("long/", 25))
	runtime := filepath.Join(d.cache, "run")
	if err := os.Mkdir(runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	w, _ := d.open(o)
	second, v := d.open(o)
	wantFinds(t, v, "Quokka")
	if !w.isOwner() || second.isOwner() || len(d.notices) > 0 {
		t.Errorf("owners %v %v, notices %q", w.isOwner(), second.isOwner(), d.notices)
	}
	second.Close()
	w.Close()
	if left, _ := os.ReadDir(runtime); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
