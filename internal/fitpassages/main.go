// Command fitpassages fits the weights by which search ranks chunks
// (engine/search/passageweights.go) and prints them.
//
//	scripts/fit-corpora.sh && go run ./internal/fitpassages -repos .cache/fit
//
// Questions come from documentation: the first sentence of a definition's doc
// comment asks for its lines. Those sentences are masked, everywhere, in a copy
// of the sources; that copy is indexed and asked. For half of the questions the
// words of the definition's name are left out, too. Weights are a conditional
// logit's (listwise softmax) with an L2 penalty. The seed fixes what is drawn.
//
// With -relevance it writes instead what tells questions asked of their own project from
// those asked of another one, for scripts/fit-relevance.py:
//
//	go run ./internal/fitpassages -repos .cache/fit -questions 40 -suites A,B -relevance signals.tsv
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// denied are the projects that are measured on: none of them may be learnt from.
var denied = []string{"tenacity", "structlog", "fastify", "ajv", "ws", "raft", "websocket", "ureq", "crossbeam-channel",
	"aiohttp", "flask", "requests", "pydantic", "axios", "chi", "cobra", "tokio", "vitest", "redux", "zod", "express", "got", "httpx", "starlette",
	"fastapi", "click", "pytest", "gin", "caddy", "axum", "serde", "ripgrep", "trpc"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	repos := flag.String("repos", ".cache/fit", "folder of the `sources`, one folder per project")
	flag.Uint64Var(&o.seed, "seed", 1, "what is drawn")
	flag.IntVar(&o.perProject, "questions", 80, "at most so many questions per project")
	flag.Float64Var(&o.penalty, "l2", 1, "penalty of large weights")
	flag.IntVar(&o.folds, "folds", 5, "parts of the projects that are left out in turn to measure; 0 fits only")
	flag.StringVar(&o.without, "without", "", "features to leave out, by comma")
	flag.StringVar(&o.suite, "suite", "", "measure on this `suite` of questions with lines, too, which is never learnt from")
	flag.StringVar(&o.features, "features", "", "`file` that keeps what was asked, for fitting again")
	signalsTo := flag.String("relevance", "", "`file` for the signals of questions asked of their own project and of others; nothing is fitted then")
	suites := flag.String("suites", "", "with -relevance, the `folders` of suites whose questions are asked too, by comma")
	flag.Parse()
	if *signalsTo != "" {
		var folders []string
		if *suites != "" {
			folders = strings.Split(*suites, ",")
		}
		if err := relevance(ctx, *repos, folders, o, *signalsTo); err != nil {
			fmt.Fprintln(os.Stderr, "fitpassages:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(ctx, *repos, o); err != nil {
		fmt.Fprintln(os.Stderr, "fitpassages:", err)
		os.Exit(1)
	}
}

type options struct {
	seed              uint64
	perProject, folds int
	penalty           float64
	// without names features, suite a folder, features a file.
	without, suite, features string
}

func run(ctx context.Context, repos string, o options) error {
	kept, err := collected(o.features)
	if err != nil {
		return err
	}
	if kept == nil {
		if kept, err = collect(ctx, repos, o); err != nil {
			return err
		}
		if err := kept.save(o.features); err != nil {
			return err
		}
	}
	if len(kept.Questions) == 0 {
		return fmt.Errorf("%s has no project with documented definitions", repos)
	}
	return report(kept, o)
}

// collection is everything that weights are fitted and measured with.
type collection struct{ Questions, Suite []question }

// collected reads a collection, nil where there is none.
func collected(path string) (*collection, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was collected: %w", err)
	}
	defer f.Close()
	c := new(collection)
	if err := gob.NewDecoder(bufio.NewReader(f)).Decode(c); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return c, nil
}

func (c *collection) save(path string) error {
	if path == "" {
		return nil
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(c); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

// collect asks about all projects and, where given, the suite.
func collect(ctx context.Context, repos string, o options) (*collection, error) {
	dirs, err := os.ReadDir(repos)
	if err != nil {
		return nil, fmt.Errorf("listing the projects: %w", err)
	}
	c := new(collection)
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		if slices.Contains(denied, projectName(d.Name())) {
			return nil, fmt.Errorf("%s is a project that is measured on: remove it from %s", d.Name(), repos)
		}
		qs, err := project(ctx, filepath.Join(repos, d.Name()), o)
		if err != nil {
			return nil, fmt.Errorf("asking about %s: %w", d.Name(), err)
		}
		fmt.Fprintf(os.Stderr, "%s: %d questions\n", d.Name(), len(qs))
		c.Questions = append(c.Questions, qs...)
	}
	if o.suite != "" {
		if c.Suite, err = suite(ctx, o.suite); err != nil {
			return nil, fmt.Errorf("asking the suite %s: %w", o.suite, err)
		}
	}
	return c, nil
}
