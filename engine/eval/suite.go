// Package eval measures retrieval and answers on suites of questions whose
// answers are known, and compares two runs. A suite is a folder with
// queries.jsonl, meta.json and repos/<repo>/; meta.json's checkouts names
// another folder than repos.
package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Place is a file, or some of its lines, that answers a question. Start and
// End are 1-based and inclusive, 0 for the whole file.
type Place struct {
	Path  string `json:"path"`
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
}

// Question is one line of queries.jsonl.
type Question struct {
	ID        string  `json:"id"`
	Query     string  `json:"query"`
	Repo      string  `json:"repo"`
	Project   string  `json:"project"` // groups several states of one repository
	Relevant  []Place `json:"relevant"`
	Secondary []Place `json:"secondary"`
	Category  string  `json:"category"`
	Language  string  `json:"language"`
	// Absent says that the repository has nothing that answers the question: the
	// right thing to do is to say so. Such a question has no Relevant.
	Absent bool `json:"absent,omitempty"`
}

// project is what the question's results are averaged by.
func (q *Question) project() string {
	if q.Project != "" {
		return q.Project
	}
	return q.Repo
}

// Suite is a folder of questions and the repositories that they are asked of.
type Suite struct {
	Name      string
	Dir       string
	Questions []Question
	// roots limits what is indexed, by project or repository; "" for all.
	roots map[string]string
	// checkouts holds the repositories.
	checkouts string
}

// Load reads a suite.
func Load(dir string) (*Suite, error) {
	s := &Suite{Name: filepath.Base(filepath.Clean(dir)), Dir: dir, roots: map[string]string{}}
	meta, err := os.ReadFile(filepath.Join(dir, "meta.json"))
	if err != nil {
		return nil, fmt.Errorf("reading the suite %s: %w", dir, err)
	}
	var m struct {
		Checkouts string `json:"checkouts"`
		Repos     map[string]struct {
			Root *string `json:"root"`
		} `json:"repos"`
	}
	if err := json.Unmarshal(meta, &m); err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Join(dir, "meta.json"), err)
	}
	s.checkouts = filepath.Join(dir, "repos")
	if m.Checkouts != "" {
		s.checkouts = filepath.Join(dir, filepath.FromSlash(m.Checkouts))
	}
	for name, r := range m.Repos {
		if r.Root != nil {
			s.roots[name] = strings.Trim(filepath.ToSlash(*r.Root), "/")
		}
	}
	path := filepath.Join(dir, "queries.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the suite %s: %w", dir, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var q Question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("reading %s, line %d: %w", path, n, err)
		}
		if q.Repo == "" || !filepath.IsLocal(filepath.FromSlash(q.Repo)) {
			return nil, fmt.Errorf("reading %s, line %d: %q is not the name of a repository", path, n, q.Repo)
		}
		if q.Absent && len(q.Relevant)+len(q.Secondary) > 0 {
			return nil, fmt.Errorf("reading %s, line %d: question %s is absent and has answers", path, n, q.ID)
		}
		s.Questions = append(s.Questions, q)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return s, nil
}

// Checkout is the directory of a repository.
func (s *Suite) Checkout(repo string) string {
	return filepath.Join(s.checkouts, filepath.FromSlash(repo))
}

// Root is the slash path, relative to the checkout, of the folder of a
// question's repository that is indexed; "" for all of it.
func (s *Suite) Root(q *Question) string { return s.roots[q.project()] }

// places are the places of a question whose files exist.
func (s *Suite) places(q *Question) ([]Place, error) {
	var out []Place
	for _, p := range append(append([]Place{}, q.Relevant...), q.Secondary...) {
		_, err := os.Stat(filepath.Join(s.Checkout(q.Repo), filepath.FromSlash(p.Path)))
		switch {
		case err == nil:
			out = append(out, p)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("looking at an answer of question %s: %w", q.ID, err)
		}
	}
	return out, nil
}
