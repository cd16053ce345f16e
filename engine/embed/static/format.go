package static

import (
	"compress/zlib"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// What a model file may hold. The limits are far above any sensible table and
// keep a damaged file from asking for absurd amounts of memory.
const (
	formatVersion = 1
	headerBytes   = 20
	maxFileBytes  = 1 << 30
	maxPieces     = 1 << 20
	maxDim        = 4096
	maxPieceBytes = 128
)

// table is a parsed model file.
type table struct {
	dim    int
	alpha  float64
	rows   string    // [n][dim]int8
	scales []float32 // [n]
	vocabulary
}

// parse reads a model file; the table keeps referring to data.
func parse(data string) (*table, error) {
	if len(data) < headerBytes {
		return nil, fmt.Errorf("truncated: %d bytes, the header alone has %d", len(data), headerBytes)
	}
	if data[:4] != "CESM" {
		return nil, fmt.Errorf("not a CESM file: it starts with %q", data[:4])
	}
	if v := u32(data[4:]); v != formatVersion {
		return nil, fmt.Errorf("version %d, want %d", v, formatVersion)
	}
	n, dim, alpha := int64(u32(data[8:])), int64(u32(data[12:])), math.Float32frombits(u32(data[16:]))
	if n < 1 || n > maxPieces {
		return nil, fmt.Errorf("%d pieces, want 1 to %d", n, maxPieces)
	}
	if dim < 1 || dim > maxDim {
		return nil, fmt.Errorf("dimension %d, want 1 to %d", dim, maxDim)
	}
	if !(alpha > 0 && alpha <= 1) {
		return nil, fmt.Errorf("alpha %g, want more than 0 and at most 1", alpha)
	}
	rowsAt := headerBytes + 2*n
	listAt := rowsAt + n*dim
	if int64(len(data)) < listAt+4 {
		return nil, fmt.Errorf("truncated: %d bytes, %d pieces of %d values take more than %d", len(data), n, dim, listAt+4)
	}
	packed := data[listAt+4:]
	if length := u32(data[listAt:]); int64(length) != int64(len(packed)) {
		return nil, fmt.Errorf("the list of pieces has %d bytes, its length says %d", len(packed), length)
	}
	t := &table{dim: int(dim), alpha: float64(alpha), rows: data[rowsAt:listAt], scales: make([]float32, n)}
	for i := range t.scales {
		at := headerBytes + 2*i
		s := half(uint16(data[at]) | uint16(data[at+1])<<8)
		if !(s >= 0 && s <= math.MaxFloat32) {
			return nil, fmt.Errorf("scale of piece %d is %g, want a finite number that is not negative", i, s)
		}
		t.scales[i] = s
	}
	pieces, err := unpack(packed, int(n))
	if err != nil {
		return nil, err
	}
	t.vocabulary, err = newVocabulary(pieces)
	return t, err
}

// unpack inflates the list of n pieces and checks it.
func unpack(packed string, n int) ([]string, error) {
	z, err := zlib.NewReader(strings.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("inflating the list of pieces: %w", err)
	}
	limit := int64(n) * (maxPieceBytes + 1)
	var list strings.Builder
	if _, err := io.Copy(&list, io.LimitReader(z, limit+1)); err != nil {
		return nil, fmt.Errorf("inflating the list of pieces: %w", err)
	}
	if int64(list.Len()) > limit {
		return nil, fmt.Errorf("the list of %d pieces inflates to more than %d bytes", n, limit)
	}
	// An odd number of "\n" must not cost memory before it is found out.
	if got := strings.Count(list.String(), "\n") + 1; got != n {
		return nil, fmt.Errorf("%d pieces in the list, the header says %d", got, n)
	}
	pieces := strings.Split(list.String(), "\n")
	for i, p := range pieces {
		if p == "" || p == continuation || len(p) > maxPieceBytes || !utf8.ValidString(p) {
			return nil, fmt.Errorf("piece %d is %.200q, want 1 to %d bytes of UTF-8", i, p, maxPieceBytes)
		}
	}
	return pieces, nil
}

// u32 reads the first four bytes.
func u32(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// half is the value of an IEEE 754 binary16.
func half(b uint16) float32 {
	exponent, fraction := int(b>>10&31), float64(b&1023)
	var v float64
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 31:
		if v = math.Inf(1); fraction != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if b>>15 != 0 {
		v = -v
	}
	return float32(v)
}
