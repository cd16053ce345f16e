package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store/weaviate"
	"coderag-ls/internal/fitindex"
	"coderag-ls/internal/sharedcluster"
)

const (
	repository = "example.org/measured"
	// questionWords are the words of a question.
	questionWords = 8
)

// measurement is what one size costs. Bytes are those of the mean node.
type measurement struct {
	Index        string `json:"index"`
	Quantization string `json:"quantization"`
	Dim          int    `json:"dim"`
	Nodes        int    `json:"nodes"`
	Files        int    `json:"files"`
	Chunks       int    `json:"chunks"`
	TextBytes    int    `json:"textBytes"`
	// ChunksPerSecond were acknowledged by a quorum while this size was reached,
	// with their documents.
	ChunksPerSecond float64 `json:"chunksPerSecond"`
	// HeapBytes are live after a garbage collection; RSSBytes are those of the
	// process without mapped files.
	HeapBytes int64 `json:"heapBytes"`
	RSSBytes  int64 `json:"rssBytes"`
	// DiskBytes are by what holds them.
	DiskBytes map[string]int64 `json:"diskBytes"`
	// Millis are the median and the 95th percentile of requests, by kind, just after the publication;
	// RestMillis when the engine had time to merge what it wrote.
	Millis     map[string][2]float64 `json:"millis"`
	RestMillis map[string][2]float64 `json:"restMillis"`
}

func run(o options) (int, error) {
	if _, err := sharedcluster.Engine(); err != nil {
		return 1, err
	}
	code, inside, err := sharedcluster.Enter()
	if err != nil || !inside {
		return code, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, o); err != nil {
		return 1, err
	}
	return 0, nil
}

func measure(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "coderag-sharedbench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	model, err := static.New()
	if err != nil {
		return err
	}
	ix, err := fitindex.Open(ctx, o.corpus, filepath.Join(dir, "cache"), model)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ix.Close()) }()
	entries, _, err := index.Entries(ix, nil)
	if err != nil {
		return err
	}
	// Every size is a random part of the corpus, the same in every run.
	slices.SortFunc(entries, func(a, b sharedindex.Entry) int {
		return cmp.Or(cmp.Compare(spread(a.Path), spread(b.Path)), cmp.Compare(a.Path, b.Path))
	})
	c, err := sharedcluster.Start(ctx, sharedcluster.Config{Dir: filepath.Join(dir, "cluster"), MemoryLimit: o.memory})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	b, err := weaviate.Open(ctx, weaviate.Options{
		Endpoints: c.Endpoints(), APIKey: sharedcluster.AdminKey, Edition: ix.Edition(), Timeout: time.Minute,
		VectorIndex: o.index, Quantization: o.quantization, Lease: 5 * time.Minute,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	m := measurement{Index: o.index, Quantization: o.quantization, Dim: ix.Edition().Model.Dim, Nodes: len(c.Nodes)}
	files, chunks := 0, 0
	for _, size := range o.sizes {
		before := chunks
		for files < len(entries) && chunks < size {
			chunks += entries[files].Chunks
			files++
		}
		if chunks == before {
			return fmt.Errorf("%s has %d chunks: too few for %d", o.corpus, chunks, size)
		}
		m.Files, m.Chunks = files, chunks
		m.TextBytes = 0
		var sample []sharedindex.Document
		published := map[string]bool{}
		for _, e := range entries[:files] {
			published[e.Path] = true
		}
		_, statistics, err := index.Entries(ix, func(path string) bool { return published[path] })
		if err != nil {
			return err
		}
		began := time.Now()
		_, err = sharedindex.Publish(ctx, b, sharedindex.PublishOptions{
			Repository: repository, Commit: strconv.Itoa(size), Edition: ix.Edition(), Files: entries[:files], Statistics: statistics,
			Documents: func(ctx context.Context, paths []string) (all []sharedindex.Document, err error) {
				return all, index.Export(ctx, ix, paths, func(d sharedindex.Document) error {
					all = append(all, d)
					return nil
				})
			},
		})
		if err != nil {
			return err
		}
		m.ChunksPerSecond = float64(chunks-before) / time.Since(began).Seconds()
		for _, e := range entries[:files] {
			if f := ix.Snapshot().File(e.Path); f != nil {
				m.TextBytes += int(f.Size)
			}
		}
		// Questions are what the corpus holds: some of a chunk's words, and its vector.
		var asked []string
		for _, e := range entries[:files] {
			if e.Chunks > 0 && len(asked) < o.questions {
				asked = append(asked, e.Path)
			}
		}
		err = index.Export(ctx, ix, asked, func(d sharedindex.Document) error {
			sample = append(sample, d)
			return nil
		})
		if err != nil {
			return err
		}
		if m.Millis, err = searches(ctx, b, sample, entries[:files]); err != nil {
			return err
		}
		if err := m.memory(ctx, c); err != nil {
			return err
		}
		if err := m.disk(ctx, c); err != nil {
			return err
		}
		select {
		case <-time.After(o.rest):
		case <-ctx.Done():
			return ctx.Err()
		}
		if m.RestMillis, err = searches(ctx, b, sample, entries[:files]); err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(m); err != nil {
			return err
		}
	}
	return nil
}

func spread(path string) uint32 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, path)
	return h.Sum32()
}

// searches measures requests, one at a time.
func searches(ctx context.Context, b sharedindex.Backend, asked []sharedindex.Document, entries []sharedindex.Entry) (map[string][2]float64, error) {
	in := sharedindex.Scope{Repositories: []string{repository}}
	times := map[string][]float64{}
	timed := func(what string, do func() error) error {
		began := time.Now()
		err := do()
		times[what] = append(times[what], float64(time.Since(began).Microseconds())/1000)
		return err
	}
	for i, d := range asked {
		middle := len(d.Words) / 2 // the first chunk of many files says the same: a licence
		var words []string
		for _, field := range d.Words[middle] {
			words = append(words, field...)
		}
		slices.Sort(words)
		words = slices.Compact(words)
		var terms []lexical.Term
		var texts []string
		for j := range min(questionWords, len(words)) {
			w := words[j*len(words)/min(questionWords, len(words))]
			terms, texts = append(terms, lexical.Term{Text: w, Weight: 1}), append(texts, w)
		}
		var ids []sharedindex.ID
		for j := range 24 {
			ids = append(ids, sharedindex.ID{Repository: repository, Path: entries[(i*24+j)%len(entries)].Path})
		}
		err := errors.Join(
			timed("words", func() error { _, err := b.Words(ctx, in, terms, sharedindex.WordPostings); return err }),
			timed("nearest", func() error { _, err := b.Nearest(ctx, in, d.Rows[middle], sharedindex.NearPostings); return err }),
			timed("documents", func() error { _, err := b.Documents(ctx, ids); return err }),
			timed("frequencies", func() error {
				_, err := b.Frequencies(ctx, repository, texts)
				return err
			}),
		)
		if err != nil {
			return nil, err
		}
	}
	millis := map[string][2]float64{}
	for what, all := range times {
		slices.Sort(all)
		millis[what] = [2]float64{all[len(all)/2], all[len(all)*95/100]}
	}
	return millis, nil
}

var (
	heapAlloc = regexp.MustCompile(`(?m)^# HeapAlloc = (\d+)`)
	rssAnon   = regexp.MustCompile(`(?m)^RssAnon:\s*(\d+) kB`)
)

// memory measures that of the mean node.
func (m *measurement) memory(ctx context.Context, c *sharedcluster.Cluster) error {
	m.HeapBytes, m.RSSBytes = 0, 0
	n := int64(len(c.Nodes))
	for _, node := range c.Nodes {
		// The engine serves Go's profiles beside its API.
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+node.Address+":6060/debug/pprof/heap?gc=1&debug=1", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		heap, err := number(heapAlloc, resp.Body)
		resp.Body.Close()
		if err != nil {
			return fmt.Errorf("the heap of %s: %w", node.Name, err)
		}
		m.HeapBytes += heap / n
		status, err := os.Open("/proc/" + strconv.Itoa(node.Pid()) + "/status")
		if err != nil {
			return err
		}
		rss, err := number(rssAnon, status)
		status.Close()
		if err != nil {
			return fmt.Errorf("the memory of %s: %w", node.Name, err)
		}
		m.RSSBytes += rss * 1024 / n
	}
	return nil
}

// disk measures that of the mean node. The nodes are stopped for it, so that what is in
// their write-ahead logs is where it ends up.
func (m *measurement) disk(ctx context.Context, c *sharedcluster.Cluster) error {
	m.DiskBytes = map[string]int64{}
	for _, node := range c.Nodes {
		if err := node.Stop(ctx); err != nil {
			return err
		}
		err := filepath.WalkDir(node.Dir(), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			rel, err := filepath.Rel(node.Dir(), path)
			m.DiskBytes[kind(rel)] += info.Sys().(*syscall.Stat_t).Blocks * 512 / int64(len(c.Nodes))
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, node := range c.Nodes {
		if err := node.Restart(); err != nil {
			return err
		}
	}
	return c.Await(ctx)
}

// kind is what a file of a node is for: its collection and the bucket or index in it.
func kind(rel string) string {
	parts := strings.Split(filepath.ToSlash(rel), "/")
	name, _, _ := strings.Cut(parts[0], "_")
	for _, p := range parts[1:] {
		switch {
		case strings.HasPrefix(p, "property_"), strings.HasPrefix(p, "objects"), strings.HasPrefix(p, "vectors"):
			return name + "." + p
		case strings.Contains(p, "hnsw"):
			return name + ".hnsw"
		}
	}
	return name + ".other"
}

func number(re *regexp.Regexp, r io.Reader) (int64, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return 0, err
	}
	found := re.FindSubmatch(raw)
	if found == nil {
		return 0, fmt.Errorf("%s is not in it", re)
	}
	return strconv.ParseInt(string(found[1]), 10, 64)
}
