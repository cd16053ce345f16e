package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// buntdb notices that it was closed at its next tick, up to a second later.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func settings(t testing.TB) config.Settings {
	s := config.Default()
	s.Index.CacheDir = t.TempDir()
	s.Embed.Provider = "static"
	return s
}

// fill makes a folder with a few dozen files.
func fill(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 40 {
		write(t, filepath.Join(dir, fmt.Sprintf("pkg%d", i%5), fmt.Sprintf("f%d.go", i)),
			fmt.Sprintf("package pkg\n\n// Work%d handles item %d of the list.\nfunc Work%d() int { return %d }\n", i, i, i, i))
	}
	return dir
}

func open(t testing.TB, s config.Settings, dirs ...string) *engine.Engine {
	t.Helper()
	opts := engine.Options{Settings: s, Version: "test"}
	for i, dir := range dirs {
		opts.Roots = append(opts.Roots, file.Root{Name: fmt.Sprintf("r%d", i), Dir: dir})
	}
	e, err := engine.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func upToDate(t testing.TB, v *engine.View) {
	t.Helper()
	if _, err := v.Sync(t.Context(), wire.SyncParams{}); err != nil {
		t.Fatal(err)
	}
}

// has reports whether one of the hits shows the text.
func has(res wire.SearchResult, text string) bool {
	for _, h := range res.Hits {
		if strings.Contains(h.Text, text) {
			return true
		}
	}
	return false
}

// TestEverythingAtOnce types, searches, asks, touches, reindexes and changes
// settings and folders at the same time. Whatever a client asks must show what
// it typed just before.
func TestEverythingAtOnce(t *testing.T) {
	dir, other := fill(t), t.TempDir()
	write(t, filepath.Join(other, "more.md"), "# More\n\nText of another folder.\n")
	s := settings(t)
	e := open(t, s, dir)
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	length := 4 * time.Second
	if testing.Short() {
		length = time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var wg sync.WaitGroup
	loop := func(step func(i int) error) {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if err := step(i); err != nil && ctx.Err() == nil {
					t.Errorf("step %d: %v", i, err)
					return
				}
			}
		})
	}
	typed := make(chan struct{}) // paces what closes the index under the others
	for client := range 3 {
		v := e.NewView()
		defer v.Close()
		path := filepath.Join(dir, "pkg0", fmt.Sprintf("typed%d.go", client))
		loop(func(i int) error {
			name := fmt.Sprintf("Typed%dx%d", client, i)
			kind := file.Edited
			if i == 0 {
				kind = file.Opened
			}
			text := fmt.Sprintf("package pkg\n\n// %s was typed just now.\nfunc %s() {}\n", name, name)
			if err := v.Apply(ctx, "typing", []file.Change{{Path: path, Kind: kind, Text: text, Version: int32(i)}}); err != nil {
				return err
			}
			res, err := v.Search(ctx, wire.SearchParams{Query: name})
			if err != nil {
				return err
			}
			if !has(res, "func "+name) {
				return fmt.Errorf("%s is not found: %d hits, coverage %+v", name, len(res.Hits), res.Coverage)
			}
			select {
			case typed <- struct{}{}:
			default:
			}
			if i%7 == 3 {
				a, err := v.Ask(ctx, wire.AskParams{SearchParams: wire.SearchParams{Query: "what does " + name + " do"}}, nil)
				if err != nil {
					return err
				}
				for _, c := range a.Citations {
					if strings.Contains(c.Path, "pkg2/disk") {
						continue // it may have been removed since, see below
					}
					if got, ok := v.Text(ctx, filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(c.Path, "r0/")))); !ok && !strings.HasPrefix(c.Path, "r1/") {
						return fmt.Errorf("cited %s cannot be read: %q", c.Path, got)
					}
				}
			}
			return nil
		})
	}
	// A request that is cancelled leaves nothing half-made behind.
	impatient := e.NewView()
	defer impatient.Close()
	loop(func(i int) error {
		name := fmt.Sprintf("Hasty%d", i)
		path := filepath.Join(dir, "pkg1", "hasty.go")
		text := "package pkg\n\n" + strings.Repeat("func Filler() { run() }\n", 300) + "func " + name + "() {}\n"
		if err := impatient.Apply(ctx, "typing", []file.Change{{Path: path, Kind: file.Opened, Text: text}}); err != nil {
			return err
		}
		short, stop := context.WithCancel(ctx)
		time.AfterFunc(time.Duration(i%5)*time.Millisecond, stop)
		if _, err := impatient.Search(short, wire.SearchParams{Query: name}); err != nil && short.Err() == nil {
			return err
		}
		stop()
		symbols, err := impatient.Symbols(ctx, path)
		if err != nil {
			return err
		}
		if len(symbols) != 301 {
			return fmt.Errorf("%d symbols after a cancelled search, want 301", len(symbols))
		}
		return nil
	})
	back := e.NewView()
	defer back.Close()
	loop(func(i int) error {
		path := filepath.Join(dir, "pkg2", fmt.Sprintf("disk%d.go", i%10))
		if i%3 == 2 {
			os.Remove(path)
		} else {
			write(t, path, fmt.Sprintf("package pkg\n\nfunc Disk%d() {}\n", i))
		}
		return e.Touch(ctx, "test", []string{path, filepath.Join(dir, "pkg2")}, i%20 == 0)
	})
	loop(func(i int) error {
		if i%2 == 0 {
			if err := back.Reindex(ctx, wire.ReindexParams{Paths: []string{"pkg3"}}); err != nil {
				return err
			}
		}
		_, err := back.Sync(ctx, wire.SyncParams{Scan: i%3 == 0, Vectors: true})
		return err
	})
	loop(func(i int) error {
		_, err := back.Status(ctx)
		e.Keep(filepath.Join(dir, "pkg0", "f0.go"), false)
		back.Resolve("pkg0/f0.go")
		if _, err := e.Directories(ctx); err != nil {
			return err
		}
		return err
	})
	loop(func(i int) error {
		v := e.NewView()
		defer v.Close()
		_, err := v.Search(ctx, wire.SearchParams{Query: "Work7"})
		return err
	})
	loop(func(i int) error {
		for range 20 {
			select {
			case <-typed:
			case <-ctx.Done():
			}
		}
		next := s
		switch i % 4 {
		case 0:
			next.Search.TopK = 10 + i%20
		case 1:
			next.Chunk.MaxChars = 1000 + i%2*500
		case 2:
			roots := []file.Root{{Name: "r0", Dir: dir}}
			if i%8 == 2 {
				roots = append(roots, file.Root{Name: "r1", Dir: other})
			}
			return e.SetRoots(ctx, roots)
		}
		return e.SetSettings(ctx, next)
	})
	wg.Wait()
}

// A closed view and a closed engine refuse; what waits is woken.
func TestCloseWakesWhoWaits(t *testing.T) {
	e := open(t, settings(t), fill(t))
	v, closed := e.NewView(), e.NewView()
	closed.Close()
	if err := closed.Apply(t.Context(), "test", []file.Change{{Path: "/x", Kind: file.Opened}}); !errors.Is(err, index.ErrClosed) {
		t.Errorf("closed view: %v", err)
	}
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for range cap(errs) {
		wg.Go(func() {
			for {
				if _, err := v.Sync(t.Context(), wire.SyncParams{Scan: true, Vectors: true}); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if !errors.Is(err, index.ErrClosed) {
			t.Errorf("sync: %v", err)
		}
	}
	if _, err := v.Search(t.Context(), wire.SearchParams{Query: "Work7"}); !errors.Is(err, index.ErrClosed) {
		t.Errorf("search: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// Settings and folders that cannot be used leave what was in force, with what
// was typed; a request that was cancelled does, too.
func TestFailedChangeGoesOnAsBefore(t *testing.T) {
	dir := fill(t)
	s := settings(t)
	e := open(t, s, dir)
	defer e.Close()
	v := e.NewView()
	defer v.Close()
	apply := func(name string) {
		t.Helper()
		err := v.Apply(t.Context(), "test", []file.Change{{Path: filepath.Join(dir, "new.go"), Kind: file.Opened, Text: "package p\n\nfunc " + name + "() {}\n"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	found := func(name string) {
		t.Helper()
		upToDate(t, v)
		res, err := v.Search(t.Context(), wire.SearchParams{Query: name})
		if err != nil || !has(res, "func "+name) {
			t.Errorf("%s: %d hits, error %v", name, len(res.Hits), err)
		}
	}
	apply("First")
	gone := filepath.Join(dir, "nowhere")
	if err := e.SetRoots(t.Context(), []file.Root{{Name: "x", Dir: gone}}); err == nil || !strings.Contains(err.Error(), gone) {
		t.Errorf("folder that does not exist: %v", err)
	}
	found("First")
	found("Work3")
	bad := s
	bad.Index.Exclude = []string{"[broken"}
	if err := e.SetSettings(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "[broken") {
		t.Errorf("broken pattern: %v", err)
	}
	apply("Second")
	found("Second")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	other := s
	other.Chunk.MaxChars = 900
	if err := e.SetSettings(cancelled, other); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled change: %v", err)
	}
	found("Second")
	if err := e.SetSettings(t.Context(), other); err != nil {
		t.Error(err)
	}
	found("Second")

	// Nothing is left to go on with while the folder is away.
	if err := os.Rename(dir, dir+"-aside"); err != nil {
		t.Fatal(err)
	}
	if err := e.SetSettings(t.Context(), s); err == nil {
		t.Error("an index of a folder that is gone was opened")
	}
	if _, err := v.Search(t.Context(), wire.SearchParams{Query: "Work3"}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("search without an index: %v", err)
	}
	apply("Third")
	if err := os.Rename(dir+"-aside", dir); err != nil {
		t.Fatal(err)
	}
	if err := e.SetSettings(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	found("Third")
	found("Work3")
}

// A folder in another one owns its files: they are shown once, and what is
// typed in them is what is searched.
func TestNestedFolders(t *testing.T) {
	outer := fill(t)
	inner := filepath.Join(outer, "pkg1")
	for _, roots := range [][]string{{outer, inner}, {inner, outer}} {
		s := settings(t)
		e := open(t, s, roots...)
		v := e.NewView()
		upToDate(t, v)
		st, err := v.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if st.Coverage.Indexed != 40 || st.Coverage.Total != 40 {
			t.Errorf("%v: %+v", roots, st.Coverage)
		}
		err = v.Apply(t.Context(), "test", []file.Change{{Path: filepath.Join(inner, "f1.go"), Kind: file.Opened, Text: "package pkg\n\nfunc Replaced() {}\n"}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := v.Search(t.Context(), wire.SearchParams{Query: "Work1"})
		if err != nil {
			t.Fatal(err)
		}
		if has(res, "func Work1()") {
			t.Error("text that the editor replaced is found")
		}
		if res, err = v.Search(t.Context(), wire.SearchParams{Query: "Replaced"}); err != nil || !has(res, "func Replaced") {
			t.Errorf("%d hits, %v", len(res.Hits), err)
		}
		v.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	// Without the inner folder its files are the outer one's.
	e := open(t, settings(t), outer, inner)
	defer e.Close()
	v := e.NewView()
	defer v.Close()
	upToDate(t, v)
	if err := e.SetRoots(t.Context(), []file.Root{{Name: "r0", Dir: outer}}); err != nil {
		t.Fatal(err)
	}
	upToDate(t, v)
	if abs, ok := v.Resolve("pkg1/f1.go"); !ok || abs != filepath.Join(inner, "f1.go") {
		t.Errorf("pkg1/f1.go is %s %v", abs, ok)
	}
	if st, err := v.Status(t.Context()); err != nil || st.Coverage.Indexed != 40 {
		t.Errorf("%+v %v", st.Coverage, err)
	}
}

func TestFoldersMustDiffer(t *testing.T) {
	a, b := fill(t), fill(t)
	for _, roots := range [][]file.Root{{{Name: "a", Dir: a}, {Name: "b", Dir: a}}, {{Name: "same", Dir: a}, {Name: "same", Dir: b}}} {
		_, err := engine.Open(t.Context(), engine.Options{Roots: roots, Settings: settings(t)})
		if err == nil || !strings.Contains(err.Error(), roots[1].Dir) {
			t.Errorf("%v: %v", roots, err)
		}
	}
}

// What cannot be asked is a QueryError that says why.
func TestQueriesThatAreNone(t *testing.T) {
	e := open(t, settings(t), fill(t))
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	v := e.NewView()
	search := func(p wire.SearchParams) error {
		_, err := v.Search(t.Context(), p)
		return err
	}
	ask := func(p wire.AskParams) error {
		_, err := v.Ask(t.Context(), p, nil)
		return err
	}
	for want, err := range map[string]error{
		"empty":              search(wire.SearchParams{Query: " "}),
		"the most is 65536":  search(wire.SearchParams{Query: strings.Repeat("x", 70000)}),
		"topK is -1":         search(wire.SearchParams{Query: "x", TopK: -1}),
		"valid file pattern": search(wire.SearchParams{Query: "x", Filters: wire.Filters{FilePatterns: []string{"[a-"}}}),
		"not a source type":  search(wire.SearchParams{Query: "x", Filters: wire.Filters{SourceTypes: []string{"poem"}}}),
		"tokenBudget is -5":  ask(wire.AskParams{SearchParams: wire.SearchParams{Query: "x"}, TokenBudget: -5}),
	} {
		var query *engine.QueryError
		if !errors.As(err, &query) || !strings.Contains(query.Reason, want) {
			t.Errorf("want a QueryError with %q: %v", want, err)
		}
	}
}
