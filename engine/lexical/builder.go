package lexical

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// Builder gathers documents and makes a Segment of them. It is not safe for
// concurrent use; builders may share a Tokenizer.
type Builder struct {
	tok *Tokenizer

	// Every distinct run of the text is analysed once; what it stands for is remembered.
	runs  *table
	short [1 << shortBits]shortRun
	expan []expansion
	ids   []uint32 // term ids of all expansions, one after the other
	seen  []uint32 // by run: 1 + its place in counts, for the document at hand
	work  run

	terms  *table
	chains []chain
	used   []uint32 // terms with postings, each once
	last   []uint32 // by term: 1 + the document of its last posting
	placed []uint32 // by term: 1 + its place in hits, for the document at hand
	pool   pool
	scratch,
	key []byte

	counts []runCount
	hits   []termCount
	lens   []uint16 // docs*NumFields
}

// shortBits says how many places there are for short runs (2^shortBits): few
// enough to stay in the nearer caches.
const shortBits = 10

// shortRun remembers the id of a run of up to eight bytes, the most part of any
// code, so that most are found without a look into the table. word is 0 where
// there is none.
type shortRun struct {
	word uint64
	run  uint32
}

// pack8 is a run of up to eight bytes, none of which is 0, as a number.
func pack8(s string) (word uint64) {
	for i := range len(s) {
		word = word<<8 | uint64(s[i])
	}
	return word
}

// expansion is what a run stands for: ids[start:prose] in prose, ids[start:code] in code.
type expansion struct {
	start, prose, code uint32
	proseLen, codeLen  uint8 // word terms among them, which a field's length counts
}

// runCount counts a run in one document: as prose and as code by field.
type runCount struct {
	run         uint32
	prose, code Frequencies
}

type termCount struct {
	term uint32
	tf   Frequencies
}

// NewBuilder returns an empty builder that uses tok.
func NewBuilder(tok *Tokenizer) *Builder {
	return &Builder{tok: tok, runs: newTable(1024), terms: newTable(1024)}
}

// Len is the number of documents added.
func (b *Builder) Len() int { return len(b.lens) / int(NumFields) }

// Size is about the memory in bytes that the builder holds.
func (b *Builder) Size() int {
	return len(b.runs.blob) + len(b.runs.starts)*4 + len(b.runs.slots)*8 + len(b.expan)*16 + len(b.ids)*4 + len(b.seen)*4 +
		len(b.terms.blob) + len(b.terms.starts)*4 + len(b.terms.slots)*8 + len(b.chains)*28 + b.pool.bytes() + len(b.lens)*2
}

// Add adds a document and returns its number in the segment, from 0 in the
// order of the calls.
func (b *Builder) Add(d Doc) int {
	doc := b.Len()
	b.countAll(d)
	length := b.gather()
	b.flush(uint32(doc))
	for _, n := range length {
		b.lens = append(b.lens, uint16(min(n, math.MaxUint16)))
	}
	return doc
}

// Terms returns the terms that Add counts for a document, by field, each as often
// as it counts it, without adding it.
func (b *Builder) Terms(d Doc) (terms [NumFields][]string) {
	b.countAll(d)
	b.gather()
	for i := range b.hits {
		h := &b.hits[i]
		b.placed[h.term] = 0
		text := string(b.terms.at(h.term))
		for f, n := range h.tf {
			for range n {
				terms[f] = append(terms[f], text)
			}
		}
	}
	return terms
}

// Lengths are the lengths of a document's fields, of which terms are the terms
// (Builder.Terms): identifiers stand beside their words, and do not count.
func Lengths(terms [NumFields][]string) (lengths [NumFields]uint64) {
	for f, list := range terms {
		for _, t := range list {
			if t[0] != exactMark {
				lengths[f]++
			}
		}
	}
	return lengths
}

// countAll counts the runs of a document.
func (b *Builder) countAll(d Doc) {
	at := 0
	for _, sp := range d.Comments {
		start, end := max(sp.Start, at), min(sp.End, len(d.Body))
		if end <= start {
			continue
		}
		b.count(d.Body[at:start], Body, d.Prose)
		b.count(d.Body[start:end], Comment, true)
		at = end
	}
	b.count(d.Body[at:], Body, d.Prose)
	b.count(d.Name, Name, false)
	b.count(d.Path, Path, false)
	for _, name := range d.Defs {
		b.count(name, Defs, false)
	}
	b.count(d.Summary, Summary, true)
}

// count counts the runs of s for a field.
func (b *Builder) count(s string, f Field, prose bool) {
	for i := 0; ; {
		start, end, resume := b.tok.next(s, i)
		if start >= len(s) {
			return
		}
		i = resume
		if end-start > maxRun || end-start == 1 && s[start] < 0x80 {
			continue
		}
		var id uint32
		if end-start <= 8 {
			word := pack8(s[start:end])
			known := &b.short[word*0x9E3779B97F4A7C15>>(64-shortBits)] // Fibonacci hashing (Knuth, TAOCP 3, 6.4)
			if known.word != word {
				*known = shortRun{word, b.run(s[start:end])}
			}
			id = known.run
		} else {
			id = b.run(s[start:end])
		}
		if b.expan[id].code == b.expan[id].start {
			continue
		}
		at := b.seen[id]
		if at == 0 {
			b.counts = append(b.counts, runCount{run: id})
			at = uint32(len(b.counts))
			b.seen[id] = at
		}
		c := &b.counts[at-1]
		n := &c.code[f]
		if prose {
			n = &c.prose[f]
		}
		if *n < math.MaxUint16 {
			*n++
		}
	}
}

// run returns the id of a run.
func (b *Builder) run(s string) uint32 {
	id, fresh := b.runs.intern(s)
	if fresh {
		b.expand(s)
	}
	return id
}

// expand analyses a run that was not seen before.
func (b *Builder) expand(s string) {
	r := &b.work
	b.tok.analyse(s, r)
	e := expansion{start: uint32(len(b.ids))}
	single := r.form == formPlain || r.form == formCaps
	stop := single && len(r.words) == 1 && StopWord(r.words[0].text)
	for pass := 0; pass < 2; pass++ { // 0: what prose has too, 1: what only code has
		for _, w := range r.words {
			short := len(w.text) < 3 && r.form == formPlain && w.text[0] < 0x80
			if stop || len(w.text) == 1 && w.text[0] < 0x80 || short != (pass == 1) {
				continue
			}
			b.ids = append(b.ids, b.term(b.tok.stems.stem(w.text)))
			e.codeLen++
			if pass == 0 {
				e.proseLen++
			}
		}
		if r.ident != "" && !stop && single == (pass == 1) {
			b.key = append(append(b.key[:0], exactMark), r.ident...)
			b.ids = append(b.ids, b.term(string(b.key)))
		}
		if pass == 0 {
			e.prose = uint32(len(b.ids))
		}
	}
	e.code = uint32(len(b.ids))
	b.expan = append(b.expan, e)
	b.seen = append(b.seen, 0)
}

func (b *Builder) term(s string) uint32 {
	id, fresh := b.terms.intern(s)
	if fresh {
		b.chains = append(b.chains, chain{})
		b.last = append(b.last, 0)
		b.placed = append(b.placed, 0)
	}
	return id
}

// gather turns the counts of the document at hand into terms, in hits, and returns the
// lengths of its fields.
func (b *Builder) gather() (length [NumFields]uint32) {
	b.hits = b.hits[:0]
	for i := range b.counts {
		c := &b.counts[i]
		b.seen[c.run] = 0
		e := b.expan[c.run]
		var both Frequencies
		inCode := false
		for f := range both {
			both[f] = add16(c.code[f], c.prose[f])
			inCode = inCode || c.code[f] > 0
			length[f] += uint32(c.code[f])*uint32(e.codeLen) + uint32(c.prose[f])*uint32(e.proseLen)
		}
		for _, t := range b.ids[e.start:e.prose] {
			b.hit(t, &both)
		}
		if inCode {
			for _, t := range b.ids[e.prose:e.code] {
				b.hit(t, &c.code)
			}
		}
	}
	b.counts = b.counts[:0]
	return length
}

// flush turns the terms of the document at hand into postings.
func (b *Builder) flush(doc uint32) {
	for i := range b.hits {
		h := &b.hits[i]
		b.placed[h.term] = 0
		b.scratch = appendPosting(b.scratch[:0], doc-b.last[h.term], &h.tf)
		b.last[h.term] = doc + 1
		c := &b.chains[h.term]
		if c.df == 0 {
			b.used = append(b.used, h.term)
		}
		c.df++
		b.pool.append(c, b.scratch)
	}
}

func (b *Builder) hit(term uint32, tf *Frequencies) {
	at := b.placed[term]
	if at == 0 {
		b.hits = append(b.hits, termCount{term: term, tf: *tf})
		b.placed[term] = uint32(len(b.hits))
		return
	}
	h := &b.hits[at-1]
	for f := range tf {
		h.tf[f] = add16(h.tf[f], tf[f])
	}
}

// add16 adds without overflow.
func add16(a, b uint16) uint16 {
	if s := a + b; s >= a {
		return s
	}
	return math.MaxUint16
}

// Build makes a segment of the documents added. The builder is empty afterwards, but
// keeps its knowledge of runs and terms, so that the next segment costs less.
func (b *Builder) Build() *Segment {
	order := make([]sortKey, len(b.used))
	total := 0
	for i, id := range b.used {
		order[i] = sortKey{prefix8(b.terms.at(id)), id}
		total += int(b.chains[id].n)
	}
	b.used = b.used[:0]
	slices.SortFunc(order, func(x, y sortKey) int {
		if c := cmp.Compare(x.prefix, y.prefix); c != 0 {
			return c
		}
		return bytes.Compare(b.terms.at(x.id), b.terms.at(y.id))
	})
	w := newSegmentWriter(b.Len(), len(order), total)
	for _, k := range order {
		c := &b.chains[k.id]
		at := len(w.seg.posts)
		w.seg.posts = b.pool.appendTo(w.seg.posts, c)
		w.term(b.terms.at(k.id), c.df, at)
		*c = chain{}
		b.last[k.id] = 0
	}
	w.seg.lens = slices.Clone(b.lens)
	b.lens, b.pool = b.lens[:0], pool{}
	return w.finish()
}

// sortKey orders terms by their first eight bytes and falls back on the rest.
type sortKey struct {
	prefix uint64
	id     uint32
}

func prefix8(s []byte) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64(s)
	}
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}
