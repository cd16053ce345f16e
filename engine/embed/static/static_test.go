package static_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/static"
)

func model(t testing.TB) *static.Model {
	t.Helper()
	m, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestReference compares ids and vectors with those of the program that
// trained the table.
func TestReference(t *testing.T) {
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var reference []struct {
		Text   string
		IDs    []int32
		Vector []float32
	}
	if err := json.Unmarshal(data, &reference); err != nil {
		t.Fatal(err)
	}
	if len(reference) == 0 {
		t.Fatal("no reference texts")
	}
	m := model(t)
	for _, r := range reference {
		if got := m.Tokenize(nil, r.Text); !slices.Equal(got, r.IDs) {
			t.Errorf("%.40q: ids %v, want %v", r.Text, got, r.IDs)
		}
		got := m.Append(nil, r.Text)
		embed.Normalize(got)
		if far := distance(got, r.Vector); far > 1e-5 {
			t.Errorf("%.40q: vector is off by %g", r.Text, far)
		}
	}
}

// distance is the largest difference of two vectors' values.
func distance(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	far := 0.0
	for i := range a {
		far = max(far, math.Abs(float64(a[i]-b[i])))
	}
	return far
}

// TestLongTexts compares the fixed-point sums with float64 ones for texts with
// many pieces, far more than are counted or summed at a time.
func TestLongTexts(t *testing.T) {
	data, err := os.ReadFile("code-256.cesm")
	if err != nil {
		t.Fatal(err)
	}
	m := model(t)
	dim := m.Model().Dim
	n := int(binary.LittleEndian.Uint32(data[8:]))
	source, err := os.ReadFile("tokenize.go")
	if err != nil {
		t.Fatal(err)
	}
	everything := readParity(t, "testdata/parity.json.gz")
	var all strings.Builder
	for _, r := range everything.Rows {
		all.WriteString(r.text)
		all.WriteByte('\n')
	}
	for name, text := range map[string]string{
		"source":     string(source),
		"parity":     all.String(),
		"repetition": strings.Repeat("getUserName ", 50_000),
		"mixed":      strings.Repeat(string(source), 20) + all.String(),
	} {
		counts := make(map[int32]int)
		for _, id := range m.Tokenize(nil, text) {
			counts[id]++
		}
		want := make([]float64, dim)
		for id, c := range counts {
			w := math.Sqrt(float64(c)) * half(binary.LittleEndian.Uint16(data[20+2*id:]))
			row := data[20+2*n+int(id)*dim:][:dim]
			for d := range want {
				want[d] += w * float64(int8(row[d]))
			}
		}
		var norm float64
		for _, x := range want {
			norm += x * x
		}
		norm = math.Sqrt(norm)
		got := m.Append(nil, text)
		if len(got) != dim {
			t.Fatalf("%s: vector of %d values", name, len(got))
		}
		for d, x := range got {
			if diff := math.Abs(float64(x)-want[d]) / norm; diff > 2e-6 {
				t.Errorf("%s (%d pieces): value %d is off by %g of the length", name, len(counts), d, diff)
				break
			}
		}
	}
}

// half is the value of a normal, positive binary16.
func half(b uint16) float64 {
	if b < 1024 {
		return float64(b) * 0x1p-24
	}
	return math.Ldexp(1024+float64(b&1023), int(b>>10)-25)
}

// TestDefinition sums rows of a table small enough to do so by hand, with a
// dimension that is no multiple of eight.
func TestDefinition(t *testing.T) {
	m, err := static.Load("tiny", file(t, []string{"get", "user", "##s"}, 11))
	if err != nil {
		t.Fatal(err)
	}
	// Row i is i+1, i+2, ...; "getUsers GET" is get twice, user and ##s once.
	got := m.Append([]float32{42}, "getUsers GET unknown")
	want := []float32{42}
	for d := range 11 {
		want = append(want, float32(math.Sqrt2*float64(d+1)+float64(d+2)+float64(d+3)))
	}
	if distance(got, want) > 1e-4 {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTextWithoutPiecesIsZero(t *testing.T) {
	m := model(t)
	for _, text := range []string{"", " \n\t", "日本語", "98765432109876", "\xff\xfe", "{}();"} {
		if v := m.Append(nil, text); len(v) != m.Model().Dim || slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
			t.Errorf("%q: vector is not zero", text)
		}
	}
}

// TestConcurrentUse checks that texts embedded side by side do not leak into
// each other.
func TestConcurrentUse(t *testing.T) {
	m := model(t)
	texts := []string{"open the file", "parse an HTTP request", "", "class UserRepository extends Base", "def main(): pass"}
	want, err := m.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				got, err := m.Embed(t.Context(), texts)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range got {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("%q: vector differs between runs", texts[i])
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestEmbedGivesAllOrNothing(t *testing.T) {
	m := model(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := m.Embed(ctx, []string{"a", "b"}); v != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", v, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if v, err := m.Embed(t.Context(), []string{"a"}); v != nil || err == nil || !strings.Contains(err.Error(), "code-256") {
		t.Errorf("closed: %v, %v", v, err)
	}
}

func TestFingerprintTellsFilesApart(t *testing.T) {
	load := func(pieces ...string) embed.Model {
		m, err := static.Load("tiny", file(t, pieces, 4))
		if err != nil {
			t.Fatal(err)
		}
		return m.Model()
	}
	a, b, c := load("get", "user"), load("get", "user"), load("get", "users")
	if a != b || a.Fingerprint == c.Fingerprint || len(a.Fingerprint) != 16 {
		t.Errorf("fingerprints %q, %q, %q", a.Fingerprint, b.Fingerprint, c.Fingerprint)
	}
	if got := model(t).Model(); got.Name != "code-256" || got.Dim != 256 {
		t.Errorf("the model in the binary is %+v", got)
	}
}

// FuzzTokenize: any text, valid UTF-8 or not, gives numbers of pieces, the
// same for each part where it is split at a space.
func FuzzTokenize(f *testing.F) {
	for _, s := range []string{"getHTTPServer2", "ΑΣ İ", "\xff\xe6\x97", "x９9٣", "日本語ab"} {
		f.Add(s, "B"+s)
	}
	m := model(f)
	f.Fuzz(func(t *testing.T, a, b string) {
		got := m.Tokenize(nil, a+" "+b)
		if want := m.Tokenize(m.Tokenize(nil, a), b); !slices.Equal(got, want) {
			t.Errorf("%q and %q: %v together, %v apart", a, b, got, want)
		}
	})
}

// TestPathTextKeepsPieces: cutting a path into words for a model does not
// change what this one makes of it.
func TestPathTextKeepsPieces(t *testing.T) {
	m := model(t)
	for _, path := range []string{
		"src/main/java/org/apache/commons/lang3/StringUtils.java", "lib/HTTPServer2_test.go", "a/ABc1Def/x-y.d.ts", "docs/Überblick/naïve café.md", "v2/k8s/i18nUTF8.py", "",
	} {
		if got, want := m.Tokenize(nil, embed.PathText(path)), m.Tokenize(nil, path); !slices.Equal(got, want) {
			t.Errorf("%q: pieces %v, want %v", path, got, want)
		}
	}
}
