package search_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/index"
	"coderag-ls/engine/search"
	"coderag-ls/engine/search/searchtest"
)

// twins is a workspace of files that answer equally well.
func twins(t *testing.T, paths ...string) *searchtest.Workspace {
	files := map[string]string{}
	for _, p := range paths {
		files[p] = "def load_settings(path):\n    \"\"\"Read the settings.\"\"\"\n    return open(path).read()\n"
	}
	return searchtest.New(t, files)
}

// why are the reasons of the best hit.
func why(res search.Result) string { return strings.Join(res.Hits[0].Why, "; ") }

// TestEditorProximity: of equals the one near the document that is looked at
// comes first, then what is near open ones; it is said, and can be switched off.
func TestEditorProximity(t *testing.T) {
	w := twins(t, "a/config.py", "b/config.py", "c/config.py", "x/src/main/java/p/config.py", "y/src/main/java/p/config.py")
	for _, c := range []struct {
		document string
		open     []string
		first    string
		why      string
	}{
		{"c/config.py", nil, "c/config.py", "the open document"},
		{"b/other.py", nil, "b/config.py", "beside the open document"},
		{"", []string{"c/config.py"}, "c/config.py", "open in the editor"},
		{"", []string{"b/other.py"}, "b/config.py", "beside a file that is open"},
		{"y/src/test/java/p/test_config.py", nil, "y/src/main/java/p/config.py", "beside the open document"},
		{"b/other.py", []string{"c/config.py"}, "b/config.py", "beside the open document"}, // the one looked at counts more
	} {
		in := w.Input("how does load_settings read")
		in.Document, in.Editor.Open = c.document, c.open
		res := w.Search(in)
		if got := searchtest.Paths(in, res); len(got) != 5 || got[0] != c.first || !strings.Contains(why(res), c.why) {
			t.Errorf("from %q, open %v: %v because of %s; want %s, %s", c.document, c.open, got, why(res), c.first, c.why)
		}
		in.Settings.Proximity = 0
		if res := w.Search(in); searchtest.Paths(in, res)[0] != "a/config.py" || strings.Contains(why(res), "open") {
			t.Errorf("switched off, from %q: %v, %s", c.document, searchtest.Paths(in, res), why(res))
		}
	}
}

// TestEditorRecency: of equals the one that was edited last comes first, where
// an editor asks.
func TestEditorRecency(t *testing.T) {
	w := twins(t, "a/config.py", "b/config.py", "c/config.py")
	now := time.Now()
	in := w.Input("how does load_settings read")
	in.Editor.Open = []string{"elsewhere/README.md"}
	in.Editor.Edited = search.Edited{Day: search.DayOf(now), At: func(f *index.File) time.Time {
		switch f.Path {
		case "b/config.py":
			return now.Add(-5 * 24 * time.Hour)
		case "c/config.py":
			return now
		}
		return now.Add(-300 * 24 * time.Hour)
	}}
	res := w.Search(in)
	if got := searchtest.Paths(in, res); !slices.Equal(got, []string{"c/config.py", "b/config.py", "a/config.py"}) || !strings.Contains(why(res), "edited today") {
		t.Errorf("%v because of %s", got, why(res))
	}
	off := in
	off.Settings.Recency = 0
	if got := searchtest.Paths(off, w.Search(off)); got[0] != "a/config.py" {
		t.Errorf("switched off: %v", got)
	}
	// Who asks from nowhere is told the same whatever was edited.
	in.Editor.Open = nil
	if res := w.Search(in); searchtest.Paths(in, res)[0] != "a/config.py" || strings.Contains(why(res), "edited") {
		t.Errorf("without an editor: %v because of %s", searchtest.Paths(in, res), why(res))
	}
}

// TestCentralityIsOff: files that many others import are raised where the
// setting says so, which by default it does not.
func TestCentralityIsOff(t *testing.T) {
	w := twins(t, "a/config.py", "b/config.py")
	in := w.Input("how does load_settings read")
	in.Importance = func(path string) float64 {
		if path == "b/config.py" {
			return 8
		}
		return 1
	}
	if got := searchtest.Paths(in, w.Search(in)); got[0] != "a/config.py" {
		t.Errorf("by default: %v", got)
	}
	in.Settings.Centrality = 1
	res := w.Search(in)
	if got := searchtest.Paths(in, res); got[0] != "b/config.py" || !strings.Contains(why(res), "centrality 8.0") {
		t.Errorf("%v because of %s", got, why(res))
	}
}
