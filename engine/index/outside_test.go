package index_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/sharedindex/sharedindextest"
)

// exported are a workspace's documents by path.
func exported(t *testing.T, ix *index.Index) map[string]sharedindex.Document {
	t.Helper()
	all := map[string]sharedindex.Document{}
	err := index.Export(t.Context(), ix, nil, func(d sharedindex.Document) error {
		all[d.Record.Path] = d
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func outsideFile(d sharedindex.Document, ix *index.Index, path string) index.OutsideFile {
	return index.OutsideFile{Root: file.Root{Name: "o", Dir: "/nowhere"}, Path: path, Record: d.Record, Text: d.Text, Vectors: d.Vectors, Model: ix.Edition().Model.Fingerprint}
}

// TestBeside: what one workspace exports is found in another one beside its
// own files as it is found where it comes from; own files win.
func TestBeside(t *testing.T) {
	from := newWorkspace(t, small)
	there := from.open()
	defer closeIndex(t, there)
	w := newWorkspace(t, map[string]string{"own.go": "package own\n\n// Own settles accounts.\nfunc Own() {}\n"})
	ix := w.open()
	defer closeIndex(t, ix)

	docs := exported(t, there)
	if len(docs) != there.Snapshot().FileCount() || len(docs) < 2 {
		t.Fatalf("%d documents of %d files", len(docs), there.Snapshot().FileCount())
	}
	entries, statistics, err := index.Entries(there, nil)
	if err != nil || len(entries) != len(docs) {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	var files []index.OutsideFile
	lengths, df := statistics.Terms, statistics.DF
	for _, e := range entries {
		if d := docs[e.Path]; d.Record.Hash != e.Hash || len(d.Record.File.Chunks) != e.Chunks {
			t.Errorf("entry %+v, document %+v", e, d.Record)
		}
		for _, words := range docs[e.Path].Words {
			for f, n := range lexical.Lengths(words) {
				lengths[f] -= n
			}
			for _, term := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(words[:]...)))) {
				if df[term]--; df[term] == 0 {
					delete(df, term)
				}
			}
		}
	}
	if lengths != [lexical.NumFields]uint64{} {
		t.Errorf("the entries' lengths are not the words': %v more", lengths)
	}
	if len(df) > 0 {
		t.Errorf("the entries' frequencies are not the words': %v more", df)
	}
	// What is left out is not counted: a word that only it has is not told.
	first, statistics, err := index.Entries(there, func(path string) bool { return path == entries[0].Path })
	if err != nil || len(first) != 1 || first[0] != entries[0] {
		t.Errorf("%+v, %v", first, err)
	}
	if want := sharedindextest.Count(docs[entries[0].Path]); !reflect.DeepEqual(statistics, want) {
		t.Errorf("counted\n%v, want\n%v", statistics, want)
	}
	for path, d := range docs {
		if len(d.Words) != len(d.Record.File.Chunks) || len(d.Rows) != len(d.Words) || len(d.Vectors) != len(d.Words) || d.Record.ModTime != 0 {
			t.Errorf("%s: %d chunks, %d words, %d rows, %d vectors, time %d", path, len(d.Record.File.Chunks), len(d.Words), len(d.Rows), len(d.Vectors), d.Record.ModTime)
		}
		files = append(files, outsideFile(d, ix, "o@1:"+path))
	}
	outside, err := ix.Outside(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	base := ix.Snapshot()
	both := base.Beside(outside, nil)
	if both.FileCount() != len(docs)+1 || both.Len() != base.Len()+there.Snapshot().Len() || both.Local() != base {
		t.Errorf("%d files, %d documents", both.FileCount(), both.Len())
	}
	if !slices.IsSortedFunc(both.Files(), func(a, b *index.File) int { return strings.Compare(a.Path, b.Path) }) || len(both.Files()) != both.FileCount() {
		t.Errorf("files %q", content(both))
	}
	if c := ix.Coverage(both); c.Indexed != 1 || c.Total != 1 || c.VectorsReady != 1 || c.Stale {
		t.Errorf("coverage counts files from elsewhere: %+v", c)
	}
	if both.State() == base.State() || !both.State().SameBase(base.State()) || both.State() != base.Beside(outside, nil).State() {
		t.Error("the state does not name what stands beside")
	}
	if base.Beside(outside, &lexical.Background{Docs: 7}).State() == both.State() {
		t.Error("the state does not name the background")
	}

	// The same words and vectors.
	m := w.model.Model()
	question, err := w.model.Embed(t.Context(), []string{"verify the signature of tokens"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range there.Snapshot().Files() {
		mine := both.File("o@1:" + f.Path)
		if mine == nil || !mine.Outside || mine.Rel != f.Rel || mine.Abs() != "/nowhere/"+f.Rel && !strings.Contains(mine.Abs(), `\`) {
			t.Fatalf("%s: %+v", f.Path, mine)
		}
		want, _, wantOK := there.Snapshot().ContentScores(m.Fingerprint, question[0], f, there.Snapshot().DocsOf(f))
		got, _, gotOK := both.ContentScores(m.Fingerprint, question[0], mine, both.DocsOf(mine))
		if wantOK != gotOK || !slices.Equal(want, got) {
			t.Errorf("%s: content scores %v, where it comes from %v", f.Path, got, want)
		}
		for _, s := range f.Symbols {
			if !slices.ContainsFunc(both.Definitions(s.Name), func(d index.Definition) bool { return d.File == mine }) {
				t.Errorf("%s: %s is not defined", f.Path, s.Name)
			}
		}
	}

	// An own file of the same path wins, a buffer too.
	view := ix.NewView()
	defer view.Close()
	view.Apply([]file.Change{{Path: w.abs("new.go"), Kind: file.Opened, Text: "package fresh\n"}})
	front, err := view.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	one := outsideFile(docs[slices.Sorted(keysOf(docs))[0]], ix, "own.go")
	two := one
	two.Path = "new.go"
	hidden, err := ix.Outside(t.Context(), []index.OutsideFile{one, two})
	if err != nil {
		t.Fatal(err)
	}
	s := front.Beside(hidden, nil)
	if s.File("own.go").Outside || s.File("new.go").Outside || s.Len() != front.Len() {
		t.Error("a file from elsewhere hides an own one")
	}

	// What does not fit is told.
	for name, spoil := range map[string]func(f *index.OutsideFile){
		"another text":   func(f *index.OutsideFile) { f.Text += "\n" },
		"a chunk behind": func(f *index.OutsideFile) { f.Record.File.Chunks[0].EndLine = 1000 },
		"a chunk before": func(f *index.OutsideFile) { f.Record.File.Chunks[0].StartLine = 0 },
		"a symbol": func(f *index.OutsideFile) {
			f.Record.File.Symbols = []chunk.Symbol{{Name: "x", StartLine: 5, EndLine: 1}}
		},
	} {
		bad := files[0]
		bad.Record.File.Chunks = slices.Clone(bad.Record.File.Chunks)
		spoil(&bad)
		if _, err := ix.Outside(t.Context(), []index.OutsideFile{files[1], bad}); err == nil || !strings.Contains(err.Error(), bad.Path) {
			t.Errorf("%s that does not fit: %v", name, err)
		}
	}
	other := files[0]
	other.Model = "another"
	made, err := ix.Outside(t.Context(), []index.OutsideFile{other})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := base.Beside(made, nil).ContentScores(m.Fingerprint, question[0], made[0].File(), base.Beside(made, nil).DocsOf(made[0].File())); ok {
		t.Error("vectors of another model are compared")
	}
}

// TestExportChanged: what is not the text that was indexed is not published.
func TestExportChanged(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.go": "package a\n"})
	ix := w.open()
	defer closeIndex(t, ix)
	w.write("a.go", "package b\n")
	err := index.Export(t.Context(), ix, nil, func(sharedindex.Document) error { return nil })
	if !errors.Is(err, index.ErrChanged) || !strings.Contains(err.Error(), "a.go") {
		t.Errorf("%v", err)
	}
	stop := errors.New("stop")
	sync(t, ix, true)
	if err := index.Export(t.Context(), ix, nil, func(sharedindex.Document) error { return stop }); err != stop {
		t.Errorf("%v", err)
	}
}
