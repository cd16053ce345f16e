package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"coderag-ls/assist"
	"coderag-ls/engine"
	"coderag-ls/engine/file"
	"coderag-ls/engine/llm/llmtest"
	"coderag-ls/engine/wire"
)

// writtenFigures are those of answers that a language model writes. The model is
// a server in this process that begins to write as soon as it is asked.
type writtenFigures struct {
	First     latency // from the question to the answer's first text
	Cancelled latency // from cancelling to the server's seeing that nobody reads
	Asked     int     // questions that the model was asked
}

// cancellations is how often a question is cancelled: by turns before the
// model's first text and in the middle of it.
const cancellations = 60

// source is the name of a passage in what the model is sent.
var source = regexp.MustCompile(`(?m)^=== SOURCE [0-9a-f]+ BEGIN (\S+)`)

// writes is a model that answers at once and cites the first source.
func writes(w *llmtest.Writer, r llmtest.Request) {
	place := source.FindStringSubmatch(r.Text())
	if place == nil {
		w.Fail(400, "", "no sources were sent")
		return
	}
	w.Answer("This is what does it ["+place[1]+"].\n", 7)
}

// askModel measures what we add to a language model's time.
func askModel(ctx context.Context, root file.Root, cache string, f *figures) (err error) {
	server := llmtest.New(writes)
	defer server.Close()
	s := settings(cache)
	s.LLM.BaseURL, s.LLM.Model, s.LLM.Retries = server.BaseURL(), "test-model", 0
	v, _, end, err := opened(ctx, root, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	asker := assist.New(ctx, assist.Options{Settings: s})
	defer asker.Close()
	stop, err := profiles()
	if err != nil {
		return err
	}
	var first []time.Duration
	known := "" // a question that there are sources for
	for round := range askRounds + 1 {
		for _, q := range questions() {
			// Blanks make it a question that nobody asked before.
			p := wire.AskParams{SearchParams: wire.SearchParams{Query: q + strings.Repeat(" ", round)}}
			took, asked, err := firstText(ctx, asker, v, p)
			if err != nil {
				return fmt.Errorf("asking %q: %w", q, err)
			}
			if asked {
				known = q
			}
			if asked && round > 0 { // files come from the disk the first time
				first = append(first, took)
			}
		}
	}
	if err := stop(); err != nil {
		return err
	}
	if len(first) == 0 {
		return errors.New("the model was asked nothing: the corpus answers none of the questions")
	}
	f.Written.Asked = len(first)
	f.Written.First.P50, f.Written.First.P95 = percentiles(first)
	cancelled, err := cancelAll(ctx, asker, v, server, known)
	if err != nil {
		return err
	}
	f.Written.Cancelled.P50, f.Written.Cancelled.P95 = percentiles(cancelled)
	return nil
}

// firstText is the time until the first text of an answer; asked is false where
// nothing was found that a model could be asked about.
func firstText(ctx context.Context, asker *assist.Asker, v *engine.View, p wire.AskParams) (took time.Duration, asked bool, err error) {
	began := time.Now()
	r, err := asker.Ask(ctx, v, p, func(e engine.Event) {
		if took == 0 && e.Text != "" {
			took = time.Since(began)
		}
	})
	switch {
	case err != nil:
		return 0, false, err
	case r.Notice != "":
		return 0, false, errors.New(r.Notice)
	case r.Metrics.CacheHit:
		return 0, false, errors.New("it was asked before")
	}
	return took, !r.NoAnswer, nil
}

// cancelAll cancels a question again and again while the model writes.
func cancelAll(ctx context.Context, asker *assist.Asker, v *engine.View, server *llmtest.Server, question string) ([]time.Duration, error) {
	var all []time.Duration
	for i := range cancellations {
		begun := make(chan struct{})
		server.SetReply(func(w *llmtest.Writer, _ llmtest.Request) {
			if i%2 == 1 {
				w.Text("The beginning ")
			}
			close(begun)
			w.Hang()
		})
		asking, cancel := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() {
			_, err := asker.Ask(asking, v, wire.AskParams{SearchParams: wire.SearchParams{Query: question}}, nil)
			ended <- err
		}()
		select {
		case <-begun:
		case err := <-ended:
			cancel()
			return nil, fmt.Errorf("the model was not asked: %w", err)
		}
		began := time.Now()
		cancel()
		select {
		case <-server.Gone:
			all = append(all, time.Since(began))
		case <-time.After(10 * time.Second):
			return nil, errors.New("10 s after it was cancelled the server is still read")
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			return nil, fmt.Errorf("a cancelled question ended with %w", err)
		}
	}
	return all, nil
}

// rows are those of a language model.
func (w writtenFigures) rows() []row {
	return []row{
		{what: "question to a language model's first text, without the model, p50", ours: w.First.P50, worstOurs: w.First.P95, hasOursP95: true, unit: "ms", most: maxFirstText, note: fmt.Sprintf("%d answers", w.Asked)},
		{what: "cancelling to the language model's server seeing it, p50", ours: w.Cancelled.P50, worstOurs: w.Cancelled.P95, hasOursP95: true, unit: "ms", most: maxCancel},
	}
}
