package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// A session pauses the real index: what is open is found, what changes is
// indexed, all else waits until the session resumes, and the client is told.
func TestPauseSession(t *testing.T) {
	files := []string{}
	for i := range 30 {
		files = append(files, fmt.Sprintf("f%d.go", i), fmt.Sprintf("package p\n\n// Number%d is one of many.\nfunc Number%d() {}\n", i, i))
	}
	dir := folder(t, files...)
	old := time.Now().Add(-time.Hour) // else a scan looks at what was written just now once more
	for i := range 30 {
		if err := os.Chtimes(filepath.Join(dir, fmt.Sprintf("f%d.go", i)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	layers, _ := config.Layers{}.WithFlags(map[string]string{"index.cacheDir": t.TempDir(), "embed.provider": "static"})
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{dir}, Server: lsp.Options{
		Settings: layers,
		Open: func(ctx context.Context, o engine.Options) (lsp.Workspace, error) {
			eng, err := engine.Open(ctx, o)
			if err != nil {
				return nil, err
			}
			return lsp.FromEngine(eng), nil
		},
	}})
	status := func() (st wire.Status) {
		t.Helper()
		e.MustCall(lsp.MethodStatus, nil, &st)
		return st
	}
	sync := func() {
		t.Helper()
		e.MustCall(lsp.MethodSync, wire.SyncParams{Scan: true}, nil)
	}
	sync()
	command := func(name string) (result lsp.PauseResult) {
		t.Helper()
		e.MustCall("workspace/executeCommand", map[string]any{"command": name}, &result)
		return result
	}
	if !command(lsp.CommandPause).Paused {
		t.Error("pausing says that it did not")
	}
	told := func(state string) {
		t.Helper()
		e.Await(lsp.MethodStatusChanged, func(raw json.RawMessage) bool {
			var st wire.Status
			return json.Unmarshal(raw, &st) == nil && st.State == state
		})
	}
	told(wire.StatePaused)
	write(t, filepath.Join(dir, "later.go"), "package p\n\nfunc Later() {}\n")
	write(t, filepath.Join(dir, "saved.go"), "package p\n\nfunc Saved() {}\n")
	sync() // finds both; neither was open or told of
	if st := status(); !st.Paused || st.State != wire.StatePaused || st.Queues.Index != 2 || st.Coverage.Pending != 2 || !st.Coverage.Stale || st.ETASeconds != nil {
		t.Errorf("while paused: %+v", st)
	}
	e.Notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": lsptest.URI(filepath.Join(dir, "saved.go")), "type": 1}}})
	e.MustCall(lsp.MethodSync, wire.SyncParams{}, nil)
	if st := status(); st.Queues.Index != 1 || st.Coverage.Indexed != 31 {
		t.Errorf("a change that was told of: %+v", st)
	}
	e.OpenFile(filepath.Join(dir, "later.go"))
	e.MustCall(lsp.MethodSync, wire.SyncParams{}, nil)
	if st := status(); st.Queues.Index != 0 || st.Coverage.Indexed != 32 || st.State != wire.StatePaused {
		t.Errorf("an open file: %+v", st)
	}
	if command(lsp.CommandResume).Paused {
		t.Error("resuming says that it is paused")
	}
	told(wire.StateReady)
	sync()
	if st := status(); st.Paused || st.State != wire.StateReady || st.Roots[0].State != wire.StateReady || st.MemoryLimitBytes == 0 || st.RSSBytes == 0 {
		t.Errorf("resumed: %+v", st)
	}
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
}

// However often the state changes, the client is told of it a few times a
// second, and of the last.
func TestStatusIsThrottled(t *testing.T) {
	e, w := start(t, lsptest.VSCode, folder(t, "a.go", "x"))
	e.MustCall(lsp.MethodStatus, nil, nil)
	began := time.Now()
	for range 2000 {
		w.Options().Changed()
		time.Sleep(200 * time.Microsecond)
	}
	var result lsp.PauseResult
	e.MustCall(lsp.MethodPause, nil, &result)
	w.Options().Changed()
	e.Await(lsp.MethodStatusChanged, func(raw json.RawMessage) bool {
		var st wire.Status
		return json.Unmarshal(raw, &st) == nil && st.Paused
	})
	// One at once, one per quarter of a second; one more was sent when it opened.
	if n, most := len(e.Received(lsp.MethodStatusChanged)), int(time.Since(began)/(250*time.Millisecond))+3; n > most {
		t.Errorf("told %d times in %v", n, time.Since(began))
	}
}
