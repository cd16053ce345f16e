package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
)

// TestCrashDiskFillsUp fills the disk of the index while the server works on it.
// Answers go on, the user is told for as long as it lasts, and what was stored
// before and after is there at the next start, however the process ended.
func TestCrashDiskFillsUp(t *testing.T) {
	if !inside(t) {
		return
	}
	for _, killed := range []string{"with room again", "while it is full"} {
		t.Run(killed, func(t *testing.T) {
			h := newHome(t)
			dir := zoo(t, 200)
			smallDisk(t, h.cache, 32<<20)
			e := h.edit(dir)
			wantQuokka(t, e, "")
			filling := filepath.Join(h.cache, "filling")
			fill(t, filling, 0)

			const late = 200
			for i := 200; i < 200+late; i++ {
				write(t, filepath.Join(dir, fmt.Sprintf("pen%02d/pen%d.go", i%37, i)), pen(i))
			}
			must(t, os.Remove(filepath.Join(dir, "pen00/pen0.go")))
			e.Sync(wire.SyncParams{Scan: true})
			e.MustCall(lsp.MethodReindex, wire.ReindexParams{}, nil)
			e.Sync(wire.SyncParams{Scan: true})
			fresh := newHome(t)
			want := answers(fresh, dir)
			wantSame(t, "on a full disk", serverAnswers(t, e), want)
			wantQuokka(t, e, "")
			awaitMessage(e, "no space left", "make room")
			st := await(t, e, "the notice", func(st wire.Status) bool {
				return strings.Contains(strings.Join(st.Notices, "\n"), "no space left")
			})
			if st.Coverage.Indexed != 200+late || st.Coverage.Pending != 0 {
				t.Errorf("coverage %+v", st.Coverage)
			}

			if killed == "with room again" {
				must(t, os.Remove(filling))
				// Nobody tells that there is room again.
				await(t, e, "the notice to go", func(st wire.Status) bool { return len(st.Notices) == 0 })
				h.server.kill(t)
			} else {
				h.server.kill(t)
				must(t, os.Remove(filling))
			}
			st = h.status(dir)
			if st.Coverage.Indexed != 200+late || st.Coverage.Pending != 0 || len(st.Notices) != 0 {
				t.Errorf("after a restart: %+v, notices %q", st.Coverage, st.Notices)
			}
			if n := st.Counters.Embedded; killed == "with room again" && n != 0 {
				t.Errorf("what was stored when there was room is made again: %d texts", n)
			}
			wantSame(t, "after a restart", answers(h, dir), want)
			if st := h.status(dir); st.Counters.Embedded != 0 {
				t.Errorf("the next start embeds %d texts", st.Counters.Embedded)
			}
		})
	}
}

// TestCrashVolumeGoes unmounts the workspace's volume: what is left is an empty
// folder, which nobody deleted.
func TestCrashVolumeGoes(t *testing.T) {
	if !inside(t) {
		return
	}
	h := newHome(t)
	dir, real := t.TempDir(), zoo(t, 150)
	must(t, syscall.Mount(real, dir, "", syscall.MS_BIND, ""))
	mounted := true
	t.Cleanup(func() {
		if mounted {
			must(t, syscall.Unmount(dir, syscall.MNT_DETACH))
		}
	})
	e := h.edit(dir)
	wantQuokka(t, e, "")
	want := serverAnswers(t, e)
	must(t, syscall.Unmount(dir, syscall.MNT_DETACH))
	mounted = false
	e.Sync(wire.SyncParams{Scan: true})
	st := state(t, e)
	if st.Coverage.Indexed != 151 || !st.Coverage.Stale || !strings.Contains(st.Roots[0].Error, "is empty, though 151 are indexed") {
		t.Errorf("while it is away: %+v, %+v", st.Coverage, st.Roots)
	}
	awaitMessage(e, dir, "mount it")
	if res := ask(t, e, "what does Quokka count?"); len(res.Citations) != 0 {
		t.Errorf("lines that nobody can read are cited: %+v", res.Citations)
	}
	if err := e.Shutdown(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	// A start without the volume keeps the index, too.
	if st := h.status(dir); st.Coverage.Indexed != 151 || st.Roots[0].Error == "" {
		t.Errorf("a start without the volume: %+v, %+v", st.Coverage, st.Roots)
	}
	e = h.edit(dir)
	await(t, e, "the first look", func(st wire.Status) bool { return st.Roots[0].Error != "" })
	must(t, syscall.Mount(real, dir, "", syscall.MS_BIND, ""))
	mounted = true
	await(t, e, "the volume", func(st wire.Status) bool { return st.Roots[0].Error == "" && !st.Coverage.Stale })
	wantSame(t, "with the volume again", serverAnswers(t, e), want)
	if st := state(t, e); st.Counters.Embedded != 0 {
		t.Errorf("%d texts were embedded again", st.Counters.Embedded)
	}
	write(t, filepath.Join(dir, "pen01", "potato.go"), "package pen\n\n// Potato is watched.\nfunc Potato() {}\n")
	await(t, e, "a change on the volume that came back", func(st wire.Status) bool { return st.Coverage.Indexed == 152 })
	must(t, os.Remove(filepath.Join(dir, "pen01", "potato.go")))
	await(t, e, "a removal on the volume that came back", func(st wire.Status) bool { return st.Coverage.Indexed == 151 })

	// Another volume in its place is not the same folder.
	if err := e.Shutdown(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	e = h.edit(dir)
	wantQuokka(t, e, "")
	must(t, syscall.Unmount(dir, syscall.MNT_DETACH))
	smallDisk(t, dir, 1<<20)
	mounted = false
	must(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o700))
	write(t, filepath.Join(dir, "notes.txt"), "Nothing is here but this.\n")
	e.Sync(wire.SyncParams{Scan: true})
	if st := state(t, e); st.Coverage.Indexed != 151 || !strings.Contains(st.Roots[0].Error, "another volume") {
		t.Errorf("another volume: %+v, %+v", st.Coverage, st.Roots)
	}
	// That it is meant is confirmed by a reindex.
	e.MustCall(lsp.MethodReindex, wire.ReindexParams{}, nil)
	e.Sync(wire.SyncParams{})
	if st := state(t, e); st.Coverage.Indexed != 1 || st.Roots[0].Error != "" {
		t.Errorf("after a reindex: %+v, %+v", st.Coverage, st.Roots)
	}
}
