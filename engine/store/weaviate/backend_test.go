package weaviate_test

import (
	"errors"
	"reflect"
	"testing"

	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/sharedindex/sharedindextest"
)

const repo = "github.com/acme/it's-ünïcode{}[]$%日本"

func scope(repositories ...string) sharedindex.Scope {
	return sharedindex.Scope{Repositories: repositories}
}

// TestPublish goes through a repository's life.
func TestPublish(t *testing.T) {
	b := open(t, cluster(t))
	ctx := t.Context()
	heads, err := b.Heads(ctx)
	must(t, err)
	if len(heads) != 0 {
		t.Fatalf("heads before anything was published: %v", heads)
	}
	if got := entries(t, b, repo); len(got) != 0 {
		t.Fatalf("manifest of nothing: %v", got)
	}
	found, err := b.Words(ctx, scope(repo), []lexical.Term{{Text: "serve", Weight: 1}}, 10)
	must(t, err)
	if len(found) != 0 {
		t.Fatalf("found %v", found)
	}

	one, two := document("a/ü \"b\".go", 1, 3, "serv", "=servehttp"), document("b\xff.go", 2, 2, "dial")
	publish(t, b, repo, "c1", one, two, document("empty", 1, 0))
	heads, err = b.Heads(ctx)
	must(t, err)
	if len(heads) != 1 || heads[0].Commit != "c1" || heads[0].Publishing != "" || heads[0].Files != 3 || heads[0].Chunks != 5 || heads[0].Repository != repo || heads[0].Edition != edition("model-a") {
		t.Fatalf("heads %+v", heads)
	}
	if want := ([lexical.NumFields]uint64{lexical.Body: 3*2 + 2*2, lexical.Name: 5}); heads[0].Terms != want {
		t.Fatalf("terms %v, want %v", heads[0].Terms, want)
	}
	for _, e := range entries(t, b, repo) {
		for _, d := range []sharedindex.Document{one, two} {
			if d.Record.Path == e.Path && (e.Hash != d.Record.Hash || e.Chunks != len(d.Rows)) {
				t.Errorf("entry %+v", e)
			}
		}
	}

	ids := []sharedindex.ID{
		{Repository: repo, Path: one.Record.Path}, {Repository: repo, Path: two.Record.Path},
		{Repository: repo, Path: "not there"}, {Repository: "other", Path: one.Record.Path},
	}
	docs, err := b.Documents(ctx, ids)
	must(t, err)
	if len(docs) != 2 {
		t.Fatalf("%d documents", len(docs))
	}
	for i, want := range []sharedindex.Document{one, two} {
		want.Rows, want.Words = nil, nil
		if got := docs[ids[i]]; !reflect.DeepEqual(got, want) {
			t.Errorf("read\n%+v, wrote\n%+v", got, want)
		}
	}

	found, err = b.Words(ctx, scope(repo, "other"), []lexical.Term{{Text: "=servehttp", Weight: 1.5}, {Text: "serv", Weight: 1}, {Text: "own1x1", Weight: 1}}, 10)
	must(t, err)
	if len(found) != 3 || found[0].ID != ids[0] || found[0].Ordinal != 1 || found[0].Score <= found[1].Score {
		t.Fatalf("found %+v", found)
	}
	found, err = b.Words(ctx, scope(repo), []lexical.Term{{Text: "dial", Weight: 1}}, 10)
	must(t, err)
	if len(found) != 2 || found[0].Path != two.Record.Path {
		t.Fatalf("found %+v", found)
	}
	for _, none := range []sharedindex.Scope{scope("other"), {Repositories: []string{repo}, Languages: []string{"rust"}}} {
		found, err = b.Words(ctx, none, []lexical.Term{{Text: "serv", Weight: 1}}, 10)
		must(t, err)
		if len(found) != 0 {
			t.Fatalf("found %+v in %v", found, none)
		}
	}
	found, err = b.Nearest(ctx, sharedindex.Scope{Repositories: []string{repo}, Languages: []string{"go", "rust"}}, one.Rows[2], 2)
	must(t, err)
	if len(found) != 2 || found[0].ID != ids[0] || found[0].Ordinal != 2 || found[0].Score < 0.99 || found[1].Score >= found[0].Score {
		t.Fatalf("found %+v", found)
	}
	counts, err := b.Frequencies(ctx, repo, []string{"serv", "dial", "own1x0", "nowhere", `"`, "a b", ""})
	must(t, err)
	if want := map[string]int{"serv": 3, "dial": 2, "own1x0": 1}; !reflect.DeepEqual(counts, want) {
		t.Fatalf("counts %v", counts)
	}

	// A second publication: shorter, removed, new.
	w, err := b.Write(ctx, repo)
	must(t, err)
	if _, err := b.Write(ctx, repo); !errors.Is(err, sharedindex.ErrPublishing) {
		t.Errorf("a second writer: %v", err)
	}
	must(t, w.Begin(ctx, "c2"))
	heads, err = b.Heads(ctx)
	must(t, err)
	if heads[0].Commit != "c1" || heads[0].Publishing != "c2" {
		t.Errorf("heads %+v", heads)
	}
	shorter, fresh := document(one.Record.Path, 5, 1, "serv"), document("new.go", 6, 1, "fresh")
	must(t, w.Put(ctx, []sharedindex.Document{shorter, fresh}))
	must(t, w.Delete(ctx, []string{two.Record.Path, "never was"}))
	if got := entries(t, b, repo); len(got) != 3 || got["new.go"].Hash != fresh.Record.Hash {
		t.Errorf("while publishing: %v", got)
	}
	must(t, w.Count(ctx, sharedindextest.Count(shorter, fresh).DF))
	must(t, w.Finish(ctx, sharedindex.Head{Commit: "c2"}))
	must(t, w.Close())
	must(t, w.Close())
	again, err := b.Heads(ctx)
	must(t, err)
	if again[0].Commit != "c2" || again[0].Generation <= heads[0].Generation || again[0].Files != 3 || again[0].Chunks != 2 {
		t.Errorf("heads %+v after %+v", again, heads)
	}
	counts, err = b.Frequencies(ctx, repo, []string{"serv", "dial", "fresh", "file"})
	must(t, err)
	if want := map[string]int{"serv": 1, "fresh": 1, "file": 2}; !reflect.DeepEqual(counts, want) {
		t.Errorf("counts %v", counts)
	}
	docs, err = b.Documents(ctx, ids)
	must(t, err)
	if len(docs) != 1 || docs[ids[0]].Text != shorter.Text {
		t.Errorf("documents %v", docs)
	}

	must(t, b.Remove(ctx, repo))
	if err := b.Remove(ctx, repo); !errors.Is(err, sharedindex.ErrNoRepository) {
		t.Errorf("removing again: %v", err)
	}
	heads, err = b.Heads(ctx)
	must(t, err)
	docs, err = b.Documents(ctx, ids)
	must(t, err)
	counts, err = b.Frequencies(ctx, repo, []string{"file"})
	must(t, err)
	if len(heads) != 0 || len(docs) != 0 || counts["file"] != 0 {
		t.Errorf("left: %v, %v, %v", heads, docs, counts)
	}
}
