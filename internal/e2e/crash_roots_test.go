package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// await polls the server's state.
func await(t *testing.T, e *lsptest.Editor, what string, ok func(wire.Status) bool) wire.Status {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		st := state(t, e)
		if ok(st) {
			return st
		}
		if time.Now().After(deadline) {
			t.Fatalf("still waiting (%s): %+v, notices %q", what, st.Coverage, st.Notices)
		}
	}
}

// serverAnswers is answers of a running server.
func serverAnswers(t *testing.T, e *lsptest.Editor) map[string]wire.SearchResult {
	t.Helper()
	all := map[string]wire.SearchResult{}
	for _, q := range zooQuestions() {
		var res wire.SearchResult
		e.MustCall(lsp.MethodSearch, wire.SearchParams{Query: q}, &res)
		all[q] = res
	}
	return all
}

// A folder that was missing when the session began is indexed when it comes,
// without anybody asking for it.
func TestCrashMissingFolderComes(t *testing.T) {
	h := newHome(t)
	missing, dir := filepath.Join(t.TempDir(), "later"), workspace(t)
	e := h.edit(missing, dir)
	awaitMessage(e, missing, "not indexed")
	wantQuokka(t, e, "")
	write(t, filepath.Join(missing, "zoo.go"), quokka)
	st := await(t, e, "the folder", func(st wire.Status) bool { return len(st.Roots) == 2 && st.Coverage.Indexed == 2 })
	if len(st.Notices) != 0 {
		t.Errorf("notices %q", st.Notices)
	}
	wantFound(t, hits(t, e, "Quokka"), "later/zoo.go", "func Quokka")

	// Alone, too.
	alone := filepath.Join(t.TempDir(), "alone")
	e = newHome(t).edit(alone)
	await(t, e, "the reason", func(st wire.Status) bool { return len(st.Roots) == 0 && len(st.Notices) > 0 })
	write(t, filepath.Join(alone, "zoo.go"), quokka)
	await(t, e, "the folder", func(st wire.Status) bool { return st.Coverage.Indexed == 1 })
	wantQuokka(t, e, "")
}

// One directory that is opened under two names is indexed once, whichever name
// its documents have.
func TestCrashFolderTwice(t *testing.T) {
	h := newHome(t)
	dir := workspace(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("no links: %v", err)
	}
	out := h.run("search", "--json", "--root", dir, "--root", link, "Quokka")
	var res wire.SearchResult
	out.decode(&res)
	if len(res.Hits) != 1 || res.Hits[0].Path != "zoo.go" || res.Coverage.Total != 1 {
		t.Errorf("the command line finds %v of %+v", places(res.Hits), res.Coverage)
	}
	e := h.edit(dir, link)
	wantQuokka(t, e, "")
	if st := state(t, e); len(st.Roots) != 1 || st.Coverage.Total != 1 {
		t.Errorf("roots %+v, %+v", st.Roots, st.Coverage)
	}
	path := filepath.Join(link, "zoo.go")
	e.OpenFile(path)
	e.Edit(path, 0, 0, "// Numbat eats termites all day.\n")
	e.Sync(wire.SyncParams{})
	wantFound(t, hits(t, e, "termites"), "zoo.go", "Numbat")
	for _, c := range ask(t, e, "what does Quokka count?").Citations {
		checkCitation(t, c, e.Text(path))
	}
	e.Close(path)
}

// Damage is shown to who looks at the editor, not only to who asks for it.
func TestCrashDamageIsShown(t *testing.T) {
	h := newHome(t)
	dir := zoo(t, 20)
	log := filepath.Join(indexDir(t, h, dir), "index.db")
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		says   []string
	}{
		"a zeroed tail":     {func(b []byte) []byte { clear(b[len(b)/2:]); return b }, []string{"damaged", log}},
		"cut short":         {func(b []byte) []byte { return b[:len(b)/2] }, []string{"cut short", "indexed again"}},
		"a flipped content": {func(b []byte) []byte { b[strings.LastIndex(string(b), "Feed")] ^= 1; return b }, []string{"damaged", "indexed again"}},
		"emptied":           {func([]byte) []byte { return nil }, []string{"cut short", "indexed again"}},
	} {
		sound, err := os.ReadFile(log)
		must(t, err)
		must(t, os.WriteFile(log, c.change(sound), 0o600))
		e := h.edit(dir)
		wantQuokka(t, e, "")
		awaitMessage(e, c.says...)
		if st := state(t, e); len(st.Notices) != 1 || !containsAll(st.Notices[0], c.says) {
			t.Errorf("%s: notices %q", name, st.Notices)
		}
		if err := e.Shutdown(); err != nil {
			t.Errorf("%s: shutdown: %v", name, err)
		}
		<-h.server.ended
	}
}
