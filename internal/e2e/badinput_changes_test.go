package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp/lsptest"
)

// inEditor are the answers of a session, as answers gives those of the command
// line.
func inEditor(tb testing.TB, e *lsptest.Editor) map[string]wire.SearchResult {
	tb.Helper()
	all := map[string]wire.SearchResult{}
	for _, q := range zooQuestions() {
		all[q] = wire.SearchResult{Hits: hits(tb, e, q)}
	}
	return all
}

// Files change, grow, shrink, vanish, come and turn into folders while they are
// indexed. When that ends, the answers are those of a fresh index.
func TestBadInputFilesChangeWhileIndexed(t *testing.T) {
	h := newHome(t)
	const files = 200
	dir := zoo(t, files)
	path := func(i int) string { return filepath.Join(dir, fmt.Sprintf("pen%02d/pen%d.go", i%37, i)) }
	e := h.edit(dir)
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 600 {
		i := r.IntN(files)
		p := path(i)
		if info, err := os.Lstat(p); err == nil && !info.Mode().IsRegular() {
			must(t, os.RemoveAll(p))
		}
		switch r.IntN(9) {
		case 0: // written in two steps: the first half may be read
			half := pen(i + 1000)
			write(t, p, half[:len(half)/2])
			write(t, p, half)
		case 1:
			must(t, os.WriteFile(p, nil, 0o644))
		case 2: // grows over the limit
			write(t, p, strings.Repeat(pen(i), 1100))
		case 3:
			must(t, os.RemoveAll(p))
		case 4: // as editors save: a new file takes its place
			write(t, p+".tmp", pen(i+2000))
			must(t, os.RemoveAll(p))
			must(t, os.Rename(p+".tmp", p))
		case 5: // a folder takes its place
			must(t, os.RemoveAll(p))
			write(t, filepath.Join(p, "inner.go"), pen(i+3000))
		case 6:
			must(t, os.RemoveAll(p))
			must(t, os.Symlink(path((i+1)%files), p))
		case 7:
			must(t, os.RemoveAll(p))
			must(t, os.WriteFile(p, []byte("\x00\x01binary"), 0o644))
		case 8: // the whole folder
			must(t, os.RemoveAll(filepath.Dir(p)))
			write(t, p, pen(i))
		}
		if round%20 == 0 {
			hits(t, e, zooQuestions()[r.IntN(len(zooQuestions()))])
		}
	}
	e.Sync(wire.SyncParams{Scan: true})
	want := answers(newHome(t), dir)
	wantSame(t, "after the changes", inEditor(t, e), want)
	st, fresh := state(t, e), newHome(t).status(dir)
	if st.Coverage.Indexed != fresh.Coverage.Indexed || st.Chunks != fresh.Chunks || st.Coverage.Pending != 0 || st.Coverage.Stale {
		t.Errorf("%+v with %d chunks, a fresh index has %+v with %d", st.Coverage, st.Chunks, fresh.Coverage, fresh.Chunks)
	}
	if err := e.Shutdown(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	wantSame(t, "after a restart", answers(h, dir), want)
}

// A file that never stops growing does not hold anything up.
func TestBadInputFileGrowsWithoutEnd(t *testing.T) {
	h := newHome(t)
	dir := workspace(t)
	log, err := os.Create(filepath.Join(dir, "growing.txt"))
	must(t, err)
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				stopped <- log.Close()
				return
			default:
			}
			if _, err := fmt.Fprintf(log, "line %d of a log about wallabies that nobody reads\n", i); err != nil {
				stopped <- err
				return
			}
			if i%1000 == 0 {
				if err := log.Truncate(0); err != nil {
					stopped <- err
					return
				}
			}
		}
	}()
	e := h.edit(dir)
	for range 20 {
		wantFound(t, settled(t, e), "zoo.go", "func Quokka")
	}
	close(stop)
	must(t, <-stopped)
	e.Sync(wire.SyncParams{Scan: true})
	wantQuokka(t, e, "")
}

// settled asks about the sound file once everything told so far is searchable.
func settled(tb testing.TB, e *lsptest.Editor) []wire.Hit {
	tb.Helper()
	e.Sync(wire.SyncParams{})
	return hits(tb, e, "Quokka")
}

// 50 questions at the same time, again and again, while files change in the
// editor and on disk: each is answered, and what is cited is a text that the
// file once had, with its own hash and lines.
func TestBadInputManyQuestionsWhileFilesChange(t *testing.T) {
	h := newHome(t)
	const files, rounds, at = 60, 4, 50
	dir := zoo(t, files)
	rel := func(i int) string { return fmt.Sprintf("pen%02d/pen%d.go", i%37, i) }

	var mu sync.Mutex // guards once
	once := map[string][]string{"zoo.go": {quokka}}
	for i := range files {
		once[rel(i)] = []string{pen(i)}
	}
	note := func(path, content string) {
		mu.Lock()
		defer mu.Unlock()
		once[path] = append(once[path], content)
	}
	wasThere := func(c wire.Citation) bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.ContainsFunc(once[c.Path], func(content string) bool {
			lines, ok := text.New(content).Lines(c.StartLine, c.EndLine)
			return ok && lines == c.Text
		})
	}

	e := h.edit(dir)
	e.Sync(wire.SyncParams{})
	stop := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() { // on disk, with the watcher to see it
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			i := n % (files / 2)
			content := pen(i + 1000*(n%7+1))
			note(rel(i), content)
			next := filepath.Join(dir, rel(i)) + ".tmp"
			if err := os.WriteFile(next, []byte(content), 0o644); err != nil {
				t.Error(err)
				return
			}
			if err := os.Rename(next, filepath.Join(dir, rel(i))); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i := files / 2; i < files; i++ {
		e.OpenFile(filepath.Join(dir, rel(i)))
	}
	questions := zooQuestions()
	for round := range rounds {
		var asked []*lsptest.Pending
		for n := range at {
			// Typed between the questions: each sees what was typed before it.
			i := files/2 + n%(files/2)
			path := filepath.Join(dir, rel(i))
			marker := fmt.Sprintf("// Dunnart%dx%d was here.\n", round, n)
			e.Edit(path, 0, 0, marker)
			note(rel(i), e.Text(path))
			q := questions[n%len(questions)]
			if n%5 == 0 {
				q = fmt.Sprintf("Dunnart%dx%d", round, n)
			}
			asked = append(asked, e.Send("coderag/ask", wire.AskParams{SearchParams: wire.SearchParams{Query: q}}))
			if n%10 == 3 {
				asked[len(asked)-1].Cancel() // answered all the same: with a result or as cancelled
			}
		}
		for n, p := range asked {
			var res wire.AskResult
			if err := p.Wait(&res); err != nil {
				if n%10 != 3 || !strings.Contains(err.Error(), "-32800") {
					t.Errorf("question %d: %v", n, err)
				}
				continue
			}
			for _, c := range res.Citations {
				if c.SHA256 != text.HexHash(c.Text) || c.Range != lines(c.StartLine, c.EndLine) || !wasThere(c) {
					t.Errorf("%s never said %q", c.ID, clip(c.Text, 200))
				}
				if !strings.Contains(res.Answer, "["+c.ID+"]") {
					t.Errorf("the answer does not mention %s", c.ID)
				}
			}
			if want := fmt.Sprintf("Dunnart%dx%d", round, n); n%5 == 0 && n%10 != 3 && !strings.Contains(res.Answer, want) {
				t.Errorf("what was typed before the question, %s, is not in its answer: %s", want, clip(res.Answer, 300))
			}
		}
	}
	close(stop)
	changing.Wait()
	for i := files / 2; i < files; i++ {
		e.Save(filepath.Join(dir, rel(i)))
		e.Close(filepath.Join(dir, rel(i)))
	}
	e.Sync(wire.SyncParams{Scan: true})
	wantQuokka(t, e, "")
	wantSame(t, "when all is quiet", inEditor(t, e), answers(newHome(t), dir))
	if err := e.Shutdown(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

// 100,000 tiny files, each with its own name in it, are all there in a time
// that a user would wait.
func TestBadInputHundredThousandFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 100,000 files")
	}
	const files, limit = 100_000, 4 * time.Minute
	h := newHome(t)
	dir := workspace(t)
	began := time.Now()
	var making sync.WaitGroup
	for w := range 4 {
		making.Go(func() {
			for d := w; d < 1000; d += 4 {
				sub := filepath.Join(dir, fmt.Sprintf("d%d", d%100), fmt.Sprintf("e%d", d))
				if err := os.MkdirAll(sub, 0o755); err != nil {
					t.Error(err)
					return
				}
				for f := range files / 1000 {
					n := d*files/1000 + f
					if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%d.go", n)), fmt.Appendf(nil, "package e%d\n\nfunc Tiny%d() int { return %d }\n", d, n, n), 0o644); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	making.Wait()
	t.Logf("made in %v", time.Since(began).Round(time.Millisecond))
	began = time.Now()
	st := h.status(dir)
	t.Logf("indexed in %v: %d bytes of memory, %d on disk", time.Since(began).Round(time.Millisecond), st.RSSBytes, st.StoreBytes)
	if took := time.Since(began); took > limit {
		t.Errorf("indexing took %v", took)
	}
	if st.Coverage.Indexed != files+1 || st.Coverage.Pending != 0 || st.Coverage.Stale || len(st.SkippedFiles) != 0 {
		t.Errorf("coverage %+v", st.Coverage)
	}
	began = time.Now()
	wantFound(t, h.search(dir, "Tiny77777").Hits, "d77/e777/f77777.go", "func Tiny77777()")
	t.Logf("started again and found in %v", time.Since(began).Round(time.Millisecond))
	wantFound(t, h.search(dir, "Quokka").Hits, "zoo.go", "func Quokka")
	began = time.Now()
	must(t, os.RemoveAll(dir))
	t.Logf("removed in %v", time.Since(began).Round(time.Millisecond))
}

// A question that comes before the index is there is told so: that nothing was
// found yet does not mean that nothing is there.
func TestBadInputAskedBeforeTheIndexIsThere(t *testing.T) {
	h := newHome(t)
	dir := zoo(t, 300)
	for range 3 {
		e := h.edit(dir)
		for {
			res := ask(t, e, "what does Quokka count?")
			if !res.NoAnswer {
				if len(res.Citations) == 0 || res.Citations[0].Path != "zoo.go" {
					t.Errorf("cited %v", res.Citations)
				}
				break
			}
			if !strings.Contains(res.Answer, "Ask again in a moment") || res.Coverage.Pending == 0 && !res.Coverage.Stale {
				t.Errorf("with %+v the answer is %q", res.Coverage, res.Answer)
				break
			}
		}
		must(t, e.Shutdown())
		<-h.server.ended
		must(t, os.RemoveAll(h.cache))
	}
}
