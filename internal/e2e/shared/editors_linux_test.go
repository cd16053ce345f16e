package shared_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

func search(e *lsptest.Editor, query string) (r wire.SearchResult, err error) {
	return r, e.Call(lsp.MethodSearch, wire.SearchParams{Query: query}, &r)
}

func ask(e *lsptest.Editor, query string) (r wire.AskResult, err error) {
	return r, e.Call("coderag/ask", wire.AskParams{SearchParams: wire.SearchParams{Query: query}}, &r)
}

// whole fails where a citation is not the text of its lines in one of the folders.
func whole(t *testing.T, path, text string, start, end int, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			continue
		}
		lines := strings.Split(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\n")
		if start >= 1 && end <= len(lines) && strings.Join(lines[start-1:end], "\n") == strings.TrimSuffix(text, "\n") {
			return
		}
	}
	t.Errorf("%s:%d-%d is cited with a text that it has in no version:\n%s", path, start, end, clip(text))
}

var asked = []string{
	"how is a leader elected", "where are log entries replicated to followers", "what happens when a snapshot is restored",
	"how does the transport dial a peer", "where is the configuration of voters changed", "what does the fsm apply",
	"how long is the lease of a leader", "where is the stable store written", "how are old logs removed after a snapshot",
	"what is sent in a heartbeat", "how does a node leave the cluster", "where are errors of appending entries handled",
}

// TestCrowd has eight editors ask and edit while somebody publishes.
func TestCrowd(t *testing.T) {
	ctx, c := begin(t, 6*time.Minute)
	const tenant = "crowd"
	u := newUser(t, ctx, c, tenant)
	from := corpus(t, "raft")
	u.publish("example.org/raft", "1", from)
	dirs := versions(t, corpus(t, "tenacity"))
	u.publish("example.org/busy", "0", dirs[0])

	// What a local index answers: some questions nothing, which it says.
	answered := map[string]bool{}
	alone := u.alone().edit(t, from)
	alone.Sync(wire.SyncParams{})
	for _, q := range asked {
		r, err := ask(alone, q)
		must(t, err)
		answered[q] = len(r.Citations) > 0
	}
	must(t, alone.Shutdown())

	const editors = 8
	var sessions []*lsptest.Editor
	var folders []string
	for range editors {
		dir := filepath.Join(t.TempDir(), "raft")
		must(t, os.CopyFS(dir, os.DirFS(from)))
		e := u.with("CODERAG_SHARED_REPOSITORY=example.org/raft", "CODERAG_SHARED_REPOSITORIES=example.org/busy", "CODERAG_SHARED_TIMEOUT=30000").edit(t, dir)
		e.Sync(wire.SyncParams{})
		sessions, folders = append(sessions, e), append(folders, dir)
	}
	asking := make(chan struct{})
	published := make(chan int, 1)
	go func() {
		// One publication after the other until nobody asks any more.
		n := 0
		for {
			select {
			case <-asking:
				published <- n
				return
			default:
			}
			n++
			if o := u.start(publishArgs("example.org/busy", fmt.Sprint(n), dirs[n%2])...).wait(); o.code != 0 {
				t.Errorf("publication %d ended with %d: %s", n, o.code, clip(o.stderr))
				published <- n
				return
			}
		}
	}()
	var mu sync.Mutex
	var asks, overlays, searches []float64
	var wg sync.WaitGroup
	for i, e := range sessions {
		wg.Go(func() {
			for j := range asked {
				q := asked[(i+j)%len(asked)]
				began := time.Now()
				r, err := ask(e, q)
				took := ms(began)
				if err != nil || r.Degraded != "" || answered[q] && len(r.Citations) == 0 {
					t.Errorf("editor %d, %q: %d citations, a local index has some: %t; degraded %q: %v", i, q, len(r.Citations), answered[q], r.Degraded, err)
				}
				for _, cite := range r.Citations {
					if !strings.Contains(cite.Path, "@") { // of the workspace
						whole(t, cite.Path, cite.Text, cite.StartLine, cite.EndLine, folders[i])
					}
				}
				mu.Lock()
				asks = append(asks, took)
				mu.Unlock()
			}
			// A line that was never saved is found at once.
			path := filepath.Join(folders[i], "api.go")
			e.OpenFile(path)
			word := fmt.Sprintf("zorblat%dquux", i)
			began := time.Now()
			if r, err := search(e, word); err != nil || len(r.Hits) > 0 && strings.Contains(r.Hits[0].Text, word) {
				t.Errorf("editor %d: before the line is written, %v is found: %v", i, places(r.Hits), err)
			}
			before := ms(began) // what the search takes by itself
			began = time.Now()
			e.Edit(path, 0, 0, "// about "+word+"\n")
			r, err := search(e, word)
			took := ms(began)
			if err != nil || len(r.Hits) == 0 || r.Hits[0].Path != "api.go" || !strings.Contains(r.Hits[0].Text, word) {
				t.Errorf("editor %d: an unsaved line is not found: %v: %v", i, places(r.Hits), err)
			}
			mu.Lock()
			overlays, searches = append(overlays, took), append(searches, before)
			mu.Unlock()
		})
	}
	wg.Wait()
	close(asking)
	n := <-published
	slices.Sort(asks)
	slices.Sort(overlays)
	slices.Sort(searches)
	t.Logf("%d asks of %d editors during %d publications: median %.0f ms, p95 %.0f ms, longest %.0f ms; unsaved lines found after %.0f ms (median), %.0f ms (longest), the same search before %.0f ms (median)",
		len(asks), editors, n, asks[len(asks)/2], asks[len(asks)*95/100], asks[len(asks)-1], overlays[len(overlays)/2], overlays[len(overlays)-1], searches[len(searches)/2])
	if n == 0 {
		t.Error("nothing was published meanwhile")
	}
	awaitStored(t, ctx, c, tenant, "example.org/busy", indexOf(t, ctx, dirs[n%2]))
	for _, e := range sessions {
		must(t, e.Shutdown())
	}
}

func ms(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }

// TestAway takes the whole cluster away from an editor that asks, and brings it
// back.
func TestAway(t *testing.T) {
	ctx, c := begin(t, 6*time.Minute)
	u := newUser(t, ctx, c, "away")
	dir := corpus(t, "tenacity")
	u.publish("example.org/tenacity", "1", dir)
	host, err := c.Add()
	must(t, err)
	u = u.with("CODERAG_SHARED_REPOSITORY=example.org/tenacity", "CODERAG_SHARED_TIMEOUT=5000")
	u.host = host
	e := u.edit(t, dir)
	e.Sync(wire.SyncParams{})
	path := filepath.Join(dir, "tenacity", "wait.py")
	const question = "wait exponentially with jitter between attempts"
	answered := func(t *testing.T) {
		t.Helper()
		// Until it is back, which a probe finds out.
		for {
			r, err := search(e, question)
			must(t, err)
			if r.Degraded == "" && len(r.Hits) > 0 && strings.HasSuffix(r.Hits[0].Path, "wait.py") {
				return
			}
			select {
			case <-ctx.Done():
				t.Fatalf("it does not come back: degraded %q, found %v", r.Degraded, places(r.Hits))
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	away := func(t *testing.T, n int) {
		t.Helper()
		word := fmt.Sprintf("zorblat%dquux", n)
		e.OpenFile(path)
		e.Edit(path, 0, 0, "# about "+word+"\n")
		for i := range 3 {
			began := time.Now()
			r, err := search(e, word)
			must(t, err)
			t.Logf("question %d without the cluster: %.0f ms, %d hits, %q", i+1, ms(began), len(r.Hits), r.Degraded)
			if r.Degraded == "" {
				t.Error("an answer without the shared index does not say so")
			}
			if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Text, word) {
				t.Errorf("what is here is not found: %v", places(r.Hits))
			}
		}
		var st wire.Status
		e.MustCall(lsp.MethodStatus, nil, &st)
		if st.Shared == nil || st.Shared.Reachable || st.Shared.Degraded == "" {
			t.Errorf("the status says of it: %+v", st.Shared)
		}
		e.Close(path)
	}
	answered(t)
	t.Run("cut off", func(t *testing.T) {
		must(t, host.Cut())
		away(t, 1)
		must(t, host.Heal())
		began := time.Now()
		answered(t)
		t.Logf("back %.1f s after the cable", time.Since(began).Seconds())
	})
	t.Run("killed", func(t *testing.T) {
		for _, n := range c.Nodes {
			must(t, n.Kill())
		}
		away(t, 2)
		heal(t, ctx, c)
		began := time.Now()
		answered(t)
		t.Logf("back %.1f s after the nodes", time.Since(began).Seconds())
	})
	t.Run("standing still", func(t *testing.T) {
		for _, n := range c.Nodes {
			must(t, n.Pause())
		}
		away(t, 3)
		heal(t, ctx, c)
		answered(t)
	})
	must(t, e.Shutdown())
}
