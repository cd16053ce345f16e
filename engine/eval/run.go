package eval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
)

// Hit is a place that an engine found. Path is relative to the folder that the
// engine was opened for.
type Hit struct {
	Path      string `json:"path"`
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	// Why are the engine's reasons for its place in the list.
	Why []string `json:"why,omitempty"`
}

// Answer is what an engine says to a question.
type Answer struct {
	Citations []Hit // in order of appearance
	// Refused says that the engine found nothing relevant.
	Refused bool
}

// Engine is what is measured.
type Engine interface {
	// Search returns at most k hits, best first.
	Search(ctx context.Context, query string, k int) ([]Hit, error)
	// Ask answers a question.
	Ask(ctx context.Context, query string) (Answer, error)
	Close() error
}

// Open opens an engine for a folder and returns when its index is complete.
type Open func(ctx context.Context, dir string) (Engine, error)

// Options of a run.
type Options struct {
	// Answers measures answers beside the search. Questions whose answer is not
	// there are asked in any case.
	Answers bool
	// Progress is called after each repository. May be nil.
	Progress func(suite, repo string, done, total int)
}

// Report is what the command prints.
type Report struct {
	Suites []SuiteReport `json:"suites"`
}

// SuiteReport are the means of one suite. All but NDCG10 are means over the
// questions that have an answer, Refused over those that have none.
type SuiteReport struct {
	Name    string `json:"name"`
	Queries int    `json:"queries"`
	LeftOut int    `json:"leftOut"` // none of their files exist
	// Missing are the repositories that are not there; their questions are left out.
	Missing []string `json:"missing,omitempty"`
	// NDCG10 is the mean over the projects of each one's mean, by file.
	NDCG10      float64 `json:"ndcg10"`
	NDCG10Query float64 `json:"ndcg10Query"`
	// NDCG10Chunk ranks chunks without leaving out further ones of a file.
	NDCG10Chunk float64 `json:"ndcg10Chunk"`
	MRR10       float64 `json:"mrr10"`
	Recall1     float64 `json:"recall1"`
	Recall5     float64 `json:"recall5"`
	Recall10    float64 `json:"recall10"`
	// The questions whose answers have lines, and the shares of them where one of
	// the first ten hits, the first citation, one of the first three citations
	// overlaps those lines.
	LineQueries    int      `json:"lineQueries,omitempty"`
	Lines10        *float64 `json:"lines10,omitempty"`
	CitationLines1 *float64 `json:"citationLines1,omitempty"`
	CitationLines3 *float64 `json:"citationLines3,omitempty"`
	Citations3     *float64 `json:"citations3,omitempty"` // share of answers with a right file among the first three citations
	NoAnswer       *float64 `json:"noAnswer,omitempty"`   // share of questions with an answer that were refused one
	// Absent is how many questions have no answer, Refused the share of them of
	// which that was said.
	Absent     int              `json:"absent,omitempty"`
	Refused    *float64         `json:"refused,omitempty"`
	ByCategory map[string]Group `json:"byCategory"`
	ByLanguage map[string]Group `json:"byLanguage"`
	ByProject  map[string]Group `json:"byProject"`
}

// Group are the means over some of the questions that have an answer.
type Group struct {
	Queries        int      `json:"queries"`
	NDCG10         float64  `json:"ndcg10"`
	MRR10          float64  `json:"mrr10"`
	Lines10        *float64 `json:"lines10,omitempty"`
	Citations3     *float64 `json:"citations3,omitempty"`
	CitationLines1 *float64 `json:"citationLines1,omitempty"`
	CitationLines3 *float64 `json:"citationLines3,omitempty"`
}

// Run runs a suite.
func Run(ctx context.Context, s *Suite, open Open, opts Options) (SuiteReport, []Score, error) {
	byRepo := map[string][]*Question{}
	for i := range s.Questions {
		q := &s.Questions[i]
		byRepo[q.Repo] = append(byRepo[q.Repo], q)
	}
	repos := make([]string, 0, len(byRepo))
	for r := range byRepo {
		repos = append(repos, r)
	}
	sort.Strings(repos)
	var scores []Score
	leftOut := 0
	var missing []string
	for i, repo := range repos {
		if _, err := os.Stat(s.Checkout(repo)); errors.Is(err, fs.ErrNotExist) {
			missing, leftOut = append(missing, repo), leftOut+len(byRepo[repo])
			continue
		}
		got, out, err := s.runRepo(ctx, repo, byRepo[repo], open, opts)
		if err != nil {
			return SuiteReport{}, nil, fmt.Errorf("measuring %s of suite %s: %w", repo, s.Name, err)
		}
		scores, leftOut = append(scores, got...), leftOut+out
		if opts.Progress != nil {
			opts.Progress(s.Name, repo, i+1, len(repos))
		}
	}
	r := Summary(scores)
	r.Name, r.LeftOut = s.Name, leftOut
	r.Missing = missing
	return r, scores, nil
}

// hitsAsked is how many hits are asked for: ten files must be among them.
const hitsAsked = 50

func (s *Suite) runRepo(ctx context.Context, repo string, questions []*Question, open Open, opts Options) (scores []Score, leftOut int, err error) {
	root := s.Root(questions[0])
	engine, err := open(ctx, filepath.Join(s.Checkout(repo), filepath.FromSlash(root)))
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if closeErr := engine.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("closing the engine: %w", closeErr)
		}
	}()
	for _, q := range questions {
		places, err := s.places(q)
		if err != nil {
			return nil, 0, err
		}
		if len(places) == 0 && !q.Absent {
			leftOut++
			continue
		}
		hits, err := engine.Search(ctx, q.Query, hitsAsked)
		if err != nil {
			return nil, 0, fmt.Errorf("searching for question %s: %w", q.ID, err)
		}
		score := judge(q, places, hits, root)
		if opts.Answers || q.Absent {
			answer, err := engine.Ask(ctx, q.Query)
			if err != nil {
				return nil, 0, fmt.Errorf("asking question %s: %w", q.ID, err)
			}
			score.judgeAnswer(places, answer, root)
		}
		scores = append(scores, score)
	}
	return scores, leftOut, nil
}
