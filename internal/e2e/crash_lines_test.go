package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// disguised are ways to change a file so that neither its size nor its time need
// tell of it.
func disguised() map[string]func(t *testing.T, path, content string) {
	again := func(t *testing.T, path string, at time.Time) {
		t.Helper()
		must(t, os.Chtimes(path, at, at))
	}
	modified := func(t *testing.T, path string) time.Time {
		t.Helper()
		fi, err := os.Stat(path)
		must(t, err)
		return fi.ModTime()
	}
	aside := func(t *testing.T, path, content string) {
		t.Helper()
		must(t, os.WriteFile(path+"~", []byte(content), 0o644))
	}
	return map[string]func(t *testing.T, path, content string){
		"the same time": func(t *testing.T, path, content string) {
			at := modified(t, path)
			must(t, os.WriteFile(path, []byte(content), 0o644))
			again(t, path, at)
		},
		"an earlier time": func(t *testing.T, path, content string) {
			at := modified(t, path)
			must(t, os.WriteFile(path, []byte(content), 0o644))
			again(t, path, at.Add(-48*time.Hour))
		},
		"another file of the same time": func(t *testing.T, path, content string) {
			at := modified(t, path)
			aside(t, path, content)
			again(t, path+"~", at)
			must(t, os.Rename(path+"~", path))
		},
		"twice within a tick": func(t *testing.T, path, content string) {
			must(t, os.WriteFile(path, []byte(strings.ToUpper(content)), 0o644))
			at := modified(t, path)
			must(t, os.WriteFile(path, []byte(content), 0o644))
			again(t, path, at)
		},
		"gone and back": func(t *testing.T, path, content string) {
			at := modified(t, path)
			must(t, os.Remove(path))
			must(t, os.WriteFile(path, []byte(content), 0o644))
			again(t, path, at)
		},
		"to the second": func(t *testing.T, path, content string) {
			must(t, os.WriteFile(path, []byte(content), 0o644))
			again(t, path, modified(t, path).Truncate(2*time.Second))
		},
	}
}

// pen's functions in another order, with the same number of bytes.
func shuffled(r *rand.Rand, content string) string {
	parts := strings.Split(content, "\n\n// ")
	r.Shuffle(len(parts)-1, func(i, j int) { parts[i+1], parts[j+1] = parts[j+1], parts[i+1] })
	// The last one ends in an empty line.
	for i := range parts {
		parts[i] = strings.TrimRight(parts[i], "\n")
	}
	s := strings.Join(parts, "\n\n// ")
	return s + strings.Repeat("\n", max(0, len(content)-len(s)))
}

// TestCrashNeverAWrongLine changes files behind the server's back while it is
// asked: whatever it cites is the text as it stands at that moment.
func TestCrashNeverAWrongLine(t *testing.T) {
	for _, watch := range []string{"true", "false"} {
		t.Run("watch "+watch, func(t *testing.T) {
			h := newHome(t)
			h.env = []string{"CODERAG_INDEX_WATCH=" + watch}
			dir := zoo(t, 12)
			var files []string
			for i := range 12 {
				files = append(files, filepath.Join(dir, fmt.Sprintf("pen%02d/pen%d.go", i%37, i)))
			}
			hourAgo := time.Now().Add(-time.Hour)
			for _, path := range files {
				must(t, os.Chtimes(path, hourAgo, hourAgo))
			}
			e := h.edit(dir)
			e.Sync(wire.SyncParams{})
			r := rand.New(rand.NewPCG(4, 2))
			ways := disguised()
			cited := 0
			for step := range 60 {
				for name, disguise := range ways { // in any order
					path := files[r.IntN(len(files))]
					raw, err := os.ReadFile(path)
					must(t, err)
					changed := shuffled(r, string(raw))
					if len(changed) != len(raw) {
						t.Fatalf("%d bytes became %d", len(raw), len(changed))
					}
					disguise(t, path, changed)
					if t.Failed() {
						t.Fatalf("step %d, %s", step, name)
					}
					break
				}
				if step%7 == 6 {
					e.Sync(wire.SyncParams{Scan: step%2 == 0})
				}
				cited += checkLines(t, e, dir, zooQuestions()[step%len(zooQuestions())])
			}
			if cited < 100 {
				t.Errorf("only %d lines were cited", cited)
			}
			// What was read once is indexed as it is.
			e.Sync(wire.SyncParams{Scan: true})
			for _, q := range zooQuestions() {
				checkLines(t, e, dir, q)
			}
			e.Sync(wire.SyncParams{})
			if st := state(t, e); st.Coverage.Stale || st.Coverage.Pending != 0 || len(st.Notices) != 0 {
				t.Errorf("in the end: %+v, notices %q", st.Coverage, st.Notices)
			}
		})
	}
}

// checkLines asks in every way and compares all that is shown with the files. It
// returns how many places were.
func checkLines(t *testing.T, e *lsptest.Editor, dir, query string) (cited int) {
	t.Helper()
	text := func(path string) string {
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		must(t, err)
		return string(raw)
	}
	res := ask(t, e, query)
	for _, c := range res.Citations {
		checkCitation(t, c, text(c.Path))
	}
	var packed wire.ContextResult
	e.MustCall(lsp.MethodContext, wire.AskParams{SearchParams: wire.SearchParams{Query: query}}, &packed)
	for _, c := range packed.Primary {
		checkCitation(t, c, text(c.Path))
	}
	found := hits(t, e, query)
	for _, hit := range found {
		lines := strings.Split(text(hit.Path), "\n")
		if hit.EndLine > len(lines) || strings.Join(lines[hit.StartLine-1:hit.EndLine], "\n") != hit.Text {
			t.Errorf("%q: %s:%d-%d is not %q", query, hit.Path, hit.StartLine, hit.EndLine, hit.Text)
		}
	}
	return len(res.Citations) + len(packed.Primary) + len(found)
}
