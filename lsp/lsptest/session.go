package lsptest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"coderag-ls/engine/text"
	"coderag-ls/lsp"
)

// Update returns the flag -update, which has expectations rewritten from what
// was got. Call it once, in a variable of the test package.
func Update() *bool {
	return flag.Bool("update", false, "rewrite the expectations of the sessions from what the server answers")
}

// Mode is how a session is played.
type Mode struct {
	// ServerWatches: the server sees by itself what happens on disk; else the
	// client tells it.
	ServerWatches bool
	// FullText: changes of documents are sent as whole texts.
	FullText bool
	// Encoding is what positions count in; "" for what the client prefers.
	Encoding text.Encoding
}

// Modes are the four ways to play a session, with two encodings between them.
func Modes() []Mode {
	return []Mode{
		{false, false, text.UTF16}, {false, true, text.UTF8},
		{true, false, text.UTF8}, {true, true, text.UTF16},
	}
}

// words are the names by which a session may ask for the mode.
func (m Mode) words() []string {
	words := []string{"client", "incremental"}
	if m.ServerWatches {
		words[0] = "server"
	}
	if m.FullText {
		words[1] = "full"
	}
	return words
}

func (m Mode) String() string { return strings.Join(append(m.words(), string(m.Encoding)), "-") }

// Host is what sessions are played on.
type Host struct {
	// Server returns a server that keeps its indexes in a folder. Where a mode
	// has the server watch the disk, its Options.Watch must.
	Server func(tb testing.TB, cache string) lsp.Options
	// Modes are those to play sessions in.
	Modes []Mode
	// Settings are sent by every session.
	Settings map[string]any
	// Update has expectations rewritten, from the first mode.
	Update bool
}

// Run plays the sessions in the txtar files that match a pattern, each in all
// modes, as subtests.
func (h Host) Run(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions match %s: %v", pattern, err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		commands, err := parseCommands(string(archive.Comment))
		if err != nil {
			t.Fatalf("%s:%v", file, err)
		}
		for i, mode := range h.Modes {
			if !wanted(commands, mode) {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+mode.String(), func(t *testing.T) {
				s := h.newSession(t, mode)
				s.archive, s.update = archive, h.Update && i == 0
				s.play(file, commands)
				if s.changed {
					if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

// wanted reports whether a session is to be played in a mode.
func wanted(commands []command, mode Mode) bool {
	for _, c := range commands {
		for _, word := range c.args {
			if c.verb == "only" && !slices.Contains(mode.words(), word) {
				return false
			}
		}
	}
	return true
}

// session is a script being played.
type session struct {
	tb       testing.TB
	host     Host
	mode     Mode
	dir      string // the workspace
	cache    string // where the index is kept
	settings map[string]any
	config   Config
	spy      *spy
	left     leftovers
	e        *Editor // nil until the first command that needs one

	archive *txtar.Archive
	update  bool
	changed bool // the archive, by update

	output   string
	again    func() (string, error) // asks for the output once more; nil where that is no question
	untold   bool                   // something happened on disk that the server must see by itself
	running  map[string]*running    // requests without an answer yet, by name
	texts    map[string][]string    // what files held while requests ran, by absolute path
	asked    []string               // questions of the session, for the oracle
	embedded int64                  // chunks embedded when that was last asked
}

func (h Host) newSession(tb testing.TB, mode Mode) *session {
	s := &session{
		tb: tb, host: h, mode: mode, settings: map[string]any{}, spy: &spy{}, running: map[string]*running{}, texts: map[string][]string{},
		archive: &txtar.Archive{}, left: takeLeftovers(),
	}
	base := tb.TempDir()
	s.dir, s.cache = filepath.Join(base, "w"), filepath.Join(base, "cache")
	for _, dir := range []string{s.dir, s.cache} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	for name, value := range h.Settings {
		s.settings[name] = value
	}
	s.settings["index.watch"] = mode.ServerWatches
	s.config = Config{Client: VSCode, FullText: mode.FullText, Folders: []string{s.dir}, InitializationOptions: s.settings, Server: s.spy.on(h.Server(tb, s.cache))}
	if mode.Encoding != "" {
		s.config.Encodings = []text.Encoding{mode.Encoding}
	}
	return s
}

func (s *session) play(file string, commands []command) {
	for _, f := range s.archive.Files {
		if !strings.HasPrefix(f.Name, "want/") {
			if err := s.put(f.Name, f.Data); err != nil {
				s.tb.Fatal(err)
			}
		}
	}
	for _, c := range commands {
		if err := s.do(c); err != nil {
			s.tb.Fatalf("%s:%d: %s\n%v", file, c.line, c, err)
		}
	}
	if err := s.end(); err != nil {
		s.tb.Fatalf("%s: the end: %v", file, err)
	}
}

// end holds the index against a fresh one, shuts the server down and looks at
// what it left.
func (s *session) end() error {
	if s.e == nil {
		return nil
	}
	if err := s.check(); err != nil {
		return err
	}
	if err := s.hangUp(false); err != nil {
		return err
	}
	return s.left.check()
}

// begin starts the server and connects the editor.
func (s *session) begin() { s.e = Start(s.tb, s.config) }

// restart ends the server and starts another, to which the editor opens its
// documents again.
func (s *session) restart(abrupt bool) error {
	before := s.e
	if err := s.hangUp(abrupt); err != nil {
		return err
	}
	s.begin()
	for _, b := range before.buffers { // nobody else has it any more
		s.e.Open(b.uri, b.language, b.content)
	}
	s.embedded = 0
	return nil
}

// hangUp ends the server. Every request must have been answered once.
func (s *session) hangUp(abrupt bool) error {
	if abrupt {
		s.e.CloseInput()
		_ = s.e.Served() // the server rightly complains
		clear(s.running) // these need no answer
		return nil
	}
	for name := range s.running {
		if _, err := s.finish(name); err != nil {
			return err
		}
	}
	if err := s.e.Shutdown(); err != nil {
		return fmt.Errorf("shutting down: %w", err)
	}
	return s.e.answeredOnce()
}

// answeredOnce says which requests were not answered exactly once.
func (e *Editor) answeredOnce() error {
	<-e.ended
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.waiting {
		return fmt.Errorf("request %s was not answered", id)
	}
	for _, m := range e.received {
		if m.Method == "" {
			return fmt.Errorf("an answer nobody waits for: id %s, %s %v", m.ID, m.Result, m.Error)
		}
	}
	return nil
}
