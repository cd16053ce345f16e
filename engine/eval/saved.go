package eval

import (
	"encoding/json"
	"fmt"
	"os"
)

// savedFormat is the version of the file that a run is saved to.
const savedFormat = 1

// Saved is a run as it is kept in a file, to be compared with a later one.
type Saved struct {
	Format int          `json:"format"`
	Suites []SavedSuite `json:"suites"`
}

// SavedSuite is one suite of a saved run.
type SavedSuite struct {
	Report  SuiteReport `json:"report"`
	Results []Result    `json:"results"`
}

// Result is how one question did, with what was found and why.
type Result struct {
	ID       string  `json:"id"`
	Query    string  `json:"query"`
	Repo     string  `json:"repo"`
	Absent   bool    `json:"absent,omitempty"`
	Relevant []Place `json:"relevant,omitempty"` // secondary ones too
	// Measures are by name: ndcg10, ndcg10Chunk, mrr10, recall1, recall5, recall10;
	// lines10 where answers have lines; citations3, citationLines1,
	// citationLines3 and answered where it was asked; refused where there is no
	// answer. More is better in each.
	Measures  map[string]float64 `json:"measures"`
	Hits      []Hit              `json:"hits,omitempty"`      // the first ten
	Citations []Hit              `json:"citations,omitempty"` // the first three
}

// Save returns a suite's part of a saved run.
func Save(r SuiteReport, scores []Score) SavedSuite {
	out := SavedSuite{Report: r, Results: make([]Result, len(scores))}
	for i, s := range scores {
		out.Results[i] = s.result()
	}
	return out
}

func (s *Score) result() Result {
	q := s.Question
	r := Result{ID: q.ID, Query: q.Query, Repo: q.Repo, Absent: q.Absent, Hits: s.Hits, Citations: s.Citations}
	r.Relevant = append(append(r.Relevant, q.Relevant...), q.Secondary...)
	if q.Absent {
		r.Measures = map[string]float64{"refused": s.NoAnswer}
		return r
	}
	r.Measures = map[string]float64{
		"ndcg10": s.NDCG, "ndcg10Chunk": s.NDCGChunk, "mrr10": s.MRR,
		"recall1": s.Recall1, "recall5": s.Recall5, "recall10": s.Recall,
	}
	if s.HasLines {
		r.Measures["lines10"] = s.Lines10
	}
	if s.Asked {
		r.Measures["citations3"], r.Measures["answered"] = s.Citations3, 1-s.NoAnswer
	}
	if s.Asked && s.HasLines {
		r.Measures["citationLines1"], r.Measures["citationLines3"] = s.CitationLines1, s.CitationLines3
	}
	return r
}

// WriteSaved writes a run to a file. Not atomic: the file is the user's own.
func WriteSaved(path string, s Saved) error {
	s.Format = savedFormat
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return fmt.Errorf("encoding the run: %w", err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("saving the run: %w", err)
	}
	return nil
}

// ReadSaved reads a run that WriteSaved wrote.
func ReadSaved(path string) (Saved, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Saved{}, fmt.Errorf("reading a saved run: %w", err)
	}
	var s Saved
	if err := json.Unmarshal(data, &s); err != nil {
		return Saved{}, fmt.Errorf("reading the saved run %s: %w", path, err)
	}
	if s.Format != savedFormat {
		return Saved{}, fmt.Errorf("reading the saved run %s: its format is %d, not %d; save it again with this version", path, s.Format, savedFormat)
	}
	return s, nil
}
