// Package safetensors reads float32 tensors from a safetensors file: an 8-byte
// little-endian header length, a JSON header, the tensors' bytes one after the
// other. It trusts nothing: every offset is checked before anything is
// allocated or read.
//
// Format: https://github.com/huggingface/safetensors#format
package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sort"
)

// MaxHeader is the longest header the format allows, in bytes.
const MaxHeader = 100_000_000

// ErrInvalid is wrapped by every error about the content of a file, as
// opposed to an error of reading it.
var ErrInvalid = errors.New("invalid safetensors file")

// dtypeSize is the size of one element in bytes of the types the format names.
func dtypeSize(dtype string) (uint64, bool) {
	switch dtype {
	case "BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3":
		return 1, true
	case "U16", "I16", "F16", "BF16":
		return 2, true
	case "U32", "I32", "F32":
		return 4, true
	case "U64", "I64", "F64":
		return 8, true
	}
	return 0, false
}

// Info describes one tensor.
type Info struct {
	DType string
	Shape []int
	// Begin and End delimit its bytes, counted from the start of the file.
	Begin, End int64
}

// File is an opened safetensors file. Its methods are safe for concurrent
// use where the reader's ReadAt is.
type File struct {
	name    string
	r       io.ReaderAt
	tensors map[string]Info
	close   func() error
}

// Open opens the file at path and checks its header.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening weights: %w", err)
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening weights: %w", err)
	}
	out, err := New(path, f, st.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	out.close = f.Close
	return out, nil
}

// New checks the header of the size bytes behind r. Name is used in errors.
func New(name string, r io.ReaderAt, size int64) (*File, error) {
	fail := func(format string, args ...any) (*File, error) {
		return nil, fmt.Errorf("%s: %w: %w", name, ErrInvalid, fmt.Errorf(format, args...))
	}
	if size < 8 {
		return fail("%d bytes are too few to hold a header", size)
	}
	var length [8]byte
	if _, err := r.ReadAt(length[:], 0); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > MaxHeader {
		return fail("header of %d bytes is larger than the %d allowed; is this a safetensors file?", n, MaxHeader)
	}
	if n > uint64(size-8) {
		return fail("header of %d bytes does not fit in the file's %d: the file is truncated", n, size)
	}
	header := make([]byte, n)
	if _, err := r.ReadAt(header, 8); err != nil {
		return nil, fmt.Errorf("reading the header of %s: %w", name, err)
	}
	tensors, err := parseHeader(header, int64(n)+8, size)
	if err != nil {
		return fail("%w", err)
	}
	return &File{name: name, r: r, tensors: tensors}, nil
}

// parseHeader reads the JSON object of the header. Data starts at base, the
// file has size bytes.
func parseHeader(header []byte, base, size int64) (map[string]Info, error) {
	if len(header) == 0 || header[0] != '{' {
		return nil, errors.New("the header does not start with '{'")
	}
	dec := json.NewDecoder(bytes.NewReader(header))
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	tensors := map[string]Info{}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("header: %w", err)
		}
		name, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("header: %v is no tensor name", token)
		}
		if seen[name] {
			return nil, fmt.Errorf("tensor %q is described twice", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			var metadata map[string]string
			if err := dec.Decode(&metadata); err != nil {
				return nil, fmt.Errorf("__metadata__: %w", err)
			}
			continue
		}
		info, err := decodeInfo(dec, base, size)
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		tensors[name] = info
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if rest := bytes.TrimRight(header[dec.InputOffset():], " "); len(rest) > 0 {
		return nil, fmt.Errorf("header: %d bytes after its end", len(rest))
	}
	return tensors, checkLayout(tensors, base, size)
}

func decodeInfo(dec *json.Decoder, base, size int64) (Info, error) {
	var raw struct {
		DType   string   `json:"dtype"`
		Shape   []uint64 `json:"shape"`
		Offsets []uint64 `json:"data_offsets"`
	}
	if err := dec.Decode(&raw); err != nil {
		return Info{}, err
	}
	bytesEach, ok := dtypeSize(raw.DType)
	if !ok {
		return Info{}, fmt.Errorf("unknown dtype %q", raw.DType)
	}
	if len(raw.Offsets) != 2 || raw.Offsets[0] > raw.Offsets[1] {
		return Info{}, fmt.Errorf("data_offsets %v are not a begin and an end", raw.Offsets)
	}
	if data := uint64(size - base); raw.Offsets[1] > data {
		return Info{}, fmt.Errorf("ends at byte %d of %d: the file is truncated", raw.Offsets[1], data)
	}
	want := bytesEach
	shape := make([]int, len(raw.Shape))
	for i, d := range raw.Shape {
		if d > math.MaxInt32 || (d > 0 && want > math.MaxInt64/d) {
			return Info{}, fmt.Errorf("shape %v is too large", raw.Shape)
		}
		want *= d
		shape[i] = int(d)
	}
	if got := raw.Offsets[1] - raw.Offsets[0]; got != want {
		return Info{}, fmt.Errorf("shape %v of %s needs %d bytes, data_offsets give %d", raw.Shape, raw.DType, want, got)
	}
	return Info{DType: raw.DType, Shape: shape, Begin: base + int64(raw.Offsets[0]), End: base + int64(raw.Offsets[1])}, nil
}

// checkLayout holds the format's rule that the tensors cover the data without
// overlaps and holes, so that nothing can hide between them.
func checkLayout(tensors map[string]Info, base, size int64) error {
	names := make([]string, 0, len(tensors))
	for name := range tensors {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := tensors[names[i]], tensors[names[j]]
		if a.Begin != b.Begin {
			return a.Begin < b.Begin
		}
		if a.End != b.End {
			return a.End < b.End
		}
		return names[i] < names[j]
	})
	at, last := base, ""
	for _, name := range names {
		t := tensors[name]
		switch {
		case t.Begin < at:
			return fmt.Errorf("tensor %q overlaps tensor %q", name, last)
		case t.Begin > at:
			return fmt.Errorf("%d unused bytes before tensor %q", t.Begin-at, name)
		}
		at, last = t.End, name
	}
	if at != size {
		return fmt.Errorf("%d bytes after the last tensor", size-at)
	}
	return nil
}

// Names returns the tensors' names, sorted.
func (f *File) Names() []string {
	names := make([]string, 0, len(f.tensors))
	for name := range f.tensors {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Info describes the named tensor.
func (f *File) Info(name string) (Info, bool) {
	info, ok := f.tensors[name]
	return info, ok
}

// Float32 reads the named tensor, row-major. It is an error if the tensor is
// missing, is not F32, or has another shape than the one given.
func (f *File) Float32(name string, shape ...int) ([]float32, error) {
	info, ok := f.tensors[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w: tensor %q is missing", f.name, ErrInvalid, name)
	}
	if info.DType != "F32" {
		return nil, fmt.Errorf("%s: %w: tensor %q is %s, want F32", f.name, ErrInvalid, name, info.DType)
	}
	if !slices.Equal(info.Shape, shape) {
		return nil, fmt.Errorf("%s: %w: tensor %q has shape %v, want %v", f.name, ErrInvalid, name, info.Shape, shape)
	}
	raw := make([]byte, info.End-info.Begin)
	if _, err := f.r.ReadAt(raw, info.Begin); err != nil {
		return nil, fmt.Errorf("reading tensor %q of %s: %w", name, f.name, err)
	}
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out, nil
}

// Close closes the file that Open opened.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}
