package main

import (
	"fmt"
	"math/rand"
	"slices"
	"time"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/chunk/treesitter"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/onnx"
	"coderag-ls/engine/embed/onnx/bert"
	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/text"
	"coderag-ls/engine/vector"
)

// benchChunk compares chunking with parsing alone.
func benchChunk(e *env) (section, error) {
	grammars := treesitter.NewGrammars()
	type sum struct {
		bytes         int64
		parse, chunks float64
		n             int
	}
	by := map[string]*sum{}
	parser := grammars.NewParser()
	defer parser.Close()
	chunker := chunk.New(chunk.Options{})
	defer chunker.Close()
	total := &sum{}
	for _, f := range e.corpus.files {
		if !grammars.Has(f.class.Language) || f.class.Generated {
			continue // not parsed for chunks
		}
		s := by[f.class.Language]
		if s == nil {
			s = &sum{}
			by[f.class.Language] = s
		}
		doc := text.New(f.text)
		parse, err := measure(func() error { return parser.ParseOnly(f.class.Language, f.text) })
		if err != nil {
			return section{}, fmt.Errorf("parsing %s: %w", f.path, err)
		}
		var got chunk.File
		cut, _ := measure(func() error {
			got = chunker.Chunk(e.ctx, chunk.Input{Path: f.path, Class: f.class, Text: doc})
			return e.ctx.Err()
		})
		for _, t := range []*sum{s, total} {
			t.bytes += int64(len(f.text))
			t.parse += parse.CPU
			t.chunks += cut.CPU
			t.n += len(got.Chunks)
		}
	}
	sec := section{
		title: "Parse and chunk",
		text:  "One thread. The peer is the same tree-sitter grammar parsing the same text, without looking at the tree. Generated files are left out: their chunks are cut without parsing.",
		plot:  &plotData{title: "Chunking beside parsing alone", unit: "MB per CPU second", peerName: "tree-sitter, parse only"},
	}
	add := func(name string, s *sum) {
		mb := float64(s.bytes) / 1e6
		sec.rows = append(sec.rows, row{what: name, ours: mb / s.chunks, peer: mb / s.parse, unit: "MB/CPU-s", peerName: "tree-sitter parse only", note: fmt.Sprintf("%d chunks", s.n)})
		sec.plot.labels = append(sec.plot.labels, name)
		sec.plot.ours = append(sec.plot.ours, mb/s.chunks)
		sec.plot.peers = append(sec.plot.peers, mb/s.parse)
	}
	add("all", total)
	for _, lang := range []string{"go", "c", "python"} {
		if s := by[lang]; s != nil {
			add(lang, s)
		}
	}
	return sec, nil
}

// sampleTexts returns texts of n characters cut from the corpus.
func (e *env) sampleTexts(n, count int) []string {
	var texts []string
	for _, f := range e.corpus.files {
		for at := 0; at+n <= len(f.text) && len(texts) < count; at += n {
			texts = append(texts, f.text[at:at+n])
		}
	}
	return texts
}

// benchEmbed compares the two models, and MiniLM with the bare runtime.
func benchEmbed(e *env) (section, error) {
	sec := section{title: "Embedding", text: "Texts per second of CPU time, one after the other, cut from the corpus. MiniLM's peer is onnxruntime's own Python binding with the same model file and options on ready token ids: the ratio is what tokenising and Go cost."}
	model, err := static.New()
	if err != nil {
		return sec, err
	}
	texts := e.sampleTexts(1500, 20000)
	at := 0
	rate, err := repeat(3*time.Second, func() (int, error) {
		n := min(256, len(texts)-at)
		_, err := model.Embed(e.ctx, texts[at:at+n])
		at = (at + n) % len(texts)
		return n, err
	})
	if err != nil {
		return sec, err
	}
	sec.rows = append(sec.rows, row{what: "embedded code model, 1500 characters", ours: rate, unit: "texts/CPU-s"})
	files, err := miniLM()
	if err != nil {
		sec.notes = append(sec.notes, fmt.Sprintf("MiniLM is not measured: %v.", err))
		return sec, nil
	}
	minilm, err := onnx.Open(e.ctx, onnx.Options{ModelDir: files.Dir, LibraryPath: files.Library, Variant: files.Variant})
	if err != nil {
		return sec, err
	}
	defer minilm.Close()
	vocab, err := bert.OpenVocab(files.Vocab)
	if err != nil {
		return sec, err
	}
	tokenizer := bert.New(vocab)
	const seconds = 4
	for _, chars := range []int{64, 256, 512, 1500} {
		texts := e.sampleTexts(chars, 200)
		at := 0
		rate, err := repeat(seconds*time.Second, func() (int, error) {
			_, err := minilm.Embed(e.ctx, texts[at:at+1])
			at = (at + 1) % len(texts)
			return 1, err
		})
		if err != nil {
			return sec, err
		}
		ids := make([][]int32, len(texts))
		tokens := 0
		for i, t := range texts {
			ids[i], _ = tokenizer.Encode(t, minilm.Model().MaxTokens)
			tokens += len(ids[i])
		}
		r := row{what: fmt.Sprintf("MiniLM (%s), %d characters", files.Variant, chars), ours: rate, unit: "texts/CPU-s", peerName: "onnxruntime on ids", note: fmt.Sprintf("%d tokens each", tokens/len(texts))}
		if len(sec.notes) == 0 {
			if r.peer, err = rawSession(e, files.Model, ids, seconds); err != nil {
				sec.notes = append(sec.notes, fmt.Sprintf("The bare runtime is not measured: %v.", err))
			}
		}
		sec.rows = append(sec.rows, r)
	}
	return sec, nil
}

// benchScan compares the int8 scan with a plain loop over float32.
func benchScan(e *env) (section, error) {
	sec := section{
		title: "Vector scan", text: "Exact top 50, one thread, milliseconds per query. The peer is a plain Go loop over float32 vectors.",
		plot: &plotData{title: "Exact vector scan", unit: "ms per query", peerName: "Go float32 loop"},
	}
	rng := rand.New(rand.NewSource(1))
	for _, dim := range []int{256, 384} {
		for _, n := range []int{10000, 100000} {
			plain := make([]float32, n*dim)
			rows, err := vector.NewBuilder(dim, n)
			if err != nil {
				return sec, err
			}
			for i := range n {
				v := plain[i*dim : (i+1)*dim]
				for j := range v {
					v[j] = float32(rng.NormFloat64())
				}
				embed.Normalize(v)
				if err := rows.AppendFloat32(v); err != nil {
					return sec, err
				}
			}
			matrix := rows.Matrix()
			query := slices.Clone(plain[:dim])
			q, err := vector.NewQuery(query)
			if err != nil {
				return sec, err
			}
			ours := timeEach(60, func() { matrix.Scan(q, 50, nil) })
			peer := timeEach(12, func() { plainScan(plain, query, 50) })
			p50, p95 := percentiles(ours)
			peer50, _ := percentiles(peer)
			name := fmt.Sprintf("%dk × %d", n/1000, dim)
			sec.rows = append(sec.rows, row{what: name, ours: p50, worstOurs: p95, hasOursP95: true, peer: peer50, unit: "ms", peerName: "Go float32 loop", lowerWins: true})
			sec.plot.labels = append(sec.plot.labels, name)
			sec.plot.ours = append(sec.plot.ours, p50)
			sec.plot.peers = append(sec.plot.peers, peer50)
		}
	}
	return sec, nil
}

func timeEach(n int, work func()) []time.Duration {
	times := make([]time.Duration, n)
	for i := range times {
		began := time.Now()
		work()
		times[i] = time.Since(began)
	}
	return times
}

type scored struct {
	row   int
	score float32
}

// plainScan is the obvious way to find the k nearest rows.
func plainScan(rows, query []float32, k int) []scored {
	dim := len(query)
	all := make([]scored, 0, k+1)
	for i := 0; i*dim < len(rows); i++ {
		var dot float32
		for j, x := range rows[i*dim : (i+1)*dim] {
			dot += x * query[j]
		}
		if len(all) == k && dot <= all[k-1].score {
			continue
		}
		at, _ := slices.BinarySearchFunc(all, dot, func(s scored, d float32) int {
			if s.score >= d {
				return -1
			}
			return 1
		})
		all = slices.Insert(all, at, scored{i, dot})
		all = all[:min(k, len(all))]
	}
	return all
}
