package lsp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

func TestInitializationOptions(t *testing.T) {
	for name, options := range map[string]any{
		"nested":       map[string]any{"search": map[string]any{"topK": 33}, "index": map[string]any{"cacheDir": "/x"}},
		"dotted":       map[string]any{"search.topK": 33, "index.cacheDir": "/x"},
		"in a section": map[string]any{"coderag": map[string]any{"search": map[string]any{"topK": 33}, "index.cacheDir": "/x"}},
	} {
		w := &lsptest.Workspace{}
		e := lsptest.Start(t, lsptest.Config{Folders: []string{folder(t)}, InitializationOptions: options, Server: lsp.Options{Open: w.Open}})
		e.MustCall(lsp.MethodStatus, nil, nil)
		if s := w.Settings(); s.Search.TopK != 33 || s.Index.CacheDir != "/x" || s.Search.RRFK != 60 {
			t.Errorf("%s: %+v %+v", name, s.Search, s.Index)
		}
		if shown := e.Received("window/showMessage"); len(shown) != 0 {
			t.Errorf("%s: shown %s", name, shown)
		}
	}
}

// Mistakes are named and cost nothing else.
func TestBadSettings(t *testing.T) {
	w := &lsptest.Workspace{}
	e := lsptest.Start(t, lsptest.Config{Folders: []string{folder(t)}, Server: lsp.Options{Open: w.Open},
		InitializationOptions: map[string]any{"serach": map[string]any{"topK": 20}, "search": map[string]any{"rrfK": 5000, "topK": 21, "hybrid": "maybe"}}})
	e.MustCall(lsp.MethodStatus, nil, nil)
	for _, name := range []string{"serach.topK", "search.rrfK", "search.hybrid"} {
		e.Await("window/showMessage", func(p json.RawMessage) bool { return strings.Contains(string(p), name) })
	}
	if got := w.Settings().Search; got.TopK != 21 || got.RRFK != 60 || !got.Hybrid {
		t.Errorf("%+v", got)
	}
	e = lsptest.Start(t, lsptest.Config{Folders: []string{folder(t)}, Server: lsp.Options{Open: w.Open}, InitializationOptions: []any{7}})
	e.MustCall(lsp.MethodStatus, nil, nil)
	e.Await("window/showMessage", func(p json.RawMessage) bool { return strings.Contains(string(p), "not an object") })
}

// Settings that the client tells on request: at the start and when they
// changed. What a repository could have written is not trusted.
func TestPulledConfiguration(t *testing.T) {
	w := &lsptest.Workspace{}
	e := lsptest.Start(t, lsptest.Config{
		Client: lsptest.VSCode, Folders: []string{folder(t)}, Server: lsp.Options{Open: w.Open},
		InitializationOptions: map[string]any{"search.topK": 12, "search.rrfK": 70},
		Settings: map[string]any{
			"search": map[string]any{"topK": 34}, "trace": map[string]any{"server": "off"}, "server": map[string]any{"path": "/bin/x"},
			"embed": map[string]any{"libraryPath": "/tmp/evil.so", "modelDir": ""}, "log": map[string]any{"file": nil},
		},
	})
	e.MustCall(lsp.MethodStatus, nil, nil)
	if s := w.Options().Settings; s.Search.TopK != 34 || s.Search.RRFK != 70 || s.Embed.LibraryPath != "" {
		t.Errorf("opened with %+v", s)
	}
	e.Await("window/showMessage", func(p json.RawMessage) bool { return strings.Contains(string(p), "embed.libraryPath") })
	if shown := e.Received("window/showMessage"); len(shown) != 1 {
		t.Errorf("shown: %s", shown)
	}

	e.SetSettings(map[string]any{"search": map[string]any{"topK": 35}})
	e.Notify("workspace/didChangeConfiguration", map[string]any{"settings": nil})
	e.MustCall(lsp.MethodStatus, nil, nil) // sees the change
	if got := w.Settings().Search.TopK; got != 35 {
		t.Errorf("topK %d", got)
	}
	e.SetSettings(nil)
	e.Notify("workspace/didChangeConfiguration", map[string]any{"settings": nil})
	e.MustCall(lsp.MethodStatus, nil, nil)
	if got := w.Settings().Search.TopK; got != 12 {
		t.Errorf("without settings, topK is %d", got)
	}
}

func TestPushedConfiguration(t *testing.T) {
	e, w := start(t, lsptest.Minimal, folder(t))
	e.Notify("workspace/didChangeConfiguration", map[string]any{"settings": map[string]any{"gopls": map[string]any{"x": 1}}})
	e.Notify("workspace/didChangeConfiguration", map[string]any{"settings": map[string]any{"coderag": map[string]any{"search.topK": 44}}})
	e.MustCall(lsp.MethodStatus, nil, nil)
	if got := w.Settings().Search.TopK; got != 44 {
		t.Errorf("topK %d", got)
	}
	if shown := e.Received("window/showMessage"); len(shown) != 0 {
		t.Errorf("another server's settings were reported: %s", shown)
	}
}

// What is set in the environment wins over the editor.
func TestSettingsOutsideWin(t *testing.T) {
	w := &lsptest.Workspace{}
	layers, problems := config.Layers{}.WithEnv([]string{"CODERAG_TOP_K=11"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	e := lsptest.Start(t, lsptest.Config{Folders: []string{folder(t)}, InitializationOptions: map[string]any{"search.topK": 33},
		Server: lsp.Options{Open: w.Open, Settings: layers}})
	e.MustCall(lsp.MethodStatus, nil, nil)
	if got := w.Settings().Search.TopK; got != 11 {
		t.Errorf("topK %d", got)
	}
}

func rootNames(w *lsptest.Workspace) []string {
	var names []string
	for _, r := range w.Roots() {
		names = append(names, r.Name+"="+filepath.Base(r.Dir))
	}
	return names
}

func TestFolders(t *testing.T) {
	dir := folder(t, "a/app/x.go", "needle a\n", "b/app/x.go", "needle b\n", "c/x.go", "needle c\n", "file", "")
	w := &lsptest.Workspace{}
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Server: lsp.Options{Open: w.Open},
		Folders: []string{dir + "/a/app", dir + "/b/app", dir + "/a/app/", dir + "/none", dir + "/file"}})
	if got := hits(t, e, "needle"); !slices.Equal(got, []string{"app-2/x.go: needle b", "app/x.go: needle a"}) {
		t.Errorf("hits: %q", got)
	}
	for _, part := range []string{"none is not indexed", "file is not indexed"} {
		e.Await("window/showMessage", func(p json.RawMessage) bool { return strings.Contains(string(p), part) })
	}
	folders := func(paths ...string) (all []any) {
		for _, path := range paths {
			all = append(all, map[string]any{"uri": lsptest.URI(path), "name": filepath.Base(path)})
		}
		return all
	}
	e.OpenFile(dir + "/c/x.go")
	e.Replace(dir+"/c/x.go", "c", "unsaved")
	e.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"added": folders(dir + "/c"), "removed": folders(dir + "/b/app")}})
	if got := hits(t, e, "needle"); !slices.Equal(got, []string{"app/x.go: needle a", "c/x.go: needle unsaved"}) {
		t.Errorf("hits after a change: %q", got)
	}
	e.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"removed": folders(dir+"/a/app", dir+"/a/app/", dir+"/c", dir+"/none", dir+"/file")}})
	if err := e.Call(lsp.MethodSearch, wire.SearchParams{Query: "needle"}, nil); code(err) != requestFailed || !strings.Contains(err.Error(), "no folder is open") {
		t.Errorf("without folders: %v, roots %q", err, rootNames(w))
	}
	if !w.Closed() {
		t.Error("the index was left open")
	}
	e.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"added": folders(dir + "/c")}})
	if got := hits(t, e, "needle"); !slices.Equal(got, []string{"x.go: needle unsaved"}) {
		t.Errorf("hits after opening again: %q", got)
	}
}

// A folder that is left out is looked at again when everything is.
func TestFolderComesLater(t *testing.T) {
	dir := folder(t, "a/x.go", "needle a\n")
	late := filepath.Join(dir, "late")
	w := &lsptest.Workspace{}
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Server: lsp.Options{Open: w.Open}, Folders: []string{late}})
	if err := e.Call(lsp.MethodSearch, wire.SearchParams{Query: "needle"}, nil); code(err) != requestFailed || !strings.Contains(err.Error(), late+" is not indexed: it does not exist") {
		t.Errorf("a folder that does not exist: %v", err)
	}
	write(t, filepath.Join(late, "x.go"), "needle late\n")
	e.Sync(wire.SyncParams{Scan: true})
	if got := hits(t, e, "needle"); !slices.Equal(got, []string{"x.go: needle late"}) {
		t.Errorf("hits when it has come: %q", got)
	}
}

// A session about single files answers what it can, and says what it cannot.
func TestNoFolder(t *testing.T) {
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.Neovim, Server: lsp.Options{}})
	e.Open("/tmp/x.go", "go", "package x")
	for _, method := range []string{lsp.MethodAsk, lsp.MethodSearch, lsp.MethodContext, lsp.MethodSync, lsp.MethodReindex} {
		if err := e.Call(method, wire.SearchParams{Query: "x"}, nil); code(err) != requestFailed || !strings.Contains(err.Error(), "no folder is open") {
			t.Errorf("%s: %v", method, err)
		}
	}
	var status wire.Status
	e.MustCall(lsp.MethodStatus, nil, &status)
	if len(status.Notices) != 1 || !strings.Contains(status.Notices[0], "no folder is open") {
		t.Errorf("status: %+v", status)
	}
	document := map[string]any{"textDocument": map[string]any{"uri": lsptest.URI("/tmp/x.go")}, "position": map[string]any{"line": 0, "character": 1},
		"range": map[string]any{"start": map[string]any{"line": 0, "character": 0}, "end": map[string]any{"line": 0, "character": 0}}, "context": map[string]any{}}
	for _, method := range []string{"textDocument/hover", "textDocument/codeAction", "textDocument/codeLens", "textDocument/documentLink"} {
		e.MustCall(method, document, nil)
	}
}

// Neither the file system nor a home is a project.
func TestFoldersTooLarge(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("no home directory")
	}
	for _, dir := range []string{home, filepath.Dir(filepath.VolumeName(home) + string(filepath.Separator))} {
		w := &lsptest.Workspace{}
		e := lsptest.Start(t, lsptest.Config{Folders: []string{dir}, Server: lsp.Options{Open: w.Open}})
		if err := e.Call(lsp.MethodSync, nil, nil); code(err) != requestFailed {
			t.Errorf("%s: %v", dir, err)
		}
		e.Await("window/showMessage", func(p json.RawMessage) bool { return strings.Contains(string(p), "open the project's own folder") })
	}
}

func TestRootPath(t *testing.T) {
	dir := folder(t, "a.go", "needle\n")
	w := &lsptest.Workspace{}
	e := lsptest.Connect(t, lsptest.Config{Server: lsp.Options{Open: w.Open}})
	e.MustCall("initialize", map[string]any{"rootPath": dir, "rootUri": nil, "capabilities": map[string]any{}}, nil)
	// Some clients forget "initialized".
	if got := hits(t, e, "needle"); len(got) != 1 {
		t.Errorf("hits: %q", got)
	}
}

// The watcher runs for the folders and settings in force, one at a time.
func TestWatch(t *testing.T) {
	dir := folder(t, "a/x.go", "", "b/x.go", "")
	type run struct {
		roots []file.Root
		poll  int
	}
	runs := make(chan run, 10)
	ends := make(chan struct{}, 10)
	w := &lsptest.Workspace{}
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{dir + "/a"}, Server: lsp.Options{Open: w.Open,
		Watch: func(ctx context.Context, ws lsp.Watched, roots []file.Root, s config.Settings) {
			runs <- run{roots, s.Index.PollInterval}
			_ = ws.Touch(ctx, "watcher", []string{"/seen"}, false)
			<-ctx.Done()
			ends <- struct{}{}
		}}})
	e.MustCall(lsp.MethodStatus, nil, nil)
	if r := <-runs; len(r.roots) != 1 || r.poll != config.Default().Index.PollInterval {
		t.Errorf("first: %+v", r)
	}
	e.SetSettings(map[string]any{"index": map[string]any{"pollInterval": 700}})
	e.Notify("workspace/didChangeConfiguration", nil)
	<-ends
	if r := <-runs; r.poll != 700 {
		t.Errorf("after a setting: %+v", r)
	}
	e.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"added": []any{map[string]any{"uri": lsptest.URI(dir + "/b"), "name": "b"}}}})
	<-ends
	if r := <-runs; len(r.roots) != 2 {
		t.Errorf("after a folder: %+v", r)
	}
	e.SetSettings(map[string]any{"index": map[string]any{"watch": false}})
	e.Notify("workspace/didChangeConfiguration", nil)
	<-ends
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
	if len(runs) != 0 || len(ends) != 0 {
		t.Errorf("%d runs and %d ends too many", len(runs), len(ends))
	}
}

func TestRegistrations(t *testing.T) {
	for client, want := range map[string][]string{
		lsptest.VSCode: {"workspace/didChangeWatchedFiles", "workspace/didChangeConfiguration"}, lsptest.Emacs: {"workspace/didChangeWatchedFiles"},
	} {
		e, _ := start(t, client, folder(t))
		p := string(e.Await("client/registerCapability", nil))
		for _, method := range want {
			if !strings.Contains(p, method) {
				t.Errorf("%s: %s", client, p)
			}
		}
	}
	for _, client := range []string{lsptest.Neovim, lsptest.Minimal} {
		e, _ := start(t, client, folder(t))
		e.MustCall("shutdown", nil, nil)
		if got := e.Received("client/registerCapability"); len(got) != 0 {
			t.Errorf("%s: %s", client, got)
		}
	}
}
