package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// window is an editor with the process that serves it.
type window struct {
	*lsptest.Editor
	server *server
	path   string // of its open document
	word   string // that it has written there and not saved
}

// animal is Go code about one.
func animal(name string) string {
	return "package zoo\n\n// " + name + " counts the marsupials of the island.\nfunc " + name + "(n int) int { return n + 1 }\n"
}

// openWindow opens a folder in an editor and edits zoo.go without saving.
func openWindow(t *testing.T, h *home, dir, word string) *window {
	t.Helper()
	e := h.edit(dir)
	w := &window{Editor: e, server: h.server, path: filepath.Join(dir, "zoo.go"), word: word}
	e.Open(lsptest.URI(w.path), "go", animal(word))
	return w
}

// wantOwn fails unless the editor sees what it has written, and neither what
// others have nor what the disk has.
func (w *window) wantOwn(t *testing.T, others ...*window) {
	t.Helper()
	var r wire.SearchResult
	w.MustCall(lsp.MethodSearch, wire.SearchParams{Query: w.word}, &r)
	if !found(r.Hits, "zoo.go", "func "+w.word) {
		t.Errorf("%s: not among the hits %q", w.word, places(r.Hits))
	}
	for _, hit := range r.Hits {
		if hit.Path != "zoo.go" {
			continue // other files are about these animals too
		}
		for _, o := range others {
			if strings.Contains(hit.Text, o.word) {
				t.Errorf("%s sees another editor's %s", w.word, o.word)
			}
		}
		if strings.Contains(hit.Text, "Quokka") {
			t.Errorf("%s sees the saved file:\n%s", w.word, hit.Text)
		}
	}
	a := ask(t, w.Editor, "what does "+w.word+" count?")
	if len(a.Citations) == 0 {
		t.Fatalf("%s: no citations in %s", w.word, a.Answer)
	}
	for _, c := range a.Citations {
		if c.Path == "zoo.go" {
			checkCitation(t, c, animal(w.word))
		}
	}
}

// ownership waits until all agree on who keeps the index, and returns that one's
// place among them.
func ownership(t *testing.T, windows ...*window) int {
	t.Helper()
	owner := -1
	for i, w := range windows {
		st := state(t, w.Editor)
		if st.Owner {
			if owner >= 0 {
				t.Fatalf("both %s and %s own the index", windows[owner].word, w.word)
			}
			owner = i
		}
	}
	if owner < 0 {
		t.Fatal("nobody owns the index")
	}
	pid := windows[owner].server.cmd.Process.Pid
	for _, w := range windows {
		if st := state(t, w.Editor); st.OwnedBy.PID != pid || len(st.Notices) > 0 {
			t.Errorf("%s says that %+v keeps the index, want pid %d; notices %q", w.word, st.OwnedBy, pid, st.Notices)
		}
	}
	return owner
}

// Two editors, a third, and the command line on one folder, each with its own
// text of one file; owners end in every way there is.
func TestAttachEditorsAndCommands(t *testing.T) {
	h := newHome(t)
	dir := zoo(t, 30)
	want := answers(newHome(t), dir)
	windows := []*window{openWindow(t, h, dir, "Wallaby"), openWindow(t, h, dir, "Numbat"), openWindow(t, h, dir, "Bilby")}
	for step, end := range []func(*window){
		func(w *window) { // in order
			if err := w.Shutdown(); err != nil {
				t.Errorf("shutdown: %v", err)
			}
			<-w.server.ended
		},
		func(w *window) { w.server.kill(t) },
	} {
		for i, w := range windows {
			w.Sync(wire.SyncParams{})
			w.wantOwn(t, append(append([]*window{}, windows[:i]...), windows[i+1:]...)...)
		}
		owner := ownership(t, windows...)
		pid := strconv.Itoa(windows[owner].server.cmd.Process.Pid)
		wantSame(t, "the command line", answers(h, dir), want) // it sees the disk
		h.run("status", "--root", dir).wants(0, "kept by", "pid "+pid)
		h.run("index", "--root", dir).wants(0, "kept by")
		h.run("doctor", "--root", dir).wants(0, "in use by pid "+pid)
		h.run("clean", "--root", dir).wants(4, "deleted 0 indexes", "pid "+pid)

		// Questions that are under way while the owner ends are answered.
		var asking sync.WaitGroup
		rest := []*window{}
		for i, w := range windows {
			if i != owner {
				rest = append(rest, w)
			}
		}
		began := time.Now()
		for _, w := range rest {
			for range 5 {
				p := w.Send(lsp.MethodSearch, wire.SearchParams{Query: w.word})
				asking.Go(func() {
					var r wire.SearchResult
					if err := p.Wait(&r); err != nil || !found(r.Hits, "zoo.go", "func "+w.word) {
						t.Errorf("%s, while the owner ends: %v, %q", w.word, err, places(r.Hits))
					}
				})
			}
		}
		end(windows[owner])
		asking.Wait()
		for _, w := range rest {
			w.wantOwn(t)
		}
		t.Logf("step %d: answered %v after the owner ended", step, time.Since(began).Round(time.Millisecond))
		windows = rest
	}
	// The last one has the index for itself, whole.
	last := windows[0]
	last.Sync(wire.SyncParams{Scan: true})
	if st := state(t, last.Editor); !st.Owner || st.Coverage.Indexed != 31 || st.OwnedBy.Clients != 0 {
		t.Errorf("%+v", st)
	}
	// What is saved on disk is seen by its watcher, which began with ownership.
	write(t, filepath.Join(dir, "late.go"), animal("Potoroo"))
	last.Await(lsp.MethodStatusChanged, func(raw json.RawMessage) bool {
		var st wire.Status
		return json.Unmarshal(raw, &st) == nil && st.Coverage.Indexed == 32
	})
	wantFound(t, hits(t, last.Editor, "Potoroo"), "late.go", "func Potoroo")
	if err := last.Shutdown(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	<-last.server.ended
	must(t, os.Remove(filepath.Join(dir, "late.go")))
	wantSame(t, "afterwards", answers(h, dir), want)
	if all, _ := filepath.Glob(filepath.Join(h.cache, "v[0-9]*", "*")); len(all) != 1 {
		t.Errorf("indexes: %q", all)
	}
	if left := inWorkspace(t, dir); len(left) > 0 {
		t.Errorf("written into the workspace: %q", left)
	}
}

// inWorkspace lists files that a zoo does not have.
func inWorkspace(t *testing.T, dir string) []string {
	t.Helper()
	var others []string
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) != ".go" {
			others = append(others, path)
		}
		return err
	}))
	return others
}

// Six processes start at once, the owner is killed again and again.
func TestAttachHerd(t *testing.T) {
	h := newHome(t)
	dir := zoo(t, 30)
	words := []string{"Wallaby", "Numbat", "Wombat", "Bilby", "Quoll", "Potoroo"}
	windows := make([]*window, len(words))
	var opening sync.WaitGroup
	for i, word := range words {
		own := &home{tb: t, cache: h.cache, config: h.config}
		opening.Go(func() { windows[i] = openWindow(t, own, dir, word) })
	}
	opening.Wait()
	for len(windows) > 1 {
		for _, w := range windows {
			w.wantOwn(t)
		}
		owner := ownership(t, windows...)
		windows[owner].server.kill(t)
		windows = append(append([]*window{}, windows[:owner]...), windows[owner+1:]...)
	}
	windows[0].Sync(wire.SyncParams{Scan: true})
	windows[0].wantOwn(t)
	if st := state(t, windows[0].Editor); st.Coverage.Indexed != 31 || st.Coverage.Pending != 0 || len(st.Notices) > 0 {
		t.Errorf("%+v, notices %q", st.Coverage, st.Notices)
	}
	if all, _ := filepath.Glob(filepath.Join(h.cache, "v[0-9]*", "*")); len(all) != 1 {
		t.Errorf("indexes: %q", all)
	}
}

// An editor and a command that index the same folder for the first time, at
// once, and the command ends first.
func TestAttachToCommand(t *testing.T) {
	h := newHome(t)
	dir := zoo(t, 300)
	ran := make(chan outcome, 1)
	go func() { ran <- h.run("index", "--root", dir) }()
	w := openWindow(t, &home{tb: t, cache: h.cache, config: h.config}, dir, "Wallaby")
	w.Sync(wire.SyncParams{})
	w.wantOwn(t)
	(<-ran).wants(0)
	w.Sync(wire.SyncParams{})
	w.wantOwn(t)
	if st := state(t, w.Editor); !st.Owner || st.Coverage.Indexed != 301 {
		t.Errorf("%+v", st)
	}
}

// A folder that is added to a window while another window has it: both go on.
func TestAttachOverlappingFolders(t *testing.T) {
	h := newHome(t)
	dir, other := zoo(t, 3), workspace(t, "numbat.go", animal("Numbat"))
	first := openWindow(t, h, dir, "Wallaby")
	first.wantOwn(t)
	third := h.edit(other)
	third.Sync(wire.SyncParams{})
	third.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{
		"added": []any{map[string]any{"uri": lsptest.URI(dir), "name": "dir"}}, "removed": []any{},
	}})
	third.Sync(wire.SyncParams{})
	wantFound(t, hits(t, third, "Numbat"), filepath.Base(other)+"/numbat.go", "func Numbat")
	wantFound(t, hits(t, third, "Quokka"), "dir/zoo.go", "func Quokka")
	if st := state(t, third); !st.Owner || len(st.Notices) > 0 {
		t.Errorf("owner %v, notices %q", st.Owner, st.Notices)
	}
	first.wantOwn(t)
	h.run("search", "--root", dir, "Quokka").wants(0, "zoo.go")
	first.server.kill(t)
	wantFound(t, hits(t, third, "Quokka"), "dir/zoo.go", "func Quokka")
	third.Shutdown()
	h.run("clean", "--root", dir).wants(0, "deleted 2 indexes")
}
