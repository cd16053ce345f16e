package watcher

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLockHoldsTheBatch: while a git command is at work nothing is reported, and
// then all at once.
func TestLockHoldsTheBatch(t *testing.T) {
	for _, nested := range []string{"", "module"} {
		dir := t.TempDir()
		git(t, dir, "init", "-q", filepath.Join(dir, nested))
		at := filepath.Join(dir, nested)
		writeFile(t, filepath.Join(at, "a.go"), "1")
		b := watch(t, dir, nil)
		lock := filepath.Join(at, ".git/index.lock")
		writeFile(t, lock, "")
		writeFile(t, filepath.Join(at, "a.go"), "22")
		b.quiet(10 * b.w.opts.Debounce)
		writeFile(t, filepath.Join(at, "b.go"), "22")
		b.quiet(10 * b.w.opts.Debounce)
		b.must(os.Rename(lock, filepath.Join(at, ".git/index")))
		batch := b.next()
		if batch.Cause != "git" || !batch.Rescan || len(batch.Paths) != 2 {
			t.Errorf("%+v", batch)
		}
	}
}

// quiet fails where a batch comes in the time given. It proves nothing where
// none does, but that is not what its callers hold on to.
func (b *bench) quiet(d time.Duration) {
	b.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case batch := <-b.w.Batches():
		b.Fatalf("%+v", batch)
	case <-timer.C:
	}
}

// TestForgottenLock: what a crashed command left holds one batch for a while,
// and no second one.
func TestForgottenLock(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	writeFile(t, filepath.Join(dir, "a.go"), "1")
	b := watch(t, dir, func(o *Options) { o.GitHold = 300 * time.Millisecond })
	start := time.Now()
	writeFile(t, filepath.Join(dir, ".git/index.lock"), "")
	b.write("a.go", "22")
	b.until("a.go")
	if took := time.Since(start); took < 300*time.Millisecond {
		t.Errorf("held for %v only", took)
	}
	b.write("a.go", "333")
	b.until("a.go")
	old := time.Now().Add(-time.Hour)
	b.must(os.Chtimes(filepath.Join(dir, ".git/index.lock"), old, old))
	b.write("a.go", "4444")
	b.until("a.go")
}

// TestStaleLock: a lock from long ago is nobody's.
func TestStaleLock(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	lock := filepath.Join(dir, ".git/index.lock")
	writeFile(t, lock, "")
	now := time.Now()
	r := newRepo(filepath.Join(dir, ".git"))
	if !r.working(now, 10*time.Second) {
		t.Error("a lock just taken is not seen")
	}
	if r.working(now.Add(time.Minute), 10*time.Second) {
		t.Error("a lock of a minute ago is waited for")
	}
	r.lostPatience()
	if r.working(now, 10*time.Second) {
		t.Error("a lock that was waited for in vain is waited for again")
	}
	writeFile(t, lock, "another")
	if !r.working(time.Now(), 10*time.Second) {
		t.Error("another command's lock is not seen")
	}
}

// TestRebaseIsWaitedFor while it goes on, not while it waits for the user.
func TestRebaseIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	writeFile(t, filepath.Join(dir, ".git/rebase-merge/done"), "pick\n")
	r := newRepo(filepath.Join(dir, ".git"))
	now := time.Now()
	if !r.working(now, 10*time.Second) {
		t.Error("a rebase at work is not seen")
	}
	if r.working(now.Add(2*pause), 10*time.Second) {
		t.Error("a rebase that rests is waited for")
	}
}

// TestSavesAreNotGits: neither a commit before a save nor a new index after it
// makes the save git's.
func TestSavesAreNotGits(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	writeFile(t, filepath.Join(dir, "a.go"), "1")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "one")
	old := time.Now().Add(-time.Minute)
	for _, name := range []string{"HEAD", "logs/HEAD", "index"} {
		if err := os.Chtimes(filepath.Join(dir, ".git", name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	b := watch(t, dir, nil)
	b.write("a.go", "22")
	writeFile(t, filepath.Join(dir, ".git/index"), "as git status does")
	if batch := b.next(); batch.Cause != "files" || batch.Rescan {
		t.Errorf("%+v", batch)
	}
}

// TestGitCommandsAreOneBatch: whatever git does to many files comes at once.
func TestGitCommandsAreOneBatch(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	commit := func(text string) {
		t.Helper()
		for i := range 400 {
			writeFile(t, filepath.Join(dir, fmt.Sprintf("p%d/f%d.go", i%20, i)), text)
		}
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-qm", text)
	}
	commit("1")
	git(t, dir, "checkout", "-qb", "two")
	commit("22")
	git(t, dir, "checkout", "-qb", "three")
	for i := range 5 {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("new%d/x.go", i)), "1")
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-qm", fmt.Sprint(i))
	}
	git(t, dir, "tag", "v3")
	git(t, dir, "tag", "v2", "two")
	git(t, dir, "tag", "v1", "main")
	git(t, dir, "checkout", "-q", "two")
	b := watch(t, dir, func(o *Options) {
		o.Debounce, o.MaxDelay, o.PollInterval = 0, 0, 0
		*o = o.withDefaults()
		o.Keep = func(path string, _ bool) bool { return filepath.Base(path) != ".git" }
	})
	for _, args := range [][]string{
		{"checkout", "-q", "main"}, {"checkout", "-q", "two"}, {"reset", "-q", "--hard", "v1"}, {"reset", "-q", "--hard", "v3"},
		{"rebase", "-q", "--onto", "v1", "v2"}, {"reset", "-q", "--hard", "v2"}, {"merge", "-q", "v3"},
	} {
		git(t, dir, args...)
		batch := b.next()
		if batch.Cause != "git" || !batch.Rescan {
			t.Errorf("%v: cause %s, rescan %v, %d paths", args, batch.Cause, batch.Rescan, len(batch.Paths))
		}
		select {
		case more := <-b.w.Batches():
			t.Errorf("%v: a second batch: %s, %d paths, rescan %v, %.300q", args, more.Cause, len(more.Paths), more.Rescan, more.Paths)
		case <-time.After(300 * time.Millisecond):
		}
	}
}
