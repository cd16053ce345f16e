// Command fitfiles writes what search ranks files by, for fitting the weights of
// engine/search/weights.go and minilm.go:
//
//	go run ./internal/fitfiles SUITE... > features.txt && scripts/fit-files.py features.txt
//
// A SUITE is a folder of questions as `coderag-ls eval` takes it. The output's
// first line names the features, with commas. Then, for each question, comes a
// line of tabs
//
//	#  suite  project  question's id  number of right files  category
//
// and, for each candidate file, a line of blanks: 1 for a right file or 0, and the
// features' values. Behind the ranking's features stands "answer", which is the
// best passage's score (search.FileScore.Answer).
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"

	"coderag-ls/engine/config"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/eval"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/query"
	"coderag-ls/engine/search"
	"coderag-ls/internal/fitindex"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fitfiles:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, suites []string, out io.Writer) error {
	if len(suites) == 0 {
		return errors.New("name a folder of questions")
	}
	model, err := static.New()
	if err != nil {
		return err
	}
	d := &dumper{model: model, tok: lexical.NewTokenizer(), w: bufio.NewWriter(out)}
	d.list(append(search.FeatureNames(), "answer"))
	for _, dir := range suites {
		s, err := eval.Load(dir)
		if err != nil {
			return err
		}
		if err := d.suite(ctx, s); err != nil {
			return fmt.Errorf("asking the suite %s: %w", dir, err)
		}
	}
	return d.w.Flush()
}

// dumper writes features; errors of w come out of Flush.
type dumper struct {
	model *static.Model
	tok   *lexical.Tokenizer
	w     *bufio.Writer
}

func (d *dumper) list(names []string) {
	for i, n := range names {
		if i > 0 {
			d.w.WriteByte(',')
		}
		d.w.WriteString(n)
	}
	d.w.WriteByte('\n')
}

// suite asks the questions of a suite, folder by folder.
func (d *dumper) suite(ctx context.Context, s *eval.Suite) error {
	byDir := map[string][]*eval.Question{}
	for i := range s.Questions {
		q := &s.Questions[i]
		at := filepath.Join(s.Checkout(q.Repo), filepath.FromSlash(s.Root(q)))
		byDir[at] = append(byDir[at], q)
	}
	for _, at := range slices.Sorted(maps.Keys(byDir)) {
		if _, err := os.Stat(at); errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "%s is not there: %d questions left out\n", at, len(byDir[at]))
			continue
		}
		if err := d.folder(ctx, s, at, byDir[at]); err != nil {
			return fmt.Errorf("in %s: %w", at, err)
		}
	}
	return nil
}

func (d *dumper) folder(ctx context.Context, s *eval.Suite, at string, questions []*eval.Question) (err error) {
	cache, err := os.MkdirTemp("", "fitfiles-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	ix, err := fitindex.Open(ctx, at, cache, d.model)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ix.Close()) }()
	snap, analyzer, searcher := ix.Snapshot(), query.New(d.tok), search.New(d.tok)
	settings := config.Default().Search
	settings.MinRelevance = 0
	for _, q := range questions {
		right := map[string]bool{}
		for _, p := range slices.Concat(q.Relevant, q.Secondary) {
			if _, err := os.Stat(filepath.Join(s.Checkout(q.Repo), filepath.FromSlash(p.Path))); err == nil {
				right[p.Path] = true
			}
		}
		if len(right) == 0 {
			continue
		}
		a := analyzer.Analyze(q.Query, search.NewVocabulary(snap))
		res, err := searcher.Search(ctx, search.Input{Snapshot: snap, Analysis: &a, Settings: settings, Embedders: []embed.Embedder{d.model}})
		if err != nil {
			return fmt.Errorf("searching for %q: %w", q.Query, err)
		}
		project := q.Project
		if project == "" {
			project = q.Repo
		}
		fmt.Fprintf(d.w, "#\t%s\t%s\t%s\t%d\t%s\n", s.Name, project, q.ID, len(right), q.Category)
		for _, f := range res.Files {
			label := 0
			if right[path.Join(s.Root(q), f.File.Path)] {
				label = 1
			}
			fmt.Fprint(d.w, label)
			for _, x := range f.Features {
				fmt.Fprintf(d.w, " %.4g", x)
			}
			fmt.Fprintf(d.w, " %.4g\n", f.Answer)
		}
	}
	return nil
}
