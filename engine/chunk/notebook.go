package chunk

import (
	"encoding/json"
	"fmt"
	"strings"
)

// notebook cuts a Jupyter notebook into its cells: each chunk is the lines of
// the file that hold a cell's source; outputs and metadata are in none. It
// reports whether the file is a notebook.
func (w *worker) notebook() bool {
	var nb struct {
		Cells    []json.RawMessage
		Metadata struct {
			KernelSpec   struct{ Language string }
			LanguageInfo struct{ Name string } `json:"language_info"`
		}
	}
	if json.Unmarshal([]byte(w.src.text), &nb) != nil || len(nb.Cells) == 0 {
		return false
	}
	language := strings.ToLower(nb.Metadata.LanguageInfo.Name)
	if language == "" {
		language = strings.ToLower(nb.Metadata.KernelSpec.Language)
	}
	if language == "" {
		language = "python"
	}
	dec := json.NewDecoder(strings.NewReader(w.src.text))
	if !enter(dec, "cells") {
		return false
	}
	last := 0 // the last line taken: cells on one line are one piece
	for i := 0; dec.More(); i++ {
		kind, source, from, to, ok := cell(dec, w.src.text)
		if !ok {
			w.pieces = w.pieces[:0]
			return false
		}
		first, end := w.src.lineAt(from), w.src.lineAt(max(to-1, from))
		if strings.TrimSpace(source) == "" || first <= last {
			continue
		}
		last = end
		a := &about{name: fmt.Sprintf("cell %d", i+1), language: language}
		switch kind {
		case "markdown":
			a.language = "markdown"
			for line := range strings.Lines(source) {
				if text := strings.TrimLeft(line, "#"); len(text) < len(line) {
					a.name = headingText(text)
					a.symbols = codeWords(text)
					break
				}
			}
			a.summary = summarise(headingText(strings.Join(proseLines(source), "\n")), nil)
		case "code":
			a.symbols = w.cellSymbols(source, language)
			if len(a.symbols) > 0 {
				a.name = a.symbols[0]
			}
			if strings.HasPrefix(source, "#") {
				a.summary = summarise(source, w.c.syntaxes[language])
			}
		default:
			a.language = "text"
		}
		p := piece{kind: Block, def: -1, owner: -1, about: a}
		if w.src.size(first, end) <= w.c.opts.MaxChars {
			p.first, p.last = first, end
			w.pieces = append(w.pieces, p)
			continue
		}
		at := len(w.pieces)
		w.split(first, end, p, "")
		for k := range w.pieces[at:] {
			q := &w.pieces[at+k]
			q.part, q.number, q.of = false, k+1, len(w.pieces)-at
		}
	}
	return len(w.pieces) > 0
}

// proseLines are the lines of a Markdown text that are no headers.
func proseLines(source string) []string {
	var out []string
	for line := range strings.Lines(source) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// enter moves a decoder into the array under a key of the outermost object.
func enter(dec *json.Decoder, key string) bool {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return false
		}
		if t == key {
			t, err = dec.Token()
			return err == nil && t == json.Delim('[')
		}
		var skip json.RawMessage
		if dec.Decode(&skip) != nil {
			return false
		}
	}
	return false
}

// cell reads one cell and returns its kind, its source, and where that stands.
func cell(dec *json.Decoder, text string) (kind, source string, from, to int, ok bool) {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return "", "", 0, 0, false
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return "", "", 0, 0, false
		}
		start := int(dec.InputOffset())
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return "", "", 0, 0, false
		}
		switch t {
		case "cell_type":
			_ = json.Unmarshal(value, &kind)
		case "source":
			from, to = start, int(dec.InputOffset())
			var lines []string
			if json.Unmarshal(value, &lines) == nil {
				source = strings.Join(lines, "")
			} else {
				_ = json.Unmarshal(value, &source)
			}
		}
	}
	_, err := dec.Token()
	return kind, source, from, to, err == nil && to <= len(text)
}

// cellSymbols are the names that a cell of code defines.
func (w *worker) cellSymbols(source, language string) []string {
	var names []string
	r := recogniserFor(language)
	for line := range strings.Lines(source) {
		if m, ok := r.line(strings.TrimRight(line, "\r\n")); ok {
			names = append(names, strings.Clone(m.name))
		}
	}
	return distinct(names)
}
