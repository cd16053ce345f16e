package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
	"unsafe"

	"coderag-ls/engine/text"
)

// Content is a file's text as it was read.
type Content struct {
	// Text is valid UTF-8 without a byte order mark.
	Text string
	// Hash is the SHA-256 of Text.
	Hash Hash
	// Encoding is what the file is written in: "utf-8", "utf-8 with errors"
	// (bytes that are none became U+FFFD), "utf-16le", "utf-16be" or
	// "windows-1252" (of which Latin-1 is a part).
	Encoding string
	// Size (bytes on disk) and ModTime are the file's as of before the read:
	// they differ from the next scan's where it was written meanwhile.
	Size    int64
	ModTime time.Time
}

// Read reads a text file of up to maxBytes bytes (0 or less: DefaultMaxBytes).
//
// A file that is there but is not indexed for what it is (too large, binary, a
// symlink, a FIFO, unreadable) is a *SkipError, with Size and ModTime in the
// content where they are known. A file that is not there is an error that wraps
// fs.ErrNotExist. Nothing but a regular file is ever opened, and no more than
// maxBytes are read.
func Read(path string, maxBytes int64) (Content, error) {
	if maxBytes <= 0 {
		maxBytes = DefaultMaxBytes
	}
	info, err := os.Lstat(path)
	if err != nil {
		return Content{}, readError(path, err)
	}
	if c, err := check(path, info, maxBytes); err != nil {
		return c, err
	}
	// By now it may be another file: a FIFO must not block, a symlink not be
	// followed, and what was opened is looked at again.
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return Content{Size: info.Size(), ModTime: info.ModTime()}, readError(path, err)
	}
	defer f.Close()
	for try := 0; ; try++ {
		if info, err = f.Stat(); err != nil {
			return Content{}, readError(path, err)
		}
		c, err := check(path, info, maxBytes)
		if err != nil {
			return c, err
		}
		data, err := readAll(f, info.Size(), maxBytes)
		if errors.Is(err, errGrew) {
			return c, &SkipError{Path: path, Reason: SkipTooLarge, Detail: overLimit(int64(len(data)), maxBytes)}
		}
		if err != nil {
			return c, readError(path, err)
		}
		after, err := f.Stat()
		if err != nil {
			return c, readError(path, err)
		}
		if changed := after.Size() != int64(len(data)) || !after.ModTime().Equal(info.ModTime()); changed && try < 2 {
			// Written while it was read: this may be half of each.
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return c, readError(path, err)
			}
			continue
		}
		s, encoding, detail := decode(data)
		if detail != "" {
			return c, &SkipError{Path: path, Reason: SkipBinary, Detail: detail}
		}
		c.Text, c.Encoding, c.Hash = s, encoding, text.Hash(s)
		return c, nil
	}
}

// check refuses what is no regular file or too large.
func check(path string, info fs.FileInfo, maxBytes int64) (Content, error) {
	c := Content{Size: info.Size(), ModTime: info.ModTime()}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return c, &SkipError{Path: path, Reason: SkipLinked}
	case !mode.IsRegular():
		return c, &SkipError{Path: path, Reason: SkipNotRegular, Detail: kind(mode)}
	case info.Size() > maxBytes:
		return c, &SkipError{Path: path, Reason: SkipTooLarge, Detail: overLimit(info.Size(), maxBytes)}
	}
	return c, nil
}

// readError tells a missing file from one that cannot be read.
func readError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("reading %s: %w", path, fs.ErrNotExist)
	case errors.Is(err, syscall.ELOOP):
		return &SkipError{Path: path, Reason: SkipLinked, Detail: cause(err), Err: err}
	case errors.Is(err, syscall.ENXIO):
		return &SkipError{Path: path, Reason: SkipNotRegular, Detail: cause(err), Err: err}
	}
	return &SkipError{Path: path, Reason: SkipUnreadable, Detail: cause(err), Err: err}
}

var errGrew = errors.New("the file grew over the limit")

// readAll reads up to limit bytes. size is what the file is thought to have.
func readAll(r io.Reader, size, limit int64) ([]byte, error) {
	// One byte more lets the last read meet the end.
	data := make([]byte, 0, min(size, limit)+1)
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return data, errGrew
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return data, err
		}
	}
}

// asString is the string of bytes that no one changes any more, without a copy.
func asString(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }
