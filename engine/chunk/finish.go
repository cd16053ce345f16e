package chunk

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sort"
	"strings"

	"coderag-ls/engine/file"
)

// finish makes chunks of the pieces.
func (w *worker) finish() []Chunk {
	if len(w.pieces) == 0 {
		return nil
	}
	lay := w.c.layers.of(w.in.Path)
	chunks := make([]Chunk, len(w.pieces))
	parts := map[int]int{}
	for i := range w.pieces {
		if p := &w.pieces[i]; p.part && p.def >= 0 {
			parts[p.def]++
		}
	}
	done := map[int]int{}
	for i := range w.pieces {
		p := &w.pieces[i]
		c := &chunks[i]
		c.Kind, c.StartLine, c.EndLine, c.Header, c.Layer = p.kind, p.first, p.last, p.header, lay
		w.name(c, p)
		c.Truncated, c.Part, c.Parts = p.truncated, p.number, p.of
		if a := p.about; a != nil {
			c.Name, c.Summary, c.HeaderPath, c.Symbols, c.Language = a.name, a.summary, a.path, a.symbols, a.language
		}
		if parts[p.def] > 1 && p.part {
			done[p.def]++
			c.Part, c.Parts = done[p.def], parts[p.def]
		}
	}
	w.defined(chunks)
	w.used(chunks)
	w.entryPoints(chunks)
	sep := w.separator()
	for i := range chunks {
		c := &chunks[i]
		if c.Summary == "" && c.Kind == Module {
			c.Summary = w.introduction(c.StartLine, c.EndLine)
		}
		if c.Summary == "" {
			c.Summary = w.wordsOf(c, w.pieces[i].def)
		}
	}
	w.identify(chunks, sep)
	return chunks
}

// name gives a chunk the name, parent and summary of its main definition.
func (w *worker) name(c *Chunk, p *piece) {
	i := p.def
	if i < 0 {
		return
	}
	if w.defs[i].group {
		for j := i + 1; j < w.defs[i].end; j++ {
			if d := &w.defs[j]; d.NameLine >= p.first && d.NameLine <= p.last {
				c.Summary = w.defs[i].Summary
				if c.Summary == "" {
					c.Summary = d.Summary
				}
				c.Name, c.Parent = d.Name, d.Parent
				return
			}
		}
	}
	d := &w.defs[i]
	c.Name, c.Parent, c.Summary = d.Name, d.Parent, d.Summary
}

// defined lists in each chunk what is defined there, its main definition first.
func (w *worker) defined(chunks []Chunk) {
	counts := make([]int, len(chunks)+1)
	at := make([]int, len(w.defs))
	total := 0
	for i := range w.defs {
		at[i] = -1
		d := &w.defs[i]
		if !d.isSymbol() && d.Kind != Block {
			continue
		}
		k := sort.Search(len(chunks), func(k int) bool { return chunks[k].EndLine >= d.NameLine })
		if d.Kind == Block && d.parent >= 0 && !w.defs[d.parent].document && (k < len(chunks) && chunks[k].Name != d.Name) {
			continue // the outer keys only
		}
		if k < len(chunks) && chunks[k].StartLine <= d.NameLine {
			at[i] = k
			counts[k]++
			total++
		}
	}
	names := make([]string, total)
	for k, n := range counts[:len(chunks)] {
		if n > 0 {
			chunks[k].Symbols, names = names[:0:n], names[n:]
		}
	}
	for i, k := range at {
		if k >= 0 {
			chunks[k].Symbols = append(chunks[k].Symbols, w.defs[i].Name)
		}
	}
	for k := range chunks {
		s := chunks[k].Symbols
		for i, name := range s {
			if name == chunks[k].Name {
				copy(s[1:i+1], s[:i])
				s[0] = name
				break
			}
		}
		chunks[k].Symbols = distinct(s)
	}
}

// distinct drops repeated names (overloads), keeping the order.
func distinct(s []string) []string {
	out := s[:0]
next:
	for i, name := range s {
		if i > 64 {
			return append(out, s[i:]...)
		}
		for _, o := range out {
			if o == name {
				continue next
			}
		}
		out = append(out, name)
	}
	return out
}

// identify fills in what follows from a chunk's text and place: ID, hash,
// tokens, ordinal.
func (w *worker) identify(chunks []Chunk, sep string) {
	type key struct {
		symbol string
		hash   [32]byte
	}
	seen := make(map[key]int, len(chunks))
	var buf []byte
	for i := range chunks {
		c := &chunks[i]
		c.Path, c.Index = w.in.Path, i
		if c.Language == "" {
			c.Language = w.in.Class.Language
		}
		if c.SourceType = w.in.Class.SourceType; c.SourceType == "" {
			c.SourceType = file.Code
		}
		c.Hash = w.src.hash(c.StartLine, c.EndLine)
		c.EmbedHash = w.embedHash(c)
		chars := w.src.size(c.StartLine, c.EndLine)
		for _, t := range c.Truncated {
			chars -= w.src.size(t[0], t[1]) + 1
		}
		c.Tokens = (chars + charsPerToken - 1) / charsPerToken
		symbol := qualified(c.Parent, c.Name, sep)
		if len(c.HeaderPath) > 0 {
			symbol = strings.Join(c.HeaderPath, "\x01")
		}
		k := key{symbol, c.Hash}
		ordinal := seen[k]
		seen[k]++
		buf = append(buf[:0], w.in.Path...)
		buf = append(append(append(buf, 0), symbol...), 0)
		buf = binary.BigEndian.AppendUint32(buf, uint32(ordinal))
		sum := sha256.Sum256(append(buf, c.Hash[:]...))
		c.ID = hex.EncodeToString(sum[:16])
	}
}
