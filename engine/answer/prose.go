package answer

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/index"
)

// symbolOf returns the definition that a chunk is mainly about, nil where it
// is none.
func symbolOf(d *index.Doc) *chunk.Symbol {
	if d.Name == "" {
		return nil
	}
	var best *chunk.Symbol
	for i := range d.File.Symbols {
		s := &d.File.Symbols[i]
		if s.Name != d.Name || s.EndLine < d.StartLine || s.StartLine > d.EndLine {
			continue
		}
		if best == nil || distance(s.StartLine, d.StartLine) < distance(best.StartLine, d.StartLine) {
			best = s
		}
	}
	return best
}

// enclosing returns the innermost definition of a file that holds a line
// (1-based, as indexed), nil where none does. Variables hold nothing.
func enclosing(f *index.File, line int) *chunk.Symbol {
	var best *chunk.Symbol
	for i := range f.Symbols {
		s := &f.Symbols[i]
		if s.Kind == chunk.Variable || line < s.StartLine || line > s.EndLine {
			continue
		}
		if best == nil || s.EndLine-s.StartLine < best.EndLine-best.StartLine {
			best = s
		}
	}
	return best
}

// qualified is a chunk's name with its enclosing definition's.
func qualified(d *index.Doc) string {
	if d.Name == "" || d.Kind == chunk.Section || d.Kind == chunk.Block {
		return d.Name
	}
	return join(d.Parent, d.Name, d.Language)
}

func symbolName(s *chunk.Symbol, language string) string { return join(s.Parent, s.Name, language) }

func join(parent, name, language string) string {
	if parent == "" || parent == name {
		return name
	}
	switch language {
	case "c++", "rust", "ruby", "php", "perl":
		return parent + "::" + name
	}
	return parent + "." + name
}

// noun names a kind of chunk in a sentence.
func noun(k chunk.Kind) string {
	switch k {
	case chunk.Function:
		return "a function"
	case chunk.Method:
		return "a method"
	case chunk.Class:
		return "a class"
	case chunk.Interface:
		return "an interface"
	case chunk.Type:
		return "a type"
	case chunk.Variable:
		return "a variable"
	case chunk.Module:
		return "module-level code"
	case chunk.Section:
		return "a section"
	case chunk.Block:
		return "a block"
	}
	return "a passage"
}

// nounIn is noun in the words of the language.
func nounIn(k chunk.Kind, language string) string {
	if k == chunk.Class {
		switch language {
		case "go", "c", "rust", "zig":
			return "a type"
		}
	}
	if k == chunk.Interface && language == "rust" {
		return "a trait"
	}
	return noun(k)
}

// Code writes an identifier or a line of code as inline code that it cannot
// break out of.
func Code(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 || strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// escaper keeps repository text in prose from being read as Markdown.
var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "|", `\|`, "!", `\!`, "~", `\~`)

// maxSentence is how much of a doc comment's first sentence is shown, in
// bytes. The chunker cuts summaries at 200, so that one of nearly that length
// has lost its end.
const maxSentence = 195

// Markup of doc comments that means code: reStructuredText roles, Javadoc's
// inline tags, double backticks.
var (
	reRole   = regexp.MustCompile(":[a-zA-Z:+-]+:`~?([^`]+)`")
	reInline = regexp.MustCompile(`\{@(?:link|code|linkplain|literal|value)\s+([^}]+)\}`)
	reTag    = regexp.MustCompile(`</?(?:p|em|strong|code|see|c|para|br|b|i|tt|pre|summary)\b[^<>]*>`)
)

// sentence makes a doc summary fit to stand in prose: one line, escaped, ended
// with a full stop. It is "" where the summary would read as a citation.
func sentence(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)), " ")
	s = reRole.ReplaceAllString(s, "`$1`")
	s = reInline.ReplaceAllString(s, "`$1`")
	s = strings.ReplaceAll(strings.TrimSpace(reTag.ReplaceAllString(s, " ")), "``", "`")
	if s == "" || len(Parse(s, nil)) > 0 {
		return ""
	}
	if len(s) > maxSentence {
		cut := strings.LastIndexByte(s[:maxSentence], ' ')
		if cut < maxSentence/2 {
			cut = maxSentence
			for cut > 0 && s[cut]&0xC0 == 0x80 {
				cut--
			}
		}
		s = strings.TrimRight(s[:cut], " ,;:.-") + " …"
	} else if !strings.ContainsAny(s[len(s)-1:], ".!?:") {
		s += "."
	} else if strings.HasSuffix(s, ":") {
		s = s[:len(s)-1] + "."
	}
	// What stands between backticks is code, the rest is text.
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 {
		return escaper.Replace(s)
	}
	var b strings.Builder
	for i, p := range parts {
		if i%2 == 1 {
			b.WriteString(Code(p))
		} else {
			b.WriteString(escaper.Replace(p))
		}
	}
	return b.String()
}

// Fenced quotes lines exactly, in a Markdown block whose fence they do not
// hold.
func Fenced(lines, language string) string {
	fence := "```"
	for strings.Contains(lines, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, fenceLanguage(language), lines, fence)
}

// fenceLanguage is the name that highlighters know a language by.
func fenceLanguage(l string) string {
	switch l {
	case "c++":
		return "cpp"
	case "c#":
		return "csharp"
	case "shell":
		return "bash"
	case "objective-c":
		return "objc"
	}
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '`' {
			return -1
		}
		return r
	}, l)
}

// cite is how a citation stands at the end of a line.
func cite(id string) string { return " [" + id + "]" }

// place names the file of a chunk in a sentence.
func place(d *index.Doc) string { return Code(d.File.Path) }

// describe is the sentence that tells what a definition in a chunk is, or the
// chunk itself where sym is nil.
func describe(d *index.Doc, sym *chunk.Symbol) string {
	if sym == nil {
		return describeChunk(d)
	}
	s := fmt.Sprintf("%s is %s in %s", Code(symbolName(sym, d.Language)), nounIn(sym.Kind, d.Language), place(d))
	if sym.Name == d.Name && len(d.EntryPoints) > 0 {
		s += ", an entry point (" + list(d.EntryPoints, 2) + ")"
	}
	switch summary := sentence(sym.Summary); {
	case summary != "":
		s += ": " + summary
	case sym.Signature != "" && len(sym.Signature) <= maxSentence:
		s += ": " + Code(sym.Signature)
	}
	return s
}

func describeChunk(d *index.Doc) string {
	switch {
	case d.Kind == chunk.Section:
		name := d.Name
		if name == "" && len(d.HeaderPath) > 0 {
			name = d.HeaderPath[len(d.HeaderPath)-1]
		}
		if name = strings.TrimSuffix(sentence(name), "."); name == "" {
			return fmt.Sprintf("%s says", place(d))
		}
		return fmt.Sprintf("The section “%s” of %s says", name, place(d))
	case d.Name != "" && d.Kind == chunk.Block:
		return fmt.Sprintf("%s is a part of %s", Code(d.Name), place(d))
	case len(d.Symbols) > 0:
		return fmt.Sprintf("%s defines %s", place(d), list(d.Symbols, 4))
	}
	return fmt.Sprintf("%s has this", place(d))
}

// list writes names as "`a`, `b` and 3 more".
func list(names []string, most int) string {
	var b strings.Builder
	for i, n := range names {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(names)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Code(n))
	}
	return b.String()
}

// isDir reports whether two files lie in one directory.
func sameDir(a, b *index.File) bool { return path.Dir(a.Path) == path.Dir(b.Path) }
