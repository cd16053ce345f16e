package weaviate_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/sharedindex/sharedindextest"
	"coderag-ls/engine/store/weaviate"
)

// plug is the line to the cluster, which can be pulled.
type plug struct {
	mu    sync.Mutex
	out   bool
	left  int // bytes that may be written before it is pulled; 0 for no end
	conns map[net.Conn]struct{}
}

var errPulled = errors.New("the plug was pulled")

func (p *plug) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out {
		return nil, errors.Join(errPulled, c.Close())
	}
	if p.conns == nil {
		p.conns = map[net.Conn]struct{}{}
	}
	p.conns[c] = struct{}{}
	return &plugged{c, p}, nil
}

func (p *plug) pull() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
}

func (p *plug) cut() {
	p.out = true
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}

func (p *plug) insert() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out, p.left = false, 0
}

// after pulls the plug when so many more bytes were written.
func (p *plug) after(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = n
}

type plugged struct {
	net.Conn
	p *plug
}

func (c *plugged) Write(b []byte) (int, error) {
	c.p.mu.Lock()
	if c.p.left > 0 {
		if c.p.left -= len(b); c.p.left <= 0 {
			c.p.cut()
		}
	}
	c.p.mu.Unlock()
	return c.Conn.Write(b)
}

func (c *plugged) Close() error {
	c.p.mu.Lock()
	delete(c.p.conns, c.Conn)
	c.p.mu.Unlock()
	return c.Conn.Close()
}

// holds checks that a repository holds exactly these documents and their postings.
func holds(t *testing.T, b *weaviate.Backend, repository string, want map[string]sharedindex.Document) {
	t.Helper()
	stored := entries(t, b, repository)
	var ids []sharedindex.ID
	for path, d := range want {
		if e := stored[path]; e.Hash != d.Record.Hash || e.Chunks != len(d.Rows) {
			t.Errorf("%s: the manifest says %x, %d chunks", path, e.Hash[:4], e.Chunks)
		}
		ids = append(ids, sharedindex.ID{Repository: repository, Path: path})
	}
	if len(stored) != len(want) {
		t.Errorf("the manifest has %d documents, want %d", len(stored), len(want))
	}
	got, err := b.Documents(t.Context(), ids)
	must(t, err)
	for _, id := range ids {
		if got[id].Text != want[id.Path].Text {
			t.Errorf("%s: the text is %.30q, want %.30q", id.Path, got[id].Text, want[id.Path].Text)
		}
	}
	postings := map[string]int{}
	must(t, b.Postings(t.Context(), repository, func(path string, ordinal int) error {
		if ordinal >= len(want[path].Rows) {
			t.Errorf("%s: posting %d is left over", path, ordinal)
		}
		postings[path]++
		return nil
	}))
	for path, d := range want {
		if postings[path] != len(d.Rows) {
			t.Errorf("%s: %d postings, want %d", path, postings[path], len(d.Rows))
		}
		for i := range d.Rows {
			term := d.Words[i][lexical.Body][0]
			found, err := b.Words(t.Context(), scope(repository), []lexical.Term{{Text: term, Weight: 1}}, 1000)
			must(t, err)
			if !slices.ContainsFunc(found, func(f sharedindex.Found) bool { return f.Path == path && f.Ordinal == i }) {
				t.Errorf("%s: chunk %d is not that of this text", path, i)
			}
		}
	}
}

// TestDamagedCounts damages how often words occur: no question fails for it, and the next count is as
// it is to be.
func TestDamagedCounts(t *testing.T) {
	const name = "example.org/counts"
	o := ownPrefix(t, cluster(t))
	b := open(t, o)
	one := document("one.go", 1, 3, "word")
	publish(t, b, name, "c1", one)
	type stored struct {
		ID         string            `json:"id"`
		Properties map[string]string `json:"properties"`
	}
	state := func() map[string]stored {
		var list struct {
			Objects []stored `json:"objects"`
		}
		raw(t, o, http.MethodGet, "/v1/objects?limit=100&class="+o.Prefix+"State&tenant="+o.Tenant, nil, &list)
		all := map[string]stored{}
		for _, s := range list.Objects {
			all[s.ID] = s
		}
		return all
	}
	w, err := b.Write(t.Context(), name)
	must(t, err)
	before := state()
	must(t, w.Count(t.Context(), map[string]int{"other": 1}))
	damaged := 0
	damage := func(s stored) {
		t.Helper()
		s.Properties["data"] = base64.StdEncoding.EncodeToString([]byte("nonsense"))
		raw(t, o, http.MethodPut, "/v1/objects/"+o.Prefix+"State/"+s.ID+"?consistency_level=ALL", map[string]any{
			"class": o.Prefix + "State", "tenant": o.Tenant, "id": s.ID, "properties": s.Properties,
		}, nil)
	}
	var first stored // of the parts: few words need no more
	for id, now := range state() {
		if now.Properties["data"] != before[id].Properties["data"] {
			damaged++
			first = now
			damage(now)
		}
	}
	if damaged != 1 {
		t.Fatalf("%d objects hold a word", damaged)
	}
	if df, err := b.Frequencies(t.Context(), name, []string{"word", "other"}); err != nil || len(df) != 0 {
		t.Errorf("told of what is damaged: %v, %v", df, err)
	}
	want := sharedindextest.Count(one).DF
	must(t, w.Count(t.Context(), want))
	if df, err := b.Frequencies(t.Context(), name, slices.Collect(maps.Keys(want))); err != nil || !maps.Equal(df, want) {
		t.Errorf("counted again: %v, %v, want %v", df, err, want)
	}
	// Of many parts the first is damaged: the others are found all the same.
	many := map[string]int{}
	for i := range 3000 {
		many[fmt.Sprintf("word%d", i)] = i + 1
	}
	before = state()
	must(t, w.Count(t.Context(), many))
	var parts []string
	for id := range state() {
		if _, ok := before[id]; !ok {
			parts = append(parts, id)
		}
	}
	if len(parts) == 0 {
		t.Fatal("3000 words take no more room than one")
	}
	damage(first)
	must(t, w.Close())
	must(t, b.Remove(t.Context(), name))
	after := state()
	for _, id := range append(parts, first.ID) {
		if _, ok := after[id]; ok {
			t.Errorf("%s is left of a repository that was removed", id)
		}
	}
}

// TestLostManifest takes a page of a manifest away, as it goes where a node's clock was wrong: readers
// say so, and the next publication, or removal, goes by what is stored.
func TestLostManifest(t *testing.T) {
	const name = "example.org/lost"
	o := ownPrefix(t, cluster(t))
	b := open(t, o)
	lose := func() {
		t.Helper()
		var list struct {
			Objects []struct {
				ID         string            `json:"id"`
				Properties map[string]string `json:"properties"`
			} `json:"objects"`
		}
		raw(t, o, http.MethodGet, "/v1/objects?limit=100&class="+o.Prefix+"State&tenant="+o.Tenant, nil, &list)
		for _, one := range list.Objects {
			if err := b.Manifest(t.Context(), name, func(sharedindex.Entry) error { return nil }); err != nil {
				return // what was taken away last is a page
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, o.Endpoints[0]+"/v1/objects/"+o.Prefix+"State/"+one.ID+"?consistency_level=ALL&tenant="+o.Tenant, nil)
			must(t, err)
			req.Header.Set("Authorization", "Bearer "+o.APIKey)
			resp, err := http.DefaultClient.Do(req)
			must(t, err)
			must(t, resp.Body.Close())
			entries := 0
			if err := b.Manifest(t.Context(), name, func(sharedindex.Entry) error { entries++; return nil }); err == nil && entries == 0 {
				// The root: everything is as if it had never been. It is put back.
				raw(t, o, http.MethodPost, "/v1/objects?consistency_level=ALL", map[string]any{
					"class": o.Prefix + "State", "tenant": o.Tenant, "id": one.ID, "properties": one.Properties,
				}, nil)
			}
		}
		t.Fatal("no page is in the manifest")
	}
	was := map[string]sharedindex.Document{}
	for i := range 6 {
		path := fmt.Sprintf("f%d.go", i)
		was[path] = document(path, i, i, "word")
	}
	publish(t, b, name, "c1", slices.Collect(maps.Values(was))...)
	holds(t, b, name, was)
	lose()
	next := map[string]sharedindex.Document{"f0.go": was["f0.go"], "f5.go": document("f5.go", 9, 2, "word"), "new.go": document("new.go", 7, 1, "word")}
	w, err := b.Write(t.Context(), name)
	must(t, err)
	must(t, w.Begin(t.Context(), "c2"))
	var gone []string
	for path, e := range entries(t, b, name) {
		if e.Hash == was[path].Record.Hash {
			t.Errorf("%s is held to be whole", path)
		}
		if _, ok := next[path]; !ok {
			gone = append(gone, path)
		}
	}
	if len(gone) != 4 {
		t.Errorf("what is stored is not known: %q", gone)
	}
	must(t, w.Put(t.Context(), slices.Collect(maps.Values(next))))
	must(t, w.Delete(t.Context(), gone))
	must(t, w.Finish(t.Context(), sharedindex.Head{Commit: "c2"}))
	must(t, w.Close())
	holds(t, b, name, next)
	lose()
	must(t, b.Remove(t.Context(), name))
	holds(t, b, name, nil)
}

// TestDeadPublishers pulls a publisher's plug at one point after the other; the next one
// goes on by the manifest, and ends with what it was to write.
func TestDeadPublishers(t *testing.T) {
	const name = "example.org/dead"
	o := cluster(t)
	o.Lease = 1500 * time.Millisecond
	b := open(t, o)
	at := func(version int) map[string]sharedindex.Document {
		next := map[string]sharedindex.Document{}
		for i := range 5 {
			if (version+i)%4 == 0 {
				continue // is not there in this version
			}
			path := fmt.Sprintf("f%d.go", i)
			next[path] = document(path, version*10+i, (version*7+i*3)%9, "word")
		}
		return next
	}
	write := func(b *weaviate.Backend, version int) error {
		want := at(version)
		w, err := b.Write(t.Context(), name)
		if err != nil {
			return err
		}
		err = func() error {
			stored := map[string]sharedindex.Entry{}
			if err := b.Manifest(t.Context(), name, func(e sharedindex.Entry) error { stored[e.Path] = e; return nil }); err != nil {
				return err
			}
			if err := w.Begin(t.Context(), fmt.Sprint("c", version)); err != nil {
				return err
			}
			for _, path := range slices.Sorted(maps.Keys(want)) {
				if stored[path].Hash != want[path].Record.Hash {
					if err := w.Put(t.Context(), []sharedindex.Document{want[path]}); err != nil {
						return err
					}
				}
				delete(stored, path)
			}
			if err := w.Delete(t.Context(), slices.Collect(maps.Keys(stored))); err != nil {
				return err
			}
			return w.Finish(t.Context(), sharedindex.Head{})
		}()
		return errors.Join(err, w.Close())
	}
	must(t, write(b, 1))
	holds(t, b, name, at(1))
	died := 0
	for i, version := 0, 2; i < 12; i++ {
		var p plug
		dying := o
		dying.Dial, dying.Timeout = p.dial, 5*time.Second
		d := open(t, dying)
		p.after(1500 + i*2600)
		if err := write(d, version); err != nil {
			died++
			if !errors.Is(err, sharedindex.ErrUnreachable) {
				t.Fatalf("cut off after %d bytes: %v", 1500+i*2600, err)
			}
		}
		// What comes next is sometimes the same commit, sometimes the one before, sometimes another.
		version += []int{0, -1, 1}[i%3]
		must(t, write(b, version))
		holds(t, b, name, at(version))
		if t.Failed() {
			t.Fatalf("after a publisher that died after %d bytes", 1500+i*2600)
		}
		version++
	}
	if died < 6 {
		t.Errorf("only %d publishers died", died)
	}
	must(t, b.Remove(t.Context(), name))
	holds(t, b, name, nil)
}

// TestLostLease: a publisher that was cut off for long goes on where nobody took its
// place, and stops where somebody did.
func TestLostLease(t *testing.T) {
	const name = "example.org/lost"
	o := cluster(t)
	o.Lease = 1500 * time.Millisecond
	b := open(t, o)
	var p plug
	away := o
	away.Dial, away.Timeout = p.dial, 5*time.Second
	a := open(t, away)
	w, err := a.Write(t.Context(), name)
	must(t, err)
	must(t, w.Begin(t.Context(), "c1"))
	one := document("one.go", 1, 2)
	must(t, w.Put(t.Context(), []sharedindex.Document{one}))

	// until repeats what cannot be done for now.
	until := func(what string, done func() (bool, error)) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; {
			ok, err := done()
			if ok {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	p.pull()
	until("the lease does not lapse", func() (bool, error) {
		err := w.Put(t.Context(), []sharedindex.Document{one})
		return err != nil && strings.Contains(err.Error(), "could not be renewed"), err
	})
	p.insert()
	until("nobody took it, and yet it is lost", func() (bool, error) {
		err := w.Put(t.Context(), []sharedindex.Document{one})
		if err != nil && !errors.Is(err, sharedindex.ErrUnreachable) {
			t.Fatal(err)
		}
		return err == nil, err
	})

	p.pull()
	other, err := b.Write(t.Context(), name) // waits until the lease is dead
	must(t, err)
	p.insert()
	until("it writes beside another one", func() (bool, error) {
		err := w.Finish(t.Context(), sharedindex.Head{Commit: "c1"})
		if err == nil {
			t.Fatal("it finished, though another one publishes")
		}
		return errors.Is(err, sharedindex.ErrPublishing), err
	})
	must(t, w.Close())
	must(t, other.Begin(t.Context(), "c2"))
	two := document("one.go", 2, 1)
	must(t, other.Put(t.Context(), []sharedindex.Document{two}))
	must(t, other.Finish(t.Context(), sharedindex.Head{Commit: "c2"}))
	must(t, other.Close())
	holds(t, b, name, map[string]sharedindex.Document{"one.go": two})
}

// TestRace: of many that want to publish at once one does.
func TestRace(t *testing.T) {
	const name = "example.org/race"
	o := cluster(t)
	for round := range 3 {
		var mu sync.Mutex
		var wg sync.WaitGroup
		var won []sharedindex.Writer
		for range 4 {
			b := open(t, o)
			wg.Go(func() {
				w, err := b.Write(t.Context(), name)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won = append(won, w)
				case !errors.Is(err, sharedindex.ErrPublishing) || !strings.Contains(err.Error(), "pid"):
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Errorf("round %d: %d publish", round, len(won))
		}
		for _, w := range won {
			must(t, w.Close())
		}
	}
}

// TestKeys: a reader's key reads and does not write, a wrong one does neither.
func TestKeys(t *testing.T) {
	const name = "example.org/keys"
	o := cluster(t)
	key := os.Getenv("CODERAG_SHARED_READER_KEY")
	if o.APIKey == "" || key == "" {
		t.Skip("CODERAG_SHARED_API_KEY and CODERAG_SHARED_READER_KEY are not both given: keys are not tested")
	}
	for _, wrong := range []string{"", "wrong"} {
		of := o
		of.APIKey = wrong
		if _, err := weaviate.Open(t.Context(), of); !errors.Is(err, sharedindex.ErrDenied) || !strings.Contains(err.Error(), o.Endpoints[0][:8]) {
			t.Errorf("key %q: %v", wrong, err)
		}
	}
	reader := o
	reader.APIKey = key
	b := open(t, reader)
	if heads, err := b.Heads(t.Context()); err != nil || len(heads) != 0 {
		t.Errorf("a reader of nothing: %v, %v", heads, err)
	}
	if _, err := b.Write(t.Context(), name); !errors.Is(err, sharedindex.ErrDenied) {
		t.Errorf("a reader publishes: %v", err)
	}
	one := document("one.go", 1, 2, "word")
	publish(t, open(t, o), name, "c1", one)
	holds(t, b, name, map[string]sharedindex.Document{"one.go": one})
	if found, err := b.Nearest(t.Context(), scope(name), one.Rows[0], 1); err != nil || len(found) != 1 {
		t.Errorf("a reader found %v, %v", found, err)
	}
	if _, err := b.Write(t.Context(), name); !errors.Is(err, sharedindex.ErrDenied) {
		t.Errorf("a reader publishes: %v", err)
	}
	if err := b.Remove(t.Context(), name); !errors.Is(err, sharedindex.ErrDenied) {
		t.Errorf("a reader removes: %v", err)
	}
}
