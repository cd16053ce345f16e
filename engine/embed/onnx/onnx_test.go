package onnx_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"coderag-ls/engine/embed/onnx"
	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/modeldir"
	"coderag-ls/engine/embed/onnx/onnxtest"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(loadEnv); path != "" {
		loadAndReport(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// tiny opens the random model.
func tiny(t testing.TB, opts onnx.Options) *onnx.Embedder {
	t.Helper()
	opts.LibraryPath = onnxtest.Library(t)
	if opts.ModelDir == "" {
		opts.ModelDir = onnxtest.Tiny(t, export.Int8, export.FP32)
	}
	e, err := onnx.Open(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

func length(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// TestRealModelAgreesWithTheReference compares with vectors that an
// independent float64 implementation made.
func TestRealModelAgreesWithTheReference(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "reference.json"))
	if err != nil {
		t.Fatal(err)
	}
	var reference struct {
		Texts []struct {
			Text   string
			Vector []float32
		}
	}
	if err := json.Unmarshal(raw, &reference); err != nil || len(reference.Texts) < 20 {
		t.Fatal(len(reference.Texts), err)
	}
	var texts []string
	for _, r := range reference.Texts {
		texts = append(texts, r.Text)
	}
	for _, c := range []struct {
		variant   export.Variant
		mean, min float64
	}{{export.FP32, 0.999999, 0.999999}, {export.Int8, 0.996, 0.985}} {
		t.Run(string(c.variant), func(t *testing.T) {
			e, err := onnx.Open(context.Background(), onnx.Options{ModelDir: onnxtest.MiniLM(t, c.variant), Variant: string(c.variant), LibraryPath: onnxtest.Library(t)})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if m := e.Model(); m.Name != "all-MiniLM-L6-v2" || m.Dim != 384 || m.MaxTokens != 256 || len(m.Fingerprint) != 16 {
				t.Errorf("model %+v", m)
			}
			vectors, err := e.Embed(context.Background(), texts)
			if err != nil {
				t.Fatal(err)
			}
			mean, least := 0.0, 1.0
			for i, v := range vectors {
				cos := cosine(v, reference.Texts[i].Vector)
				mean += cos / float64(len(vectors))
				if cos < least {
					least = cos
				}
				if l := length(v); math.Abs(l-1) > 1e-5 {
					t.Errorf("text %d has length %v", i, l)
				}
			}
			t.Logf("cosine mean %.7f, least %.7f", mean, least)
			if mean < c.mean || least < c.min {
				t.Errorf("cosine mean %.6f, least %.6f; want %v and %v", mean, least, c.mean, c.min)
			}
		})
	}
}

func TestVectorsDependOnTheTextOnly(t *testing.T) {
	for _, variant := range []string{"int8", "fp32"} {
		t.Run(variant, func(t *testing.T) {
			e := tiny(t, onnx.Options{Variant: variant, Threads: 3})
			var texts []string
			for i := range 200 {
				texts = append(texts, fmt.Sprintf("open file %d %s", i, strings.Repeat("read writer ", i%9)))
			}
			all, err := e.Embed(context.Background(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range texts {
				one, err := e.Embed(context.Background(), []string{text})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(one[0], all[i]) {
					t.Fatalf("text %d differs alone and among others", i)
				}
				if math.Abs(length(one[0])-1) > 1e-5 {
					t.Fatalf("text %d has length %v", i, length(one[0]))
				}
			}
			if cosine(all[0], all[8]) > 0.99999 {
				t.Error("different texts have the same vector")
			}
		})
	}
}

func TestTextWithoutAKnownTokenIsZero(t *testing.T) {
	e := tiny(t, onnx.Options{})
	vectors, err := e.Embed(context.Background(), []string{"", " \n\t", "\xff\x00", "\u6f22", "open"})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vectors {
		if zero := length(v) == 0; len(v) != 16 || zero != (i < 4) {
			t.Errorf("text %d gives %v", i, v)
		}
	}
	if vectors, err := e.Embed(context.Background(), nil); err != nil || len(vectors) != 0 {
		t.Errorf("no texts give %v, %v", vectors, err)
	}
}

func TestLongTextIsCutAndWindowsHoldTheRest(t *testing.T) {
	e := tiny(t, onnx.Options{MaxTokens: 10})
	long := "open file read write open file read write func func func read open"
	vectors, err := e.Embed(context.Background(), []string{long, "open file read write open file read write"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(vectors[0], vectors[1]) {
		t.Error("a long text is not cut after its first 8 tokens")
	}
	windows := e.Windows(long)
	if len(windows) < 2 || !strings.HasPrefix(long, windows[0]) || !strings.HasSuffix(long, windows[len(windows)-1]) {
		t.Errorf("windows %q", windows)
	}
}

func TestFingerprintFollowsWhatChangesVectors(t *testing.T) {
	dir := onnxtest.Tiny(t, export.Int8, export.FP32)
	seen := map[string]string{}
	for name, opts := range map[string]onnx.Options{
		"int8": {}, "fp32": {Variant: "fp32"}, "shorter": {MaxTokens: 12},
	} {
		opts.ModelDir = dir
		f := tiny(t, opts).Model().Fingerprint
		if other, ok := seen[f]; ok {
			t.Errorf("%s and %s share the fingerprint %s", name, other, f)
		}
		seen[f] = name
	}
	if again := tiny(t, onnx.Options{ModelDir: dir, Threads: 3}).Model().Fingerprint; seen[again] != "int8" {
		t.Errorf("threads change the fingerprint to %s", again)
	}
}

func TestCancelledEmbedReturnsNothing(t *testing.T) {
	e := tiny(t, onnx.Options{Threads: 2})
	ctx, cancel := context.WithCancelCause(context.Background())
	texts := make([]string, 200_000)
	for i := range texts {
		texts[i] = "open file"
	}
	reason := errors.New("the user typed")
	go cancel(reason)
	vectors, err := e.Embed(ctx, texts)
	if !errors.Is(err, reason) || vectors != nil {
		t.Errorf("%d vectors, error %v", len(vectors), err)
	}
	if _, err := e.Embed(context.Background(), texts[:3]); err != nil {
		t.Errorf("after a cancelled call: %v", err)
	}
}

func TestCloseWhileEmbedding(t *testing.T) {
	e := tiny(t, onnx.Options{Threads: 2})
	texts := make([]string, 100_000)
	for i := range texts {
		texts[i] = "read file"
	}
	var calls sync.WaitGroup
	started := make(chan struct{}, 4)
	for range 4 {
		calls.Go(func() {
			started <- struct{}{}
			for {
				vectors, err := e.Embed(context.Background(), texts)
				if errors.Is(err, onnx.ErrClosed) {
					if vectors != nil {
						t.Error("vectors beside ErrClosed")
					}
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 4 {
		<-started
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	calls.Wait()
	if err := e.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := e.Embed(context.Background(), []string{"open"}); !errors.Is(err, onnx.ErrClosed) {
		t.Errorf("Embed after Close: %v", err)
	}
}

func TestDamagedModelIsNamed(t *testing.T) {
	library := onnxtest.Library(t)
	// rewrite changes the model file and, where fix is set, the manifest to match it.
	rewrite := func(t *testing.T, dir string, fix bool, change func([]byte) []byte) {
		path := filepath.Join(dir, "model-int8.onnx")
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, change(raw), 0o600); err != nil {
			t.Fatal(err)
		}
		if !fix {
			return
		}
		m, err := modeldir.ReadManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		if m.Variants["int8"], err = modeldir.Describe(context.Background(), path); err != nil {
			t.Fatal(err)
		}
		if err := m.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	truncate := func(b []byte) []byte { return b[:len(b)/2] }
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		is     error
		want   string
	}{
		"truncated": {func(t *testing.T, dir string) { rewrite(t, dir, false, truncate) }, onnx.ErrDamaged, "bytes instead of"},
		"one bit": {func(t *testing.T, dir string) {
			rewrite(t, dir, false, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		}, onnx.ErrDamaged, "SHA-256"},
		"built wrong":    {func(t *testing.T, dir string) { rewrite(t, dir, true, truncate) }, onnx.ErrDamaged, "model-int8.onnx"},
		"not ONNX":       {func(t *testing.T, dir string) { rewrite(t, dir, true, func([]byte) []byte { return []byte("<html>") }) }, onnx.ErrDamaged, "model-int8.onnx"},
		"model gone":     {func(t *testing.T, dir string) { remove(t, dir, "model-int8.onnx") }, onnx.ErrDamaged, "model-int8.onnx"},
		"vocabulary cut": {func(t *testing.T, dir string) { cut(t, dir, "vocab.txt") }, onnx.ErrDamaged, "vocab.txt"},
		"no manifest":    {func(t *testing.T, dir string) { remove(t, dir, "model.json") }, onnx.ErrNotInstalled, "coderag-ls model fetch"},
		"manifest cut":   {func(t *testing.T, dir string) { cut(t, dir, "model.json") }, onnx.ErrDamaged, "model.json"},
		"other shape": {func(t *testing.T, dir string) {
			m, err := modeldir.ReadManifest(dir)
			if err != nil {
				t.Fatal(err)
			}
			m.Dim = 17
			if err := m.Write(dir); err != nil {
				t.Fatal(err)
			}
		}, onnx.ErrDamaged, "model-int8.onnx"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := onnxtest.Tiny(t, export.Int8)
			c.damage(t, dir)
			e, err := onnx.Open(context.Background(), onnx.Options{ModelDir: dir, LibraryPath: library})
			if err == nil {
				e.Close()
			}
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v, want %v with %q and the path", err, c.is, c.want)
			}
		})
	}
	t.Run("window too long", func(t *testing.T) {
		_, err := onnx.Open(context.Background(), onnx.Options{ModelDir: onnxtest.Tiny(t), LibraryPath: library, MaxTokens: 512})
		if err == nil || !strings.Contains(err.Error(), "3 to 24") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("other variant", func(t *testing.T) {
		_, err := onnx.Open(context.Background(), onnx.Options{ModelDir: onnxtest.Tiny(t), LibraryPath: library, Variant: "fp32"})
		if !errors.Is(err, onnx.ErrNotInstalled) || !strings.Contains(err.Error(), "fp32") {
			t.Errorf("error %v", err)
		}
	})
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func cut(t *testing.T, dir, name string) {
	t.Helper()
	path := filepath.Join(dir, name)
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, st.Size()/2); err != nil {
		t.Fatal(err)
	}
}
