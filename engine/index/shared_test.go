package index_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/onnx"
	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/onnxtest"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/bunt"
	"coderag-ls/engine/store/vectorcache"
)

// repository is a git repository with an index, whose vectors are shared as
// another process's would be: through the disk.
type repository struct {
	*workspace
	behind embed.Embedder
	store  store.Store
}

func newRepository(t *testing.T, files map[string]string, behind embed.Embedder) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	r := &repository{workspace: newWorkspace(t, files), behind: behind}
	r.git("init", "-q", "-b", "main")
	r.commit("one")
	return r
}

func (r *repository) git(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func (r *repository) commit(message string) {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", message)
}

// at is the repository's worktree in another folder.
func (r *repository) at(dir string) *repository {
	w := *r.workspace
	w.dir = dir
	return &repository{workspace: &w, behind: r.behind}
}

// open opens the index of the folder; with shared, its vectors are shared.
func (r *repository) open(share bool) *index.Index {
	r.t.Helper()
	opts := r.options(r.cache)
	opts.Roots, opts.Behind, opts.BehindBatch, opts.Quiet = []file.Root{{Name: "w", Dir: r.dir}}, r.behind, 8, time.Millisecond
	if share {
		c := vectorcache.Open(vectorcache.Options{Dir: filepath.Join(r.cache, index.SharedDir), MaxBytes: 64 << 20, Fresh: 1})
		r.t.Cleanup(func() { c.Close() })
		opts.VectorCache = c
	}
	opts.OpenStore = func(ctx context.Context, dir string) (store.Store, error) {
		s, err := bunt.Open(ctx, dir, bunt.Options{})
		r.store = s
		return s, err
	}
	ix, err := index.Open(r.t.Context(), opts)
	if err != nil {
		r.t.Fatal(err)
	}
	return ix
}

// settle waits until everything is indexed and embedded, and checks that nothing
// is without a vector.
func settle(t *testing.T, ix *index.Index) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := ix.Sync(ctx, true, true); err != nil {
		t.Fatal(err)
	}
	if c := ix.Coverage(ix.Snapshot()); c.VectorsReady != 1 || c.Pending != 0 {
		t.Fatalf("coverage %+v", c)
	}
}

// embeds returns how many chunks were embedded and how many vectors were found
// since the last call.
func embeds(ix *index.Index) func() (embedded, hits int64) {
	var e, h int64
	return func() (int64, int64) {
		c := ix.Status(ix.Snapshot()).Counters
		embedded, hits := c.Embedded-e, c.EmbedCacheHits-h
		e, h = c.Embedded, c.EmbedCacheHits
		return embedded, hits
	}
}

// sources are n files with a few functions each, big enough to be chunks.
func sources(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "package p%d\n", i%7)
		for f := range 4 {
			fmt.Fprintf(&b, "\n// Work%d_%d does step %d of job %d.\nfunc Work%d_%d(in []string) error {\n", i, f, f, i, i, f)
			for l := range 14 {
				fmt.Fprintf(&b, "\tif err := step%d(in, %d, \"the step that follows the one before it in job %d\"); err != nil {\n\t\treturn err\n\t}\n", l, f*100+l, i)
			}
			b.WriteString("\treturn nil\n}\n")
		}
		files[fmt.Sprintf("d%d/f%d.go", i%7, i)] = b.String()
	}
	return files
}

// models are the slow models that tests run with.
func models(t *testing.T, run func(t *testing.T, behind embed.Embedder, real bool)) {
	t.Run("counted", func(t *testing.T) {
		run(t, &second{inner: newWorkspace(t, nil).model}, false)
	})
	for name, dir := range map[string]func(testing.TB) string{
		"tiny":   func(t testing.TB) string { return onnxtest.Tiny(t, export.Int8) },
		"MiniLM": func(t testing.TB) string { return onnxtest.MiniLM(t, export.Int8) },
	} {
		t.Run(name, func(t *testing.T) {
			e, err := onnx.Open(t.Context(), onnx.Options{LibraryPath: onnxtest.Library(t), ModelDir: dir(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			run(t, e, true)
		})
	}
}

// TestNothingIsEmbeddedTwice: whatever is done to a repository, only text that
// no worktree had before is embedded.
func TestNothingIsEmbeddedTwice(t *testing.T) {
	models(t, func(t *testing.T, behind embed.Embedder, real bool) {
		n := 40
		if real {
			n = 8
		}
		r := newRepository(t, sources(n), behind)
		ix := r.open(true)
		settle(t, ix)
		count := embeds(ix)
		first, _ := count()
		if first < int64(4*n) {
			t.Fatalf("%d files have %d vectors", n, first)
		}
		nothing := func(what string, ix *index.Index, count func() (int64, int64)) {
			t.Helper()
			settle(t, ix)
			if e, h := count(); e != 0 || h == 0 {
				t.Errorf("%s: %d embedded, %d found", what, e, h)
			}
		}
		rewrite := func(w *workspace, change func(string) string) {
			t.Helper()
			for path := range sources(n) {
				b, err := os.ReadFile(w.abs(path))
				if err != nil {
					t.Fatal(err)
				}
				w.write(path, change(string(b)))
			}
		}

		r.git("checkout", "-q", "-b", "feature")
		r.write("d1/f1.go", strings.ReplaceAll(sources(n)["d1/f1.go"], "step that follows", "step that comes after"))
		r.git("mv", "d2/f2.go", "d3/moved.go")
		r.write("d4/copy.go", sources(n)["d4/f4.go"])
		settle(t, ix)
		s := ix.Snapshot()
		changed := len(s.DocsOf(s.File("d1/f1.go"))) - 1 // not the package clause
		if e, _ := count(); e != int64(2*changed) {      // by both models
			t.Errorf("an edited file, a move and a copy embed %d chunks", e)
		}
		r.commit("feature")
		r.git("checkout", "-q", "main")
		nothing("back to main", ix, count)
		r.git("checkout", "-q", "feature")
		nothing("to the branch again", ix, count)
		r.git("checkout", "-q", "main")
		rewrite(r.workspace, func(s string) string { return strings.ReplaceAll(s, "\t", "    ") })
		nothing("tabs to spaces", ix, count)
		rewrite(r.workspace, func(s string) string { return strings.ReplaceAll(s, "{\n", "{   \n\n") })
		nothing("blank lines and trailing blanks", ix, count)
		rewrite(r.workspace, func(s string) string { return strings.ReplaceAll(s, "(in, ", "(\n  in,  ") })
		nothing("wrapped lines", ix, count)
		r.git("checkout", "-q", "-f", "main")
		settle(t, ix)

		tree := filepath.Join(t.TempDir(), "tree")
		r.git("worktree", "add", "-q", tree, "feature")
		other := r.at(tree).open(true)
		nothing("a second worktree", other, embeds(other))
		closeIndex(t, other)
		closeIndex(t, ix)

		moved := filepath.Join(t.TempDir(), "moved")
		if err := os.Rename(r.dir, moved); err != nil {
			t.Fatal(err)
		}
		elsewhere := r.at(moved).open(true)
		nothing("a moved folder", elsewhere, embeds(elsewhere))
		closeIndex(t, elsewhere)

		again := r.at(moved).open(true)
		settle(t, again)
		if e, _ := embeds(again)(); e != 0 {
			t.Errorf("a restart embeds %d", e)
		}
		closeIndex(t, again)
		if err := os.RemoveAll(index.Dir(r.cache, file.Root{Name: "w", Dir: moved})); err != nil {
			t.Fatal(err)
		}
		deleted := r.at(moved).open(true)
		nothing("a deleted index", deleted, embeds(deleted))
		closeIndex(t, deleted)

		alone := r.at(tree).open(false)
		settle(t, alone)
		if e, h := embeds(alone)(); e != 0 {
			t.Errorf("a worktree that shares nothing embeds %d again, finds %d", e, h)
		}
		closeIndex(t, alone)
	})
}

// TestBranchesOutliveTidying: a store keeps what is live; what a branch needs
// that was left comes back from where the vectors are shared.
func TestBranchesOutliveTidying(t *testing.T) {
	const n = 700 // 2,800 chunks, above what is spared
	slow := &second{inner: newWorkspace(t, nil).model}
	r := newRepository(t, sources(n), slow)
	ix := r.open(true)
	settle(t, ix)
	r.git("checkout", "-q", "-b", "empty")
	r.git("rm", "-q", "-r", "d0", "d1", "d2", "d3", "d4", "d5")
	r.commit("less")
	settle(t, ix)
	before := slow.embedded.Load()
	poll(t, "the store to be tidied", func() bool { return r.store.Info().Vectors < n*4*2/3 })
	for _, restart := range []bool{false, true} {
		if restart {
			r.git("checkout", "-q", "empty")
			settle(t, ix)
			poll(t, "the store to be tidied", func() bool { return r.store.Info().Vectors < n*4*2/3 })
			closeIndex(t, ix)
			ix = r.open(true)
			settle(t, ix)
		}
		count := embeds(ix)
		count()
		r.git("checkout", "-q", "main")
		settle(t, ix)
		if e, h := count(); e != 0 || h == 0 || slow.embedded.Load() != before {
			t.Errorf("restart %v: back on main %d are embedded, %d found; %d texts", restart, e, h, slow.embedded.Load()-before)
		}
	}
	closeIndex(t, ix)
}

// poll waits until something holds.
func poll(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// slowly embeds one text after the other.
type slowly struct {
	*second
	every time.Duration
}

func (s slowly) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	select {
	case <-time.After(s.every * time.Duration(len(texts))):
	case <-ctx.Done():
	}
	return s.second.Embed(ctx, texts)
}

// TestTwoAtOnceShareTheWork: two worktrees that are indexed at the same time
// embed little twice.
func TestTwoAtOnceShareTheWork(t *testing.T) {
	const n = 60
	inner := newWorkspace(t, nil).model
	slow := slowly{&second{inner: inner}, 2 * time.Millisecond}
	r := newRepository(t, sources(n), slow)
	tree := filepath.Join(t.TempDir(), "tree")
	r.git("worktree", "add", "-q", tree, "-b", "other")
	a := r.open(true)
	b := r.at(tree).open(true)
	settle(t, a)
	settle(t, b)
	vectors := a.Snapshot().Len()
	paths := 2 * n // each path's words, in the worst case by both
	if got := int(slow.embedded.Load()); got > vectors+vectors/4+paths {
		t.Errorf("%d chunks: %d texts were embedded", vectors, got)
	} else {
		t.Logf("%d chunks, %d texts embedded by both together", vectors, got)
	}
	closeIndex(t, a)
	closeIndex(t, b)
}
