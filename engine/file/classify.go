package file

import (
	"path"
	"strings"
)

// Classify says what kind of file a text is.
func Classify(p, content string) (Class, SkipReason, string) {
	ext := strings.ToLower(path.Ext(p))
	switch ext {
	case ".md", ".markdown", ".mdx":
		return Class{Language: "markdown", SourceType: Markdown}, "", ""
	case ".go":
		return Class{Language: "go", SourceType: Code}, "", ""
	case ".py":
		return Class{Language: "python", SourceType: Code}, "", ""
	case ".ts":
		return Class{Language: "typescript", SourceType: Code}, "", ""
	}
	return Class{SourceType: Text}, "", ""
}
