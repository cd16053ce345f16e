// Package record is how stores write a file's record: compact, and quick to
// read.
//
// A record is a table of the strings in it, each once, and numbers: integers
// are zigzag varints, strings are places in the table, lines are counted from the
// line before. Names, import targets and languages repeat from chunk to chunk, so
// this is a third of what a self-describing format takes; and the strings need no
// copy when it is read. It has no checksum and no version: who stores it adds
// both.
package record

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/store"
)

// ErrDamaged: the record does not hold together.
var ErrDamaged = errors.New("damaged record")

// Places in the string table that need no entry.
const (
	emptyString = 0
	pathString  = 1 // the record's own path
	firstString = 2
)

// Encoder writes records. The zero value is ready; it is reused from record to
// record, and not safe for concurrent use.
type Encoder struct {
	body  []byte
	table map[string]int
	strs  []string
}

// Append appends the encoded record to dst. The path is not in it: it is given
// to Decode again.
func (e *Encoder) Append(dst []byte, r *store.FileRecord) []byte {
	e.body, e.strs = e.body[:0], e.strs[:0]
	if e.table == nil {
		e.table = map[string]int{}
	}
	clear(e.table)
	e.table[r.Path] = pathString
	e.table[""] = emptyString

	e.bytes(r.Hash[:])
	e.int(r.Size)
	e.int(r.ModTime)
	e.str(r.Class.Language)
	e.str(string(r.Class.SourceType))
	e.bools(r.Class.Generated, r.Class.Test, r.Class.Vendored, r.Class.Example, r.Class.Docs)
	e.str(r.ChunkVersion)
	e.str(string(r.Skip))
	e.str(r.SkipDetail)
	e.str(r.File.Fallback)
	line := 0
	e.int(int64(len(r.File.Chunks)))
	for i := range r.File.Chunks {
		line = e.chunk(&r.File.Chunks[i], line)
	}
	line = 0
	e.int(int64(len(r.File.Symbols)))
	for i := range r.File.Symbols {
		line = e.symbol(&r.File.Symbols[i], line)
	}
	line = 0
	e.int(int64(len(r.File.Imports)))
	for _, im := range r.File.Imports {
		e.str(im.Target)
		e.list(im.Names)
		e.int(int64(im.Line - line))
		line = im.Line
	}

	dst = binary.AppendUvarint(dst, uint64(len(e.strs)))
	for _, s := range e.strs {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
	}
	for _, s := range e.strs {
		dst = append(dst, s...)
	}
	return append(dst, e.body...)
}

func (e *Encoder) chunk(c *chunk.Chunk, line int) int {
	id, err := hex.DecodeString(c.ID)
	packed := err == nil && len(id) == 16 && hex.EncodeToString(id) == c.ID
	e.bools(packed)
	if packed {
		e.bytes(id)
	} else {
		e.str(c.ID)
	}
	e.bytes(c.Hash[:])
	e.bytes(c.EmbedHash[:])
	e.str(c.Path)
	e.str(string(c.SourceType))
	e.str(string(c.Kind))
	e.str(c.Language)
	e.str(c.Name)
	e.str(c.Parent)
	e.list(c.HeaderPath)
	e.int(int64(c.Index))
	e.int(int64(c.StartLine - line))
	e.int(int64(c.EndLine - c.StartLine))
	e.int(int64(c.Tokens))
	e.str(c.Summary)
	e.str(c.Layer)
	e.list(c.Symbols)
	e.list(c.Imports)
	e.list(c.EntryPoints)
	e.str(c.Header)
	e.int(int64(c.Part))
	e.int(int64(c.Parts))
	e.int(int64(len(c.Truncated)))
	for _, t := range c.Truncated {
		e.int(int64(t[0] - c.StartLine))
		e.int(int64(t[1] - t[0]))
	}
	return c.EndLine
}

func (e *Encoder) symbol(s *chunk.Symbol, line int) int {
	e.str(s.Name)
	e.str(string(s.Kind))
	e.str(s.Parent)
	e.int(int64(s.StartLine - line))
	e.int(int64(s.EndLine - s.StartLine))
	e.int(int64(s.NameLine - s.StartLine))
	e.str(s.Signature)
	e.str(s.Summary)
	e.int(int64(s.DocStart))
	e.int(int64(s.DocEnd))
	e.bools(s.Exported)
	return s.StartLine
}

func (e *Encoder) bytes(b []byte) { e.body = append(e.body, b...) }
func (e *Encoder) int(v int64)    { e.body = binary.AppendVarint(e.body, v) }

func (e *Encoder) str(s string) {
	at, ok := e.table[s]
	if !ok {
		at = firstString + len(e.strs)
		e.table[s] = at
		e.strs = append(e.strs, s)
	}
	e.body = binary.AppendUvarint(e.body, uint64(at))
}

func (e *Encoder) list(l []string) {
	e.int(int64(len(l)))
	for _, s := range l {
		e.str(s)
	}
}

func (e *Encoder) bools(v ...bool) {
	var b byte
	for i, x := range v {
		if x {
			b |= 1 << i
		}
	}
	e.body = append(e.body, b)
}

// decoder reads a record. Strings are parts of the value. After the first
// error all reads give zero.
type decoder struct {
	s    string
	path string
	strs []string
	slab []string // room for lists
	bad  bool
}

// Decode decodes what Append wrote of the file at path. The record's strings are
// parts of payload. The error is ErrDamaged.
func Decode(path, payload string) (store.FileRecord, error) {
	d := &decoder{s: payload, path: path}
	r := store.FileRecord{Path: path}
	d.readTable()
	d.bytes(r.Hash[:])
	r.Size, r.ModTime = d.int(), d.int()
	r.Class.Language, r.Class.SourceType = d.str(), file.SourceType(d.str())
	d.bools(&r.Class.Generated, &r.Class.Test, &r.Class.Vendored, &r.Class.Example, &r.Class.Docs)
	r.ChunkVersion, r.Skip, r.SkipDetail = d.str(), file.SkipReason(d.str()), d.str()
	r.File.Fallback = d.str()
	if n := d.count(86); n > 0 {
		r.File.Chunks = make([]chunk.Chunk, n)
	}
	line := 0
	for i := range r.File.Chunks {
		line = d.chunk(&r.File.Chunks[i], line)
	}
	if n := d.count(11); n > 0 {
		r.File.Symbols = make([]chunk.Symbol, n)
	}
	line = 0
	for i := range r.File.Symbols {
		line = d.symbol(&r.File.Symbols[i], line)
	}
	if n := d.count(3); n > 0 {
		r.File.Imports = make([]chunk.Import, n)
	}
	line = 0
	for i := range r.File.Imports {
		im := &r.File.Imports[i]
		im.Target, im.Names = d.str(), d.list()
		line += int(d.int())
		im.Line = line
	}
	if d.bad || len(d.s) > 0 {
		return store.FileRecord{}, ErrDamaged
	}
	return r, nil
}

func (d *decoder) readTable() {
	n := d.uint()
	if n > uint64(len(d.s)) {
		d.fail()
		return
	}
	sizes := make([]int, n)
	total := uint64(0)
	for i := range sizes {
		v := d.uint()
		total += min(v, math.MaxInt32)
		sizes[i] = int(min(v, math.MaxInt32))
	}
	if d.bad || total > uint64(len(d.s)) {
		d.fail()
		return
	}
	d.strs = make([]string, n)
	for i, size := range sizes {
		d.strs[i], d.s = d.s[:size], d.s[size:]
	}
}

func (d *decoder) chunk(c *chunk.Chunk, line int) int {
	var packed bool
	d.bools(&packed)
	if packed {
		var id [16]byte
		d.bytes(id[:])
		c.ID = hex.EncodeToString(id[:])
	} else {
		c.ID = d.str()
	}
	d.bytes(c.Hash[:])
	d.bytes(c.EmbedHash[:])
	c.Path, c.SourceType, c.Kind = d.str(), file.SourceType(d.str()), chunk.Kind(d.str())
	c.Language, c.Name, c.Parent, c.HeaderPath = d.str(), d.str(), d.str(), d.list()
	c.Index = int(d.int())
	c.StartLine = line + int(d.int())
	c.EndLine = c.StartLine + int(d.int())
	c.Tokens = int(d.int())
	c.Summary, c.Layer = d.str(), d.str()
	c.Symbols, c.Imports, c.EntryPoints = d.list(), d.list(), d.list()
	c.Header = d.str()
	c.Part, c.Parts = int(d.int()), int(d.int())
	if n := d.count(2); n > 0 {
		c.Truncated = make([][2]int, n)
		for i := range c.Truncated {
			c.Truncated[i][0] = c.StartLine + int(d.int())
			c.Truncated[i][1] = c.Truncated[i][0] + int(d.int())
		}
	}
	return c.EndLine
}

func (d *decoder) symbol(s *chunk.Symbol, line int) int {
	s.Name, s.Kind, s.Parent = d.str(), chunk.Kind(d.str()), d.str()
	s.StartLine = line + int(d.int())
	s.EndLine = s.StartLine + int(d.int())
	s.NameLine = s.StartLine + int(d.int())
	s.Signature, s.Summary = d.str(), d.str()
	s.DocStart, s.DocEnd = int(d.int()), int(d.int())
	d.bools(&s.Exported)
	return s.StartLine
}

func (d *decoder) fail() { d.bad, d.s = true, "" }

func (d *decoder) bytes(b []byte) {
	if len(d.s) < len(b) {
		d.fail()
		return
	}
	copy(b, d.s)
	d.s = d.s[len(b):]
}

func (d *decoder) uint() uint64 {
	if len(d.s) > 0 && d.s[0] < 0x80 {
		v := uint64(d.s[0])
		d.s = d.s[1:]
		return v
	}
	var v uint64
	for i := 0; i < len(d.s) && i < binary.MaxVarintLen64; i++ {
		c := d.s[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.s = d.s[i+1:]
			return v
		}
	}
	d.fail()
	return 0
}

func (d *decoder) int() int64 {
	u := d.uint()
	return int64(u>>1) ^ -int64(u&1)
}

// count is the number of elements of at least size bytes each.
func (d *decoder) count(size int) int {
	n := d.int()
	if n < 0 || n > int64(len(d.s)/size) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) str() string {
	at := d.uint()
	switch {
	case at == emptyString:
		return ""
	case at == pathString:
		return d.path
	case at-firstString < uint64(len(d.strs)):
		return d.strs[at-firstString]
	}
	d.fail()
	return ""
}

func (d *decoder) list() []string {
	n := d.count(1)
	if n == 0 {
		return nil
	}
	if len(d.slab) < n {
		d.slab = make([]string, max(n, 32))
	}
	l := d.slab[:n:n]
	d.slab = d.slab[n:]
	for i := range l {
		l[i] = d.str()
	}
	return l
}

func (d *decoder) bools(v ...*bool) {
	if len(d.s) == 0 {
		d.fail()
		return
	}
	for i, p := range v {
		*p = d.s[0]>>i&1 != 0
	}
	d.s = d.s[1:]
}
