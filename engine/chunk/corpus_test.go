package chunk_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/engine/chunk"
)

// TestCorpus checks the chunks of the Go sources that every Go installation
// has, and of what CODERAG_CHUNK_CORPUS names: folders separated as in PATH.
func TestCorpus(t *testing.T) {
	c := chunk.New(chunk.Options{})
	defer c.Close()
	src := filepath.Join(goroot(t), "src")
	roots := []string{filepath.Join(src, "net"), filepath.Join(src, "go"), filepath.Join(src, "encoding")}
	if testing.Short() {
		roots = roots[2:]
	}
	roots = append(roots, filepath.SplitList(os.Getenv("CODERAG_CHUNK_CORPUS"))...)
	files, fallbacks := map[string]int{}, map[string]int{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			language, _ := languageOf(p)
			if language == "" {
				return nil
			}
			b, err := os.ReadFile(p)
			if err != nil || len(b) > 2<<20 {
				return nil
			}
			files[language]++
			content := strings.ToValidUTF8(string(b), "?")
			f := check(t, c, p, content)
			if f.Fallback != "" {
				fallbacks[language+": "+f.Fallback]++
				if f.Fallback == "parse errors" || f.Fallback == "deadline" {
					t.Logf("%s: %s", p, f.Fallback)
				}
			}
			if files[language]%10 == 0 && !strings.HasPrefix(content, "---") {
				checkShift(t, c, p, content)
			}
			return nil
		})
		if err != nil {
			t.Skipf("no sources: %v", err)
		}
	}
	t.Logf("files %v, fallbacks %v", files, fallbacks)
}
