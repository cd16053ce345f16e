package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/file"
	"coderag-ls/engine/host"
	"coderag-ls/engine/wire"
)

// awaitStatus waits for a state that other goroutines bring about.
func awaitStatus(t *testing.T, v *engine.View, what string, ok func(wire.Status) bool) wire.Status {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		st, err := v.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ok(st) {
			return st
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited for a minute for %s: %+v", what, st)
		}
	}
}

// A limit that is far too low keeps the program from indexing, not from
// answering; what is open is found, and a higher limit has the rest follow
// without the index being opened anew.
func TestMemoryLimit(t *testing.T) {
	s := settings(t)
	s.Index.MemoryLimit = 1
	dir := fill(t)
	told := make(chan string, 10)
	e, err := engine.Open(t.Context(), engine.Options{
		Settings: s, Roots: []file.Root{{Name: "r", Dir: dir}}, Notice: func(text string) { told <- text },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	v := e.NewView()
	upToDate(t, v)
	st := awaitStatus(t, v, "the limit", func(st wire.Status) bool { return st.State == wire.StateMemoryLimit })
	if st.Coverage.Skipped["memoryLimit"] != 40 || st.Coverage.Indexed != 0 || st.Coverage.Total != 40 || st.MemoryLimitBytes != 1<<20 || len(st.MemoryMeasures) != 4 {
		t.Errorf("%+v", st)
	}
	if !strings.Contains(strings.Join(st.Notices, "\n"), "index.memoryLimit") {
		t.Errorf("notices: %q", st.Notices)
	}
	if text := <-told; !strings.Contains(text, "limit of 1 MiB") {
		t.Errorf("told %q", text)
	}
	path := filepath.Join(dir, "pkg3", "f3.go")
	if err := v.Apply(t.Context(), "test", []file.Change{{Path: path, Kind: file.Opened, Text: "package pkg\n\nfunc Unsaved() {}\n"}}); err != nil {
		t.Fatal(err)
	}
	res, err := v.Search(t.Context(), wire.SearchParams{Query: "Unsaved"})
	if err != nil || !has(res, "func Unsaved") {
		t.Errorf("an open file: %v, %+v", err, res.Hits)
	}
	if res.Coverage.Skipped["memoryLimit"] == 0 || !res.Coverage.Stale {
		t.Errorf("the answer's coverage: %+v", res.Coverage)
	}

	s.Index.MemoryLimit = 1 << 20
	if err := e.SetSettings(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	st = awaitStatus(t, v, "all files", func(st wire.Status) bool { return st.State == wire.StateReady })
	if st.Coverage.Indexed != 40 || len(st.MemoryMeasures) != 0 || len(st.Notices) != 0 {
		t.Errorf("with enough memory: %+v", st)
	}
}

// Pausing outlives a change of settings that opens the index anew.
func TestPauseOutlivesReopening(t *testing.T) {
	s := settings(t)
	e := open(t, s, fill(t))
	defer e.Close()
	v := e.NewView()
	upToDate(t, v)
	if err := v.SetPaused(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	s.Chunk.MaxChars += 100
	if err := e.SetSettings(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	upToDate(t, v) // does not wait for what is paused
	st, err := v.Status(t.Context())
	if err != nil || !st.Paused || st.State != wire.StatePaused || st.Queues.Index != 40 || st.ETASeconds != nil {
		t.Errorf("%v, %+v", err, st)
	}
	if err := v.SetPaused(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	upToDate(t, v)
	if st, err := v.Status(t.Context()); err != nil || st.Paused || st.State != wire.StateReady {
		t.Errorf("%v, %+v", err, st)
	}
}

func TestOnBattery(t *testing.T) {
	e, err := engine.Open(t.Context(), engine.Options{
		Settings: settings(t), Roots: []file.Root{{Name: "r", Dir: fill(t)}},
		Power: func(context.Context) host.Power { return host.Power{OnBattery: true, Percent: 50} },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	v := e.NewView()
	awaitStatus(t, v, "the battery", func(st wire.Status) bool { return st.OnBattery })
	upToDate(t, v) // files are indexed all the same
}

// While requests run all the time, indexing comes to its end.
func TestRequestsWhileIndexing(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		write(t, filepath.Join(dir, fmt.Sprintf("f%d.go", i)), fmt.Sprintf("package p\n\nfunc Work%d() int { return %d }\n", i, i))
	}
	e := open(t, settings(t), dir)
	defer e.Close()
	v := e.NewView()
	ctx, stop := context.WithCancel(t.Context())
	asked := make(chan int)
	for range 4 {
		go func() {
			n := 0
			for ctx.Err() == nil {
				if _, err := v.Search(ctx, wire.SearchParams{Query: "Work7"}); err == nil {
					n++
				}
			}
			asked <- n
		}()
	}
	upToDate(t, v)
	stop()
	for range 4 {
		if n := <-asked; n == 0 {
			t.Error("nothing was answered meanwhile")
		}
	}
	if st, err := v.Status(t.Context()); err != nil || st.Coverage.Indexed != 300 {
		t.Errorf("%v, %+v", err, st.Coverage)
	}
}
