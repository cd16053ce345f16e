package lsp

import (
	"path/filepath"
	"strings"

	"coderag-ls/engine/file"
)

// classified is how much of a text tells its language.
const classified = 16 << 10

// linguistName is the linguist name of the document's language, in lower case;
// "" where none is known. The editor's choice comes before the file's name.
func (d *document) linguistName() string {
	if name, ok := languageIDs()[d.language]; ok {
		return name
	}
	if d.path == "" {
		return strings.ToLower(d.language)
	}
	content := d.text.Content()
	class, _, _ := file.Classify(filepath.Base(d.path), content[:min(len(content), classified)])
	if class.Language != "" {
		return class.Language
	}
	return strings.ToLower(d.language)
}

// languageIDs maps the language ids of LSP and the file types of Vim to
// linguist names where they differ.
func languageIDs() map[string]string {
	return map[string]string{
		"bat": "batchfile", "dosbatch": "batchfile", "cpp": "c++", "cs": "c#", "csharp": "c#", "cuda-cpp": "cuda",
		"fsharp": "f#", "objc": "objective-c", "objective-cpp": "objective-c++", "objcpp": "objective-c++",
		"javascriptreact": "javascript", "typescriptreact": "tsx", "javascript.jsx": "javascript", "typescript.tsx": "tsx",
		"shellscript": "shell", "sh": "shell", "bash": "shell", "zsh": "shell", "ps1": "powershell",
		"make": "makefile", "latex": "tex", "plaintex": "tex", "bibtex": "tex", "plaintext": "", "text": "",
		"viml": "vim script", "vim": "vim script", "vb": "visual basic .net", "proto": "protocol buffer", "proto3": "protocol buffer",
		"lisp": "common lisp", "elisp": "emacs lisp", "rst": "restructuredtext", "quarto": "markdown", "mdx": "markdown",
		"jsonc": "json with comments", "perl6": "raku", "dockercompose": "yaml", "git-commit": "", "gitcommit": "", "git-rebase": "", "gitrebase": "",
		"golang": "go", "py": "python", "rs": "rust", "kt": "kotlin", "terraform-vars": "hcl", "tf": "hcl",
	}
}
