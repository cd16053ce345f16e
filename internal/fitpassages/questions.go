package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/config"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/eval"
	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/query"
	"coderag-ls/engine/search"
	"coderag-ls/engine/text"
	"coderag-ls/internal/fitindex"
)

// question is one question with the chunks of the best files.
type question struct {
	Project string
	Chunks  []candidate
}

// candidate is a chunk with what it is ranked by.
type candidate struct {
	Features search.PassageFeatures
	Now      float64 // its score with the weights in use
	File     int     // ordinal of its file
	Right    bool
}

// label is a documented definition.
type label struct {
	path, query string
	start, end  int // lines that are right
	key         uint64
}

// projectName is a folder's name without version and registry.
func projectName(folder string) string {
	name, _, _ := strings.Cut(folder, "@")
	name, _, _ = strings.Cut(name, "==")
	return reVersion.ReplaceAllString(name[strings.LastIndexByte(name, '_')+1:], "")
}

var reVersion = regexp.MustCompile(`-v?\d[\d.]*$`)

// project masks a copy of the sources, indexes it and asks.
func project(ctx context.Context, dir string, o options) ([]question, error) {
	work, err := os.MkdirTemp("", "fitpassages-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	tok := lexical.NewTokenizer()
	labels, err := mask(ctx, dir, work, tok, o)
	if err != nil {
		return nil, err
	}
	qs := make([]asked, len(labels))
	for i, l := range labels {
		qs[i] = asked{l.query, []eval.Place{{Path: l.path, Start: l.start, End: l.end}}}
	}
	out, err := searched(ctx, work, filepath.Join(work, ".index"), tok, qs)
	for i := range out {
		out[i].Project = filepath.Base(dir)
	}
	return slices.DeleteFunc(out, func(q question) bool {
		return !slices.ContainsFunc(q.Chunks, func(c candidate) bool { return c.Right })
	}), err
}

// below is a checkout's path as it is below the folder that is indexed.
func below(root, path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
}

// asked is a question with the places that answer it.
type asked struct {
	query  string
	places []eval.Place
}

// suite asks the questions of a suite.
func suite(ctx context.Context, dir string) ([]question, error) {
	s, err := eval.Load(dir)
	if err != nil {
		return nil, err
	}
	tok := lexical.NewTokenizer()
	byDir := map[string][]asked{}
	for _, q := range s.Questions {
		root := s.Root(&q)
		at := filepath.Join(s.Checkout(q.Repo), filepath.FromSlash(root))
		a := asked{query: q.Query}
		for _, p := range slices.Concat(q.Relevant, q.Secondary) {
			if p.Start > 0 {
				p.Path = below(root, p.Path)
				a.places = append(a.places, p)
			}
		}
		if _, err := os.Stat(at); err == nil && len(a.places) > 0 {
			byDir[at] = append(byDir[at], a)
		}
	}
	var out []question
	for _, at := range slices.Sorted(maps.Keys(byDir)) {
		work, err := os.MkdirTemp("", "fitpassages-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(work)
		qs, err := searched(ctx, at, work, tok, byDir[at])
		if err != nil {
			return nil, err
		}
		out = append(out, qs...)
	}
	return out, nil
}

// searched indexes a folder and asks questions about it.
func searched(ctx context.Context, dir, cache string, tok *lexical.Tokenizer, asked []asked) ([]question, error) {
	model, err := static.New()
	if err != nil {
		return nil, err
	}
	ix, err := fitindex.Open(ctx, dir, cache, model)
	if err != nil {
		return nil, err
	}
	defer ix.Close()
	snap, analyzer, searcher := ix.Snapshot(), query.New(tok), search.New(tok)
	settings := config.Default().Search
	settings.MinRelevance = 0
	out := make([]question, len(asked))
	for i, l := range asked {
		a := analyzer.Analyze(l.query, search.NewVocabulary(snap))
		res, err := searcher.Search(ctx, search.Input{Snapshot: snap, Analysis: &a, Settings: settings, Embedders: []embed.Embedder{model}, Passages: true})
		if err != nil {
			return nil, fmt.Errorf("searching for %q: %w", l.query, err)
		}
		for n, f := range res.Files {
			for _, p := range f.Passages {
				d := snap.Doc(p.Ref)
				c := candidate{Features: p.Features, Now: p.Score, File: n,
					Right: slices.ContainsFunc(l.places, func(p eval.Place) bool {
						return f.File.Path == p.Path && d.StartLine <= p.End && p.Start <= d.EndLine
					})}
				if c.Right || likely(&c) {
					out[i].Chunks = append(out[i].Chunks, c)
				}
			}
		}
	}
	return out, nil
}

// likely reports whether a chunk is anywhere near the top of its file. The others
// teach nothing and are most.
func likely(c *candidate) bool {
	least := 1.0 / 6
	if c.File >= 8 {
		least = 1.0 / 3
	}
	x := &c.Features
	at := func(name string) float64 { return x[slices.Index(search.PassageFeatureNames(), name)] }
	return max(at("wordsRank"), at("nearRank"), at("contentRank")) >= least
}

// mask copies the code below dir to work without the first sentences of doc
// comments, and draws questions of them.
func mask(ctx context.Context, dir, work string, tok *lexical.Tokenizer, o options) ([]label, error) {
	chunker := chunk.New(chunk.Options{})
	defer chunker.Close()
	var labels []label
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || d.IsDir() {
			if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "node_modules") {
				return filepath.SkipDir
			}
			return err
		}
		rel = filepath.ToSlash(rel)
		content, err := file.Read(p, 1<<20)
		if err != nil {
			return nil // too large, binary: not indexed either
		}
		class, skip, _ := file.Classify(rel, content.Text)
		if skip != "" {
			return nil
		}
		doc := text.New(content.Text)
		masked := content.Text
		if class.SourceType == file.Code {
			symbols := chunker.Chunk(ctx, chunk.Input{Path: rel, Class: class, Text: doc}).Symbols
			lines := strings.Split(content.Text, "\n")
			for _, s := range symbols {
				hidden := hide(lines, &s)
				if !hidden || class.Test || class.Vendored || class.Generated || class.Example {
					continue
				}
				if l, ok := ask(rel, &s, tok, o); ok {
					labels = append(labels, l)
				}
			}
			masked = strings.Join(lines, "\n")
		}
		to := filepath.Join(work, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return os.WriteFile(to, []byte(masked), 0o600)
	})
	if err != nil {
		return nil, fmt.Errorf("masking %s: %w", dir, err)
	}
	slices.SortFunc(labels, func(a, b label) int {
		if a.key < b.key {
			return -1
		}
		return 1
	})
	return labels[:min(len(labels), o.perProject)], nil
}

// hide takes the words of a doc comment's first sentence out of its lines, so
// that lines keep their numbers.
func hide(lines []string, s *chunk.Symbol) bool {
	if s.DocStart == 0 || s.Summary == "" || s.NameLine >= s.DocStart && s.NameLine <= s.DocEnd {
		return false
	}
	said := ""
	for n := s.DocStart; n <= min(s.DocEnd, len(lines)); n++ {
		line := lines[n-1]
		words := strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "/*#\"'!-;"))
		if words == "" && said != "" {
			break
		}
		said += " " + words
		lines[n-1] = strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
				return -1
			}
			return r
		}, line)
		if end := strings.TrimRight(words, " \"'"); strings.HasSuffix(end, ".") || strings.Contains(words, ". ") {
			break
		}
	}
	return said != ""
}

// Lengths of a question, in content words.
const leastWords, mostWords = 4, 24

// wholeType is how long a type may be to be an answer as a whole; of a longer
// one the lines around its name are.
const wholeType = 40

// ask makes a question of a definition's summary.
func ask(path string, s *chunk.Symbol, tok *lexical.Tokenizer, o options) (label, bool) {
	if s.Kind == chunk.Variable || s.EndLine-s.StartLine < 2 || strings.Contains(strings.ToLower(s.Summary), "deprecated") {
		return label{}, false
	}
	h := fnv.New64a()
	var seed [8]byte
	binary.LittleEndian.PutUint64(seed[:], o.seed)
	h.Write(seed[:])
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%d", path, s.Parent, s.Name, s.NameLine)
	l := label{path: path, start: s.StartLine, end: s.EndLine, key: h.Sum64()}
	if (s.Kind == chunk.Class || s.Kind == chunk.Interface || s.Kind == chunk.Type) && s.EndLine-s.StartLine > wholeType {
		l.start, l.end = s.NameLine, s.NameLine+1
	}
	drop := map[string]bool{}
	if l.key>>32&1 == 0 {
		for _, stem := range tok.Stems(s.Name) {
			drop[stem] = true
		}
	}
	var kept []string
	n := 0
	for _, w := range strings.Fields(s.Summary) {
		bare := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
		stems := tok.Stems(bare)
		if bare == s.Name || slices.ContainsFunc(stems, func(s string) bool { return drop[s] }) {
			continue
		}
		if len(stems) > 0 && !lexical.QueryStopWord(strings.ToLower(bare)) {
			n++
		}
		kept = append(kept, w)
	}
	l.query = strings.TrimRight(strings.Join(kept, " "), ".")
	return l, n >= leastWords && n <= mostWords
}
