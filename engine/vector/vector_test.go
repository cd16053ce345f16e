package vector_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/vector"
)

// dims covers single values, both sides of the padding and the models' sizes.
var dims = []int{1, 2, 31, 32, 33, 63, 64, 65, 100, 127, 128, 256, 384, 1000}

// matrix fills n rows with values over the whole int8 range, extremes included.
func matrix(t testing.TB, rnd *rand.Rand, n, dim int) *vector.Matrix {
	t.Helper()
	b, err := vector.NewBuilder(dim, n)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]int8, dim)
	for range n {
		mode := rnd.IntN(4)
		for i := range values {
			switch mode {
			case 0:
				values[i] = 127
			case 1:
				values[i] = -128
			default:
				values[i] = int8(rnd.IntN(256) - 128)
			}
		}
		if err := b.Append(float32(rnd.IntN(5))/4, values); err != nil {
			t.Fatal(err)
		}
	}
	return b.Matrix()
}

func random(rnd *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rnd.NormFloat64())
	}
	return v
}

// extreme is a vector whose quantised values are all 127 or -127.
func extreme(rnd *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(1 - 2*rnd.IntN(2))
	}
	return v
}

// expected is the definition of a search: all scores, sorted.
func expected(parts []vector.Part, v []float32, k int) []vector.Hit {
	qs, qv := vector.Quantize(v)
	var hits []vector.Hit
	for p, part := range parts {
		for row := range part.Matrix.Len() {
			if part.Live != nil && !part.Live.Has(row) || part.Keep != nil && !part.Keep(row) {
				continue
			}
			scale, values := part.Matrix.Row(row)
			var dot int64
			for i, x := range values {
				dot += int64(x) * int64(qv[i])
			}
			hits = append(hits, vector.Hit{Part: p, Row: row, Score: float32(dot) * scale * qs})
		}
	}
	slices.SortFunc(hits, func(a, b vector.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Row, b.Row))
	})
	return hits[:min(k, len(hits))]
}

// TestC6SearchIsExact compares every kernel and worker count with the
// definition, over parts of odd sizes, filters and k beyond the rows.
func TestC6SearchIsExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, kernel := range vector.Kernels() {
		for _, dim := range dims {
			var parts []vector.Part
			for i, n := range []int{0, 1, 7, 64, 1023, 1025, 2500} {
				p := vector.Part{Matrix: matrix(t, rnd, n, dim)}
				switch i % 3 {
				case 1:
					p.Live = vector.NewBitmap(n)
					for row := range n {
						if rnd.IntN(3) == 0 {
							p.Live.Set(row)
						}
					}
				case 2:
					p.Keep = func(row int) bool { return row%5 != 2 }
				}
				parts = append(parts, p)
			}
			parts = append(parts, vector.Part{})
			for _, v := range [][]float32{random(rnd, dim), extreme(rnd, dim)} {
				q, err := kernel.NewQuery(v)
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range []int{0, 1, 10, 10_000} {
					want := expected(parts, v, k)
					for _, workers := range []int{1, 3} {
						got := vector.Searcher{Workers: workers}.Search(parts, q, k)
						if !slices.Equal(got, want) {
							t.Fatalf("%v, dim %d, k %d, %d workers: result differs from the definition", kernel, dim, k, workers)
						}
					}
				}
			}
		}
	}
}

// TestC6WorkersAgree uses a matrix large enough that several workers run.
func TestC6WorkersAgree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	parts := []vector.Part{{Matrix: matrix(t, rnd, 30_000, 384)}, {Matrix: matrix(t, rnd, 5_000, 384)}}
	v := random(rnd, 384)
	q, err := vector.NewQuery(v)
	if err != nil {
		t.Fatal(err)
	}
	want := expected(parts, v, 40)
	for _, workers := range []int{0, 1, 2, 3, 8} {
		if got := (vector.Searcher{Workers: workers}).Search(parts, q, 40); !slices.Equal(got, want) {
			t.Errorf("%d workers: result differs from the definition", workers)
		}
	}
}

func TestTiesAreInRowOrder(t *testing.T) {
	b, _ := vector.NewBuilder(2, 0)
	for range 3000 {
		if err := b.AppendFloat32([]float32{1, 0}); err != nil {
			t.Fatal(err)
		}
	}
	q, _ := vector.NewQuery([]float32{1, 1})
	for i, h := range b.Matrix().Scan(q, 20, nil) {
		if h.Row != i {
			t.Fatalf("hit %d is row %d", i, h.Row)
		}
	}
}

func TestNothingToFind(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	m := matrix(t, rnd, 100, 8)
	q, _ := vector.NewQuery(random(rnd, 8))
	zero, err := vector.NewQuery(make([]float32, 8))
	if err != nil || !zero.Zero() {
		t.Fatalf("zero query: %v, Zero() = %t", err, zero.Zero())
	}
	var none *vector.Matrix
	for name, hits := range map[string][]vector.Hit{
		"all filtered":      m.Scan(q, 10, vector.NewBitmap(100)),
		"bitmap too short":  m.Scan(q, 10, vector.Bitmap{}),
		"zero query":        m.Scan(zero, 10, nil),
		"nil matrix":        none.Scan(q, 10, nil),
		"no parts":          vector.Search(nil, q, 10),
		"negative k":        m.Scan(q, -1, nil),
		"negative, rescore": vector.Searcher{Rescore: func(vector.Hit) float32 { return 1 }}.Search([]vector.Part{{Matrix: m}}, q, -1),
	} {
		if len(hits) != 0 {
			t.Errorf("%s: %d hits", name, len(hits))
		}
	}
	if got := m.Scan(q, 200, vector.FullBitmap(200)); len(got) != 100 {
		t.Errorf("bitmap longer than the matrix: %d hits, want 100", len(got))
	}
}

// TestRescore lets a hook reverse the order of the candidates.
func TestRescore(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	m := matrix(t, rnd, 500, 64)
	q, _ := vector.NewQuery(random(rnd, 64))
	plain := m.Scan(q, 30, nil)
	s := vector.Searcher{Candidates: 30, Rescore: func(h vector.Hit) float32 { return -h.Score }}
	got := s.Search([]vector.Part{{Matrix: m}}, q, 5)
	if len(got) != 5 || got[0].Score != -plain[29].Score {
		t.Errorf("got %v, want the worst of the 30 candidates first", got)
	}
}

func TestScoresAndDot(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for _, dim := range dims {
		m := matrix(t, rnd, 700, dim)
		rows := make([]int32, 600)
		for i := range rows {
			rows[i] = int32(rnd.IntN(700))
		}
		v := extreme(rnd, dim)
		want := make(map[int]float32)
		for _, h := range expected([]vector.Part{{Matrix: m}}, v, 700) {
			want[h.Row] = h.Score
		}
		for _, kernel := range vector.Kernels() {
			q, _ := kernel.NewQuery(v)
			got := m.Scores(nil, q, rows)
			for i, r := range rows {
				if got[i] != want[int(r)] || m.Dot(q, int(r)) != want[int(r)] {
					t.Fatalf("%v, dim %d, row %d: Scores %g, Dot %g, want %g", kernel, dim, r, got[i], m.Dot(q, int(r)), want[int(r)])
				}
			}
		}
	}
}

func TestScoreApproximatesCosine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	unit := func() []float32 {
		v := random(rnd, 256)
		var s float64
		for _, x := range v {
			s += float64(x) * float64(x)
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(s))
		}
		return v
	}
	for range 200 {
		a, b := unit(), unit()
		var cos float64
		for i := range a {
			b[i] = (a[i] + b[i]) / 2
			cos += float64(a[i]) * float64(b[i])
		}
		builder, _ := vector.NewBuilder(256, 1)
		if err := builder.AppendFloat32(b); err != nil {
			t.Fatal(err)
		}
		q, _ := vector.NewQuery(a)
		if got := builder.Matrix().Dot(q, 0); math.Abs(float64(got)-cos) > 0.01 {
			t.Fatalf("score %g, cosine %g", got, cos)
		}
	}
}

func TestQuantize(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		name   string
		in     []float32
		scale  float32
		values []int8
	}{
		{"range", []float32{-2, 0, 1, 2}, 2 / float32(127), []int8{-127, 0, 64, 127}},
		{"empty", nil, 0, []int8{}},
		{"zero", []float32{0, 0}, 0, []int8{0, 0}},
		{"infinite", []float32{1, inf}, 0, []int8{0, 0}},
		{"negative infinite", []float32{-inf, 1}, 0, []int8{0, 0}},
		{"NaN", []float32{nan, 1}, 0, []int8{0, 0}},
		{"NaN last", []float32{1, nan}, 0, []int8{0, 0}},
		{"too small", []float32{1e-44, 0}, 0, []int8{0, 0}},
		{"largest", []float32{math.MaxFloat32, -math.MaxFloat32}, math.MaxFloat32 / 127, []int8{127, -127}},
	} {
		scale, values := vector.Quantize(c.in)
		if scale != c.scale || !slices.Equal(values, c.values) {
			t.Errorf("%s: got %g %v, want %g %v", c.name, scale, values, c.scale, c.values)
		}
	}
}

func TestRowsComeBack(t *testing.T) {
	b, _ := vector.NewBuilder(3, 0)
	if err := b.Append(0.5, []int8{1, -2, 3}); err != nil {
		t.Fatal(err)
	}
	if err := b.AppendFloat32([]float32{127, 0, -127}); err != nil {
		t.Fatal(err)
	}
	m := b.Matrix()
	if m.Len() != 2 || m.Dim() != 3 || b.Len() != 0 {
		t.Fatalf("Len %d, Dim %d, builder %d", m.Len(), m.Dim(), b.Len())
	}
	if got := m.AppendRow(nil, 0); !slices.Equal(got, []float32{0.5, -1, 1.5}) {
		t.Errorf("row 0 is %v", got)
	}
	if scale, values := m.Row(1); scale != 1 || !slices.Equal(values, []int8{127, 0, -127}) {
		t.Errorf("row 1 is %g %v", scale, values)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	for _, dim := range []int{0, -1, vector.MaxDim + 1} {
		if _, err := vector.NewBuilder(dim, 0); err == nil || !strings.Contains(err.Error(), fmt.Sprint(dim)) {
			t.Errorf("NewBuilder(%d): %v", dim, err)
		}
	}
	b, _ := vector.NewBuilder(2, 0)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, err := range []error{
		b.Append(1, []int8{1}), b.Append(nan, []int8{1, 2}), b.Append(inf, []int8{1, 2}), b.Append(-1, []int8{1, 2}), b.AppendFloat32([]float32{1, 2, 3}),
	} {
		if err == nil {
			t.Error("a bad row was taken")
		}
	}
	if b.Len() != 0 {
		t.Errorf("refused rows were kept: %d", b.Len())
	}
	for _, v := range [][]float32{nil, {1, nan}, {inf}, make([]float32, vector.MaxDim+1)} {
		if _, err := vector.NewQuery(v); err == nil {
			t.Errorf("query of %d values was taken", len(v))
		}
	}
}

func TestBitmap(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 200} {
		if got := vector.FullBitmap(n).Count(); got != n {
			t.Errorf("FullBitmap(%d) has %d rows", n, got)
		}
	}
	b := vector.NewBitmap(70)
	b.Set(69)
	b.Set(3)
	b.Clear(3)
	if !b.Has(69) || b.Has(3) || b.Has(1000) || b.Count() != 1 {
		t.Errorf("bitmap is %b", b)
	}
}
