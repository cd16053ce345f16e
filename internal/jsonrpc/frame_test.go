package jsonrpc

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadFrames(t *testing.T) {
	in := "Content-Length: 2\r\n\r\n{}" +
		"content-type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH:3\r\n\r\n[1]" + // names have no case
		"Content-Length: 4\n\nnull" + // lone line feeds
		"Content-Length: 0\r\n\r\n" +
		"Content-Length: 1\r\nContent-Length: 1\r\n\r\n7"
	f := newFrameReader(iotest.OneByteReader(strings.NewReader(in)))
	for _, want := range []string{"{}", "[1]", "null", "", "7"} {
		got, err := f.read()
		if err != nil || string(got) != want {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
	}
	if _, err := f.read(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestReadBadFrames(t *testing.T) {
	tests := map[string]string{
		"no length":         "Content-Type: x\r\n\r\n{}",
		"a negative length": "Content-Length: -2\r\n\r\n{}",
		"a signed length":   "Content-Length: +2\r\n\r\n{}",
		"no number":         "Content-Length: two\r\n\r\n{}",
		"an empty length":   "Content-Length:\r\n\r\n{}",
		"beyond 64 bits":    "Content-Length: 99999999999999999999\r\n\r\n{}",
		"beyond all sense":  "Content-Length: 9000000000000000000\r\n\r\n{}",
		"two lengths":       "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		"no header":         "{\"jsonrpc\":\"2.0\"}\r\n",
		"an endless line":   strings.Repeat("x", 1<<20),
		"endless headers":   strings.Repeat("A: b\r\n", 1<<16),
	}
	for name, in := range tests {
		_, err := newFrameReader(strings.NewReader(in)).read()
		var bad *headerError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, in := range map[string]string{
		"inside a header":  "Content-Len",
		"inside a content": "Content-Length: 10\r\n\r\n{}",
		"after a header":   "Content-Length: 10\r\n",
	} {
		if _, err := newFrameReader(strings.NewReader(in)).read(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("an end %s: %v", name, err)
		}
	}
}

// What is announced is not allocated: only what arrives is.
func TestReadAllocatesWhatArrives(t *testing.T) {
	f := newFrameReader(strings.NewReader("Content-Length: 60000000\r\n\r\n{}"))
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.in.Reset(strings.NewReader("Content-Length: 60000000\r\n\r\n{}"))
			if _, err := f.read(); err == nil {
				b.Fatal("a message that did not come was read")
			}
		}
	})
	if bytes := result.AllocedBytesPerOp(); bytes > 4<<20 {
		t.Errorf("%d bytes allocated for a message of 2 bytes", bytes)
	}
}

func TestReadPastOversized(t *testing.T) {
	in := "Content-Length: 11\r\n\r\n" + strings.Repeat("x", 11) + "Content-Length: 10\r\n\r\n0123456789"
	f := newFrameReader(strings.NewReader(in))
	f.limit = 10
	var large *tooLargeError
	if _, err := f.read(); !errors.As(err, &large) || large.size != 11 {
		t.Fatalf("%v", err)
	}
	if got, err := f.read(); err != nil || string(got) != "0123456789" {
		t.Errorf("behind it: %q, %v", got, err)
	}
}

// FuzzFrameReader: whatever comes, reading ends, and what was read is what a
// writer would have written.
func FuzzFrameReader(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 3\r\nContent-Type: a\r\n\r\nabcContent-Length: 20\r\n\r\nabc"))
	f.Add([]byte("Content-Length: -1\r\n\r\n"))
	f.Add([]byte("\r\n\r\n\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newFrameReader(bytes.NewReader(data))
		r.limit = 1 << 10
		for range len(data) + 1 {
			content, err := r.read()
			var large *tooLargeError
			if errors.As(err, &large) {
				continue
			}
			if err != nil {
				return
			}
			if len(content) > 1<<10 {
				t.Fatalf("%d bytes over the limit", len(content))
			}
			var out bytes.Buffer
			w := frameWriter{out: &out}
			if err := w.write(content); err != nil {
				t.Fatal(err)
			}
			again, err := newFrameReader(&out).read()
			if err != nil || !bytes.Equal(again, content) {
				t.Fatalf("%q was written and read as %q, %v", content, again, err)
			}
		}
		t.Fatal("more messages than bytes")
	})
}
