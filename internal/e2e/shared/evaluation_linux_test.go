package shared_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/wire"
)

// tolerance is how far NDCG@10 may be from that of the embedded store.
const tolerance = 0.01

// corpus is a copy of one project of the suites under eval/, which
// scripts/eval-corpora.sh gets. It is in no git repository.
func corpus(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("CODERAG_TEST_EVAL")
	if dir == "" {
		t.Fatal("CODERAG_TEST_EVAL is not set to the folder that scripts/eval-corpora.sh fills (make test-shared does both)")
	}
	found, err := filepath.Glob(filepath.Join(dir, name+"-*"))
	must(t, err)
	for _, at := range found {
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			to := filepath.Join(t.TempDir(), filepath.Base(at))
			must(t, os.CopyFS(to, os.DirFS(at)))
			return to
		}
	}
	t.Fatalf("%s is not in %s: scripts/eval-corpora.sh could not get it", name, dir)
	return ""
}

// suite writes a suite of the questions that eval/lines and eval/docs ask about
// one project, and returns its folder.
func suite(t *testing.T, project, checkout string) string {
	t.Helper()
	dir := t.TempDir()
	var kept []byte
	for _, of := range []string{"lines", "docs"} {
		f, err := os.Open(filepath.Join("../../../eval", of, "queries.jsonl"))
		must(t, err)
		defer f.Close()
		in := bufio.NewScanner(f)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			var q map[string]any
			must(t, json.Unmarshal(in.Bytes(), &q))
			if q["project"] == project || q["repo"] == project {
				q["repo"], q["project"] = filepath.Base(checkout), project
				raw, err := json.Marshal(q)
				must(t, err)
				kept = append(append(kept, raw...), '\n')
			}
		}
		must(t, in.Err())
	}
	must(t, os.WriteFile(filepath.Join(dir, "queries.jsonl"), kept, 0o644))
	checkouts, err := filepath.Rel(dir, filepath.Dir(checkout))
	must(t, err)
	meta, err := json.Marshal(map[string]any{
		"source": "eval/lines and eval/docs", "checkouts": checkouts,
		"repos": map[string]any{project: map[string]any{"package": filepath.Base(checkout), "root": nil}},
	})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "meta.json"), meta, 0o644))
	return dir
}

// measured is what `coderag-ls eval --json` prints of a suite.
type measured struct {
	Suites []struct {
		Queries int     `json:"queries"`
		NDCG10  float64 `json:"ndcg10"`
		MRR10   float64 `json:"mrr10"`
	} `json:"suites"`
}

// TestEvaluation publishes real repositories and asks the evaluation's questions
// through the shared index and through an index of their own.
func TestEvaluation(t *testing.T) {
	ctx, c := begin(t, 8*time.Minute)
	u := newUser(t, ctx, c, "evaluation")
	for _, project := range []string{"tenacity", "raft"} {
		t.Run(project, func(t *testing.T) {
			u := u.in(t)
			dir := corpus(t, project)
			name := "example.org/" + project
			p := u.publish(name, "1", dir)
			if p.State != wire.SharedComplete || p.Put != p.Files || p.Files == 0 || p.Chunks == 0 {
				t.Fatalf("published %+v", p)
			}
			want := indexOf(t, ctx, dir)
			awaitStored(t, ctx, c, "evaluation", name, want)

			reader := u.with("CODERAG_SHARED_REPOSITORY="+name, "CODERAG_SHARED_TIMEOUT=60000")
			var st wire.Status
			reader.run("index", "--json", "--quiet", "--root", dir).wants(0).decode(&st)
			if st.Shared == nil || !st.Shared.Reachable || st.Shared.Covered != len(want.entries) || st.Chunks != 0 {
				t.Fatalf("not everything is found through the shared index: %d chunks are indexed here, %+v", st.Chunks, st.Shared)
			}
			of := suite(t, project, dir)
			var local, shared measured
			u.alone().run("eval", "--json", "--quiet", "--suite", of).wants(0).decode(&local)
			reader.run("eval", "--json", "--quiet", "--suite", of).wants(0).decode(&shared)
			l, s := local.Suites[0], shared.Suites[0]
			t.Logf("%d questions: NDCG@10 %.4f embedded, %.4f shared; MRR@10 %.4f, %.4f", s.Queries, l.NDCG10, s.NDCG10, l.MRR10, s.MRR10)
			if l.Queries != s.Queries || l.Queries < 20 {
				t.Errorf("%d and %d questions", l.Queries, s.Queries)
			}
			if l.NDCG10 < 0.3 || math.Abs(l.NDCG10-s.NDCG10) > tolerance {
				t.Errorf("NDCG@10 is %.4f from the embedded store and %.4f from the shared index", l.NDCG10, s.NDCG10)
			}
		})
	}
	t.Run("again", func(t *testing.T) {
		if p := u.in(t).publish("example.org/tenacity", "1", corpus(t, "tenacity")); p.Put != 0 || p.Deleted != 0 {
			t.Errorf("publishing the same again wrote %d and removed %d files", p.Put, p.Deleted)
		}
	})
	t.Run("beside", func(t *testing.T) {
		// A workspace that is neither finds both, and cites them by name.
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644))
		r := u.in(t).with("CODERAG_SHARED_REPOSITORY=none", "CODERAG_SHARED_REPOSITORIES=**", "CODERAG_SHARED_TIMEOUT=60000").search(dir, "leader election with pre-vote")
		if r.Degraded != "" || len(r.Hits) == 0 || !strings.HasPrefix(r.Hits[0].Path, "example.org/raft@1:") {
			t.Errorf("found %v, degraded %q", places(r.Hits), r.Degraded)
		}
	})
}
