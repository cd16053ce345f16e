package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/modeldir"
	"coderag-ls/engine/embed/onnx/onnxtest"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp/lsptest"
)

// wantWithout fails unless a session with the settings answers with the
// embedded model and says in its notices why MiniLM is not used.
func wantWithout(t *testing.T, settings map[string]any, says ...string) {
	t.Helper()
	h := newHome(t)
	h.env = append(h.env, "CODERAG_EMBED_PROVIDER=auto")
	e := h.editWith(lsptest.Config{Folders: []string{workspace(t)}, InitializationOptions: map[string]any{"embed": settings}})
	wantQuokka(t, e, "")
	e.Sync(wire.SyncParams{Vectors: true}) // nothing may wait for a model that does not come
	st := state(t, e)
	if told := strings.Join(st.Notices, "\n"); !containsAll(told, append(says, "MiniLM is not used")) {
		t.Errorf("the notices are %q, want %q", st.Notices, says)
	}
	if st.Model.Embedder != "code-256" || st.Coverage.VectorsReady != 1 {
		t.Errorf("model %q, coverage %+v", st.Model.Embedder, st.Coverage)
	}
	if err := e.Shutdown(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

// describe rewrites a model directory's manifest for a changed model file.
func describe(t *testing.T, dir string, change func(m *modeldir.Manifest)) {
	t.Helper()
	m, err := modeldir.ReadManifest(dir)
	must(t, err)
	m.Variants[string(export.Int8)], err = modeldir.Describe(context.Background(), filepath.Join(dir, "model-int8.onnx"))
	must(t, err)
	change(&m)
	must(t, m.Write(dir))
}

func TestBadInputModelDirectory(t *testing.T) {
	t.Run("does not exist", func(t *testing.T) {
		missing := filepath.Join(t.TempDir(), "no model")
		wantWithout(t, map[string]any{"modelDir": missing}, missing)
	})
	t.Run("empty", func(t *testing.T) {
		dir := t.TempDir()
		wantWithout(t, map[string]any{"modelDir": dir}, dir)
	})
	t.Run("a file", func(t *testing.T) {
		path := filepath.Join(workspace(t), "zoo.go")
		wantWithout(t, map[string]any{"modelDir": path}, path)
	})
	t.Run("truncated manifest", func(t *testing.T) {
		dir := onnxtest.Tiny(t, export.Int8)
		must(t, os.Truncate(filepath.Join(dir, "model.json"), 20))
		wantWithout(t, map[string]any{"modelDir": dir}, dir, "model.json")
	})
	t.Run("without a library", func(t *testing.T) {
		dir := onnxtest.Tiny(t, export.Int8)
		missing := filepath.Join(dir, "libnothing.so")
		wantWithout(t, map[string]any{"modelDir": dir, "libraryPath": missing}, missing)
	})
}

func TestBadInputModelLibrary(t *testing.T) {
	dir := onnxtest.Tiny(t, export.Int8)
	t.Run("no library at all", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "libonnxruntime.so")
		write(t, path, "<html>not found</html>\n")
		wantWithout(t, map[string]any{"modelDir": dir, "libraryPath": path}, path)
	})
	t.Run("a library of something else", func(t *testing.T) {
		path := onnxtest.SharedLibrary(t, "int numbat(void) { return 1; }\n")
		wantWithout(t, map[string]any{"modelDir": dir, "libraryPath": path}, path)
	})
	t.Run("a truncated library", func(t *testing.T) {
		path := onnxtest.SharedLibrary(t, "int numbat(void) { return 1; }\n")
		must(t, os.Truncate(path, 4096))
		wantWithout(t, map[string]any{"modelDir": dir, "libraryPath": path}, path)
	})
	t.Run("an older one", func(t *testing.T) {
		path := onnxtest.SharedLibrary(t, `
			static const void *api(unsigned version) { (void)version; return 0; }
			static const char *version(void) { return "0.1.0"; }
			static const struct { const void *(*api)(unsigned); const char *(*version)(void); } base = { api, version };
			const void *OrtGetApiBase(void) { return &base; }
		`)
		wantWithout(t, map[string]any{"modelDir": dir, "libraryPath": path}, path)
	})
	t.Run("a folder", func(t *testing.T) {
		path := t.TempDir()
		wantWithout(t, map[string]any{"modelDir": dir, "libraryPath": path}, path)
	})
}

func TestBadInputModel(t *testing.T) {
	library := onnxtest.Library(t)
	for name, damage := range map[string]func(t *testing.T, dir string){
		"truncated": func(t *testing.T, dir string) { must(t, os.Truncate(filepath.Join(dir, "model-int8.onnx"), 500)) },
		"truncated as its manifest says": func(t *testing.T, dir string) {
			must(t, os.Truncate(filepath.Join(dir, "model-int8.onnx"), 500))
			describe(t, dir, func(*modeldir.Manifest) {})
		},
		"of another shape": func(t *testing.T, dir string) { describe(t, dir, func(m *modeldir.Manifest) { m.Dim = 17 }) },
		"gone":             func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "model-int8.onnx"))) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := onnxtest.Tiny(t, export.Int8)
			damage(t, dir)
			wantWithout(t, map[string]any{"modelDir": dir, "libraryPath": library}, filepath.Join(dir, "model-int8.onnx"))
		})
	}
}

// The command line says it too, and answers.
func TestBadInputModelOnTheCommandLine(t *testing.T) {
	h := newHome(t)
	h.env = append(h.env, "CODERAG_EMBED_PROVIDER=auto")
	dir, missing := workspace(t), filepath.Join(t.TempDir(), "no model")
	h.run("search", "--root", dir, "--embed.modelDir", missing, "Quokka").wants(0, "zoo.go", missing)
	h.run("status", "--root", dir, "--embed.modelDir", missing).wants(0, missing)
	h.run("doctor", "--root", dir, "--embed.modelDir", missing).wants(1, missing)
}
