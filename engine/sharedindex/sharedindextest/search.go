package sharedindextest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coderag-ls/engine/config"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/eval"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/query"
	"coderag-ls/engine/search"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/mem"
)

const (
	// NDCGTolerance is how far a shared index's mean NDCG@10 may be from that of a
	// local one.
	NDCGTolerance = 0.01
	// LeastOverlap is the share of the first ten files of a local search that one of a
	// shared index must find among its first ten, in the mean over the questions.
	LeastOverlap = 0.95
)

// RunSearch checks that questions are answered as well from a backend as from
// a local index: real code with the questions of a frozen suite, and the program's
// own with the first sentences of its documentation as questions, are indexed, published and
// asked for in both. What they find must be the same within NDCGTolerance and
// LeastOverlap.
func RunSearch(t *testing.T, open Opener) {
	root := repositoryRoot(t)
	t.Run("suite", func(t *testing.T) {
		suite, err := eval.Load(filepath.Join(root, "eval", "golden"))
		if err != nil {
			t.Fatal(err)
		}
		var asked []question
		repo := suite.Questions[0].Repo
		for _, q := range suite.Questions {
			if q.Repo != repo {
				t.Fatalf("questions of %s and %s", repo, q.Repo)
			}
			asked = append(asked, question{q.Query, right(q)})
		}
		compare(t, open, "example.org/suite", suite.Checkout(repo), asked)
	})
	t.Run("documented", func(t *testing.T) {
		compare(t, open, "example.org/documented", filepath.Join(root, "engine"), nil)
	})
}

// repositoryRoot is the directory that holds go.mod.
func repositoryRoot(t *testing.T) string {
	t.Helper()
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("the source's place is not known")
	}
	for dir := filepath.Dir(here); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatalf("no go.mod above %s", here)
	return ""
}

// question is something to ask, with the paths that answer it.
type question struct {
	text  string
	right map[string]bool
}

func right(q eval.Question) map[string]bool {
	paths := map[string]bool{}
	for _, p := range slices.Concat(q.Relevant, q.Secondary) {
		paths[p.Path] = true
	}
	return paths
}

// documented are first sentences of documentation as questions, answered by the file
// of what they are about: one in so many that there are about n.
func documented(snap *index.Snapshot, n int) []question {
	var all []question
	for _, f := range snap.Files() {
		if f.Class.Test {
			continue
		}
		for _, s := range f.Symbols {
			// Without the name, which would tell.
			text := strings.TrimPrefix(strings.TrimPrefix(s.Summary, s.Name), " ")
			if s.Exported && len(text) > 40 {
				all = append(all, question{text, map[string]bool{f.Path: true}})
			}
		}
	}
	every := max(1, len(all)/n)
	var some []question
	for i := 0; i < len(all); i += every {
		some = append(some, all[i])
	}
	return some
}

// side answers questions.
type side struct {
	ix     *index.Index
	reader *sharedindex.Reader // nil for a local index
	model  *static.Model

	answers [][]string // the first ten files, by question
	ndcg    float64    // mean NDCG@10
}

func openIndex(t *testing.T, dir string, model *static.Model, covered func(root file.Root, rel string, hash file.Hash) (bool, bool)) *index.Index {
	t.Helper()
	ix, err := index.Open(t.Context(), index.Options{
		Roots: []file.Root{{Name: "w", Dir: dir}}, Inline: model, PathWeight: -1, CacheDir: t.TempDir(), NoGit: true, Covered: covered,
		OpenStore: func(ctx context.Context, dir string) (store.Store, error) { return new(mem.Space).Open(ctx, dir, "") },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := ix.Sync(t.Context(), true, false); err != nil {
		t.Fatal(err)
	}
	return ix
}

// publish writes an index into a backend.
func publish(t *testing.T, b sharedindex.Backend, name string, ix *index.Index) sharedindex.Published {
	t.Helper()
	entries, statistics, err := index.Entries(ix, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := sharedindex.Publish(t.Context(), b, sharedindex.PublishOptions{
		Repository: name, Commit: "1", Edition: ix.Edition(), Files: entries, Statistics: statistics,
		Documents: func(ctx context.Context, paths []string) (documents []sharedindex.Document, err error) {
			return documents, index.Export(ctx, ix, paths, func(d sharedindex.Document) error {
				documents = append(documents, d)
				return nil
			})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// compare asks questions, documented where there are none, of the index of a folder and
// of a backend into which it was published.
func compare(t *testing.T, open Opener, name, dir string, asked []question) {
	model, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	local := side{ix: openIndex(t, dir, model, nil), model: model}
	if asked == nil {
		asked = documented(local.ix.Snapshot(), 60)
	}
	if len(asked) < 30 {
		t.Fatalf("%d questions", len(asked))
	}
	edition := local.ix.Edition()
	tenant := "search"
	b := open(t, tenant, edition)
	defer closeBackend(t, b)
	published := publish(t, b, name, local.ix)

	var outside atomic.Pointer[index.Index] // that files are made ready by
	reader := sharedindex.NewReader(t.Context(), sharedindex.ReaderOptions{
		Open: func(context.Context, sharedindex.Edition) (sharedindex.Backend, error) {
			return open(t, tenant, edition), nil
		},
		Edition: edition, Own: []string{name}, Timeout: time.Minute, CacheBytes: 1 << 30,
		Prepare: func(ctx context.Context, files []sharedindex.File) ([]sharedindex.Prepared, error) {
			in := make([]index.OutsideFile, len(files))
			for i, f := range files {
				in[i] = index.OutsideFile{Path: f.Path, Record: f.Record, Text: f.Text, Vectors: f.Vectors, Model: edition.Model.Fingerprint}
			}
			made, err := outside.Load().Outside(ctx, in)
			out := make([]sharedindex.Prepared, len(made))
			for i := range made {
				out[i] = made[i]
			}
			return out, err
		},
	})
	defer func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}()
	reader.Loaded(t.Context())

	local.answer(t, asked)
	for _, c := range []struct {
		name    string
		dir     string
		covered func(root file.Root, rel string, hash file.Hash) (bool, bool)
	}{
		{"shared", t.TempDir(), nil},
		// One file in ten is indexed here, as if it were edited.
		{"overlaid", dir, func(_ file.Root, rel string, hash file.Hash) (covered, known bool) {
			if hash[0]%10 == 0 {
				return false, true
			}
			return reader.Covered(name, rel, hash)
		}},
	} {
		reader.Forget()
		shared := side{ix: openIndex(t, c.dir, model, c.covered), reader: reader, model: model}
		outside.Store(shared.ix)
		shared.answer(t, asked)
		overlap, first := local.common(&shared)
		t.Logf("%s: %d questions about %d files, %d chunks, %d of the files here: NDCG@10 %.4f locally, %.4f shared; overlap of the first ten %.3f, same first file %.3f",
			c.name, len(asked), published.Head.Files, published.Head.Chunks, shared.ix.Snapshot().FileCount(), local.ndcg, shared.ndcg, overlap, first)
		if diff := local.ndcg - shared.ndcg; diff > NDCGTolerance || diff < -NDCGTolerance {
			t.Errorf("%s: NDCG@10 is %.4f locally and %.4f shared", c.name, local.ndcg, shared.ndcg)
		}
		if overlap < LeastOverlap {
			t.Errorf("%s: the first ten files have %.3f in common", c.name, overlap)
		}
	}
}

// answer asks all questions.
func (s *side) answer(t *testing.T, asked []question) {
	t.Helper()
	for _, q := range asked {
		paths := s.ask(t, q.text)
		s.answers = append(s.answers, paths)
		s.ndcg += gain(paths, q.right) / float64(len(asked))
	}
}

// common is which share of its answers another side has among its own, and for which share
// of the questions both have the same file first.
func (s *side) common(other *side) (overlap, first float64) {
	for i, mine := range s.answers {
		theirs := other.answers[i]
		same := 0
		for _, p := range mine {
			if slices.Contains(theirs, p) {
				same++
			}
		}
		if len(mine) == 0 {
			same = 1
		}
		overlap += float64(same) / float64(max(1, len(mine)))
		if slices.Equal(mine[:min(1, len(mine))], theirs[:min(1, len(theirs))]) {
			first++
		}
	}
	n := float64(len(s.answers))
	return overlap / n, first / n
}

// gain is NDCG@10 of a list of files.
func gain(ranked []string, right map[string]bool) float64 {
	gains := make([]bool, len(ranked))
	for i, p := range ranked {
		gains[i] = right[p]
	}
	return eval.NDCG(gains, len(right))
}

// ask returns the first ten files for a question, best first.
func (s *side) ask(t *testing.T, text string) []string {
	t.Helper()
	tok := lexical.NewTokenizer()
	an := query.New(tok)
	snap := s.ix.Snapshot()
	if s.reader != nil {
		a := query.NewWithout(tok, query.Off{Spelling: true}).Analyze(text, generous{search.NewVocabulary(snap)})
		var q sharedindex.Query
		for _, term := range a.Terms {
			if term.Weight >= 0.5 {
				q.Terms = append(q.Terms, term)
			} else {
				q.Counted = append(q.Counted, term.Text)
			}
		}
		for _, e := range a.Paths() {
			q.Paths = append(q.Paths, e.Text)
		}
		vectors, err := s.model.Embed(t.Context(), []string{a.Query})
		if err != nil {
			t.Fatal(err)
		}
		if embed.Normalize(vectors[0]) > 0 {
			q.Vectors = vectors
		}
		got := s.reader.Candidates(t.Context(), q)
		if got.Degraded != "" {
			t.Fatalf("asking %q: %s", text, got.Degraded)
		}
		var outside []*index.Outside
		for _, r := range got.Files {
			if hash, ok := s.ix.Covers(r.Path); ok && hash != r.Record.Hash {
				t.Fatalf("%s is covered with another text", r.Path)
			}
			outside = append(outside, r.Prepared.(*index.Outside))
		}
		snap = snap.Beside(outside, got.Background)
	}
	a := an.Analyze(text, search.NewVocabulary(snap))
	settings := config.Default().Search
	settings.MinRelevance = 0
	res, err := search.New(tok).Search(t.Context(), search.Input{Snapshot: snap, Analysis: &a, Settings: settings, Embedders: []embed.Embedder{s.model}})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range res.Files[:min(10, len(res.Files))] {
		paths = append(paths, f.File.Path)
	}
	return paths
}

// generous is a vocabulary that has every word: what a shared index has is known only when it was
// asked.
type generous struct{ *search.Vocabulary }

// DF implements query.Vocabulary.
func (generous) DF(string) int { return 1 }

func closeBackend(t *testing.T, b sharedindex.Backend) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Error(fmt.Errorf("closing the backend: %w", err))
	}
}
