package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// prefixed is the workspace prefix of a folder among several.
func prefixed(dir string) string { return filepath.Base(dir) + "/" }

func TestBadInputRootDoesNotExist(t *testing.T) {
	h := newHome(t)
	missing := filepath.Join(t.TempDir(), "no such folder")
	h.run("search", "--root", missing, "Quokka").wants(2, missing, "does not exist")
	h.run("index", "--root", missing).wants(2, missing)
	h.run("status", "--root", missing).wants(2, missing)

	dir := workspace(t)
	e := h.edit(missing, dir)
	awaitMessage(e, missing, "not indexed")
	wantQuokka(t, e, "")

	// A session with nothing else says which folder it is, not just that there
	// is none.
	e = newHome(t).edit(missing)
	if err := e.Call(lsp.MethodSearch, wire.SearchParams{Query: "Quokka"}, nil); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a search in a folder that does not exist: %v", err)
	}
	if st := state(t, e); !strings.Contains(strings.Join(st.Notices, "\n"), missing) {
		t.Errorf("the status does not name the folder: %q", st.Notices)
	}
}

func TestBadInputRootIsAFile(t *testing.T) {
	h := newHome(t)
	dir := workspace(t)
	file := filepath.Join(dir, "zoo.go")
	h.run("search", "--root", file, "Quokka").wants(2, file, "is a file", "folder")
	e := h.edit(file, dir)
	awaitMessage(e, file, "not indexed")
	wantQuokka(t, e, "")
}

func TestBadInputRootIsUnreadable(t *testing.T) {
	h := newHome(t)
	closed, open := workspace(t), workspace(t)
	h.as = nobody(t, h.cache, filepath.Dir(h.config), closed, open)
	must(t, os.Chmod(closed, 0))
	t.Cleanup(func() { must(t, os.Chmod(closed, 0o755)) })
	h.run("search", "--root", closed, "Quokka").wants(1, closed, "cannot be read", "permission denied")

	e := h.edit(closed, open)
	awaitMessage(e, closed, "not indexed", "permission denied")
	wantQuokka(t, e, "")
	// Nobody has to restart anything when it can be read again.
	must(t, os.Chmod(closed, 0o755))
	e.Sync(wire.SyncParams{Scan: true})
	wantFound(t, hits(t, e, "Quokka"), prefixed(closed)+"zoo.go", "func Quokka")

	// One that becomes unreadable while it is open.
	must(t, os.Chmod(closed, 0))
	e.Sync(wire.SyncParams{Scan: true})
	wantQuokka(t, e, prefixed(open))
	st := state(t, e)
	if !strings.Contains(st.Roots[0].Error, "permission denied") || !st.Coverage.Stale {
		t.Errorf("status of the unreadable folder: %+v, %+v", st.Roots[0], st.Coverage)
	}
	if all := strings.Join(st.Notices, "\n"); !strings.Contains(all, closed) {
		t.Errorf("no notice names the folder: %q", st.Notices)
	}
	must(t, os.Chmod(closed, 0o755))
	e.Sync(wire.SyncParams{Scan: true})
	wantFound(t, hits(t, e, "Quokka"), prefixed(closed)+"zoo.go", "func Quokka")
	if st := state(t, e); st.Roots[0].Error != "" || st.Coverage.Stale || strings.Contains(strings.Join(st.Notices, "\n"), closed) {
		t.Errorf("status after it could be read again: %+v, %+v, %q", st.Roots[0], st.Coverage, st.Notices)
	}
}

// What cannot be read now was not deleted: it stays known, is told, and is
// there again at once when it can be read.
func TestBadInputUnreadableFilesAreNotDeleted(t *testing.T) {
	h := newHome(t)
	dir := workspace(t,
		"numbat.go", "package zoo\n\n// Numbat eats termites.\nfunc Numbat() {}\n",
		"den/wombat.go", "package den\n\n// Wombat digs.\nfunc Wombat() {}\n")
	h.as = nobody(t, h.cache, filepath.Dir(h.config), dir)
	long := time.Now().Add(-time.Hour) // older than what a scan looks at again anyway
	for _, path := range []string{"numbat.go", "den/wombat.go"} {
		must(t, os.Chtimes(filepath.Join(dir, path), long, long))
	}
	before := h.status(dir)
	if before.Coverage.Indexed != 3 {
		t.Fatalf("indexed %+v", before.Coverage)
	}
	hide := func() {
		must(t, os.Chmod(filepath.Join(dir, "numbat.go"), 0))
		must(t, os.Chmod(filepath.Join(dir, "den"), 0))
	}
	show := func() {
		must(t, os.Chmod(filepath.Join(dir, "numbat.go"), 0o644))
		must(t, os.Chmod(filepath.Join(dir, "den"), 0o755))
	}
	t.Cleanup(show)

	hide()
	st := h.status(dir)
	wantSkipped(t, st, "den", "unreadable", "permission denied")
	if st.Chunks != before.Chunks {
		t.Errorf("%d chunks are left of %d", st.Chunks, before.Chunks)
	}
	wantFound(t, h.search(dir, "Quokka").Hits, "zoo.go", "func Quokka")
	for _, hit := range h.search(dir, "Wombat Numbat").Hits {
		if hit.Path != "zoo.go" {
			t.Errorf("%s is shown although it cannot be read", hit.Path)
		}
	}

	show()
	after := h.status(dir)
	if after.Counters.Embedded != 0 {
		t.Errorf("%d texts were embedded again", after.Counters.Embedded)
	}
	wantFound(t, h.search(dir, "Wombat").Hits, "den/wombat.go", "func Wombat")
	wantFound(t, h.search(dir, "Numbat").Hits, "numbat.go", "func Numbat")

	// The same while a server watches.
	e := h.edit(dir)
	e.Sync(wire.SyncParams{})
	hide()
	e.Sync(wire.SyncParams{Scan: true})
	wantQuokka(t, e, "")
	wantSkipped(t, state(t, e), "den", "unreadable", "permission denied")
	// No scan sees a changed mode; a question that meets the file does.
	if all := hits(t, e, "Numbat"); found(all, "numbat.go", "") {
		t.Errorf("numbat.go is shown although it cannot be read: %q", places(all))
	}
	e.Sync(wire.SyncParams{})
	wantSkipped(t, state(t, e), "numbat.go", "unreadable", "permission denied")
	show()
	e.Sync(wire.SyncParams{Scan: true})
	wantFound(t, hits(t, e, "Wombat"), "den/wombat.go", "func Wombat")
	wantFound(t, hits(t, e, "Numbat"), "numbat.go", "func Numbat")
	if st := state(t, e); st.Coverage.Skipped["unreadable"] != 0 {
		t.Errorf("skipped although all can be read: %v", st.SkippedFiles)
	}
}

// What never could be read is told too, and indexed when it can be.
func TestBadInputUnreadableFromTheStart(t *testing.T) {
	h := newHome(t)
	dir := workspace(t, "numbat.go", "package zoo\n\n// Numbat eats termites.\nfunc Numbat() {}\n")
	h.as = nobody(t, h.cache, filepath.Dir(h.config), dir)
	path := filepath.Join(dir, "numbat.go")
	long := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, long, long))
	must(t, os.Chmod(path, 0))
	st := h.status(dir)
	wantSkipped(t, st, "numbat.go", "unreadable", "permission denied")
	wantFound(t, h.search(dir, "Quokka").Hits, "zoo.go", "func Quokka")
	must(t, os.Chmod(path, 0o644))
	wantFound(t, h.search(dir, "Numbat").Hits, "numbat.go", "func Numbat")
}

// A nested repository is its own scope of ignore rules, and its files count.
func TestBadInputNestedRepositories(t *testing.T) {
	h := newHome(t)
	dir := workspace(t,
		".git/HEAD", "ref: refs/heads/main\n",
		".gitignore", "*.gen.go\n",
		"sub/.git/HEAD", "ref: refs/heads/main\n",
		"sub/.gitignore", "secret_plans.go\n",
		"sub/numbat.go", "package sub\n\n// Numbat eats termites.\nfunc Numbat() {}\n",
		"sub/numbat.gen.go", "package sub\n\n// Wombat is the outer repository's to ignore, not this one's.\nfunc Wombat() {}\n",
		"sub/secret_plans.go", "package sub\n\nfunc Bilby() {}\n",
		"sub/sub/.git", "gitdir: /nowhere/at/all\n",
		"sub/sub/quoll.go", "package sub\n\n// Quoll sits in a broken submodule.\nfunc Quoll() {}\n")
	e := h.edit(dir)
	e.Sync(wire.SyncParams{})
	wantQuokka(t, e, "")
	wantFound(t, hits(t, e, "Numbat"), "sub/numbat.go", "func Numbat")
	wantFound(t, hits(t, e, "Wombat"), "sub/numbat.gen.go", "func Wombat")
	wantFound(t, hits(t, e, "Quoll"), "sub/sub/quoll.go", "func Quoll")
	wantSkipped(t, state(t, e), "sub/secret_plans.go", "ignored", "sub/.gitignore:1")
}

// A folder that vanishes while it is open takes neither the server nor the
// other folders with it, and comes back.
func TestBadInputFolderVanishesWhileOpen(t *testing.T) {
	h := newHome(t)
	gone, stays := workspace(t, "numbat.go", "package zoo\n\n// Numbat eats termites.\nfunc Numbat() {}\n"), workspace(t)
	e := h.edit(gone, stays)
	e.Sync(wire.SyncParams{})
	wantFound(t, hits(t, e, "Numbat"), prefixed(gone)+"numbat.go", "func Numbat")

	aside := gone + "-aside"
	must(t, os.Rename(gone, aside))
	e.Sync(wire.SyncParams{Scan: true})
	wantQuokka(t, e, prefixed(stays))
	if all := hits(t, e, "Numbat"); found(all, prefixed(gone)+"numbat.go", "") {
		t.Errorf("a file that is gone is shown: %q", places(all))
	}
	st := state(t, e)
	if st.Roots[0].Error == "" || !st.Coverage.Stale {
		t.Errorf("status of a folder that is gone: %+v", st.Roots[0])
	}

	must(t, os.Rename(aside, gone))
	e.Sync(wire.SyncParams{Scan: true})
	wantFound(t, hits(t, e, "Numbat"), prefixed(gone)+"numbat.go", "func Numbat")
	if st := state(t, e); st.Roots[0].Error != "" || st.Coverage.Stale {
		t.Errorf("status of a folder that is back: %+v, %+v", st.Roots[0], st.Coverage)
	}
	if err := e.Shutdown(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

// Settings that are none are named, wherever they stand, and the rest holds.
func TestBadInputUnknownSettings(t *testing.T) {
	dir := workspace(t)
	h := newHome(t)
	write(t, h.config, "[search]\ntopK = 12\ntopp = 3\n\n[index]\nmaxFileBytes = \"big\"\n\n[nonsense]\nx = 1\n")
	h.env = []string{"CODERAG_TOP_KK=5", "CODERAG_RRF_K=many"}
	o := h.run("search", "--root", dir, "Quokka").wants(0, "zoo.go",
		h.config, "search.topp", "did you mean search.topK", "index.maxFileBytes", "nonsense.x", "CODERAG_TOP_KK", "CODERAG_RRF_K")
	if n := strings.Count(o.stderr, "warning:"); n != 5 {
		t.Errorf("%d warnings for 5 mistakes:\n%s", n, o.stderr)
	}
	h.run("search", "--root", dir, "--search.topp", "3", "Quokka").wants(2, "--search.topp")
	h.run("search", "--root", dir, "--search.topK", "9999", "Quokka").wants(2, "--search.topK", "9999", "50")

	e := h.editWith(lsptest.Config{
		Folders:               []string{dir},
		InitializationOptions: map[string]any{"coderag": map[string]any{"serch": map[string]any{"topK": 20}}, "search.rrfK": "sixty"},
		Settings:              map[string]any{"index": map[string]any{"wach": true}, "embed.modelDir": "/somewhere"},
	})
	for _, name := range []string{"serch.topK", "search.rrfK", "index.wach", "embed.modelDir"} {
		awaitMessage(e, name)
	}
	wantQuokka(t, e, "")
	e.SetSettings(map[string]any{"lsp": map[string]any{"hover": "maybe"}, "anser": 1})
	e.Notify("workspace/didChangeConfiguration", map[string]any{"settings": nil})
	awaitMessage(e, "lsp.hover")
	awaitMessage(e, "anser")
	wantQuokka(t, e, "")
	// Those that the editor does not know of are in the server's log.
	for _, name := range []string{"search.topp", "index.maxFileBytes", "nonsense.x", "CODERAG_TOP_KK", "CODERAG_RRF_K"} {
		if !strings.Contains(h.server.stderr.String(), name) {
			t.Errorf("the server does not name %s:\n%s", name, h.server.stderr)
		}
	}
}

// A settings file that cannot be read costs its settings, not the program.
func TestBadInputSettingsFile(t *testing.T) {
	dir := workspace(t)
	for name, content := range map[string]string{
		"broken": "[search\ntopK = 12\n", "not UTF-8": "[search]\ntopK = 12 # \xff\xfe\n", "NUL": "\x00\x00\x00", "huge": strings.Repeat("# more\n", 200_000),
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			write(t, h.config, content)
			h.run("search", "--root", dir, "Quokka").wants(0, "zoo.go", h.config, "warning:")
		})
	}
	t.Run("a folder", func(t *testing.T) {
		h := newHome(t)
		must(t, os.MkdirAll(h.config, 0o755))
		h.run("search", "--root", dir, "Quokka").wants(0, "zoo.go", h.config, "warning:")
	})
	t.Run("unreadable", func(t *testing.T) {
		h := newHome(t)
		dir := workspace(t)
		write(t, h.config, "[search]\ntopK = 12\n")
		h.as = nobody(t, h.cache, filepath.Dir(h.config), dir)
		must(t, os.Chmod(h.config, 0))
		h.run("search", "--root", dir, "Quokka").wants(0, "zoo.go", h.config, "permission denied")
	})
}

func TestBadInputInitializationOptionsOfOtherTypes(t *testing.T) {
	dir := workspace(t)
	for _, options := range []any{json.RawMessage(`[]`), json.RawMessage(`"x"`), json.RawMessage(`{"coderag": 5}`), json.RawMessage(`{"search": null, "index": []}`)} {
		e := newHome(t).editWith(lsptest.Config{Folders: []string{dir}, InitializationOptions: options, Settings: options})
		wantQuokka(t, e, "")
	}
}

// An index directory inside the folder that it is of is not indexed, and does
// not wake its own watcher for ever.
func TestBadInputIndexInsideItsOwnFolder(t *testing.T) {
	for name, cache := range map[string]string{"below": "made/here", "the folder itself": "."} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			dir := workspace(t)
			h.cache = filepath.Join(dir, cache)
			e := h.edit(dir)
			for range 5 { // each writes to the index
				write(t, filepath.Join(dir, "numbat.go"), "package zoo\n\n// Numbat eats termites.\nfunc Numbat() {}\n")
				e.Sync(wire.SyncParams{Scan: true})
				must(t, os.Remove(filepath.Join(dir, "numbat.go")))
				e.Sync(wire.SyncParams{Scan: true})
			}
			wantQuokka(t, e, "")
			st := state(t, e)
			if st.Coverage.Indexed != 1 {
				t.Errorf("%d files are indexed, want 1", st.Coverage.Indexed)
			}
			for _, f := range st.SkippedFiles {
				if f.Reason != "excluded" {
					t.Errorf("a file of the index was looked at: %+v", f)
				}
			}
		})
	}
}
