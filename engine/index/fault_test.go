package index_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/store"
)

// age dates the files back, so that a scan trusts their times.
func (w *workspace) age(paths ...string) {
	w.t.Helper()
	hourAgo := time.Now().Add(-time.Hour)
	for _, path := range paths {
		if err := os.Chtimes(w.abs(path), hourAgo, hourAgo); err != nil {
			w.t.Fatal(err)
		}
	}
}

func names(files map[string]string) []string {
	var all []string
	for path := range files {
		all = append(all, path)
	}
	return all
}

// fresh returns the content of an index that was made without faults.
func (w *workspace) fresh() []string {
	w.t.Helper()
	ix, err := index.Open(w.t.Context(), w.options(w.t.TempDir()))
	if err != nil {
		w.t.Fatal(err)
	}
	defer closeIndex(w.t, ix)
	sync(w.t, ix, false)
	return content(ix.Snapshot())
}

func notices(ix *index.Index) string {
	return strings.Join(ix.Status(ix.Snapshot()).Notices, "\n")
}

// checkWhole fails unless everything is searchable, by words and by vectors.
func checkWhole(t *testing.T, w *workspace, ix *index.Index, want []string) {
	t.Helper()
	s := ix.Snapshot()
	if got := content(s); !slices.Equal(got, want) {
		t.Errorf("the index has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := find(t, s, "retry opening the port"); len(got) == 0 || got[0] != "server/http.go" {
		t.Errorf("words: %v", got)
	}
	if got := near(t, w, s, "verify signature of tokens"); len(got) == 0 || got[0] != "auth/token.py" {
		t.Errorf("vectors: %v", got)
	}
	if c := ix.Coverage(s); c.Pending != 0 || c.VectorsReady != 1 {
		t.Errorf("coverage: %+v", c)
	}
}

// TestFailingStore: answers go on from memory, the user is told, nothing is
// lost after a restart, and the next scan makes good what could not be written.
func TestFailingStore(t *testing.T) {
	full := fmt.Errorf("writing: %w", store.ErrFull)
	for _, method := range []string{"Commit", "PutVectors", "Vectors", "Files"} {
		for _, from := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s %d", method, from), func(t *testing.T) {
				w := newWorkspace(t, small)
				w.age(names(small)...)
				// Something is there already, and something changes.
				closeIndex(t, w.open())
				w.write("server/http.go", small["server/http.go"]+"\nfunc Later() {}\n")
				w.write("new/cache.go", "package new\n\n// Evict drops the oldest entries.\nfunc Evict() {}\n")
				if err := os.Remove(w.abs("README.md")); err != nil {
					t.Fatal(err)
				}
				w.age("server/http.go", "new/cache.go")

				f := &faults{before: func(m string, call int) error {
					if m == method && call >= from {
						return full
					}
					return nil
				}}
				ix, err := w.openFaulty(f, nil)
				if err != nil {
					t.Fatal(err)
				}
				sync(t, ix, true)
				w.write("new/more.go", "package new\n\nfunc More() {}\n")
				w.age("new/more.go")
				ix.Touch("test", []string{w.abs("new/more.go")}, false)
				sync(t, ix, false)
				want := w.fresh()
				checkWhole(t, w, ix, want)
				failed := f.count(method) >= from
				if n := notices(ix); failed != strings.Contains(n, w.dir) {
					t.Errorf("failed: %v, notices: %q", failed, n)
				}

				f.set(nil)
				sync(t, ix, true)
				w.write("new/last.go", "package new\n\nfunc Last() {}\n")
				w.age("new/last.go")
				ix.Touch("test", []string{w.abs("new/last.go")}, false)
				sync(t, ix, true)
				if n := notices(ix); method != "Files" && n != "" {
					t.Errorf("the store works again, notices: %q", n)
				}
				want = w.fresh()
				checkWhole(t, w, ix, want)
				closeIndex(t, ix)

				ix = w.open()
				checkWhole(t, w, ix, want)
				closeIndex(t, ix)
			})
		}
	}
}

// What fails until the end is made by the next start.
func TestNothingIsLostWhereNothingWasWritten(t *testing.T) {
	w := newWorkspace(t, small)
	f := &faults{before: func(m string, _ int) error {
		if m == "Commit" || m == "PutVectors" {
			return store.ErrFull
		}
		return nil
	}}
	ix, err := w.openFaulty(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	sync(t, ix, false)
	want := w.fresh()
	checkWhole(t, w, ix, want)
	if n := notices(ix); !strings.Contains(n, "no space left") || !strings.Contains(n, w.dir) {
		t.Errorf("notices: %q", n)
	}
	closeIndex(t, ix)
	ix = w.open()
	defer closeIndex(t, ix)
	checkWhole(t, w, ix, want)
	if n := notices(ix); n != "" {
		t.Errorf("notices: %q", n)
	}
}

// Who waits for a slow store can give up, and is woken when the index closes;
// what is searched meanwhile is what was there before.
func TestSlowStore(t *testing.T) {
	w := newWorkspace(t, small)
	closeIndex(t, w.open())
	want := w.fresh()
	blocked, free := make(chan struct{}), make(chan struct{})
	f := &faults{before: func(m string, call int) error {
		if m == "Commit" && call == 1 {
			close(blocked)
			<-free
		}
		return nil
	}}
	ix, err := w.openFaulty(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.write("auth/token.py", "def other(): pass\n")
	ix.Touch("test", []string{w.abs("auth/token.py")}, false)
	<-blocked
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 2)
	go func() { waiting <- ix.Sync(ctx, true, true) }()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("sync given up: %v", err)
	}
	if got := content(ix.Snapshot()); !slices.Equal(got, want) {
		t.Errorf("before it is stored:\n%s", strings.Join(got, "\n"))
	}
	go func() { waiting <- ix.Sync(t.Context(), false, true) }()
	closed := make(chan error)
	go func() { closed <- ix.Close() }()
	if err := <-waiting; !errors.Is(err, index.ErrClosed) {
		t.Errorf("sync while closing: %v", err)
	}
	close(free)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	ix = w.open()
	defer closeIndex(t, ix)
	if len(ix.Snapshot().Definitions("other")) != 1 {
		t.Error("the change is lost")
	}
}

// untilCancelled blocks.
func untilCancelled(started chan<- struct{}) func(context.Context, int) error {
	var once gosync.Once
	return func(ctx context.Context, _ int) error {
		once.Do(func() { close(started) })
		<-ctx.Done()
		return ctx.Err()
	}
}

var errModel = errors.New("the model fell over")

func TestFailingInlineModel(t *testing.T) {
	once := func(_ context.Context, call int) error {
		if call == 3 {
			return errModel
		}
		return nil
	}
	always := func(context.Context, int) error { return errModel }
	for _, c := range []struct {
		name   string
		before func(context.Context, int) error
		short  bool
		says   string
	}{{"once", once, false, errModel.Error()}, {"always", always, false, errModel.Error()}, {"wrong dimension", nil, true, "values"}} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkspace(t, small)
			model := w.faultyInline(c.before)
			model.short = c.short
			ix, err := w.openFaulty(&faults{}, func(o *index.Options) { o.Inline, o.Workers = model, 1 })
			if err != nil {
				t.Fatal(err)
			}
			sync(t, ix, false)
			s := ix.Snapshot()
			if got := find(t, s, "retry opening the port"); len(got) == 0 || got[0] != "server/http.go" {
				t.Errorf("words: %v", got)
			}
			cov := ix.Coverage(s)
			if cov.Pending != 0 || c.name != "once" && cov.VectorsReady != 0 {
				t.Errorf("coverage %+v", cov)
			}
			if n := notices(ix); c.name != "once" && !strings.Contains(n, c.says) {
				t.Errorf("notices: %q", n)
			}
			// The model recovers.
			model.before, model.short = nil, false
			sync(t, ix, true)
			want := w.fresh()
			checkWhole(t, w, ix, want)
			if n := notices(ix); n != "" {
				t.Errorf("notices: %q", n)
			}
			closeIndex(t, ix)
			ix = w.open()
			checkWhole(t, w, ix, want)
			closeIndex(t, ix)
		})
	}
}

// Vectors that could not be made in one session are made in the next.
func TestRestartMakesMissingVectors(t *testing.T) {
	w := newWorkspace(t, small)
	w.age(names(small)...)
	model := w.faultyInline(func(context.Context, int) error { return errModel })
	ix, err := w.openFaulty(&faults{}, func(o *index.Options) { o.Inline = model })
	if err != nil {
		t.Fatal(err)
	}
	sync(t, ix, false)
	closeIndex(t, ix)
	ix = w.open()
	defer closeIndex(t, ix)
	checkWhole(t, w, ix, w.fresh())
}

func TestBlockedInlineModel(t *testing.T) {
	w := newWorkspace(t, small)
	started := make(chan struct{})
	model := w.faultyInline(untilCancelled(started))
	ix, err := w.openFaulty(&faults{}, func(o *index.Options) { o.Inline = model })
	if err != nil {
		t.Fatal(err)
	}
	<-started
	v := ix.NewView()
	v.Apply([]file.Change{{Path: w.abs("x.go"), Kind: file.Opened, Text: "package x\n"}})
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 3)
	go func() { _, err := v.Snapshot(ctx); errs <- err }()
	go func() { _, err := v.Snapshot(ctx); errs <- err }()                                // waits for the first
	v.Apply([]file.Change{{Path: w.abs("x.go"), Kind: file.Edited, Text: "package y\n"}}) // waits for nobody
	cancel()
	for range 2 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("snapshot given up: %v", err)
		}
	}
	go func() { errs <- ix.Sync(t.Context(), false, false) }()
	closeIndex(t, ix)
	if err := <-errs; !errors.Is(err, index.ErrClosed) {
		t.Errorf("sync while closing: %v", err)
	}
}

func TestFailingSlowModel(t *testing.T) {
	w := newWorkspace(t, small)
	open := func(model *faultyModel) *index.Index {
		t.Helper()
		opts := w.options(t.TempDir())
		opts.Behind = model
		ix, err := index.Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		return ix
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	t.Run("once", func(t *testing.T) {
		ix := open(w.faultyBehind(func(_ context.Context, call int) error {
			if call == 2 {
				return errModel
			}
			return nil
		}))
		defer closeIndex(t, ix)
		if err := ix.Sync(ctx, false, true); err != nil {
			t.Error(err)
		}
		if c := ix.Coverage(ix.Snapshot()); c.VectorsReady != 1 || notices(ix) != "" {
			t.Errorf("%+v, notices %q", c, notices(ix))
		}
	})
	t.Run("on one text", func(t *testing.T) {
		model := w.faultyBehind(nil)
		model.Embedder = picky{w.model, "ListenAndRetry"}
		ix := open(model)
		defer closeIndex(t, ix)
		if err := ix.Sync(ctx, false, true); !errors.Is(err, errModel) {
			t.Errorf("sync: %v", err)
		}
		if c := ix.Coverage(ix.Snapshot()); c.VectorsReady == 0 || c.VectorsReady == 1 || !strings.Contains(notices(ix), errModel.Error()) {
			t.Errorf("%+v, notices %q", c, notices(ix))
		}
		// The text goes away: all is well.
		w.write("server/http.go", "package server\n")
		ix.Touch("test", []string{w.abs("server/http.go")}, false)
		if err := ix.Sync(ctx, false, true); err != nil {
			t.Error(err)
		}
		if c := ix.Coverage(ix.Snapshot()); c.VectorsReady != 1 || notices(ix) != "" {
			t.Errorf("%+v, notices %q", c, notices(ix))
		}
	})
	t.Run("always", func(t *testing.T) {
		ix := open(w.faultyBehind(func(context.Context, int) error { return errModel }))
		defer closeIndex(t, ix)
		for range 2 {
			if err := ix.Sync(ctx, false, true); !errors.Is(err, errModel) {
				t.Errorf("sync: %v", err)
			}
		}
		if n := notices(ix); !strings.Contains(n, "slow") || !strings.Contains(n, errModel.Error()) {
			t.Errorf("notices %q", n)
		}
		if got := near(t, w, ix.Snapshot(), "verify signature of tokens"); len(got) == 0 || got[0] != "auth/token.py" {
			t.Errorf("the other model finds %v", got)
		}
	})
	t.Run("wrong dimension", func(t *testing.T) {
		model := w.faultyBehind(nil)
		model.short = true
		ix := open(model)
		defer closeIndex(t, ix)
		if err := ix.Sync(ctx, false, true); err == nil || !strings.Contains(err.Error(), "want one of 256") {
			t.Errorf("sync: %v", err)
		}
	})
	t.Run("blocked", func(t *testing.T) {
		started := make(chan struct{})
		ix := open(w.faultyBehind(untilCancelled(started)))
		<-started
		given, stop := context.WithCancel(ctx)
		errs := make(chan error, 1)
		go func() { errs <- ix.Sync(given, false, true) }()
		stop()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("sync given up: %v", err)
		}
		go func() { errs <- ix.Sync(ctx, false, true) }()
		closeIndex(t, ix)
		if err := <-errs; !errors.Is(err, index.ErrClosed) {
			t.Errorf("sync while closing: %v", err)
		}
	})
}

// picky fails on texts that hold a word.
type picky struct {
	embed.Embedder
	word string
}

func (p picky) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	for _, text := range texts {
		if strings.Contains(text, p.word) {
			return nil, errModel
		}
	}
	return p.Embedder.Embed(ctx, texts)
}

// A snapshot that was given up leaves no half-cut buffer behind, whatever it
// was doing.
func TestCancelledSnapshotIsMadeAgain(t *testing.T) {
	w := newWorkspace(t, small)
	opts := w.options(w.cache)
	opts.Inline = nil
	ix, err := index.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer closeIndex(t, ix)
	sync(t, ix, false)
	v := ix.NewView()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range 20 {
		name := fmt.Sprintf("Hasty%d", i)
		v.Apply([]file.Change{{Path: w.abs("x.go"), Kind: file.Opened, Text: "package x\n\nfunc " + name + "() {\n\trun()\n}\n"}})
		if _, err := v.Snapshot(cancelled); !errors.Is(err, context.Canceled) {
			t.Fatalf("snapshot given up: %v", err)
		}
		s, err := v.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f := s.File("x.go")
		if f == nil || len(f.Symbols) != 1 || f.Symbols[0].Signature == "" || len(s.Definitions(name)) != 1 {
			t.Fatalf("after a snapshot that was given up: %+v", f)
		}
		if d := s.Doc(s.DocsOf(f)[0]); d.Kind == "lines" {
			t.Fatalf("%s is cut by lines", name)
		}
	}
}

// A store that grows is tidied when nothing happens: what is in use stays.
func TestStoreIsTidied(t *testing.T) {
	w := newWorkspace(t, small)
	w.age(names(small)...)
	shrunk := make(chan struct{}, 1)
	f := &faults{before: func(method string, _ int) error {
		if method == "Shrink" {
			select {
			case shrunk <- struct{}{}:
			default:
			}
		}
		return nil
	}}
	opts := w.options(w.cache)
	inner := opts.OpenStore
	var real store.Store
	opts.OpenStore = func(ctx context.Context, dir string) (store.Store, error) {
		s, err := inner(ctx, dir)
		real = s
		return &faultyStore{Store: s, faults: f, info: func(i store.Info) store.Info {
			i.Vectors += 100_000
			i.Garbage += 1 << 30
			i.Bytes += 1 << 30
			return i
		}}, err
	}
	opts.Quiet = 10 * time.Millisecond
	opts.Behind = w.faultyBehind(nil)
	ix, err := index.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := ix.Sync(ctx, false, true); err != nil {
		t.Fatal(err)
	}
	key := store.VectorKey{1}
	junk := map[store.VectorKey]store.Vector{key: {Scale: 1, Values: make([]int8, 256)}}
	for _, m := range append(ix.Models(), embed.Model{Fingerprint: "of another model"}) {
		if err := real.PutVectors(ctx, m.Fingerprint, junk); err != nil {
			t.Fatal(err)
		}
	}
	w.write("fresh.txt", "words that are new\n")
	ix.Touch("test", []string{w.abs("fresh.txt")}, false)
	if err := ix.Sync(ctx, false, true); err != nil {
		t.Fatal(err)
	}
	for left := 1; left > 0; {
		select {
		case <-shrunk:
		case <-ctx.Done():
			t.Fatalf("%d unused vectors are kept", left)
		}
		left = 0
		for _, m := range append(ix.Models(), embed.Model{Fingerprint: "of another model"}) {
			have, err := real.Vectors(ctx, m.Fingerprint, []store.VectorKey{key})
			if err != nil {
				t.Fatal(err)
			}
			left += len(have)
		}
	}
	if err := w.restartMakesNothing(ix, opts); err != nil {
		t.Error(err)
	}
}

// restartMakesNothing closes an index and opens it again, which must embed
// nothing.
func (w *workspace) restartMakesNothing(ix *index.Index, opts index.Options) error {
	w.t.Helper()
	closeIndex(w.t, ix)
	ix, err := index.Open(w.t.Context(), opts)
	if err != nil {
		return err
	}
	defer closeIndex(w.t, ix)
	if err := ix.Sync(w.t.Context(), true, true); err != nil {
		return err
	}
	if n := ix.Status(ix.Snapshot()).Counters.Embedded; n != 0 {
		return fmt.Errorf("a restart embedded %d texts", n)
	}
	return nil
}
