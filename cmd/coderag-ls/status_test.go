package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"coderag-ls/engine/wire"
)

// interrupter takes output and interrupts the program after so many lines.
type interrupter struct {
	out       bytes.Buffer
	lines     int
	interrupt context.CancelFunc
}

func (w *interrupter) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	if bytes.Count(w.out.Bytes(), []byte("\n")) >= w.lines {
		w.interrupt()
	}
	return n, err
}

func TestStatusWatch(t *testing.T) {
	c := newCLI(t)
	watch := func(lines int, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out := &interrupter{lines: lines, interrupt: cancel}
		if code := run(ctx, append([]string{"--root", c.dir, "status", "--watch"}, args...), strings.NewReader(""), out, io.Discard, c.env); code != exitInterrupted {
			t.Errorf("exit code %d, want %d", code, exitInterrupted)
		}
		return out.out.String()
	}
	lines := strings.Split(strings.TrimSpace(watch(2, "--json")), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2: %q", len(lines), lines)
	}
	for _, line := range lines {
		var st wire.Status
		if err := json.Unmarshal([]byte(line), &st); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if st.Coverage.Total != 4 || st.State == "" || st.MemoryLimitBytes == 0 || st.RSSBytes == 0 || len(st.SkippedFiles) != 0 {
			t.Errorf("%+v", st)
		}
	}
	if text := watch(1); !strings.Contains(text, "state") || strings.Contains(text, "\x1b") {
		t.Errorf("for people, into a file: %q", text)
	}
}

// What a status says of work that is going on is shown.
func TestStatusText(t *testing.T) {
	c := newCLI(t)
	c.run("index", "--vectors").want(t, exitOK, "state     ready", "")
	c.run("status", "--index.memoryLimit", "1").want(t, exitOK, "no further files are indexed: memory is at the limit of 1 MiB", "")
	c.run("status").want(t, exitOK, " in use, limit ", "")

	a := &app{stdout: io.Discard, stderr: io.Discard}
	a.open()
	seconds := 61.2
	text := a.statusText(wire.Status{
		State: wire.StateIndexing, Queues: wire.Queues{Index: 1200, Embed: 30}, Rates: wire.Rates{Files: 20, Embeds: 25.4}, ETASeconds: &seconds,
		OnBattery: true, Watches: 12, WatchCap: 100, RSSBytes: 900 << 20, MemoryLimitBytes: 1 << 30, MemoryMeasures: []string{"caches are dropped"},
		LastError: &wire.LastError{Message: "the disk is full", At: "2026-01-02T03:04:05Z"},
	})
	for _, want := range []string{
		"indexing, 1200 files at 20/s, 30 chunks to embed at 25/s, about 1m2s left, on battery", "12 of at most 100",
		"900.0 MiB in use, limit 1.0 GiB: caches are dropped", "last error: the disk is full (2026-01-02T03:04:05Z)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := a.stateText(wire.Status{State: wire.StateMemoryLimit, Queues: wire.Queues{Index: 3}}); text != "waiting for memory, 3 files at 0/s" {
		t.Errorf("%q", text)
	}
}
