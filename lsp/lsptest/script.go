package lsptest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
)

// Update returns the flag -update, which has expectations rewritten from what
// was got. Call it once, in a variable of the test package.
func Update() *bool {
	return flag.Bool("update", false, "rewrite the expectations of the sessions from what the server answers")
}

// Run plays the sessions in the txtar files that match a pattern, each as a
// subtest. A file's comment is the session, a command a line; its files are
// the workspace, but for those under want/, which are expectations.
//
// Words are parted by spaces; one in double quotes is a Go string. FILE is a
// workspace path, TEXT is found in FILE and stands for the place where it
// begins.
//
//	# anything              a comment
//	client NAME             whose capabilities are sent (default vscode)
//	setting NAME JSON       a setting; both only before anything else
//	open FILE               open a file as it stands on disk
//	close FILE              close it
//	edit FILE L:C-L:C NEW   replace a range: lines and bytes, from 1
//	replace FILE OLD NEW    replace the first OLD
//	type FILE TEXT NEW      insert NEW before TEXT, a character at a time
//	save FILE               write the buffer to disk
//	write FILE TEXT         write a file behind the editor's back
//	rm FILE, mv FILE FILE   remove or rename one
//	sync [scan] [vectors]   wait until all of that is searchable
//	ask QUERY               answer and citations
//	search QUERY            the hits
//	explain FILE TEXT       the explanation
//	hover FILE TEXT         the hover
//	links FILE              the document links, resolved
//	lens FILE               the code lenses
//	action FILE TEXT [N]    the actions there; with N, the N-th from 1 is applied
//	insert FILE TEXT ID     the insert command
//	show FILE               the buffer
//	status                  files and chunks
//	expect NAME             the last output is the file want/NAME
//	contains TEXT...        the last output holds all of them
//	lacks TEXT...           the last output holds none of them
func Run(t *testing.T, pattern string, update bool, server func(testing.TB) lsp.Options, settings map[string]any) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions match %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &session{tb: t, archive: archive, dir: t.TempDir(), update: update, config: Config{Client: VSCode}, settings: map[string]any{}}
			for name, value := range settings {
				s.settings[name] = value
			}
			s.config.Server = server(t)
			s.play(file)
			if update && s.changed {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// session is one file being played.
type session struct {
	tb       testing.TB
	archive  *txtar.Archive
	dir      string
	update   bool
	changed  bool
	config   Config
	settings map[string]any
	e        *Editor
	output   string
}

func (s *session) play(file string) {
	for _, f := range s.archive.Files {
		if !strings.HasPrefix(f.Name, "want/") {
			s.write(f.Name, string(f.Data))
		}
	}
	for i, line := range strings.Split(string(s.archive.Comment), "\n") {
		words, err := splitWords(line)
		if err == nil && len(words) > 0 {
			err = s.command(words[0], words[1:])
		}
		if err != nil {
			s.tb.Fatalf("%s:%d: %s\n%v", file, i+1, strings.TrimSpace(line), err)
		}
	}
	if s.e != nil {
		if err := s.e.Shutdown(); err != nil {
			s.tb.Errorf("%s: the end: %v", file, err)
		}
	}
}

// splitWords parts a line into words.
func splitWords(line string) (words []string, err error) {
	for {
		line = strings.TrimLeft(line, " \t\r")
		if line == "" || line[0] == '#' {
			return words, nil
		}
		if line[0] != '"' {
			word, rest, _ := strings.Cut(line, " ")
			words, line = append(words, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return nil, fmt.Errorf("a string without end: %s", line)
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, err
		}
		words, line = append(words, word), line[len(quoted):]
	}
}

// arguments says how many a command takes: the least and the most.
func arguments() map[string][2]int {
	return map[string][2]int{
		"client": {1, 1}, "setting": {2, 2}, "open": {1, 1}, "close": {1, 1}, "edit": {3, 3}, "replace": {3, 3}, "type": {3, 3}, "save": {1, 1},
		"write": {2, 2}, "rm": {1, 1}, "mv": {2, 2}, "sync": {0, 2}, "ask": {1, 1}, "search": {1, 1}, "explain": {2, 2}, "hover": {2, 2},
		"links": {1, 1}, "lens": {1, 1}, "action": {2, 3}, "insert": {3, 3}, "show": {1, 1}, "status": {0, 0}, "expect": {1, 1}, "contains": {1, 99}, "lacks": {1, 99},
	}
}

func (s *session) command(verb string, args []string) error {
	limits, ok := arguments()[verb]
	if !ok {
		return fmt.Errorf("no such command: %s", verb)
	}
	if len(args) < limits[0] || len(args) > limits[1] {
		return fmt.Errorf("%s takes %d to %d arguments, not %d", verb, limits[0], limits[1], len(args))
	}
	switch verb {
	case "client":
		s.config.Client = args[0]
		return nil
	case "setting":
		var value any
		if err := json.Unmarshal([]byte(args[1]), &value); err != nil {
			return err
		}
		s.settings[args[0]] = value
		return nil
	}
	if s.e == nil {
		s.config.Folders, s.config.InitializationOptions = []string{s.dir}, s.settings
		s.e = Start(s.tb, s.config)
	}
	path := s.dir
	if len(args) > 0 {
		path = s.path(args[0])
	}
	switch verb {
	case "open":
		s.e.OpenFile(path)
	case "close":
		s.e.Close(path)
	case "edit":
		return s.edit(path, args[1], args[2])
	case "replace":
		s.e.Replace(path, args[1], args[2])
	case "type":
		at := strings.Index(s.e.Text(path), args[1])
		if at < 0 {
			return fmt.Errorf("%s does not hold %q", args[0], args[1])
		}
		for i, r := range args[2] {
			s.e.Edit(path, at+i, at+i, string(r))
		}
	case "save":
		s.e.Save(path)
	case "write":
		s.write(args[0], args[1])
		s.e.Changed(path)
	case "rm":
		if err := os.Remove(path); err != nil {
			return err
		}
		s.e.Changed(path)
	case "mv":
		if err := os.Rename(path, s.path(args[1])); err != nil {
			return err
		}
		s.e.Changed(path, s.path(args[1]))
	case "expect":
		return s.expect("want/" + args[0])
	case "contains", "lacks":
		for _, part := range args {
			if strings.Contains(s.output, part) != (verb == "contains") {
				return fmt.Errorf("%q in\n%s", part, s.output)
			}
		}
	default:
		output, err := s.query(verb, path, args)
		if err != nil {
			return err
		}
		s.output = s.clean(output)
	}
	return nil
}

func (s *session) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s *session) write(name, content string) {
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.tb.Fatal(err)
	}
}

// clean takes out what differs between runs.
func (s *session) clean(output string) string {
	output = strings.ReplaceAll(output, text.URIFromPath(s.dir), "file:///W")
	output = strings.ReplaceAll(output, s.dir, "/W")
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return output
}

// edit replaces "L:C-L:C", lines and bytes from 1.
func (s *session) edit(path, rng, newText string) error {
	var l1, c1, l2, c2 int
	if _, err := fmt.Sscanf(rng, "%d:%d-%d:%d", &l1, &c1, &l2, &c2); err != nil {
		return fmt.Errorf("range %q: %w", rng, err)
	}
	d := text.New(s.e.Text(path))
	s.e.Edit(path, d.LineStart(l1)+c1-1, d.LineStart(l2)+c2-1, newText)
	return nil
}

// expect compares the last output with a file of the archive.
func (s *session) expect(name string) error {
	for i := range s.archive.Files {
		f := &s.archive.Files[i]
		switch {
		case f.Name != name:
		case string(f.Data) == s.output:
			return nil
		case s.update:
			f.Data, s.changed = []byte(s.output), true
			return nil
		default:
			return fmt.Errorf("got\n%s\nwant %s\n%s", s.output, name, f.Data)
		}
	}
	if !s.update {
		return fmt.Errorf("there is no file %s: run with -update; got\n%s", name, s.output)
	}
	s.archive.Files, s.changed = append(s.archive.Files, txtar.File{Name: name, Data: []byte(s.output)}), true
	return nil
}

// query sends a request and renders what came back.
func (s *session) query(verb, path string, args []string) (string, error) {
	document := map[string]any{"textDocument": map[string]any{"uri": URI(path)}}
	var out bytes.Buffer
	switch verb {
	case "sync":
		var p wire.SyncParams
		for _, arg := range args {
			p.Scan, p.Vectors = p.Scan || arg == "scan", p.Vectors || arg == "vectors"
		}
		c := s.e.Sync(p).Coverage
		fmt.Fprintf(&out, "%d of %d files, %d pending\n", c.Indexed, c.Total, c.Pending)
	case "ask":
		var r wire.AskResult
		if err := s.e.Call(lsp.MethodAsk, wire.SearchParams{Query: args[0]}, &r); err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s\n--\n", strings.TrimRight(r.Answer, "\n"))
		for _, c := range r.Citations {
			if err := checkCitation(c, s.read(c.Path)); err != nil {
				return "", err
			}
			fmt.Fprintf(&out, "%s:%d-%d %s %s\n", c.Path, c.StartLine, c.EndLine, c.Symbol, c.Verified)
		}
	case "search":
		var r wire.SearchResult
		if err := s.e.Call(lsp.MethodSearch, wire.SearchParams{Query: args[0]}, &r); err != nil {
			return "", err
		}
		for _, h := range r.Hits {
			if got, _ := text.New(s.read(h.Path)).Lines(h.StartLine, h.EndLine); got != h.Text {
				return "", fmt.Errorf("%s:%d-%d is %q, the hit says %q", h.Path, h.StartLine, h.EndLine, got, h.Text)
			}
			fmt.Fprintf(&out, "%s:%d-%d %s\n", h.Path, h.StartLine, h.EndLine, h.Symbol)
		}
	case "explain":
		at := wire.Position(s.e.Find(path, args[1]))
		var r wire.ExplainResult
		p := wire.RangeParams{Document: wire.Document{URI: URI(path), Range: &wire.Range{Start: at, End: at}}}
		if err := s.e.Call(lsp.MethodExplain, p, &r); err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s\n", r.Markdown)
	case "hover":
		document["position"] = s.e.Find(path, args[1])
		var r *struct{ Contents struct{ Value string } }
		if err := s.e.Call("textDocument/hover", document, &r); err != nil {
			return "", err
		}
		if r != nil {
			out.WriteString(r.Contents.Value)
		}
	case "links":
		var links []map[string]any
		if err := s.e.Call("textDocument/documentLink", document, &links); err != nil {
			return "", err
		}
		for _, link := range links {
			var resolved struct{ Target string }
			if err := s.e.Call("documentLink/resolve", link, &resolved); err != nil {
				return "", err
			}
			fmt.Fprintln(&out, resolved.Target)
		}
	case "lens":
		var lenses []struct {
			Range   text.Range
			Command struct{ Title string }
		}
		if err := s.e.Call("textDocument/codeLens", document, &lenses); err != nil {
			return "", err
		}
		for _, l := range lenses {
			fmt.Fprintf(&out, "%d: %s\n", l.Range.Start.Line+1, l.Command.Title)
		}
	case "action":
		return s.action(path, args)
	case "insert":
		at := wire.Position(s.e.Find(path, args[1]))
		p := lsp.InsertParams{Document: wire.Document{URI: URI(path), Range: &wire.Range{Start: at, End: at}}, Citation: args[2]}
		var r lsp.InsertResult
		if err := s.e.Call("workspace/executeCommand", map[string]any{"command": lsp.CommandInsert, "arguments": []any{p}}, &r); err != nil {
			return "", err
		}
		if !r.Applied {
			return "", fmt.Errorf("not applied: %s", r.FailureReason)
		}
		return s.e.Text(path), nil
	case "show":
		return s.e.Text(path), nil
	case "status":
		var r wire.Status
		if err := s.e.Call(lsp.MethodStatus, nil, &r); err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%d of %d files, %d chunks\n", r.Coverage.Indexed, r.Coverage.Total, r.Chunks)
		for _, f := range r.SkippedFiles {
			fmt.Fprintf(&out, "skipped %s: %s\n", f.Path, f.Reason)
		}
	}
	return out.String(), nil
}

// read is a file's text as the editor shows it, else the disk's.
func (s *session) read(name string) string {
	path := s.path(name)
	s.e.mu.Lock()
	b := s.e.buffers[URI(path)]
	s.e.mu.Unlock()
	if b != nil {
		return b.content
	}
	return mustRead(s.tb, path)
}

// checkCitation holds a citation against its file: the proof is what all this
// is about, so every session checks it.
func checkCitation(c wire.Citation, content string) error {
	got, ok := text.New(content).Lines(c.StartLine, c.EndLine)
	switch {
	case !ok || got != c.Text:
		return fmt.Errorf("citation %s says %q, the file %q", c.ID, c.Text, got)
	case text.HexHash(got) != c.SHA256:
		return fmt.Errorf("citation %s has the wrong hash", c.ID)
	case c.ID != fmt.Sprintf("%s:%d-%d", c.Path, c.StartLine, c.EndLine):
		return fmt.Errorf("citation %s is of %s:%d-%d", c.ID, c.Path, c.StartLine, c.EndLine)
	case c.Range != wire.Range{Start: wire.Position{Line: c.StartLine - 1}, End: wire.Position{Line: c.EndLine}}:
		return fmt.Errorf("citation %s has the range %v", c.ID, c.Range)
	}
	return nil
}

// action lists the actions at a place, and applies one.
func (s *session) action(path string, args []string) (string, error) {
	at := s.e.Find(path, args[1])
	var actions []json.RawMessage
	err := s.e.Call("textDocument/codeAction", map[string]any{
		"textDocument": map[string]any{"uri": URI(path)}, "range": text.Range{Start: at, End: at}, "context": map[string]any{"diagnostics": []any{}},
	}, &actions)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	for i, raw := range actions {
		var action struct {
			Title string
			Edit  *WorkspaceEdit
		}
		if err := json.Unmarshal(raw, &action); err != nil {
			return "", err
		}
		if len(args) < 3 {
			fmt.Fprintln(&out, action.Title)
			continue
		}
		if strconv.Itoa(i+1) != args[2] {
			continue
		}
		if action.Edit == nil {
			if err := s.e.Call("codeAction/resolve", raw, &action); err != nil {
				return "", err
			}
		}
		if action.Edit == nil {
			return "", fmt.Errorf("%s has no edit", action.Title)
		}
		if err := s.e.Apply(*action.Edit); err != nil {
			return "", err
		}
		return s.e.Text(path), nil
	}
	if len(args) == 3 {
		return "", fmt.Errorf("there are %d actions", len(actions))
	}
	return out.String(), nil
}
