package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"coderag-ls/engine/llm/redact"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// What clients get is read by models, most of which run elsewhere. Secrets in
// it are replaced as in what we send to one ourselves; lines keep their numbers.

// searchResult is a wire.SearchResult without secrets.
type searchResult struct {
	wire.SearchResult
	redactions
}

// askResult is a wire.AskResult without secrets.
type askResult struct {
	wire.AskResult
	redactions
}

// contextResult is a wire.ContextResult without secrets.
type contextResult struct {
	wire.ContextResult
	redactions
}

// redactions count what was replaced.
type redactions struct {
	// Redacted counts secrets by kind that are [redacted KIND] in the lines above. The
	// sha256 of such lines is that of the text as it is given.
	Redacted map[string]int `json:"redacted,omitempty"`
}

// cleaner replaces the secrets of one result.
type cleaner struct {
	redactor *redact.Redactor
	redactions
}

// clean replaces the secrets in lines of a file, or in other text.
func (c *cleaner) clean(s string) string {
	s, counts := c.redactor.Redact(s)
	for kind, n := range counts {
		c.count(kind, c.Redacted[kind]+n)
	}
	return s
}

func (c *cleaner) count(kind string, n int) {
	if c.Redacted == nil {
		c.Redacted = map[string]int{}
	}
	c.Redacted[kind] = n
}

// citations returns copies without secrets.
func (c *cleaner) citations(all []wire.Citation) []wire.Citation {
	all = slices.Clone(all)
	for i := range all {
		if s := c.clean(all[i].Text); s != all[i].Text {
			all[i].Text, all[i].SHA256 = s, text.HexHash(s)
		}
	}
	return all
}

// hits returns copies without secrets.
func (c *cleaner) hits(all []wire.Hit) []wire.Hit {
	all = slices.Clone(all)
	for i := range all {
		all[i].Text = c.clean(all[i].Text)
	}
	return all
}

// markdown replaces secrets in each fenced block and in each other line by
// itself: half a secret in one of them takes nothing of the next. Most of it
// shows lines that are cited, too, so that only what is more than there counts.
func (c *cleaner) markdown(s string) string {
	shown := cleaner{redactor: c.redactor}
	defer func() {
		for kind, n := range shown.Redacted {
			c.count(kind, max(n, c.Redacted[kind]))
		}
	}()
	var out, block strings.Builder
	fence := ""
	for line := range strings.Lines(s) {
		body := strings.TrimLeft(line, " ")
		marks := body[:len(body)-len(strings.TrimLeft(body, "`"))]
		switch {
		case fence == "" && len(marks) >= 3 && !strings.Contains(body[len(marks):], "`"):
			fence = marks
			out.WriteString(shown.clean(line))
		case fence != "" && len(marks) >= len(fence) && strings.TrimSpace(body[len(marks):]) == "":
			out.WriteString(shown.clean(block.String()))
			block.Reset()
			fence = ""
			out.WriteString(line)
		case fence != "":
			block.WriteString(line)
		default:
			out.WriteString(shown.clean(line))
		}
	}
	out.WriteString(shown.clean(block.String()))
	return out.String()
}

// note tells in a result's text what was replaced, "" where nothing was.
func (r redactions) note() string {
	if len(r.Redacted) == 0 {
		return ""
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(r.Redacted)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", r.Redacted[kind], kind))
	}
	return fmt.Sprintf("Secrets were replaced by [redacted ...] and are in the files only: %s.\n", strings.Join(kinds, ", "))
}

// excerpt replaces the secrets in lines of a file; secret is true where there was
// one. Lines before them may tell what they are: those of a key have no other
// mark.
func (c *cleaner) excerpt(ctx context.Context, v View, r wire.ExcerptResult) (_ wire.ExcerptResult, secret bool) {
	lines, ok := c.within(ctx, v, r)
	if !ok { // the file changed just now
		lines = c.clean(r.Text)
	}
	if lines == r.Text {
		return r, false
	}
	r.Text, r.SHA256 = lines, text.HexHash(lines)
	return r, true
}

// within cuts lines out of their file without its secrets; ok is false where the
// file does not have them any more.
func (c *cleaner) within(ctx context.Context, v View, r wire.ExcerptResult) (lines string, ok bool) {
	whole, err := v.Excerpt(ctx, wire.ExcerptParams{Path: r.Path}) // which was not omitted
	if err != nil || r.StartLine < 1 {
		return "", false
	}
	have, given := strings.Split(whole.Text, "\n"), strings.Split(c.clean(whole.Text), "\n")
	if r.EndLine > len(have) || len(given) != len(have) || strings.Join(have[r.StartLine-1:r.EndLine], "\n") != r.Text {
		return "", false
	}
	for i := range given {
		if given[i] == "" && have[i] != "" { // further lines of a secret
			given[i] = "[redacted]"
		}
	}
	return strings.Join(given[r.StartLine-1:r.EndLine], "\n"), true
}
