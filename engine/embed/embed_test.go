package embed_test

import (
	"math"
	"slices"
	"testing"

	"coderag-ls/engine/embed"
)

func TestPathText(t *testing.T) {
	for path, want := range map[string]string{
		"":                              "",
		"/":                             "",
		"src/UserStore_test.go":         "src User Store test go",
		"a/b-c/HTTPServer.java":         "a b c HTTP Server java",
		"lib/userID2Name.ts":            "lib user ID2Name ts",
		`win\Path.cs`:                   "win Path cs",
		".github/workflows/ci.yml":      "github workflows ci yml",
		"docs/Überblick/naïve café.md":  "docs Überblick naïve café md",
		"README":                        "README",
		"bad\xffname//x":                "bad\xffname x",
		"Makefile.am":                   "Makefile am",
		"__init__.py":                   "init py",
		"src/Data/Aeson/Types/FromJSON": "src Data Aeson Types From JSON",
	} {
		if got := embed.PathText(path); got != want {
			t.Errorf("PathText(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestCombine(t *testing.T) {
	content, path := []float32{3, 0, 0}, []float32{0, 2, 0}
	for _, c := range []struct {
		name   string
		path   []float32
		weight float32
		want   []float32
	}{
		{"weighted", path, 2, []float32{0.6, 0.8, 0}},
		{"no weight", path, 0, []float32{1, 0, 0}},
		{"no path", nil, 2, []float32{1, 0, 0}},
		{"another dimension", []float32{1}, 2, []float32{1, 0, 0}},
	} {
		got := embed.Combine(content, c.path, c.weight)
		for i := range got {
			if math.Abs(float64(got[i]-c.want[i])) > 1e-6 {
				t.Errorf("%s: got %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
	if !slices.Equal(content, []float32{3, 0, 0}) || !slices.Equal(path, []float32{0, 2, 0}) {
		t.Errorf("inputs were changed: %v, %v", content, path)
	}
	if got := embed.Combine(make([]float32, 3), path, 1); !slices.Equal(got, []float32{0, 1, 0}) {
		t.Errorf("content without words: %v, want the path's direction", got)
	}
}

func TestNormalize(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		in, want []float32
		norm     float32
	}{
		{[]float32{3, 4}, []float32{0.6, 0.8}, 5},
		{[]float32{0, 0}, []float32{0, 0}, 0},
		{[]float32{nan, 1}, []float32{0, 0}, 0},
		{[]float32{1, inf}, []float32{0, 0}, 0},
		// The sum of squares is outside float32's range, the result is not.
		{[]float32{3e25, 4e25}, []float32{0.6, 0.8}, 5e25},
		{[]float32{3e-30, 4e-30}, []float32{0.6, 0.8}, 5e-30},
		{nil, nil, 0},
	} {
		got := slices.Clone(c.in)
		if norm := embed.Normalize(got); math.Abs(float64(norm-c.norm)) > 1e-6*float64(c.norm) || !slices.Equal(got, c.want) {
			t.Errorf("Normalize(%v) = %g, %v, want %g, %v", c.in, norm, got, c.norm, c.want)
		}
	}
}

func TestCosine(t *testing.T) {
	for _, c := range []struct {
		a, b []float32
		want float32
	}{
		{[]float32{1, 0}, []float32{5, 0}, 1},
		{[]float32{1, 0}, []float32{-2, 0}, -1},
		{[]float32{1, 0}, []float32{0, 3}, 0},
		{[]float32{1, 0}, []float32{0, 0}, 0},
		{[]float32{1, 0}, []float32{1}, 0},
		{[]float32{float32(math.NaN()), 0}, []float32{1, 0}, 0},
		{nil, nil, 0},
	} {
		if got := embed.Cosine(c.a, c.b); got != c.want {
			t.Errorf("Cosine(%v, %v) = %g, want %g", c.a, c.b, got, c.want)
		}
	}
}

// TestQuantizeKeepsDirection: what is stored points where the vector does.
func TestQuantizeKeepsDirection(t *testing.T) {
	v := make([]float32, 256)
	for i := range v {
		v[i] = float32(math.Sin(float64(i * i)))
	}
	scale, values := embed.Quantize(v)
	back := make([]float32, len(v))
	for i, x := range values {
		back[i] = scale * float32(x)
	}
	if got := embed.Cosine(v, back); got < 0.9999 {
		t.Errorf("cosine %g after quantisation", got)
	}
}
