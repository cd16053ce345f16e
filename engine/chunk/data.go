package chunk

import (
	"strconv"
	"strings"
)

// dataLanguage reports whether a language is one of keys and values, which are
// grouped by their outer keys.
func dataLanguage(language string) bool {
	switch language {
	case "yaml", "toml", "json", "json with comments", "jsonc", "json5", "ini", "xml", "svg", "properties", "java properties", "editorconfig", "git config", "gitconfig", "dotenv", "maven pom", "xml property list", "jsonl":
		return true
	}
	return false
}

// data cuts a file of keys and values: the outermost keys are grouped up to the
// size of a chunk, those too large are cut along the keys inside.
func (w *worker) data() {
	w.keys()
	w.enclose()
	w.pack()
}

// maxKeyDepth is how deep keys are looked at.
const maxKeyDepth = 6

// keys finds the keys that start a line, nested by their indentation.
func (w *worker) keys() {
	key := keyFinder(w.in.Class.Language)
	sections := w.in.Class.Language != "yaml" && strings.Contains("toml ini properties java properties editorconfig git config gitconfig dotenv", w.in.Class.Language)
	documents := w.in.Class.Language == "yaml" && strings.Contains(w.src.text, "\n---")
	type open struct{ def, indent int }
	var stack []open
	scalar := -1    // the indentation of a key whose value is the deeper lines as they are
	lastFilled := 0 // the last line that is not blank or a comment
	commentStart := 0
	closeTo := func(indent int, end int) {
		for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
			w.defs[stack[len(stack)-1].def].EndLine = end
			stack = stack[:len(stack)-1]
		}
	}
	for n := 1; n <= w.src.count(); n++ {
		line := w.src.line(n)
		text := strings.TrimLeft(line, " \t")
		if strings.TrimSpace(text) == "" {
			commentStart = 0
			continue
		}
		indent := 0
		for _, c := range []byte(line[:len(line)-len(text)]) {
			if indent++; c == '\t' {
				indent += 3
			}
		}
		if scalar >= 0 {
			if indent > scalar {
				lastFilled = n
				continue
			}
			scalar = -1
		}
		if w.syntax != nil && w.lineComment(text) {
			if commentStart == 0 {
				commentStart = n
			}
			continue
		}
		name, ok := key(text)
		section := sections && text[0] == '['
		if sections && !section {
			indent += 1000 // keys stand in the section before them
		}
		if section {
			indent = 0
		}
		if documents && (n == 1 || strings.HasPrefix(line, "---")) {
			closeTo(-1, lastFilled)
			d := def{parent: -1, head: n, document: true}
			d.Kind, d.NameLine, d.StartLine, d.EndLine = Block, n, n, n
			d.Name = "document " + strconv.Itoa(len(w.defs)+1)
			stack = append(stack, open{len(w.defs), -1})
			w.defs = append(w.defs, d)
		}
		if !ok {
			lastFilled, commentStart = n, 0
			continue
		}
		closeTo(indent, lastFilled)
		if len(stack) > 0 && w.defs[stack[0].def].document {
			nameDocument(&w.defs[stack[0].def], text, indent)
		}
		if len(stack) < maxKeyDepth {
			d := def{parent: -1, head: n}
			d.Kind, d.Name, d.NameLine, d.StartLine, d.EndLine = Block, strings.Clone(name), n, n, n
			d.Signature = strings.Clone(cutRunes(strings.TrimSpace(text), 80))
			if commentStart > 0 {
				d.StartLine = commentStart
			}
			if len(stack) > 0 {
				d.parent = stack[len(stack)-1].def
				d.Parent = w.defs[d.parent].path(".")
			}
			stack = append(stack, open{len(w.defs), indent})
			w.defs = append(w.defs, d)
		}
		lastFilled, commentStart = n, 0
		if w.in.Class.Language == "yaml" {
			if end := strings.TrimRight(text, " \t0123456789+-"); strings.HasSuffix(end, "|") || strings.HasSuffix(end, ">") {
				scalar = indent
			}
		}
	}
	closeTo(-1, lastFilled)
}

// nameDocument names one of several YAML documents after its kind and name, as
// Kubernetes has them.
func nameDocument(d *def, text string, indent int) {
	key, value, _ := strings.Cut(text, ":")
	value = strings.Trim(value, " \t\"'")
	switch {
	case value == "" || strings.Contains(d.Name, "/"):
	case key == "kind" && indent == 0:
		d.Name = strings.Clone(value)
	case key == "name" && indent > 0 && !strings.HasPrefix(d.Name, "document "):
		d.Name += "/" + value
	}
}

// keyFinder returns what reads the key at the start of a line without indentation.
func keyFinder(language string) func(text string) (string, bool) {
	switch language {
	case "yaml":
		return yamlKey
	case "json", "json with comments", "jsonc", "json5", "jsonl":
		return jsonKey
	case "xml", "svg", "maven pom", "xml property list":
		return xmlKey
	}
	return sectionKey
}

func yamlKey(text string) (string, bool) {
	text = strings.TrimPrefix(text, "- ")
	if text == "" || strings.IndexByte("{}[]|>&*!%@`#", text[0]) >= 0 {
		return "", false
	}
	if text[0] == '"' || text[0] == '\'' {
		if i := strings.IndexByte(text[1:], text[0]); i > 0 && strings.HasPrefix(text[i+2:], ":") {
			return text[1 : i+1], true
		}
		return "", false
	}
	i := strings.IndexByte(text, ':')
	if i <= 0 || i > 100 || i+1 < len(text) && text[i+1] != ' ' && text[i+1] != '\t' && text[i+1] != '\r' {
		return "", false
	}
	return strings.TrimSpace(text[:i]), true
}

func jsonKey(text string) (string, bool) {
	if text[0] != '"' {
		return "", false
	}
	for i := 1; i < len(text) && i < 200; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[1:i], strings.HasPrefix(strings.TrimLeft(text[i+1:], " \t"), ":")
		}
	}
	return "", false
}

func xmlKey(text string) (string, bool) {
	if len(text) < 2 || text[0] != '<' || !wordByte(text[1]) {
		return "", false
	}
	end := strings.IndexAny(text, " \t/>")
	if end < 0 {
		end = len(text)
	}
	name := text[1:end]
	head, _, _ := strings.Cut(text, ">")
	for _, attr := range [...]string{" name=\"", " id=\"", " key=\""} {
		if _, v, ok := strings.Cut(head, attr); ok {
			if v, _, ok = strings.Cut(v, "\""); ok {
				return v, true
			}
		}
	}
	return name, true
}

// sectionKey reads [section] and key = value (key: value).
func sectionKey(text string) (string, bool) {
	if text[0] == '[' {
		end := strings.LastIndexByte(text, ']')
		if end < 0 {
			return "", false
		}
		return strings.Trim(text[:end], "[] \t\"'"), true
	}
	i := strings.IndexAny(text, "=:")
	if i <= 0 || i > 100 || strings.ContainsAny(text[:i], "[]{}(),") {
		return "", false
	}
	return strings.Trim(text[:i], " \t\"'"), true
}
