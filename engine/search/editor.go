package search

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"coderag-ls/engine/index"
)

// Editor is what the editor that asks knows of its user, beside the document
// that is looked at. The zero value is that of who has none.
type Editor struct {
	// Open are the workspace paths of the documents that are open.
	Open []string
	// Edited tells when files were worked on last.
	Edited Edited
}

// Edited tells when files were worked on last.
type Edited struct {
	// Day is the day that it is, in days since 1970: ages are counted from its
	// end, so that a result is the same all day.
	Day int64
	// Version changes whenever At may tell something else.
	Version int64
	// At is when a file was edited last, the zero time where that is long ago or
	// not known; nil where nothing is known.
	At func(*index.File) time.Time `json:"-"`
}

// Importance tells how central files are among all, 1 for one like any other
// (graph.Centrality).
type Importance func(path string) float64

const (
	// What nearness to the user adds to a file's score, in its points (Features),
	// where search.proximity is 1. They are small beside what names and words add,
	// a few points: they decide between equals.
	sameFile   = 1.0
	sameDir    = 0.5
	openFile   = 0.3
	besideOpen = 0.2
	// justEdited is what a file edited today gains; halfLife is after how many
	// days half of it is left.
	justEdited = 0.3
	halfLife   = 3.0
	// leastRecent is the share of justEdited under which it is nothing.
	leastRecent = 0.1
	// perCentral is what a file gains per doubling of its centrality, where
	// search.centrality is 1.
	perCentral = 0.1
)

// placed is what the place of a file adds to its score, and why in words.
type placed struct {
	score float64
	why   []string
}

// placed tells what nearness to the user, recent work and centrality add to a
// file. Without a document and without open ones the first two are nothing: who
// asks from nowhere is told the same at any time.
func (r *ranking) placed(c *candidate) placed {
	var p placed
	set, in := r.in.Settings, r.in
	if in.Document != "" || len(in.Editor.Open) > 0 {
		if near, why := r.proximity(c.file); near > 0 && set.Proximity > 0 {
			p.score += set.Proximity * near
			p.why = append(p.why, why)
		}
		if recent, days := in.Editor.Edited.recency(c.file); recent > 0 && set.Recency > 0 {
			p.score += set.Recency * justEdited * recent
			p.why = append(p.why, "edited "+ago(days))
		}
	}
	if set.Centrality > 0 && in.Importance != nil {
		if central := in.Importance(c.file.Path); central > 1 {
			p.score += set.Centrality * perCentral * math.Log2(central)
			p.why = append(p.why, fmt.Sprintf("imported by much else (centrality %.1f)", central))
		}
	}
	return p
}

// proximity is how near a file is to what the user looks at.
func (r *ranking) proximity(f *index.File) (points float64, why string) {
	offer := func(p float64, w string) {
		if p > points {
			points, why = p, w
		}
	}
	in := r.in
	pkg := packageOf(f.Path)
	if in.Document != "" {
		switch {
		case in.Document == f.Path:
			offer(sameFile, "the open document")
		case packageOf(in.Document) == pkg:
			offer(sameDir, "beside the open document")
		}
	}
	for _, open := range in.Editor.Open {
		switch {
		case open == f.Path:
			offer(openFile, "open in the editor")
		case packageOf(open) == pkg:
			offer(besideOpen, "beside a file that is open")
		}
	}
	return points, why
}

// packageOf is the directory that a file's package is in. Java and its kin keep
// a package's tests in a tree beside the code's.
func packageOf(p string) string {
	dir := path.Dir(p)
	for _, kind := range [...]string{"/src/test/", "/src/main/"} {
		if before, after, ok := strings.Cut("/"+dir+"/", kind); ok {
			if lang, in, ok := strings.Cut(after, "/"); ok && slices.Contains([]string{"java", "kotlin", "scala", "groovy"}, lang) {
				return before + ":" + in
			}
		}
	}
	return dir
}

// recency is how recently a file was edited, from 1 for today to 0, and how many
// days ago.
func (e Edited) recency(f *index.File) (share float64, days int64) {
	if e.At == nil {
		return 0, 0
	}
	at := e.At(f)
	if at.IsZero() {
		return 0, 0
	}
	days = max(0, e.Day-DayOf(at))
	if share = math.Exp2(-float64(days) / halfLife); share < leastRecent {
		return 0, days
	}
	return share, days
}

// DayOf is the day of a time, in days since 1970 (UTC).
func DayOf(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }

func ago(days int64) string {
	switch days {
	case 0:
		return "today"
	case 1:
		return "yesterday"
	}
	return fmt.Sprintf("%d days ago", days)
}
