package index_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	gosync "sync"
	"testing"

	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
)

// slowDisk reads files, but holds those up that it is told to until it is freed.
type slowDisk struct {
	mu   gosync.Mutex
	hold map[string]bool
	free chan struct{}
	held chan string // paths whose read has begun and is held up
}

func newSlowDisk() *slowDisk {
	return &slowDisk{hold: map[string]bool{}, free: make(chan struct{}), held: make(chan string, 100)}
}

func (d *slowDisk) read(path string, maxBytes int64) (file.Content, error) {
	d.mu.Lock()
	held := d.hold[filepath.Base(path)]
	d.mu.Unlock()
	if held {
		d.held <- path
		<-d.free
	}
	return file.Read(path, maxBytes)
}

func (d *slowDisk) holdUp(base string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hold[base] = true
}

// While one file cannot be read, everything else is answered; who waits can
// give up; what hangs is read once, however often it is asked for.
func TestSlowDisk(t *testing.T) {
	w := newWorkspace(t, small)
	w.age(names(small)...)
	d := newSlowDisk()
	told := make(chan string, 100)
	opts := w.options(w.cache)
	opts.Read, opts.Workers = d.read, 2
	opts.Notice = func(text string) { told <- text }
	ix, err := index.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	sync(t, ix, false)
	want := content(ix.Snapshot())

	d.holdUp("token.py")
	w.write("auth/token.py", "def changed(): pass\n")
	ix.Touch("test", []string{w.abs("auth/token.py")}, false)
	<-d.held // a worker hangs
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() { waiting <- ix.Sync(ctx, true, true) }()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("a sync that is given up says %v", err)
	}
	if got := content(ix.Snapshot()); !slices.Equal(got, want) {
		t.Errorf("while the disk hangs:\n%s", strings.Join(got, "\n"))
	}
	if got := find(t, ix.Snapshot(), "retry opening the port"); len(got) == 0 || got[0] != "server/http.go" {
		t.Errorf("words: %v", got)
	}
	// A change elsewhere is indexed meanwhile.
	w.write("new/cache.go", "package new\n\nfunc Evict() {}\n")
	ix.Touch("test", []string{w.abs("new/cache.go")}, false)
	until(t, "another file is indexed", func() bool { return len(ix.Snapshot().Definitions("Evict")) == 1 })

	// A request for the text gives up by itself, and is told of.
	v := ix.NewView()
	if _, ok := v.Text(w.abs("auth/token.py")); ok {
		t.Error("a text that cannot be read is shown")
	}
	if text := <-told; !strings.Contains(text, "read in time") {
		t.Errorf("the user is told %q", text)
	}
	for len(d.held) > 0 {
		<-d.held
	}
	for range 20 {
		if _, ok := v.Text(w.abs("auth/token.py")); ok {
			t.Error("a text that cannot be read is shown")
		}
	}
	if n := len(d.held); n != 0 {
		t.Errorf("%d further reads hang", n)
	}
	if _, ok := v.Text(w.abs("server/http.go")); !ok {
		t.Error("another file is not shown")
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, ok := v.Read(ctx, w.abs("auth/token.py")); ok {
		t.Error("a request that is given up is answered")
	}

	close(d.free)
	sync(t, ix, false)
	until(t, "the notice goes", func() bool { return notices(ix) == "" })
	if len(ix.Snapshot().Definitions("changed")) != 1 {
		t.Error("the change is not seen")
	}
	if text, ok := v.Text(w.abs("auth/token.py")); !ok || !strings.Contains(text, "changed") {
		t.Errorf("the text is %q", text)
	}
	closeIndex(t, ix)
}

// A disk that hangs does not keep the index from closing.
func TestCloseWhileTheDiskHangs(t *testing.T) {
	w := newWorkspace(t, small)
	d := newSlowDisk()
	d.holdUp("token.py")
	opts := w.options(w.cache)
	opts.Read = d.read
	ix, err := index.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	<-d.held
	closeIndex(t, ix)
	close(d.free)
	ix = w.open()
	defer closeIndex(t, ix)
	if got := content(ix.Snapshot()); !slices.Equal(got, w.fresh()) {
		t.Errorf("afterwards:\n%s", strings.Join(got, "\n"))
	}
}

// A file whose text changed while its size and time did not is indexed again
// when somebody reads it.
func TestChangeWithoutATrace(t *testing.T) {
	w := newWorkspace(t, small)
	w.age(names(small)...)
	ix := w.open()
	defer closeIndex(t, ix)
	path := w.abs("auth/token.py")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	forged := "def forged(): pass\n" + strings.Repeat("#", int(info.Size())-20) + "\n"
	w.write("auth/token.py", forged)
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	sync(t, ix, true)
	if len(ix.Snapshot().Definitions("forged")) != 0 {
		t.Fatal("the change left a trace: there is nothing to test")
	}
	if text, ok := ix.NewView().Text(path); !ok || text != forged {
		t.Errorf("the text is %q", text)
	}
	sync(t, ix, false)
	if len(ix.Snapshot().Definitions("forged")) != 1 {
		t.Errorf("indexed:\n%s", strings.Join(content(ix.Snapshot()), "\n"))
	}
	if err := checkLines(ix.Snapshot()); err != nil {
		t.Error(err)
	}
}
