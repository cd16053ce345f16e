package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"coderag-ls/engine/lexical"
)

// linesPerDoc cuts the corpus for the word index so that it has maxDocs
// documents, of some 700 characters each.
const (
	linesPerDoc = 25
	maxDocs     = 100000
)

type document struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

func (c *corpus) documents(limit int) []document {
	var docs []document
	for _, f := range c.files {
		lines := strings.SplitAfter(f.text, "\n")
		for at := 0; at < len(lines); at += linesPerDoc {
			if len(docs) == limit {
				return docs
			}
			docs = append(docs, document{fmt.Sprintf("%s:%d", f.path, at+1), strings.Join(lines[at:min(at+linesPerDoc, len(lines))], "")})
		}
	}
	return docs
}

// benchWords compares the word index with bleve's.
func benchWords(e *env) (section, error) {
	sec := section{title: "Word search (BM25)", text: fmt.Sprintf("The same documents (%d lines each) and questions. The peer is bleve with its scorch index on disk, standard analyser and match query, one field without stored text, positions or doc values, in a process of its own; it splits no identifiers.", linesPerDoc)}
	docs := e.corpus.documents(maxDocs)
	var segments []lexical.Part
	tok := lexical.NewTokenizer()
	built, err := measure(func() error {
		for at := 0; at < len(docs); at += 4096 {
			b := lexical.NewBuilder(tok)
			for _, d := range docs[at:min(at+4096, len(docs))] {
				b.Add(lexical.Doc{Body: d.Text, Name: filepath.Base(d.ID), Path: filepath.Dir(d.ID)})
			}
			segments = append(segments, lexical.Part{Segment: b.Build()})
		}
		return nil
	})
	if err != nil {
		return sec, err
	}
	var searcher lexical.Searcher
	var times []time.Duration
	for range 5 {
		for _, q := range questions() {
			began := time.Now()
			if _, err := searcher.Search(e.ctx, segments, lexical.Query{Terms: tok.Query(q)}, 50); err != nil {
				return sec, err
			}
			times = append(times, time.Since(began))
		}
	}
	p50, p95 := percentiles(times)
	mb := 0.0
	for _, d := range docs {
		mb += float64(len(d.Text)) / 1e6
	}
	peer, err := bleve(e, docs)
	if err != nil {
		sec.notes = append(sec.notes, fmt.Sprintf("bleve did not run: %v.", err))
	}
	sec.rows = []row{
		{what: fmt.Sprintf("index %d documents", len(docs)), ours: mb / built.CPU, peer: safeDiv(mb, peer.IndexCPU), unit: "MB/CPU-s", peerName: "bleve"},
		{what: "query p50, top 50", ours: p50, worstOurs: p95, hasOursP95: true, peer: peer.P50, unit: "ms", peerName: "bleve", lowerWins: true},
		{what: "of it p95", ours: p95, peer: peer.P95, unit: "ms", peerName: "bleve", lowerWins: true},
	}
	sec.plot = &plotData{title: "Word search", unit: "ms per query", peerName: "bleve", labels: []string{"p50", "p95"}, ours: []float64{p50, p95}, peers: []float64{peer.P50, peer.P95}}
	return sec, nil
}

func safeDiv(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// bleveResult is what the peer's program prints.
type bleveResult struct {
	IndexCPU float64 `json:"indexCPU"` // seconds
	P50      float64 `json:"p50"`      // ms
	P95      float64 `json:"p95"`
}

func bleve(e *env, docs []document) (bleveResult, error) {
	var res bleveResult
	path := filepath.Join(e.dir, "docs.jsonl")
	f, err := os.Create(path)
	if err != nil {
		return res, err
	}
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, d := range docs {
		if err := enc.Encode(d); err != nil {
			return res, err
		}
	}
	if err := w.Flush(); err != nil {
		return res, err
	}
	if err := f.Close(); err != nil {
		return res, err
	}
	qs, err := json.Marshal(questions())
	if err != nil {
		return res, err
	}
	ctx, cancel := context.WithTimeout(e.ctx, peerTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "run", ".", path, filepath.Join(e.dir, "bleve"))
	cmd.Dir = filepath.Join("internal", "bench", "bleve")
	cmd.Stdin = strings.NewReader(string(qs))
	out, err := cmd.Output()
	if err != nil {
		return res, fmt.Errorf("running %s (from the repository's root): %w", cmd.Dir, err)
	}
	return res, json.Unmarshal(out, &res)
}
