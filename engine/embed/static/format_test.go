package static_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"coderag-ls/engine/embed/static"
)

// one is 1 as a float16.
const one = 0x3C00

// file writes a model file; row i holds i+1, i+2, ...
func file(t testing.TB, pieces []string, dim int) *bytes.Buffer {
	t.Helper()
	var b, list bytes.Buffer
	write := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString("CESM")
	write([]uint32{1, uint32(len(pieces)), uint32(dim)})
	write(float32(0.5))
	for range pieces {
		write(uint16(one))
	}
	for i := range pieces {
		for d := range dim {
			write(int8(i + d + 1))
		}
	}
	z := zlib.NewWriter(&list)
	io.WriteString(z, strings.Join(pieces, "\n"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(uint32(list.Len()))
	b.Write(list.Bytes())
	return &b
}

// TestLoadNamesWhatIsWrong damages a good file in one place at a time.
func TestLoadNamesWhatIsWrong(t *testing.T) {
	good := func() []byte { return file(t, []string{"get", "user", "##s"}, 4).Bytes() }
	if _, err := static.Load("good", bytes.NewReader(good())); err != nil {
		t.Fatal(err)
	}
	pieces := func(p ...string) []byte { return file(t, p, 4).Bytes() }
	set := func(at int, b ...byte) []byte {
		data := good()
		copy(data[at:], b)
		return data
	}
	const scales, rows, length = 20, 26, 38
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", "truncated", nil},
		{"header cut", "truncated", good()[:19]},
		{"rows cut", "truncated", good()[:rows+3]},
		{"list cut", "list of pieces", good()[:len(good())-1]},
		{"bytes after the end", "list of pieces", append(good(), 0)},
		{"another format", "not a CESM file", set(0, 'P', 'K')},
		{"version", "version 2", set(4, 2)},
		{"none", "0 pieces", set(8, 0)},
		{"absurd number", "4294967295 pieces", set(8, 255, 255, 255, 255)},
		{"no dimension", "dimension 0", set(12, 0)},
		{"absurd dimension", "dimension 16777220", set(12, 4, 0, 0, 1)},
		{"alpha NaN", "alpha NaN", set(16, 0, 0, 0xC0, 0x7F)},
		{"alpha 0", "alpha 0", set(16, 0, 0, 0, 0)},
		{"alpha 2", "alpha 2", set(16, 0, 0, 0, 0x40)},
		{"scale NaN", "scale of piece 1 is NaN", set(scales+2, 0x01, 0x7C)},
		{"scale infinite", "scale of piece 0 is +Inf", set(scales, 0x00, 0x7C)},
		{"scale negative", "scale of piece 2 is -1", set(scales+4, 0x00, 0xBC)},
		{"list not zlib", "inflating", set(length+4, 0, 0)},
		{"list damaged", "inflating", set(len(good())-2, 1, 2)},
		{"too many in the list", "3 pieces in the list, the header says 2", pieces("get", "a\nb")},
		{"twice", `"get", is in the list twice`, pieces("get", "user", "get")},
		{"continued twice", `"##s", is in the list twice`, pieces("##s", "##s")},
		{"empty piece", `piece 1 is ""`, pieces("get", "")},
		{"mark alone", `piece 0 is "##"`, pieces("##")},
		{"not UTF-8", `piece 0 is "\xff"`, pieces("\xff")},
		{"too long", "piece 0 is", pieces(strings.Repeat("x", 129))},
		{"bomb", "inflates to more than", pieces(strings.Repeat("x", 1<<20))},
	} {
		_, err := static.Load("the-name", bytes.NewReader(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "the-name") {
			t.Errorf("%s: error %v, want the model's name and %q", c.name, err, c.want)
		}
	}
	broken := errors.New("disk gone")
	if _, err := static.Load("x", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("unreadable: %v", err)
	}
}

// FuzzLoad: whatever the file, Load gives an error or a model that works.
func FuzzLoad(f *testing.F) {
	f.Add(file(f, []string{"get", "user", "##s"}, 4).Bytes())
	f.Add(file(f, []string{"é"}, 9).Bytes())
	f.Add([]byte("CESM\x01\x00\x00\x00\xff\xff\xff\xff\x00\x01\x00\x00\x00\x00\x00\x3f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := static.Load("fuzz", bytes.NewReader(data))
		if err != nil {
			return
		}
		if v := m.Append(nil, "getUsers é 12345 日本"); len(v) != m.Model().Dim {
			t.Errorf("vector of %d values, want %d", len(v), m.Model().Dim)
		}
	})
}
