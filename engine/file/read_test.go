package file_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"coderag-ls/engine/file"
)

func read(t *testing.T, content string, maxBytes int64) (file.Content, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte(content), 0o644))
	return file.Read(path, maxBytes)
}

func utf16Bytes(s string, order binary.ByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, 0, 0)
		order.PutUint16(b[len(b)-2:], u)
	}
	return string(b)
}

func TestReadEncodings(t *testing.T) {
	const s = "func naïve() { // 日本 🎉\r\n}\n"
	ascii := strings.Repeat("package main\n", 10)
	for _, c := range []struct{ name, bytes, text, encoding string }{
		{"utf-8", s, s, "utf-8"},
		{"empty", "", "", "utf-8"},
		{"bom", "\xef\xbb\xbf" + s, s, "utf-8"},
		{"utf-16le bom", "\xff\xfe" + utf16Bytes(s, binary.LittleEndian), s, "utf-16le"},
		{"utf-16be bom", "\xfe\xff" + utf16Bytes(s, binary.BigEndian), s, "utf-16be"},
		{"utf-16le", utf16Bytes(ascii, binary.LittleEndian), ascii, "utf-16le"},
		{"utf-16be", utf16Bytes(ascii, binary.BigEndian), ascii, "utf-16be"},
		{"utf-16 lone surrogate", "\xff\xfea\x00\x00\xd8b\x00\x00\xdc", "a\ufffdb\ufffd", "utf-16le"},
		{"latin-1", "caf\xe9 \xfcber\n", "café über\n", "windows-1252"},
		{"windows-1252", "\x93quoted\x94 \x80 5 \x85\n", "“quoted” € 5 …\n", "windows-1252"},
		{"undefined in windows-1252", "a\x81\x8d", "a\u0081\u008d", "windows-1252"},
		{"utf-8 with an error", "日本 naïve \xff ok", "日本 naïve \ufffd ok", "utf-8 with errors"},
		{"utf-8 cut", "日本日本\xe6\x97", "日本日本\ufffd\ufffd", "utf-8 with errors"},
		{"escape codes", "\x1b[31mred\x1b[0m\f\n", "\x1b[31mred\x1b[0m\f\n", "utf-8"},
	} {
		got, err := read(t, c.bytes, 0)
		if err != nil || got.Text != c.text || got.Encoding != c.encoding {
			t.Errorf("%s: %q as %s, %v, want %q as %s", c.name, got.Text, got.Encoding, err, c.text, c.encoding)
			continue
		}
		if got.Hash != sha256.Sum256([]byte(c.text)) {
			t.Errorf("%s: the hash is not that of the text", c.name)
		}
		if got.Size != int64(len(c.bytes)) || got.ModTime.IsZero() {
			t.Errorf("%s: size %d, time %v", c.name, got.Size, got.ModTime)
		}
	}
}

func TestReadBinary(t *testing.T) {
	noise := make([]byte, 4096)
	r := rand.NewChaCha8([32]byte{1})
	if _, err := r.Read(noise); err != nil {
		t.Fatal(err)
	}
	for name, bytes := range map[string]string{
		"nul":            "text\x00text",
		"nul at the end": strings.Repeat("text\n", 5000) + "\x00",
		"noise":          string(noise),
		"noise, no nul":  strings.ReplaceAll(string(noise), "\x00", "\x01"),
		"utf-16 odd":     "\xff\xfea\x00b",
		"utf-32":         "\xff\xfe\x00\x00a\x00\x00\x00",
		"elf":            "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00>\x00",
	} {
		_, err := read(t, bytes, 0)
		var skip *file.SkipError
		if !errors.As(err, &skip) || skip.Reason != file.SkipBinary || skip.Detail == "" {
			t.Errorf("%s: %v, want binary", name, err)
		}
	}
}

func TestReadLimit(t *testing.T) {
	if c, err := read(t, "12345", 5); err != nil || c.Text != "12345" {
		t.Errorf("at the limit: %q, %v", c.Text, err)
	}
	c, err := read(t, "123456", 5)
	var skip *file.SkipError
	if !errors.As(err, &skip) || skip.Reason != file.SkipTooLarge || c.Size != 6 || !strings.Contains(err.Error(), "5") {
		t.Errorf("above the limit: %+v, %v", c, err)
	}
	// A gigabyte is not read to find that out.
	path := filepath.Join(t.TempDir(), "sparse")
	f, err := os.Create(path)
	must(t, err)
	must(t, f.Truncate(1<<30))
	must(t, f.Close())
	allocated := testing.AllocsPerRun(1, func() {
		if _, err = file.Read(path, 0); !errors.As(err, &skip) || skip.Reason != file.SkipTooLarge {
			t.Errorf("a gigabyte: %v", err)
		}
	})
	if allocated > 100 {
		t.Errorf("%v allocations", allocated)
	}
	// A file whose size the system does not know is read to the limit.
	if _, err := os.Stat("/proc/self/maps"); err == nil {
		if c, err := file.Read("/proc/self/maps", 1<<20); err != nil || c.Text == "" {
			t.Errorf("/proc/self/maps: %d bytes, %v", len(c.Text), err)
		}
		if _, err := file.Read("/proc/self/maps", 10); !errors.As(err, &skip) || skip.Reason != file.SkipTooLarge {
			t.Errorf("/proc/self/maps over the limit: %v", err)
		}
	}
}

func TestReadOfWhatIsNotThere(t *testing.T) {
	dir := tree(t, map[string]string{"file": "x", "sub/": ""})
	for _, p := range []string{"nowhere", "nowhere/deep", "file/below"} {
		_, err := file.Read(filepath.Join(dir, p), 0)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Read(%s) = %v, want fs.ErrNotExist", p, err)
		}
		var skip *file.SkipError
		if errors.As(err, &skip) {
			t.Errorf("Read(%s): a missing file is skipped", p)
		}
	}
	must(t, os.Symlink("file", filepath.Join(dir, "link")))
	for p, reason := range map[string]file.SkipReason{"sub": file.SkipNotRegular, "link": file.SkipLinked} {
		_, err := file.Read(filepath.Join(dir, p), 0)
		var skip *file.SkipError
		if !errors.As(err, &skip) || skip.Reason != reason {
			t.Errorf("Read(%s) = %v, want %s", p, err, reason)
		}
	}
	// A file that goes between scan and read is gone, not broken.
	l := scan(t, dir, file.Options{})
	must(t, os.Remove(filepath.Join(dir, "file")))
	if _, err := file.Read(filepath.Join(dir, l.Entries[0].Path), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that went: %v", err)
	}
}

// FuzzRead wants any bytes to become valid UTF-8 or a skip.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"package x\n", "\xff\xfea\x00", "\xfe\xff\x00a", "\xef\xbb\xbfx", "caf\xe9", "日本\xff", "\x00\x01", "a\x00b\x00c\x00d\x00"} {
		f.Add([]byte(s))
	}
	path := filepath.Join(f.TempDir(), "file")
	f.Fuzz(func(t *testing.T, data []byte) {
		must(t, os.WriteFile(path, data, 0o644))
		c, err := file.Read(path, 0)
		var skip *file.SkipError
		switch {
		case err == nil && (!utf8.ValidString(c.Text) || strings.ContainsRune(c.Text, 0) || c.Encoding == ""):
			t.Errorf("%q is %q as %q", data, c.Text, c.Encoding)
		case err != nil && !errors.As(err, &skip):
			t.Error(err)
		}
		if utf8.Valid(data) && !strings.HasPrefix(string(data), "\xef\xbb\xbf") && err == nil && c.Encoding == "utf-8" && c.Text != string(data) {
			t.Errorf("%q became %q", data, c.Text)
		}
		if err == nil {
			file.Classify("a.h", c.Text)
			file.Classify("a.m", c.Text)
			file.Classify("script", c.Text)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.go")
	content := strings.Repeat("\tif err != nil { return fmt.Errorf(\"x: %w\", err) }\n", 200)
	must(b, os.WriteFile(path, []byte(content), 0o644))
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := file.Read(path, 0); err != nil {
			b.Fatal(err)
		}
	}
}
