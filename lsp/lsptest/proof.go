package lsptest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"coderag-ls/engine/wire"
)

// The proof of a citation is what all this is about: it is held against the
// text by code that shares nothing with the product's.

// pathOf is the path of a file URI.
func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return "", fmt.Errorf("no file: %s", uri)
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", `\`)
	}
	return path, nil
}

// diskText is a file's text as an editor opens it: UTF-8, or UTF-16 with a byte
// order mark.
func diskText(path string) (content string, ok bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	}
	if order != nil {
		var units []uint16
		for i := 2; i+1 < len(data); i += 2 {
			units = append(units, order.Uint16(data[i:]))
		}
		return string(utf16.Decode(units)), true
	}
	return string(data), utf8.Valid(data) && !bytes.Contains(data, []byte{0})
}

// current is a file's text as the editor shows it, else the disk's.
func (s *session) current(path string) (string, bool) {
	if content, open := s.e.content(path); open {
		return content, true
	}
	return diskText(path)
}

// note keeps what a file holds now: a request that runs may be answered from it.
func (s *session) note(path string) {
	if len(s.running) == 0 {
		return
	}
	if content, ok := s.current(path); ok {
		s.texts[path] = append(s.texts[path], content)
	}
}

// noteAll keeps what the open documents hold; on disk files are noted as they
// change.
func (s *session) noteAll() {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	for uri, b := range s.e.buffers {
		if path, err := pathOf(uri); err == nil {
			s.texts[path] = append(s.texts[path], b.content)
		}
	}
}

// stands says why lines are not those of their file as it stands or, for a
// request that took a while, as it stood meanwhile.
func (s *session) stands(uri string, first, last int, lines string) error {
	path, err := pathOf(uri)
	if err != nil {
		return err
	}
	candidates := slices.Clone(s.texts[path])
	if now, ok := s.current(path); ok {
		candidates = append(candidates, now)
	}
	for _, content := range candidates {
		if got, ok := linesOf(content, first, last); ok && got == lines {
			return nil
		}
	}
	if len(candidates) == 0 {
		return fmt.Errorf("there is no file %s", path)
	}
	got, _ := linesOf(candidates[len(candidates)-1], first, last)
	return fmt.Errorf("lines %d to %d are %q, not %q", first, last, got, lines)
}

// checkCitation holds a citation against its file.
func (s *session) checkCitation(c wire.Citation) error {
	sum := sha256.Sum256([]byte(c.Text))
	switch err := s.stands(c.URI, c.StartLine, c.EndLine, c.Text); {
	case err != nil:
		return fmt.Errorf("citation %s: %w", c.ID, err)
	case hex.EncodeToString(sum[:]) != c.SHA256:
		return fmt.Errorf("citation %s has the wrong hash", c.ID)
	case c.ID != fmt.Sprintf("%s:%d-%d", c.Path, c.StartLine, c.EndLine):
		return fmt.Errorf("citation %s is of %s:%d-%d", c.ID, c.Path, c.StartLine, c.EndLine)
	case c.Range != wire.Range{Start: wire.Position{Line: c.StartLine - 1}, End: wire.Position{Line: c.EndLine}}:
		return fmt.Errorf("citation %s has the range %v", c.ID, c.Range)
	}
	return nil
}
