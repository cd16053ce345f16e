package e2e_test

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp/lsptest"
)

var (
	killRounds = flag.Int("kill.rounds", 8, "how often the program is killed")
	killSeed   = flag.Uint64("kill.seed", 0, "seed of when it is killed and what changes; 0 for the time")
)

// kept is how old what was acknowledged must be for a kill to leave it: the
// last second's work may be lost.
const kept = time.Second

// TestKilledAgainAndAgain kills the program at random moments while it indexes,
// serves and tidies up a workspace that changes. Whatever is left, the next
// start has the index that one made from nothing has, embeds nothing again that
// was acknowledged a second before, and tells nobody of damage.
func TestKilledAgainAndAgain(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-kill.seed=%d", seed)
	const files = 300
	k := &killing{t: t, h: newHome(t), dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 1)), acked: map[string]acked{}}
	for i := range files {
		k.write(i)
	}
	for round := range *killRounds {
		lived, changes := k.live(round)
		if err := k.check(); err != nil {
			t.Fatalf("round %d, killed after %v and %d changes: %v", round, lived, changes, err)
		}
	}
	t.Logf("%d rounds, %d files acknowledged and left, %d not, %d chunks embedded again of %d that might have been", *killRounds, k.left, k.lost, k.embedded, k.allowed)
}

// killing is one workspace whose server is killed again and again.
type killing struct {
	t     *testing.T
	h     *home
	dir   string
	rng   *rand.Rand
	n     int
	acked map[string]acked // by path; what was searchable

	left, lost        int
	embedded, allowed int64
}

// acked is what a file held when the server said that all is searchable.
type acked struct {
	content string
	at      time.Time // zero where that was not said
}

func (k *killing) path(i int) string {
	return fmt.Sprintf("d%d/f%d.%s", i%17, i, []string{"go", "py", "md", "txt"}[i%4])
}

// write gives a file a new text.
func (k *killing) write(i int) {
	k.n++
	content := fmt.Sprintf("package p\n\n// Do%d works on item %d.\nfunc Do%d() { run(%d) }\n\n## Part %d\n\nwords of %d\n", k.n, i, k.n, i, k.n, k.n)
	content = strings.Repeat(content, 1+i%7)
	write(k.t, filepath.Join(k.dir, k.path(i)), content)
	k.acked[k.path(i)] = acked{content: content}
}

func (k *killing) remove(i int) {
	if err := os.Remove(filepath.Join(k.dir, k.path(i))); err == nil {
		delete(k.acked, k.path(i))
	}
}

// live starts the server, changes files and has them indexed until the server
// is killed, at a moment that nothing decides.
func (k *killing) live(round int) (lived time.Duration, changes int) {
	for range k.rng.IntN(20) { // while nobody looks
		k.write(k.rng.IntN(330))
		k.remove(k.rng.IntN(330))
	}
	// A third dies while it starts, a third while it works, a third while it tidies
	// up or shortly after.
	most := []time.Duration{250 * time.Millisecond, 2 * time.Second, 5 * time.Second}[k.rng.IntN(3)]
	after := time.Duration(k.rng.Int64N(int64(most)))
	var server *server
	killed := make(chan struct{})
	var once sync.Once
	began := time.Now()
	_ = lsptest.Try(func(tb testing.TB) { // what fails because the server is gone fails
		e := lsptest.Connect(tb, lsptest.Config{Client: lsptest.VSCode, Folders: []string{k.dir}, Dial: k.h.dial})
		server = k.h.server
		timer := time.AfterFunc(after, func() {
			once.Do(func() {
				server.kill(k.t)
				close(killed)
			})
		})
		tb.Cleanup(func() {
			timer.Stop()
			once.Do(func() {
				server.kill(k.t)
				close(killed)
			})
		})
		e.Initialize()
		// The last third is left alone for a while, so that there is a quiet to tidy
		// up in.
		for rounds := k.rng.IntN(40); ; rounds-- {
			var r wire.SyncResult
			if e.Call("coderag/sync", wire.SyncParams{Scan: true, Vectors: true}, &r) != nil {
				return
			}
			now := time.Now()
			for path, a := range k.acked {
				if a.at.IsZero() {
					a.at = now
					k.acked[path] = a
				}
			}
			if rounds <= 0 {
				<-killed
				return
			}
			for range 1 + k.rng.IntN(8) {
				k.write(k.rng.IntN(330))
				changes++
			}
			k.remove(k.rng.IntN(330))
			if k.rng.IntN(10) == 0 && e.Call("coderag/reindex", wire.ReindexParams{Paths: []string{"d1", "d2"}}, nil) != nil {
				return
			}
		}
	})
	<-killed
	checkStderr(k.t, server.stderr.String())
	return time.Since(began), changes
}

// check opens a copy of what is left and holds it against an index made from
// nothing.
func (k *killing) check() error {
	now := time.Now()
	left := filepath.Join(k.t.TempDir(), "left")
	if err := copyFiles(left, k.h.cache); err != nil {
		return err
	}
	got, st, err := k.inventory(left)
	if err != nil {
		return fmt.Errorf("opening what is left: %w", err)
	}
	if len(st.Notices) > 0 {
		return fmt.Errorf("the user is told %q", st.Notices)
	}
	want, _, err := k.inventory(filepath.Join(k.t.TempDir(), "fresh"))
	if err != nil {
		return fmt.Errorf("a fresh index: %w", err)
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("%q is missing", want[i])
		case i >= len(want):
			return fmt.Errorf("%q is too much", got[i])
		case got[i] != want[i]:
			return fmt.Errorf("%q, want %q", got[i], want[i])
		}
	}
	// What was searchable a second before must not be embedded again.
	var allowed int64
	for _, line := range want {
		path, _, isChunk := strings.Cut(strings.TrimPrefix(line, "  "), " ")
		if !isChunk || !strings.HasPrefix(line, "  ") || strings.Contains(line, " at ") {
			continue
		}
		if a := k.acked[path]; a.at.IsZero() || now.Sub(a.at) < kept {
			allowed++
		}
	}
	for _, a := range k.acked {
		if a.at.IsZero() || now.Sub(a.at) < kept {
			k.lost++
		} else {
			k.left++
		}
	}
	k.embedded, k.allowed = k.embedded+st.Counters.Embedded, k.allowed+allowed
	if st.Counters.Embedded > allowed {
		return fmt.Errorf("%d chunks were embedded again, only %d are of files that were not searchable for %v", st.Counters.Embedded, allowed, kept)
	}
	return nil
}

// inventory opens the workspace's index in a cache folder, brings it up to date
// and lists what it finds.
func (k *killing) inventory(cache string) ([]string, wire.Status, error) {
	layers, problems := config.Layers{}.WithFlags(map[string]string{"index.cacheDir": cache, "embed.provider": "static"})
	if len(problems) > 0 {
		return nil, wire.Status{}, fmt.Errorf("settings: %v", problems)
	}
	ctx := k.t.Context()
	e, err := engine.Open(ctx, engine.Options{Roots: []file.Root{{Name: filepath.Base(k.dir), Dir: k.dir}}, Settings: layers.Settings()})
	if err != nil {
		return nil, wire.Status{}, err
	}
	defer func() { must(k.t, e.Close()) }()
	v := e.NewView()
	defer v.Close()
	if _, err := v.Sync(ctx, wire.SyncParams{Scan: true, Vectors: true}); err != nil {
		return nil, wire.Status{}, err
	}
	lines, err := v.Inventory(ctx)
	if err != nil {
		return nil, wire.Status{}, err
	}
	st, err := v.Status(ctx)
	return lines, st, err
}

// copyFiles copies a folder's regular files; sockets and the like stay.
func copyFiles(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch at := filepath.Join(to, rel); {
		case d.IsDir():
			return os.MkdirAll(at, 0o700)
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(at, data, 0o600)
		}
		return nil
	})
}
