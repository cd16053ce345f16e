package e2e_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp/lsptest"
)

// wantCited asks in the editor and on the command line about a file, and
// compares what both cite of it with its lines: those of content, which is the
// file in UTF-8.
func wantCited(t *testing.T, h *home, e *lsptest.Editor, query, path, part, content string) {
	t.Helper()
	wantFound(t, hits(t, e, query), path, part)
	for _, hit := range hits(t, e, query) {
		if hit.Path == path {
			c := wire.Citation{ID: fmt.Sprintf("%s:%d-%d", hit.Path, hit.StartLine, hit.EndLine), StartLine: hit.StartLine, EndLine: hit.EndLine,
				Text: hit.Text, SHA256: text.HexHash(hit.Text), Range: lines(hit.StartLine, hit.EndLine)}
			checkCitation(t, c, content)
		}
	}
	cited := false
	for _, c := range ask(t, e, query).Citations {
		if c.Path == path {
			checkCitation(t, c, content)
			cited = cited || strings.Contains(c.Text, part)
		}
	}
	if !cited {
		t.Errorf("the answer to %q does not cite %q of %q", query, part, path)
	}
}

// lines is the LSP range of whole lines.
func lines(start, end int) wire.Range {
	return wire.Range{Start: wire.Position{Line: start - 1}, End: wire.Position{Line: end}}
}

// encode16 is UTF-16 with a byte order mark, if any.
func encode16(order binary.AppendByteOrder, mark bool, s string) string {
	var b []byte
	if mark {
		b = order.AppendUint16(b, 0xFEFF)
	}
	for _, unit := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// latin1 is text in ISO 8859-1.
func latin1(s string) string {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

func TestBadInputEncodings(t *testing.T) {
	h := newHome(t)
	source := func(name string) string {
		return "package zoo\n\n// " + name + " is naïve and élan, 😀 beyond.\nfunc " + name + "() {\n\tprintln(\"é\")\n}\n"
	}
	plain := func(name string) string { return strings.ReplaceAll(source(name), "😀", "") }
	contents := map[string]string{
		"le.go": source("Wallaby"), "be.go": source("Bilby"), "bare.go": plain("Numbat"), "latin.go": plain("Wombat"), "bom.go": source("Quoll"),
	}
	dir := workspace(t,
		"le.go", encode16(binary.LittleEndian, true, contents["le.go"]),
		"be.go", encode16(binary.BigEndian, true, contents["be.go"]),
		"bare.go", encode16(binary.LittleEndian, false, contents["bare.go"]),
		"latin.go", latin1(contents["latin.go"]),
		"bom.go", "\xef\xbb\xbf"+contents["bom.go"])
	e := h.edit(dir)
	wantQuokka(t, e, "")
	for path, name := range map[string]string{"le.go": "Wallaby", "be.go": "Bilby", "bare.go": "Numbat", "latin.go": "Wombat", "bom.go": "Quoll"} {
		wantCited(t, h, e, name, path, "func "+name, contents[path])
	}
}

func TestBadInputInvalidUTF8(t *testing.T) {
	h := newHome(t)
	// Mostly UTF-8 with some broken characters, and bytes that fit no encoding.
	content := "package zoo\n\n// Wallaby \xff é é é é é é\nfunc Wallaby() {}\n\n// cut off: \xf0\x9f\x98"
	shown := strings.ReplaceAll(strings.ReplaceAll(content, "\xff", "\uFFFD"), "\xf0\x9f\x98", "\uFFFD\uFFFD\uFFFD")
	dir := workspace(t, "wallaby.go", content,
		"noise.go", strings.Repeat("\x01\x02\xff\xfe\x80\x81", 500),
		"surrogate.go", "\xff\xfep\x00a\x00\x00\xd8x\x00\n\x00B\x00i\x00l\x00b\x00y\x00")
	e := h.edit(dir)
	wantQuokka(t, e, "")
	wantCited(t, h, e, "Wallaby", "wallaby.go", "func Wallaby", shown)
	wantFound(t, hits(t, e, "Bilby"), "surrogate.go", "Bilby")
	wantSkipped(t, state(t, e), "noise.go", "binary", "control characters")
}

func TestBadInputNULBytes(t *testing.T) {
	h := newHome(t)
	dir := workspace(t, "nul.go", "package zoo\x00\n\nfunc Wallaby() {}\n", "all.bin", strings.Repeat("\x00", 4096), "half16.txt", "\xff\xfea\x00b")
	e := h.edit(dir)
	wantQuokka(t, e, "")
	st := state(t, e)
	wantSkipped(t, st, "nul.go", "binary", "NUL")
	wantSkipped(t, st, "half16.txt", "binary", "half a character")
	if reason, _ := skipped(st, "all.bin"); reason == "" {
		t.Errorf("all.bin is indexed: %v", st.SkippedFiles)
	}
	// The editor may show such a file; what it shows has no place in the index.
	path := filepath.Join(dir, "nul.go")
	e.Open(path, "go", "package zoo\x00\n\nfunc Wallaby() {}\n")
	wantQuokka(t, e, "")
	e.Close(path)
	wantQuokka(t, e, "")
}

func TestBadInputHugeFile(t *testing.T) {
	h := newHome(t)
	dir := workspace(t, "huge.go", "package zoo\n")
	must(t, os.Truncate(filepath.Join(dir, "huge.go"), 1<<30))
	e := h.edit(dir)
	wantQuokka(t, e, "")
	wantSkipped(t, state(t, e), "huge.go", "too large", "1073741824 bytes, over the limit of 1048576 (index.maxFileBytes)")
	if rss := state(t, e).RSSBytes; rss > 500<<20 {
		t.Errorf("%d bytes of memory are in use: was the file read?", rss)
	}
	h.run("index", "--dry-run", "--root", dir).wants(0, "huge.go", "too large")
}

func TestBadInputOneLineOf5MB(t *testing.T) {
	h := newHome(t)
	line := "var x = \"" + strings.Repeat("wallaby ", 5<<20/8) + "\"\n"
	dir := workspace(t, "line.js", line, "line.txt", line)
	e := h.edit(dir)
	wantQuokka(t, e, "")
	wantSkipped(t, state(t, e), "line.js", "too large", "index.maxFileBytes")
	// With the limit raised it is read, and told to be no text that anyone reads.
	e = h.editWith(lsptest.Config{Folders: []string{workspace(t, "line.js", line, "line.txt", line)}, Settings: map[string]any{"index": map[string]any{"maxFileBytes": 10 << 20}}})
	wantQuokka(t, e, "")
	wantSkipped(t, state(t, e), "line.js", "minified", "lines of over 1000 bytes")
	wantSkipped(t, state(t, e), "line.txt", "minified", "lines of over 5000 bytes")
	// Opened in the editor it is 5 MB of one line in memory, edited and asked
	// about.
	path := filepath.Join(dir, "line.js")
	e.Open(path, "javascript", line)
	e.Edit(path, 0, 0, "// numbat\n")
	wantQuokka(t, e, "")
}

func TestBadInputDeepNesting(t *testing.T) {
	h := newHome(t)
	const depth = 100_000
	nested := func(before, open, close, after string) string {
		return before + strings.Repeat(open+"\n", depth) + strings.Repeat(close+"\n", depth) + after
	}
	dir := workspace(t,
		"brackets.go", nested("package zoo\n\nvar x = ", "(", ")", "\nfunc Wallaby() {}\n"),
		"blocks.c", nested("void bilby(void) ", "{", "}", "\nint numbat(void) { return 1; }\n"),
		"lists.py", nested("x = ", "[", "]", "\ndef wombat():\n    pass\n"),
		"objects.js", nested("var x = ", "{a:", "}", ";\nfunction quoll() {}\n"),
		"arrays.json", nested("", "[", "]", ""),
		"quotes.md", "# Dunnart\n\n"+strings.Repeat("> ", depth)+"deep\n",
		"unclosed.ts", "function possum() {}\n"+strings.Repeat("((((((((\n", depth/8),
		"oneline.go", "package zoo\n\nvar y = "+strings.Repeat("(", depth)+"1"+strings.Repeat(")", depth)+"\n")
	deep := dir
	for range 250 {
		deep = filepath.Join(deep, "d")
	}
	write(t, filepath.Join(deep, "bottom.go"), "package d\n\n// Echidna lives at the bottom.\nfunc Echidna() {}\n")
	e := h.edit(dir)
	wantQuokka(t, e, "")
	for query, path := range map[string]string{
		"Wallaby": "brackets.go", "numbat": "blocks.c", "wombat": "lists.py", "quoll": "objects.js", "possum": "unclosed.ts",
		"Echidna": strings.Repeat("d/", 250) + "bottom.go",
	} {
		wantFound(t, hits(t, e, query), path, query)
	}
	wantSkipped(t, state(t, e), "oneline.go", "minified", "")
}

func TestBadInputNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems refuse most of these names")
	}
	h := newHome(t)
	names := []string{
		"with space.go", " lead.go", "50%.go", "%41.go", "😀.go", "quo\"te.go", "quo'te.go", "[br](ac).go", "x:12-13.go", "#frag?.go", "-dash.go",
		"back\\slash.go", "a&b;c.go", "$HOME.go", "`tick`.go", "ta\tb.go", "e\u0301.go", "\u202ertl.go", "*.go", "..go", strings.Repeat("n", 250) + ".go",
		"dir with space/50%/x.go",
	}
	uncitable := []string{"new\nline.go", "re\rturn.go", "esc\x1b[31m.go", "inv\xff\xfe.go", "line\u2028sep.go"}
	dir := workspace(t)
	for i, name := range slices.Concat(names, uncitable) {
		write(t, filepath.Join(dir, name), fmt.Sprintf("package zoo\n\n// Wallaby%d hops.\nfunc Wallaby%d() {}\n", i, i))
	}
	e := h.edit(dir)
	wantQuokka(t, e, "")
	for i, name := range names {
		query := fmt.Sprintf("Wallaby%d", i)
		found := false
		for _, hit := range hits(t, e, query) {
			if hit.Path != name || !strings.Contains(hit.Text, "func "+query+"(") {
				continue
			}
			found = true
			path, err := text.PathFromURI(hit.URI)
			if err != nil || path != filepath.Join(dir, name) {
				t.Errorf("%q has the URI %s: %q, %v", name, hit.URI, path, err)
			}
		}
		if !found {
			t.Errorf("%q is not found", name)
		}
		res := ask(t, e, query)
		if len(res.Citations) == 0 || res.Citations[0].Path != name {
			t.Errorf("%q is not cited: %s", name, clip(res.Answer, 300))
		}
		// Opened, edited and asked about under its URI.
		path := filepath.Join(dir, name)
		e.OpenFile(path)
		e.Edit(path, 0, 0, fmt.Sprintf("// Potoroo%d\n", i))
		wantFound(t, hits(t, e, fmt.Sprintf("Potoroo%d", i)), name, fmt.Sprintf("Potoroo%d", i))
		e.Close(path)
	}
	// A citation is one line, so names that break it are told and left out.
	st := state(t, e)
	for _, name := range uncitable {
		if !slices.ContainsFunc(st.SkippedFiles, func(f wire.SkippedFile) bool {
			return f.Path == strings.ToValidUTF8(name, "\uFFFD") && f.Reason == "unsupported type" && strings.Contains(f.Detail, "cannot be cited")
		}) && !slices.ContainsFunc(st.SkippedFiles, func(f wire.SkippedFile) bool {
			return strings.HasPrefix(f.Path, "inv") && strings.HasPrefix(name, "inv") && strings.Contains(f.Detail, "cannot be cited")
		}) {
			t.Errorf("%q is not told: %+v", name, st.SkippedFiles)
		}
	}
	if err := e.Shutdown(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	o := h.run("search", "--root", dir, "--quiet", "--top-k", "50", "Wallaby")
	for _, line := range strings.Split(o.stdout, "\n") {
		if strings.ContainsAny(line, "\x1b\r") {
			t.Errorf("a name acts on the terminal: %q", line)
		}
	}
	o = h.run("status", "--root", dir)
	if strings.ContainsAny(o.stdout, "\x1b\r") {
		t.Errorf("a name acts on the terminal: %q", o.stdout)
	}
}

func TestBadInputSpecialFiles(t *testing.T) {
	h := newHome(t)
	dir := workspace(t)
	special := specialFiles(t, dir)
	l, err := net.Listen("unix", filepath.Join(dir, "socket.go"))
	if err != nil {
		t.Skipf("no socket can be made: %v", err)
	}
	defer l.Close()
	special["socket.go"] = "socket"
	e := h.edit(dir)
	wantQuokka(t, e, "")
	for name, kind := range special {
		wantSkipped(t, state(t, e), name, "not a regular file", kind)
	}
	// Told by the editor to have changed, they still are not opened.
	for name := range special {
		e.Changed(filepath.Join(dir, name))
	}
	wantQuokka(t, e, "")
	h2 := newHome(t)
	wantFound(t, h2.search(dir, "Quokka").Hits, "zoo.go", "func Quokka")
}

func TestBadInputSymlinks(t *testing.T) {
	h := newHome(t)
	outside := workspace(t, "numbat.go", "package out\n\n// Numbat is outside.\nfunc Numbat() {}\n")
	dir := workspace(t, "sub/wombat.go", "package sub\n\n// Wombat digs.\nfunc Wombat() {}\n")
	for name, target := range map[string]string{
		"self": ".", "up": "..", "sub/parent": "..", "loop": "loop", "ping": "pong", "pong": "ping", "dangling": "nowhere",
		"out.go": filepath.Join(outside, "numbat.go"), "outdir": outside, "twin.go": "sub/wombat.go", "passwd": "/etc/passwd", "proc": "/proc/self/mem",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skipf("no symlinks: %v", err)
		}
	}
	e := h.edit(dir)
	wantQuokka(t, e, "")
	st := state(t, e)
	if st.Coverage.Indexed != 2 {
		t.Errorf("%d files are indexed, want 2", st.Coverage.Indexed)
	}
	for _, name := range []string{"out.go", "outdir", "passwd", "up"} {
		wantSkipped(t, st, name, "symlink out of the root", "to ")
	}
	for _, name := range []string{"self", "loop", "ping", "pong", "dangling", "sub/parent", "twin.go"} {
		wantSkipped(t, st, name, "symlink", "")
	}
	wantFound(t, hits(t, e, "Wombat"), "sub/wombat.go", "func Wombat")
	for _, hit := range hits(t, e, "Numbat") {
		if strings.Contains(hit.Text, "outside") {
			t.Errorf("%s shows what is outside", hit.Path)
		}
	}
	// A folder that is itself opened through a symlink.
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	if err := e.Shutdown(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	e = h.edit(link)
	wantQuokka(t, e, "")
	wantFound(t, hits(t, e, "Wombat"), "sub/wombat.go", "func Wombat")
}

func TestBadInputLineEnds(t *testing.T) {
	h := newHome(t)
	source := func(name string) string {
		return "package zoo\n\n// " + name + " hops\n// and digs.\nfunc " + name + "(n int) int {\n\treturn n\n}\n\nvar after" + name + " = 1\n"
	}
	mixed := "package zoo\r\n\n// Bilby hops\r// and digs.\nfunc Bilby() {\r\n}\r\r\nvar last = 1"
	contents := map[string]string{
		"crlf.go": strings.ReplaceAll(source("Wallaby"), "\n", "\r\n"), "cr.go": strings.ReplaceAll(source("Numbat"), "\n", "\r"), "mixed.go": mixed,
		"crlf.md": "# Wombat\r\n\r\nDigs.\r\n\r\n## Burrow\r\n\r\nThe burrow of the wombat is deep.\r\n",
	}
	var files []string
	for name, content := range contents {
		files = append(files, name, content)
	}
	dir := workspace(t, files...)
	e := h.edit(dir)
	wantQuokka(t, e, "")
	wantCited(t, h, e, "Wallaby", "crlf.go", "func Wallaby", contents["crlf.go"])
	wantCited(t, h, e, "Numbat", "cr.go", "func Numbat", contents["cr.go"])
	wantCited(t, h, e, "Bilby", "mixed.go", "func Bilby", contents["mixed.go"])
	wantCited(t, h, e, "burrow of the wombat", "crlf.md", "deep", contents["crlf.md"])
	// The function's own lines, to the line.
	for _, query := range []string{"Wallaby", "Numbat"} {
		var got string
		for _, hit := range hits(t, e, query) {
			if hit.Symbol == query {
				got = fmt.Sprintf("%d-%d", hit.StartLine, hit.EndLine)
			}
		}
		if got != "3-7" {
			t.Errorf("%s stands in lines %s, want 3-7", query, got)
		}
	}
	// Edited between the two halves of a line end.
	path := filepath.Join(dir, "crlf.go")
	e.OpenFile(path)
	e.Edit(path, 0, 0, "// Possum\r\n")
	wantCited(t, h, e, "Wallaby", "crlf.go", "func Wallaby", e.Text(path))
	if !bytes.HasPrefix([]byte(e.Text(path)), []byte("// Possum\r\npackage")) {
		t.Errorf("the text is now %q", clip(e.Text(path), 60))
	}
}
