package eval

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"sort"
)

// Hit is a place that an engine found. Path is relative to the folder that the
// engine was opened for.
type Hit struct {
	Path               string
	StartLine, EndLine int
}

// Engine is what is measured.
type Engine interface {
	// Search returns at most k hits, best first.
	Search(ctx context.Context, query string, k int) ([]Hit, error)
	// Ask returns the citations of the answer, in order of appearance.
	Ask(ctx context.Context, query string) ([]Hit, error)
	Close() error
}

// Open opens an engine for a folder and returns when its index is complete.
type Open func(ctx context.Context, dir string) (Engine, error)

// Options of a run.
type Options struct {
	// Answers measures answers beside the search.
	Answers bool
	// Progress is called after each repository. May be nil.
	Progress func(suite, repo string, done, total int)
}

// Report is what the command prints.
type Report struct {
	Suites []SuiteReport `json:"suites"`
}

// SuiteReport are the means of one suite. All but NDCG10 are means over the
// questions.
type SuiteReport struct {
	Name    string `json:"name"`
	Queries int    `json:"queries"`
	LeftOut int    `json:"leftOut"` // none of their files exist
	// NDCG10 is the mean over the projects of each one's mean, by file.
	NDCG10      float64 `json:"ndcg10"`
	NDCG10Query float64 `json:"ndcg10Query"`
	// NDCG10Chunk ranks chunks without leaving out further ones of a file.
	NDCG10Chunk float64          `json:"ndcg10Chunk"`
	MRR10       float64          `json:"mrr10"`
	Recall5     float64          `json:"recall5"`
	Recall10    float64          `json:"recall10"`
	Citations3  *float64         `json:"citations3,omitempty"` // share of answers with a right file among the first three citations
	NoAnswer    *float64         `json:"noAnswer,omitempty"`   // share of answers without a citation
	ByCategory  map[string]Group `json:"byCategory"`
	ByLanguage  map[string]Group `json:"byLanguage"`
	ByProject   map[string]Group `json:"byProject"`
}

// Group are the means over some of the questions.
type Group struct {
	Queries    int      `json:"queries"`
	NDCG10     float64  `json:"ndcg10"`
	MRR10      float64  `json:"mrr10"`
	Citations3 *float64 `json:"citations3,omitempty"`
}

// Score is how one question did.
type Score struct {
	Question                              *Question
	NDCG, NDCGChunk, MRR, Recall5, Recall float64
	Citations3, NoAnswer                  float64
	Files                                 []string // ranked, relative to the checkout
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
	for i, repo := range repos {
		got, out, err := s.runRepo(ctx, repo, byRepo[repo], open, opts)
		if err != nil {
			return SuiteReport{}, nil, fmt.Errorf("measuring %s of suite %s: %w", repo, s.Name, err)
		}
		scores, leftOut = append(scores, got...), leftOut+out
		if opts.Progress != nil {
			opts.Progress(s.Name, repo, i+1, len(repos))
		}
	}
	r := report(scores, opts.Answers)
	r.Name, r.LeftOut = s.Name, leftOut
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
		if len(places) == 0 {
			leftOut++
			continue
		}
		hits, err := engine.Search(ctx, q.Query, hitsAsked)
		if err != nil {
			return nil, 0, fmt.Errorf("searching for question %s: %w", q.ID, err)
		}
		score := judge(q, places, hits, root)
		if opts.Answers {
			cited, err := engine.Ask(ctx, q.Query)
			if err != nil {
				return nil, 0, fmt.Errorf("asking question %s: %w", q.ID, err)
			}
			score.judgeAnswer(places, cited, root)
		}
		scores = append(scores, score)
	}
	return scores, leftOut, nil
}

func judge(q *Question, places []Place, hits []Hit, root string) Score {
	relevant := map[string]bool{}
	for _, p := range places {
		relevant[p.Path] = true
	}
	var files []string
	for _, h := range hits {
		files = append(files, path.Join(root, h.Path))
	}
	ranked := distinct(files)
	g := gains(ranked, relevant)
	s := Score{Question: q, Files: ranked}
	s.NDCG, s.MRR = NDCG(g, len(relevant)), MRR(g)
	s.Recall5, s.Recall = Recall(g, len(relevant), 5), Recall(g, len(relevant), cutoff)
	// By chunk, a place counts where the first chunk that overlaps it stands.
	first := make([]bool, len(hits))
	for _, p := range places {
		for i, h := range hits {
			if files[i] == p.Path && (p.Start == 0 || h.StartLine <= p.End && p.Start <= h.EndLine) {
				first[i] = true
				break
			}
		}
	}
	s.NDCGChunk = NDCG(first, len(places))
	return s
}

// citationsJudged is how many citations a reader is taken to look at.
const citationsJudged = 3

func (s *Score) judgeAnswer(places []Place, cited []Hit, root string) {
	if len(cited) == 0 {
		s.NoAnswer = 1
	}
	for _, c := range cited[:min(citationsJudged, len(cited))] {
		for _, p := range places {
			if path.Join(root, c.Path) == p.Path {
				s.Citations3 = 1
			}
		}
	}
}

// sum adds up scores.
type sum struct{ n, ndcg, chunk, mrr, r5, r10, cited, silent float64 }

func (a *sum) add(s *Score) {
	a.n++
	a.ndcg += s.NDCG
	a.chunk += s.NDCGChunk
	a.mrr += s.MRR
	a.r5 += s.Recall5
	a.r10 += s.Recall
	a.cited += s.Citations3
	a.silent += s.NoAnswer
}

func (a *sum) group(answers bool) Group {
	g := Group{Queries: int(a.n), NDCG10: a.ndcg / a.n, MRR10: a.mrr / a.n}
	if answers {
		c := a.cited / a.n
		g.Citations3 = &c
	}
	return g
}

func report(scores []Score, answers bool) SuiteReport {
	var all sum
	category, language, project := map[string]*sum{}, map[string]*sum{}, map[string]*sum{}
	add := func(m map[string]*sum, key string, s *Score) {
		if m[key] == nil {
			m[key] = &sum{}
		}
		m[key].add(s)
	}
	for i := range scores {
		s := &scores[i]
		all.add(s)
		add(category, s.Question.Category, s)
		add(language, s.Question.Language, s)
		add(project, s.Question.project(), s)
	}
	groups := func(m map[string]*sum) map[string]Group {
		out := make(map[string]Group, len(m))
		for key, s := range m {
			out[key] = s.group(answers)
		}
		return out
	}
	r := SuiteReport{Queries: len(scores), ByCategory: groups(category), ByLanguage: groups(language), ByProject: groups(project)}
	if len(scores) == 0 {
		return r
	}
	r.NDCG10Query, r.NDCG10Chunk, r.MRR10 = all.ndcg/all.n, all.chunk/all.n, all.mrr/all.n
	r.Recall5, r.Recall10 = all.r5/all.n, all.r10/all.n
	for _, s := range project {
		r.NDCG10 += s.ndcg / s.n
	}
	r.NDCG10 /= float64(len(project))
	if answers {
		cited, silent := all.cited/all.n, all.silent/all.n
		r.Citations3, r.NoAnswer = &cited, &silent
	}
	return r
}
