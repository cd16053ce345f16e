package onnx_test

import (
	"slices"
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/embed/onnx"
	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/onnxtest"
)

// TestTightTextsHaveOneVector: code that was indented, aligned or wrapped anew
// has the same vector, bit for bit; other code has another one.
func TestTightTextsHaveOneVector(t *testing.T) {
	forms := []string{
		"func read(file, mode) {\n\treturn open(file, mode)\n}",
		"func read( file,\n          mode ) {\r\n\r\n    return open(file,mode)   \r\n}\n\n",
		"func  read(file, mode) { return open (file, mode) }",
	}
	const other = "func read(file, mode) {\n\treturn open(mode, file)\n}"
	for name, dir := range map[string]func(testing.TB) string{
		"tiny":   func(t testing.TB) string { return onnxtest.Tiny(t, export.Int8) },
		"MiniLM": func(t testing.TB) string { return onnxtest.MiniLM(t, export.Int8) },
	} {
		t.Run(name, func(t *testing.T) {
			e := tiny(t, onnx.Options{ModelDir: dir(t)})
			vs, err := e.Embed(t.Context(), append(slices.Clone(forms), other))
			if err != nil {
				t.Fatal(err)
			}
			for i, form := range forms {
				if chunk.Tight(form) != chunk.Tight(forms[0]) {
					t.Errorf("%q is not the same when tight: %q", form, chunk.Tight(form))
				}
				if !slices.Equal(vs[i], vs[0]) {
					t.Errorf("%q has another vector", form)
				}
			}
			if slices.Equal(vs[len(forms)], vs[0]) {
				t.Error("other code has the same vector")
			}
		})
	}
}
