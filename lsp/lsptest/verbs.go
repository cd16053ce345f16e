package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"coderag-ls/engine/text"
)

// errInapplicable is wrapped by what a command returns that makes no sense as
// things are: a file that is not open or not there. A session that is being
// shrunk leaves such commands out.
var errInapplicable = errors.New("cannot be done as things are")

func inapplicable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errInapplicable, fmt.Sprintf(format, args...))
}

// do plays one command.
func (s *session) do(c command) error {
	switch c.verb {
	case "client", "setting", "folders", "only":
		return s.setUp(c)
	}
	if s.e == nil {
		s.begin()
	}
	switch c.verb {
	case "write", "fill", "swap", "mkdir", "rm", "mv", "ln", "git":
		return s.onDisk(c)
	case "restart":
		return s.restart(len(c.args) > 0)
	case "check":
		return s.check()
	case "expect", "contains", "lacks":
		return s.expectation(c)
	case "start":
		return s.start(c.args)
	case "cancel":
		r := s.running[c.args[0]]
		if r == nil {
			return inapplicable("no request %s", c.args[0])
		}
		r.pending.Cancel()
		return nil
	case "action", "fixall", "insert", "show", "finish", "embedded":
		// Once is enough: they do something, or tell of something that was.
		output, err := s.query(c)
		s.output, s.again = s.clean(output), nil
		return err
	case "sync", "ask", "search", "context", "explain", "hover", "links", "lens", "diagnostics", "status", "messages":
		s.again = func() (string, error) {
			output, err := s.query(c)
			return s.clean(output), err
		}
		var err error
		s.output, err = s.again()
		return err
	}
	return s.inEditor(c)
}

// setUp says how the session starts.
func (s *session) setUp(c command) error {
	if s.e != nil {
		return fmt.Errorf("the session has begun")
	}
	switch c.verb {
	case "client":
		s.config.Client, s.config.Encodings = c.args[0], nil
	case "setting":
		var value any
		if err := json.Unmarshal([]byte(c.args[1]), &value); err != nil {
			return err
		}
		s.settings[c.args[0]] = value
	case "folders":
		s.config.Folders = nil
		for _, dir := range c.args {
			s.config.Folders = append(s.config.Folders, s.path(dir))
		}
	}
	return nil
}

// inEditor does what a user does in the editor.
func (s *session) inEditor(c command) error {
	path := s.path(c.args[0])
	content, open := s.e.content(path)
	switch c.verb {
	case "open":
		if len(c.args) > 1 {
			s.e.Open(path, strings.TrimPrefix(filepath.Ext(path), "."), c.args[1])
			break
		}
		onDisk, ok := diskText(path)
		if !ok {
			return inapplicable("there is no text file %s", c.args[0])
		}
		s.e.Open(path, strings.TrimPrefix(filepath.Ext(path), "."), onDisk)
	case "config":
		return s.configure(c.args[0], c.args[1])
	case "folder":
		s.folder(c.args[0] == "add", s.path(c.args[1]))
		return nil
	case "notify":
		s.e.Notify(c.args[0], json.RawMessage(strings.ReplaceAll(c.args[1], "file:///W", text.URIFromPath(s.dir))))
		return nil
	default:
		if !open {
			return inapplicable("%s is not open", c.args[0])
		}
	}
	switch c.verb {
	case "close":
		s.e.Close(path)
	case "edit":
		changes, err := changesOf(content, c.args[1:])
		if err != nil {
			return err
		}
		s.e.EditAll(path, changes...)
	case "replace", "type":
		at := strings.Index(content, c.args[1])
		if at < 0 {
			return inapplicable("%s does not hold %q", c.args[0], c.args[1])
		}
		if splits(content, at) {
			return inapplicable("nothing can be typed within a line end")
		}
		if c.verb == "replace" {
			s.e.Edit(path, at, at+len(c.args[1]), c.args[2])
			break
		}
		for i, r := range c.args[2] {
			s.e.Edit(path, at+i, at+i, string(r))
			s.note(path)
		}
	case "settext":
		s.e.SetText(path, c.args[1])
	case "save":
		if err := s.saving(path); err != nil {
			return err
		}
		s.e.Save(path)
	case "version":
		n, err := strconv.Atoi(c.args[1])
		if err != nil {
			return err
		}
		s.e.mu.Lock()
		s.e.buffers[URI(path)].version = n - 1
		s.e.mu.Unlock()
	}
	s.note(path)
	return nil
}

// content is an open document's text.
func (e *Editor) content(pathOrURI string) (content string, open bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.buffers[URI(pathOrURI)]
	if b == nil {
		return "", false
	}
	return b.content, true
}

// changesOf reads "L:C-L:C NEW" pairs, lines and bytes from 1, each in the text
// that the ones before it left.
func changesOf(content string, words []string) ([]Change, error) {
	if len(words)%2 != 0 {
		return nil, fmt.Errorf("a range without a text")
	}
	var changes []Change
	for i := 0; i < len(words); i += 2 {
		var l1, c1, l2, c2 int
		if _, err := fmt.Sscanf(words[i], "%d:%d-%d:%d", &l1, &c1, &l2, &c2); err != nil {
			return nil, fmt.Errorf("range %q: %w", words[i], err)
		}
		starts := lineStarts(content)
		if l1 < 1 || l2 < l1 || l2 > len(starts) {
			return nil, inapplicable("range %s of a text of %d lines", words[i], len(starts))
		}
		start, end := starts[l1-1]+c1-1, starts[l2-1]+c2-1
		if end < start || end > len(content) || splits(content, start) || splits(content, end) {
			return nil, inapplicable("range %s is none", words[i])
		}
		changes = append(changes, Change{start, end, words[i+1]})
		content = content[:start] + words[i+1] + content[end:]
	}
	return changes, nil
}

// configure changes a setting while the session runs.
func (s *session) configure(name, value string) error {
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		return err
	}
	changed := map[string]any{}
	if before, ok := s.config.Settings.(map[string]any); ok {
		for k, v := range before {
			changed[k] = v
		}
	}
	if changed[name] = v; v == nil {
		delete(changed, name)
	}
	s.config.Settings = changed // for the next start, too
	s.e.SetSettings(changed)
	s.e.Notify("workspace/didChangeConfiguration", map[string]any{"settings": map[string]any{"coderag": changed}})
	return nil
}

// folder adds or removes a workspace folder.
func (s *session) folder(add bool, dir string) {
	one := []any{map[string]any{"uri": text.URIFromPath(dir), "name": ""}}
	event := map[string]any{"added": []any{}, "removed": one}
	var folders []string
	for _, f := range s.config.Folders {
		if f != dir {
			folders = append(folders, f)
		}
	}
	if add {
		event = map[string]any{"added": one, "removed": []any{}}
		folders = append(folders, dir)
	}
	s.config.Folders = folders
	s.e.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": event})
}

// expectation holds the output against what a script says of it. Where the
// server may still come to know of a change, the question is asked again.
func (s *session) expectation(c command) error {
	return s.e.Expect(func() (Verdict, string) {
		why := s.holds(c)
		switch {
		case why == "":
			return Met, ""
		case !s.untold || s.again == nil:
			return Unmeetable, why
		}
		output, err := s.again()
		if err != nil {
			return Unmet, err.Error()
		}
		if s.output = output; s.holds(c) == "" {
			return Met, ""
		}
		return Unmet, why
	})
}

// holds says what is not as expected; "" where all is.
func (s *session) holds(c command) string {
	if c.verb == "expect" {
		return s.expect("want/" + c.args[0])
	}
	for _, part := range c.args {
		if strings.Contains(s.output, part) != (c.verb == "contains") {
			return fmt.Sprintf("%q in\n%s", part, s.output)
		}
	}
	return ""
}

// expect compares the output with a file of the archive.
func (s *session) expect(name string) string {
	for i := range s.archive.Files {
		f := &s.archive.Files[i]
		switch {
		case f.Name != name:
		case string(f.Data) == s.output:
			return ""
		case s.update:
			f.Data, s.changed = []byte(s.output), true
			return ""
		default:
			return fmt.Sprintf("got\n%s\nwant %s\n%s", s.output, name, f.Data)
		}
	}
	if !s.update {
		return fmt.Sprintf("there is no file %s: run with -update; got\n%s", name, s.output)
	}
	s.archive.Files, s.changed = append(s.archive.Files, txtar.File{Name: name, Data: []byte(s.output)}), true
	return ""
}

func (s *session) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// clean takes out what differs between runs.
func (s *session) clean(output string) string {
	output = strings.ReplaceAll(output, text.URIFromPath(s.dir), "file:///W")
	output = strings.ReplaceAll(output, s.dir, "/W")
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return output
}
