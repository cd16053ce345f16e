package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// The limits of one message. go.lsp.dev/jsonrpc2's own stream allocates
// whatever Content-Length claims (up to 2 GiB) and reads header lines without
// a bound, so frames are read here.
const (
	// maxMessage is the most bytes of a message that is read into memory.
	maxMessage = 64 << 20
	// maxSkip is the most bytes of an oversized message that are read past; a
	// claim beyond it is taken for garbage and ends the stream.
	maxSkip = 4 << 30
	// maxHeader is the most bytes of a message's header part.
	maxHeader = 16 << 10
)

// tooLargeError is a message over the limit. It was read past: the stream goes
// on behind it.
type tooLargeError struct{ size, limit int64 }

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("message of %d bytes is over the limit of %d bytes", e.size, e.limit)
}

// headerError is a header from which no message length can be told; nothing
// behind it can be read.
type headerError struct{ reason string }

func (e *headerError) Error() string { return "bad message header: " + e.reason }

// frameReader reads the messages of LSP's base protocol: a header part of
// "Name: value" lines, an empty line, and Content-Length bytes.
type frameReader struct {
	in    *bufio.Reader
	limit int64
}

func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(r, 64<<10), limit: maxMessage}
}

// read returns the next message's content. The error is io.EOF where the
// stream ends between messages, a *tooLargeError after which reading can go
// on, a *headerError, or another error of the underlying reader.
func (f *frameReader) read() ([]byte, error) {
	size, err := f.readHeader()
	if err != nil {
		return nil, err
	}
	if size > f.limit {
		if _, err := io.CopyN(io.Discard, f.in, size); err != nil {
			return nil, fmt.Errorf("reading past a message of %d bytes: %w", size, unexpectedEOF(err))
		}
		return nil, &tooLargeError{size, f.limit}
	}
	// The buffer grows with what arrives, not with what was announced.
	var body bytes.Buffer
	body.Grow(int(min(size, 1<<20)) + bytes.MinRead)
	if _, err := io.CopyN(&body, f.in, size); err != nil {
		return nil, fmt.Errorf("reading a message of %d bytes: %w", size, unexpectedEOF(err))
	}
	return body.Bytes(), nil
}

// readHeader returns the announced length.
func (f *frameReader) readHeader() (int64, error) {
	size, left, started := int64(-1), maxHeader, false
	for {
		line, err := f.in.ReadSlice('\n')
		if len(line) > 0 {
			started = true
		}
		switch left -= len(line); {
		case errors.Is(err, bufio.ErrBufferFull), left < 0:
			return 0, &headerError{fmt.Sprintf("over %d bytes", maxHeader)}
		case err == io.EOF && !started:
			return 0, io.EOF
		case err != nil:
			return 0, fmt.Errorf("reading a message header: %w", unexpectedEOF(err))
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			if size < 0 {
				return 0, &headerError{"no Content-Length"}
			}
			return size, nil
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok || !isHeaderName(name) {
			return 0, &headerError{fmt.Sprintf("line %.60q is not \"Name: value\"", text)}
		}
		if !strings.EqualFold(name, "Content-Length") {
			continue // Content-Type and headers of the future
		}
		value = strings.TrimSpace(value)
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil || n > maxSkip || value[0] == '+' {
			return 0, &headerError{fmt.Sprintf("Content-Length %.60q is not a length in bytes", value)}
		}
		if size >= 0 && size != int64(n) {
			return 0, &headerError{fmt.Sprintf("two Content-Lengths, %d and %d", size, n)}
		}
		size = int64(n)
	}
}

// isHeaderName tells a header from a message that came without one.
func isHeaderName(name string) bool {
	return name != "" && !strings.ContainsAny(name, "{}[]\"\\ \t")
}

// unexpectedEOF tells an end inside a message from one between messages.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// frameWriter writes messages; it is safe for concurrent use.
type frameWriter struct {
	mu  sync.Mutex // guards out: a message is written whole
	out io.Writer
}

func (f *frameWriter) write(content []byte) error {
	frame := make([]byte, 0, len(content)+32)
	frame = append(frame, "Content-Length: "...)
	frame = strconv.AppendInt(frame, int64(len(content)), 10)
	frame = append(frame, "\r\n\r\n"...)
	frame = append(frame, content...)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.out.Write(frame); err != nil {
		return fmt.Errorf("writing a message of %d bytes: %w", len(content), err)
	}
	return nil
}
