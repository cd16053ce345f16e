package bert_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/embed/onnx/bert"
)

func unzip(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func vocabulary(t testing.TB) []string {
	t.Helper()
	vocab, err := bert.ReadVocab(bytes.NewReader(unzip(t, "vocab.txt.gz")))
	if err != nil {
		t.Fatal(err)
	}
	return vocab
}

type sample struct {
	text string
	ids  []int32
}

// parity reads the fixture described in testdata/README.md.
func parity(t testing.TB) []sample {
	t.Helper()
	raw := unzip(t, "parity.bin.gz")
	number := func() int {
		v, n := binary.Uvarint(raw)
		if n <= 0 {
			t.Fatal("fixture is damaged")
		}
		raw = raw[n:]
		return int(v)
	}
	samples := make([]sample, number())
	for i := range samples {
		n := number()
		samples[i].text = string(raw[:n])
		raw = raw[n:]
	}
	for i := range samples {
		samples[i].ids = make([]int32, number())
		for j := range samples[i].ids {
			samples[i].ids[j] = int32(binary.LittleEndian.Uint16(raw))
			raw = raw[2:]
		}
	}
	return samples
}

func TestSameIDsAsTheReference(t *testing.T) {
	tokenizer := bert.New(vocabulary(t))
	samples := parity(t)
	if len(samples) < 2000 {
		t.Fatalf("%d samples", len(samples))
	}
	wrong := 0
	for _, s := range samples {
		got, _ := tokenizer.Encode(s.text, 256)
		if !slices.Equal(got, s.ids) {
			if wrong++; wrong <= 5 {
				t.Errorf("%q\n got %v\nwant %v", s.text, got, s.ids)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d texts differ", wrong, len(samples))
	}
}

// TestEveryCodePoint looks at each character between letters through a
// vocabulary that names every possible outcome: the word is taken apart into
// characters.
func TestEveryCodePoint(t *testing.T) {
	want := unzip(t, "codepoints.crc.gz")
	if len(want) != 4*0x1100 {
		t.Fatalf("fixture has %d bytes", len(want))
	}
	for block := 0; block < 0x1100; block++ {
		var lines []byte
		for c := rune(block << 8); c < rune(block+1)<<8; c++ {
			if c >= 0xd800 && c < 0xe000 {
				continue
			}
			text := "a" + string(c) + "b" + string(c)
			lines = append(lines, strings.Join(bert.Words(text), "|")+"\n"...)
		}
		if got := crc32.ChecksumIEEE(lines); got != binary.LittleEndian.Uint32(want[4*block:]) {
			t.Errorf("code points U+%04X to U+%04X differ from the reference", block<<8, block<<8|0xff)
		}
	}
}

func TestLimitCountsSpecialTokens(t *testing.T) {
	tokenizer := bert.New(vocabulary(t))
	for _, limit := range []int{-1, 0, 2, 3, 7, 256} {
		ids, _ := tokenizer.Encode(strings.Repeat("alpha beta ", 300), limit)
		if want := max(limit, 2); len(ids) != want || ids[0] != 101 || ids[len(ids)-1] != 102 {
			t.Errorf("limit %d gives %d ids, %v", limit, len(ids), ids)
		}
	}
}

func TestKnownTellsWhetherAnythingIsInTheVocabulary(t *testing.T) {
	tokenizer := bert.New(vocabulary(t))
	for text, want := range map[string]bool{
		"": false, " \t\n": false, "\x00\x01": false, "\xff\xfe": false, "\U0001fae8": false,
		"x": true, "\U0001fae8 x": true, ".": true,
	} {
		if _, known := tokenizer.Encode(text, 16); known != want {
			t.Errorf("%q: known = %v", text, known)
		}
	}
}

func TestInvalidUTF8IsDropped(t *testing.T) {
	tokenizer := bert.New(vocabulary(t))
	want, _ := tokenizer.Encode("package main", 16)
	for _, text := range []string{"pack\xffage main", "package main\xe2\x82", "\xc3package\x80 main\xf0\x9f\x98", "\xed\xa0\x80package main"} {
		if got, _ := tokenizer.Encode(text, 16); !slices.Equal(got, want) {
			t.Errorf("%q gives %v, want %v", text, got, want)
		}
	}
}

func TestWindowsCoverTheTextAndOverlap(t *testing.T) {
	tokenizer := bert.New(vocabulary(t))
	var text strings.Builder
	for _, s := range parity(t)[:60] {
		text.WriteString(s.text)
		text.WriteString("\n")
	}
	all, _ := tokenizer.Encode(text.String(), 1<<20)
	all = all[1 : len(all)-1]
	const limit, overlap = 128, 32
	windows := tokenizer.Windows(text.String(), limit, overlap)
	if len(windows) < len(all)/(limit-2) {
		t.Fatalf("%d windows for %d tokens", len(windows), len(all))
	}
	covered := 0 // tokens of all seen so far
	for i, w := range windows {
		ids, _ := tokenizer.Encode(w, 1<<20)
		ids = ids[1 : len(ids)-1]
		if len(ids) > limit-2 {
			t.Fatalf("window %d has %d tokens", i, len(ids))
		}
		// The window continues the text: it starts inside what is covered
		// and matches the text's own tokens.
		start := -1
		for at := max(0, covered-overlap); at <= covered; at++ {
			if at+len(ids) <= len(all) && at+len(ids) > covered && slices.Equal(all[at:at+len(ids)], ids) {
				start = at
				break
			}
		}
		if start < 0 {
			t.Fatalf("window %d does not continue the text at token %d", i, covered)
		}
		if i > 0 && covered-start < overlap/2 {
			t.Errorf("window %d overlaps by %d tokens only", i, covered-start)
		}
		covered = start + len(ids)
	}
	if covered != len(all) {
		t.Errorf("windows cover %d of %d tokens", covered, len(all))
	}
	if got := tokenizer.Windows("short text", limit, overlap); !slices.Equal(got, []string{"short text"}) {
		t.Errorf("a short text gives %q", got)
	}
	if got := tokenizer.Windows("", limit, overlap); !slices.Equal(got, []string{""}) {
		t.Errorf("an empty text gives %q", got)
	}
}

func TestBadVocabularyIsRefused(t *testing.T) {
	special := "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"
	for name, c := range map[string]struct{ content, want string }{
		"empty":     {"", "[CLS] is missing"},
		"truncated": {"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MA", "[MASK] is missing"},
		"repeated":  {special + "a\nb\na\n", `line 8 repeats "a" of line 6`},
		"blank":     {special + "a\n\nb\n", "line 7 is empty"},
		"web page":  {"<!DOCTYPE html>\n<html>\n", "is missing"},
		"binary":    {special + strings.Repeat("\x00", 1<<12), "line 6 is longer"},
	} {
		_, err := bert.ReadVocab(strings.NewReader(c.content))
		if !errors.Is(err, bert.ErrVocab) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	if _, err := bert.OpenVocab(filepath.Join(t.TempDir(), "vocab.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func FuzzEncode(f *testing.F) {
	f.Add("func (s *Server) handle[T any](x int) { return \"[MASK]\" }", 16, 4)
	f.Add("\xff\xe2\x82[CLS", 3, 9)
	f.Add("e\u0301\u0323\u302e \u6f22\u5b57 \u1100\u1161", 8, 0)
	vocab := vocabulary(f)
	tokenizer := bert.New(vocab)
	f.Fuzz(func(t *testing.T, text string, limit, overlap int) {
		limit %= 512
		ids, _ := tokenizer.Encode(text, limit)
		if len(ids) < 2 || len(ids) > max(limit, 2) {
			t.Fatalf("%d ids for limit %d", len(ids), limit)
		}
		for _, id := range ids {
			if id < 0 || int(id) >= len(vocab) {
				t.Fatalf("id %d", id)
			}
		}
		rest := text
		for _, w := range tokenizer.Windows(text, limit, overlap) {
			at := strings.Index(rest, w)
			if at < 0 {
				t.Fatalf("window %q is out of order in %q", w, text)
			}
			rest = rest[at:]
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	samples := parity(b)[:2000]
	tokenizer := bert.New(vocabulary(b))
	size := 0
	for _, s := range samples {
		size += len(s.text)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range samples {
			tokenizer.Encode(s.text, 256)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(samples)), "µs/chunk")
}
