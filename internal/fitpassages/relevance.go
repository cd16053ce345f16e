package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coderag-ls/engine/config"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/eval"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/query"
	"coderag-ls/engine/search"
	"coderag-ls/internal/fitindex"
)

// signals are the columns of what relevance writes, after the first four.
var signals = []string{"words", "cover", "known", "cosine", "named", "name", "content", "first", "whole"}

// asker asks questions of their own project and of others in the same language,
// which have no answer.
type asker struct {
	model    *static.Model
	tok      *lexical.Tokenizer
	analyzer *query.Analyzer
	searcher *search.Searcher
	dir      string // of indexes
	projects []*indexed
	asked    []relevanceQuestion
}

// indexed is a project that questions are asked of.
type indexed struct {
	name, family string
	ix           *index.Index
}

type relevanceQuestion struct {
	asked
	suite, project string
	own            *indexed
}

// relevance writes the signals of every question, for scripts/fit-relevance.py: is
// the project its own, suite, project, rank of the first right file (0: none), and
// signals. Questions are doc comments of repos and those of the suites.
func relevance(ctx context.Context, repos string, suites []string, o options, out string) (err error) {
	dir, err := os.MkdirTemp("", "fitrelevance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	model, err := static.New()
	if err != nil {
		return err
	}
	tok := lexical.NewTokenizer()
	a := &asker{model: model, tok: tok, analyzer: query.New(tok), searcher: search.New(tok), dir: dir}
	defer func() { err = errors.Join(err, a.close()) }()
	if err := a.comments(ctx, repos, o); err != nil {
		return err
	}
	for _, s := range suites {
		if err := a.suite(ctx, s); err != nil {
			return fmt.Errorf("reading the suite %s: %w", s, err)
		}
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(a.write(ctx, w), w.Flush(), f.Close())
}

func (a *asker) close() error {
	var errs []error
	for _, p := range a.projects {
		errs = append(errs, p.ix.Close())
	}
	return errors.Join(errs...)
}

// open indexes a folder.
func (a *asker) open(ctx context.Context, name, dir, family string) (*indexed, error) {
	ix, err := fitindex.Open(ctx, dir, filepath.Join(a.dir, fmt.Sprintf("index-%d", len(a.projects))), a.model)
	if err != nil {
		return nil, err
	}
	p := &indexed{name, family, ix}
	a.projects = append(a.projects, p)
	return p, nil
}

// comments adds the projects below repos with their doc comments as questions.
func (a *asker) comments(ctx context.Context, repos string, o options) error {
	dirs, err := os.ReadDir(repos)
	if err != nil {
		return fmt.Errorf("listing the projects: %w", err)
	}
	for _, d := range dirs {
		masked := filepath.Join(a.dir, d.Name())
		labels, err := mask(ctx, filepath.Join(repos, d.Name()), masked, a.tok, o)
		if err != nil {
			return err
		}
		p, err := a.open(ctx, d.Name(), masked, "")
		if err != nil {
			return err
		}
		p.family = commonest(p.ix.Snapshot())
		for _, l := range labels {
			q := asked{l.query, []eval.Place{{Path: l.path, Start: l.start, End: l.end}}}
			a.asked = append(a.asked, relevanceQuestion{q, "doc", d.Name(), p})
		}
	}
	return nil
}

// suite adds a suite's projects with its questions.
func (a *asker) suite(ctx context.Context, dir string) error {
	s, err := eval.Load(dir)
	if err != nil {
		return err
	}
	at := map[string]*indexed{}
	for _, q := range s.Questions {
		root := s.Root(&q)
		folder := filepath.Join(s.Checkout(q.Repo), filepath.FromSlash(root))
		if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if at[folder] == nil {
			if at[folder], err = a.open(ctx, s.Name+"/"+q.Repo, folder, family(q.Language)); err != nil {
				return err
			}
		}
		r := relevanceQuestion{asked{query: q.Query}, s.Name, s.Name + "/" + cmp.Or(q.Project, q.Repo), at[folder]}
		for _, p := range slices.Concat(q.Relevant, q.Secondary) {
			p.Path = below(root, p.Path)
			r.places = append(r.places, p)
		}
		a.asked = append(a.asked, r)
	}
	return nil
}

// commonest is the family of the language that most files are in.
func commonest(snap *index.Snapshot) string {
	n := map[string]int{}
	best := ""
	for d := range snap.Docs() {
		if d.SourceType == file.Code {
			f := family(d.Language)
			if n[f]++; n[f] > n[best] {
				best = f
			}
		}
	}
	return best
}

// family is a language with those whose questions are much the same.
func family(language string) string {
	switch language {
	case "typescript", "javascript", "tsx", "jsx":
		return "javascript"
	case "c", "cpp":
		return "c"
	case "java", "kotlin", "scala":
		return "java"
	}
	return language
}

// leastChunks is how large another project must be to be asked: a smaller one has
// hardly anything that could be mistaken for an answer.
const leastChunks = 50

// write asks each question of its own project and of two others, which its hash
// draws.
func (a *asker) write(ctx context.Context, w io.Writer) error {
	if _, err := fmt.Fprintln(w, strings.Join(append([]string{"own", "suite", "project", "rank"}, signals...), "\t")); err != nil {
		return err
	}
	for i := range a.asked {
		q := &a.asked[i]
		var others []*indexed
		for _, p := range a.projects {
			if p != q.own && p.family == q.own.family && p.ix.Snapshot().Len() > leastChunks {
				others = append(others, p)
			}
		}
		h := fnv.New32a()
		io.WriteString(h, q.query)
		to := []*indexed{q.own}
		if n := uint32(len(others)); n > 0 {
			k := h.Sum32() % n
			to = append(to, others[k])
			if n > 1 {
				to = append(to, others[(k+1+(h.Sum32()>>8)%(n-1))%n])
			}
		}
		for _, p := range to {
			if err := a.ask(ctx, w, q, p); err != nil {
				return fmt.Errorf("asking %q of %s: %w", q.query, p.name, err)
			}
		}
	}
	return nil
}

func (a *asker) ask(ctx context.Context, w io.Writer, q *relevanceQuestion, p *indexed) error {
	snap := p.ix.Snapshot()
	analysis := a.analyzer.Analyze(q.query, search.NewVocabulary(snap))
	settings := config.Default().Search
	settings.MinRelevance = 0
	res, err := a.searcher.Search(ctx, search.Input{Snapshot: snap, Analysis: &analysis, Settings: settings, Embedders: []embed.Embedder{a.model}})
	if err != nil {
		return err
	}
	own, rank := 0, 0
	if p == q.own {
		own = 1
		rank = 1 + slices.IndexFunc(res.Files, func(f search.FileScore) bool {
			return slices.ContainsFunc(q.places, func(p eval.Place) bool { return p.Path == f.File.Path })
		})
	}
	s := res.Signals
	_, err = fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%d\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n",
		own, q.suite, q.project, rank, s.Words, s.Cover, s.Known, s.Cosine, s.Named, s.Name, s.Content, s.First, s.Whole)
	return err
}
