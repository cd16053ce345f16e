// Command bleve is the peer of the word index in the benchmarks: a module of
// its own, so that the language server does not depend on it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/mapping"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: bleve DOCUMENTS INDEX < QUESTIONS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// wordsOnly indexes one field and keeps nothing that a ranked search of its
// words does not need.
func wordsOnly() mapping.IndexMapping {
	text := bleve.NewTextFieldMapping()
	text.Store, text.IncludeTermVectors, text.DocValues, text.IncludeInAll = false, false, false, false
	document := bleve.NewDocumentStaticMapping()
	document.AddFieldMappingsAt("text", text)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = document
	return m
}

func cpu() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
}

func run(path, dir string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	index, err := bleve.New(dir, wordsOnly())
	if err != nil {
		return err
	}
	began := cpu()
	batch := index.NewBatch()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var d struct{ ID, Text string }
		if err := json.Unmarshal(in.Bytes(), &d); err != nil {
			return err
		}
		if err := batch.Index(d.ID, map[string]string{"text": d.Text}); err != nil {
			return err
		}
		if batch.Size() >= 1000 {
			if err := index.Batch(batch); err != nil {
				return err
			}
			batch = index.NewBatch()
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	if err := index.Batch(batch); err != nil {
		return err
	}
	indexed := cpu() - began
	var questions []string
	if err := json.NewDecoder(os.Stdin).Decode(&questions); err != nil {
		return err
	}
	var times []time.Duration
	for range 3 {
		for _, q := range questions {
			match := bleve.NewMatchQuery(q)
			match.SetField("text")
			req := bleve.NewSearchRequest(match)
			req.Size = 50
			began := time.Now()
			if _, err := index.Search(req); err != nil {
				return err
			}
			times = append(times, time.Since(began))
		}
	}
	slices.Sort(times)
	ms := func(q float64) float64 { return float64(times[int(q*float64(len(times)))].Microseconds()) / 1000 }
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{"indexCPU": indexed, "p50": ms(.5), "p95": ms(.95)})
}
