package file

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"coderag-ls/engine/text"
)

// Content is a file's text as it was read.
type Content struct {
	// Text is valid UTF-8 without a byte order mark.
	Text string
	// Hash is the SHA-256 of Text.
	Hash Hash
	// Encoding is what the file was written in: "utf-8", "utf-16le", ...
	Encoding string
	// Size (bytes on disk) and ModTime are the file's as of before the read.
	Size    int64
	ModTime time.Time
}

// Read reads a file of up to maxBytes.
func Read(path string, maxBytes int64) (Content, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Content{}, fmt.Errorf("reading %s: %w", path, err)
	}
	c := Content{Size: info.Size(), ModTime: info.ModTime(), Encoding: "utf-8"}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return c, &SkipError{Path: path, Reason: SkipLinked}
	case !info.Mode().IsRegular():
		return c, &SkipError{Path: path, Reason: SkipNotRegular}
	case info.Size() > maxBytes:
		return c, &SkipError{Path: path, Reason: SkipTooLarge}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return c, &SkipError{Path: path, Reason: SkipUnreadable, Detail: err.Error(), Err: err}
	}
	c.Text = string(data)
	c.Hash = text.Hash(c.Text)
	if strings.IndexByte(c.Text, 0) >= 0 || !utf8.ValidString(c.Text) {
		return c, &SkipError{Path: path, Reason: SkipBinary}
	}
	return c, nil
}
