package weaviate

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strings"
	"unsafe"

	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/record"
)

// What objects hold under propData is, in base64, a CRC-32C of the rest (4
// bytes, little-endian), a version byte, and the content.
const (
	sealSize    = 4 + 1
	packVersion = 1
	// maxUnpacked is the most bytes that a part is inflated to.
	maxUnpacked = 512 << 20
)

// errDamaged: what was stored does not hold together.
var errDamaged = errors.New("damaged object")

// seal makes content the value of propData.
func seal(content []byte) string {
	b := make([]byte, sealSize, sealSize+len(content))
	b[4] = packVersion
	b = append(b, content...)
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:], crc32.MakeTable(crc32.Castagnoli)))
	return base64.StdEncoding.EncodeToString(b)
}

// unseal returns the content. What a newer program wrote is sharedindex.ErrSchema.
func unseal(value string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(value)
	if err != nil || len(b) < sealSize || binary.LittleEndian.Uint32(b) != crc32.Checksum(b[4:], crc32.MakeTable(crc32.Castagnoli)) {
		return nil, errDamaged
	}
	if b[4] != packVersion {
		return nil, fmt.Errorf("%w: an object of format %d, this program reads %d", sharedindex.ErrSchema, b[4], packVersion)
	}
	return b[sealSize:], nil
}

// appendBlock appends b, compressed, with its lengths before and after.
func appendBlock(dst, b []byte) ([]byte, error) {
	var z bytes.Buffer
	w, err := flate.NewWriter(&z, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	dst = binary.AppendUvarint(dst, uint64(z.Len()))
	return append(dst, z.Bytes()...), nil
}

// block reads what appendBlock wrote.
func (r *reader) block() []byte {
	size, packed := r.uint(), r.uint()
	z := r.take(packed)
	if r.bad || size > maxUnpacked || size > uint64(len(z))*1100+64 { // deflate's most is 1032 to 1
		r.bad = true
		return nil
	}
	out := make([]byte, size)
	f := flate.NewReader(bytes.NewReader(z))
	defer f.Close()
	if _, err := io.ReadFull(f, out); err != nil {
		r.bad = true
		return nil
	}
	if n, err := f.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		r.bad = true
		return nil
	}
	return out
}

// reader takes values from the front of b. After the first bad one all are zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count is a number of things of at least size bytes each.
func (r *reader) count(size int) int {
	v := r.uint()
	if v > uint64(len(r.b)/size) {
		r.b, r.bad = nil, true
		return 0
	}
	return int(v)
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) string() string { return string(r.take(r.uint())) }

func (r *reader) done() error {
	if r.bad || len(r.b) > 0 {
		return errDamaged
	}
	return nil
}

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// appendShared appends what s has in common with the one before, as a number of bytes, and its
// rest.
func appendShared(dst []byte, last, s string) []byte {
	n := 0
	for n < min(len(last), len(s)) && last[n] == s[n] {
		n++
	}
	return appendString(binary.AppendUvarint(dst, uint64(n)), s[n:])
}

// shared reads what appendShared wrote.
func (r *reader) shared(last string) string {
	n, rest := r.uint(), r.string()
	if r.bad || n > uint64(len(last)) {
		r.b, r.bad = nil, true
		return ""
	}
	return last[:n] + rest
}

// appendVector appends a vector: its scale, a little-endian float32, the number
// of values, and these.
func appendVector(dst []byte, v store.Vector) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v.Scale))
	dst = binary.AppendUvarint(dst, uint64(len(v.Values)))
	return append(dst, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v.Values))), len(v.Values))...)
}

func (r *reader) vector() store.Vector {
	scale := r.take(4)
	values := r.take(r.uint())
	if r.bad {
		return store.Vector{}
	}
	v := store.Vector{Scale: math.Float32frombits(binary.LittleEndian.Uint32(scale))}
	if len(values) > 0 {
		v.Values = make([]int8, len(values))
		for i, x := range values {
			v.Values[i] = int8(x)
		}
	}
	return v
}

// packDocument is a document without Rows and Words.
func packDocument(d *sharedindex.Document) (string, error) {
	var e record.Encoder
	b := appendString(appendString(nil, d.Record.Path), d.Commit)
	b, err := appendBlock(b, e.Append(nil, &d.Record))
	if err != nil {
		return "", err
	}
	if b, err = appendBlock(b, []byte(d.Text)); err != nil {
		return "", err
	}
	b = binary.AppendUvarint(b, uint64(len(d.Vectors)))
	for _, v := range d.Vectors {
		b = appendVector(b, v)
	}
	return seal(b), nil
}

// unpackDocument reads what packDocument wrote.
func unpackDocument(value string) (sharedindex.Document, error) {
	b, err := unseal(value)
	if err != nil {
		return sharedindex.Document{}, err
	}
	r := reader{b: b}
	path, commit := r.string(), r.string()
	packed, text := r.block(), r.block()
	var vectors []store.Vector
	if n := r.count(5); n > 0 {
		vectors = make([]store.Vector, n)
		for i := range vectors {
			vectors[i] = r.vector()
		}
	}
	if err := r.done(); err != nil {
		return sharedindex.Document{}, err
	}
	rec, err := record.Decode(path, string(packed))
	if err != nil {
		return sharedindex.Document{}, errDamaged
	}
	return sharedindex.Document{Record: rec, Text: string(text), Commit: commit, Vectors: vectors}, nil
}

// joined is a field's words as the engine splits them. What has a space in it, or
// is no text, is no word of the tokenizer's and is left out.
func joined(words []string) string {
	var b strings.Builder
	for _, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\r\n\v\f\u0085\u00a0") {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}
