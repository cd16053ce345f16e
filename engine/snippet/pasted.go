package snippet

import (
	"strings"

	"coderag-ls/engine/text"
)

// Pasted is what stands below a citation line.
type Pasted struct {
	// First and Last are the 1-based lines that were pasted, with the fences
	// around them; Last is before First where there are none.
	First, Last int
	// Lines are the pasted lines as they stand, without fences and without the
	// citation line's indentation.
	Lines []string
	// Fenced tells that fences part the lines from what comes after.
	Fenced bool
	// Was are the cited lines as they were cited, where they can be told: the
	// pasted lines are as they were inserted. "" where they were edited since,
	// or are something else.
	Was string
}

// Below looks at what stands below a citation line. known are the cited lines
// as they were, where they are known, else "".
func Below(d *text.Document, p Placed, known string) Pasted {
	indent := leading(d.Line(p.Line))
	pasted := Pasted{First: p.Line + 1, Last: p.Line}
	first, most := p.Line+1, p.Lines()
	// Markdown is pasted into Markdown as it is: a fence is its own.
	if fence := fenceOf(d.Line(first)); fence != "" && !isMarkdown(p.Path) {
		if end := closingFence(d, first+1, fence); end > 0 {
			pasted.Fenced, pasted.Last = true, end
			first, most = first+1, end-first-1
		}
	}
	for n := first; n < first+most && n <= d.LineCount(); n++ {
		line := d.Line(n)
		rest, inside := strings.CutPrefix(line, indent)
		if !isBlank(line) && !inside && !pasted.Fenced {
			break // back at what stands around the citation
		}
		if _, cites := Parse(line); cites && !pasted.Fenced {
			break
		}
		if isBlank(line) {
			rest = ""
		} else if !inside {
			rest = strings.TrimLeft(line, " \t")
		}
		pasted.Lines = append(pasted.Lines, rest)
	}
	if !pasted.Fenced {
		pasted.Last = p.Line + len(pasted.Lines)
	}
	if len(pasted.Lines) == p.Lines() {
		if known != "" && sameLines(pasted.Lines, strings.Split(known, "\n")) {
			pasted.Was = known
		} else {
			pasted.Was = restore(pasted.Lines, p.SHA8, styleOfLines(d.Content()))
		}
	}
	return pasted
}

func isMarkdown(path string) bool {
	switch strings.ToLower(path[strings.LastIndexByte(path, '.')+1:]) {
	case "md", "markdown", "mdx", "qmd", "mkd":
		return true
	}
	return false
}

// Like reports whether most of the pasted lines are among the given ones: then
// they are what was pasted, if edited since, and no code of somebody else's
// that came to stand below the citation.
func (p Pasted) Like(lines []string) bool {
	if p.Was != "" || p.Fenced {
		return true
	}
	have := map[string]bool{}
	for _, line := range lines {
		have[strings.TrimSpace(line)] = true
	}
	same, all := 0, 0
	for _, line := range p.Lines {
		line = strings.TrimSpace(line)
		if len(line) < 3 {
			continue // brackets stand everywhere
		}
		all++
		if have[line] {
			same++
		}
	}
	return all > 0 && 2*same >= all
}

// Within returns the pasted lines as far as they are surely pasted: where they
// were edited, lines may be missing, and what stands in their place at the end
// is somebody's code. lines are the cited ones as they were and as they are;
// the last that is among them ends what was pasted.
func (p Pasted) Within(lines []string) Pasted {
	if p.Was != "" || p.Fenced {
		return p
	}
	have := map[string]bool{}
	for _, line := range lines {
		have[strings.TrimSpace(line)] = true
	}
	for n := len(p.Lines); n > 0; n-- {
		if line := strings.TrimSpace(p.Lines[n-1]); line != "" && have[line] {
			p.Lines, p.Last = p.Lines[:n], p.First+n-1
			break
		}
	}
	return p
}

// sameLines compares lines but for white space at their ends.
func sameLines(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if strings.TrimSpace(a[i]) != strings.TrimSpace(b[i]) {
			return false
		}
	}
	return true
}

// maxDepth is how many steps of indentation cited lines are thought to have
// had in common.
const maxDepth = 12

// maxRestored is the most lines that are restored.
const maxRestored = 2000

// restore undoes what Edit does to cited lines: it tries the indentations that
// they may have had in their file until the hash is the cited one. It returns
// "" where none fits: the lines were edited.
func restore(lines []string, sha8 string, target style) string {
	if len(lines) == 0 || len(lines) > maxRestored {
		return ""
	}
	tried := map[string]bool{}
	for _, source := range []style{target, {tabs: true, known: true}, {spaces: 4, known: true}, {spaces: 2, known: true}, {spaces: 8, known: true}, {spaces: 3, known: true}} {
		back := lines
		if source != target {
			back = restep(lines, target, source)
		}
		for _, unit := range []string{source.unit(), " "} {
			common := ""
			for range maxDepth {
				var b strings.Builder
				for i, line := range back {
					if i > 0 {
						b.WriteByte('\n')
					}
					if line != "" {
						b.WriteString(common)
						b.WriteString(line)
					}
				}
				was := b.String()
				if !tried[was] && text.HexHash(was)[:digits] == sha8 {
					return was
				}
				tried[was] = true
				common += unit
			}
		}
	}
	return ""
}
