package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/llm/llmtest"
	"coderag-ls/engine/wire"
)

// shop is a workspace whose texts a server embeds.
type shop struct {
	t   *testing.T
	dir string
	set config.Settings
	llm *llmtest.Server
	env []string
}

const secretKey = "AKIAIOSFODNN7ABCDEFG"

func newShop(t *testing.T, reply llmtest.Reply) *shop {
	t.Helper()
	s := &shop{t: t, dir: t.TempDir(), set: settings(t), llm: llmtest.New(reply), env: []string{"CODERAG_EMBED_API_KEY=key-of-the-test"}}
	t.Cleanup(s.llm.Close)
	s.set.Embed.Provider = "static"
	s.set.Embed.BaseURL, s.set.Embed.Model = s.llm.BaseURL(), "test-embedder"
	for i := range 5 {
		s.write(fmt.Sprintf("pkg/file%d.go", i), fmt.Sprintf("package pkg\n\n// Parcel%d weighs a parcel on scale %d.\nfunc Parcel%d() int { return %d }\n", i, i, i, i))
	}
	s.write("pkg/keys.go", "package pkg\n\n// Upload takes the key.\nfunc Upload() string { return \""+secretKey+"\" }\n")
	s.write("private/plan.go", "package private\n\n// Acquisition is nobody's business.\nfunc Acquisition() {}\n")
	return s
}

func (s *shop) write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) open() (*engine.Engine, *engine.View) {
	s.t.Helper()
	layers, _ := config.Layers{}.WithEnv(s.env)
	e, err := engine.Open(s.t.Context(), engine.Options{
		Roots: []file.Root{{Name: "shop", Dir: s.dir}}, Settings: s.set, Foreground: true, Key: layers.Key,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return e, e.NewView()
}

// closed closes the engine.
func closed(t *testing.T, e *engine.Engine, v *engine.View) {
	t.Helper()
	v.Close()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// sent are all texts that went to the server.
func (s *shop) sent() string {
	var b strings.Builder
	for _, r := range s.llm.Requests() {
		b.WriteString(r.Text())
	}
	return b.String()
}

// reach polls until a search is as it should be.
func reach(t *testing.T, v *engine.View, query string, ok func(wire.SearchResult) bool) wire.SearchResult {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		r := asked(t, v, wire.SearchParams{Query: query})
		if ok(r) {
			return r
		}
		if time.Now().After(deadline) {
			t.Fatalf("it never came to it: %+v", r)
		}
	}
}

const question = "Which function weighs a parcel on scale 3?"

func whole(model string) func(wire.SearchResult) bool {
	return func(r wire.SearchResult) bool {
		return r.Degraded == "" && r.Coverage.VectorsReady == 1 && r.Coverage.Indexed == 7 && strings.Contains(r.Model.Embedder, model)
	}
}

// TestB12Server: a server embeds the workspace in batches and the questions;
// secrets and what is never sent stay here, the log has all that left, and
// another start asks for nothing again.
func TestB12Server(t *testing.T) {
	s := newShop(t, llmtest.Words(64, 1))
	s.set.LLM.NeverSend = []string{"private/"}
	s.set.LLM.AuditLog = filepath.Join(t.TempDir(), "audit.jsonl")
	e, v := s.open()
	if _, err := v.Sync(t.Context(), wire.SyncParams{Scan: true, Vectors: true}); err != nil {
		t.Fatal(err)
	}
	r := asked(t, v, wire.SearchParams{Query: question})
	if !whole("test-embedder")(r) || len(r.Hits) == 0 {
		t.Errorf("%+v", r)
	}
	sent := s.sent()
	for _, want := range []string{"Parcel3 weighs", "pkg file3 go", question, "[redacted AWS access key]"} {
		if !strings.Contains(sent, want) {
			t.Errorf("%q was not sent:\n%s", want, sent)
		}
	}
	for _, never := range []string{secretKey, "Acquisition", "private", "key-of-the-test"} {
		if strings.Contains(sent, never) {
			t.Errorf("%q was sent", never)
		}
	}
	reqs := s.llm.Requests()
	if len(reqs) > 4 || reqs[0].Key != "key-of-the-test" || reqs[0].Model != "test-embedder" {
		t.Errorf("%d requests, the first %+v", len(reqs), reqs[0])
	}
	log, err := os.ReadFile(s.set.LLM.AuditLog)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), "\n"); n != len(reqs) || !strings.Contains(string(log), "Parcel3 weighs") || strings.Contains(string(log), secretKey) || !strings.Contains(string(log), `"AWS access key":1`) {
		t.Errorf("%d lines for %d requests:\n%s", n, len(reqs), log)
	}

	// Code like that of a file which is never sent is looked for on this machine.
	before := len(s.llm.Requests())
	for path, sends := range map[string]bool{"private/plan.go": false, "pkg/file1.go": true} {
		if _, err := v.Similar(t.Context(), wire.RangeParams{Document: wire.Document{URI: "file://" + filepath.ToSlash(filepath.Join(s.dir, path))}}); err != nil {
			t.Fatal(err)
		}
		if after := len(s.llm.Requests()); (after > before) != sends {
			t.Errorf("%s: %d requests, %d before", path, after, before)
		}
		before = len(s.llm.Requests())
	}
	closed(t, e, v)

	e, v = s.open()
	defer func() { closed(t, e, v) }()
	if _, err := v.Sync(t.Context(), wire.SyncParams{Scan: true, Vectors: true}); err != nil {
		t.Fatal(err)
	}
	if after := len(s.llm.Requests()); after != before {
		t.Errorf("another start sent %d requests", after-before)
	}
}

// TestB12Off: nothing is sent unless both settings are there, whatever a
// workspace's configuration says.
func TestB12Off(t *testing.T) {
	s := newShop(t, llmtest.Words(64, 1))
	layers, problems := config.Layers{}.WithWorkspace(map[string]any{"embed": map[string]any{"baseUrl": s.llm.BaseURL(), "model": "test-embedder"}})
	if set := layers.Settings(); len(problems) != 2 || set.Embed.BaseURL != "" || set.Embed.Model != "" {
		t.Errorf("%v, %+v", problems, set.Embed)
	}
	for _, only := range []func(*config.Embed){func(c *config.Embed) { c.BaseURL = "" }, func(c *config.Embed) { c.Model = "" }} {
		set := s.set
		only(&s.set.Embed)
		e, v := s.open()
		upToDate(t, v)
		asked(t, v, wire.SearchParams{Query: question})
		closed(t, e, v)
		s.set = set
	}
	if n := len(s.llm.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestB12Away: a server that is not there, or fails, takes nothing from answers
// but its vectors; they say so, and it takes part by itself once it is back.
func TestB12Away(t *testing.T) {
	for name, bad := range map[string]struct {
		reply llmtest.Reply
		says  string
	}{
		"failing":      {func(w *llmtest.Writer, _ llmtest.Request) { w.Fail(503, "busy", "loading") }, "server failed (503)"},
		"no key":       {func(w *llmtest.Writer, _ llmtest.Request) { w.Fail(401, "auth", "who are you?") }, "CODERAG_EMBED_API_KEY"},
		"a web page":   {func(w *llmtest.Writer, _ llmtest.Request) { w.Header("Content-Type", "text/html"); w.Raw("<html>") }, "embed.baseUrl"},
		"cut":          {func(w *llmtest.Writer, _ llmtest.Request) { w.Drop() }, "broke off"},
		"hanging":      {func(w *llmtest.Writer, _ llmtest.Request) { w.Hang() }, "did not reply within"},
		"too few":      {func(w *llmtest.Writer, r llmtest.Request) { w.Vectors(make([][]float32, len(r.Input)-1)) }, "vectors of"},
		"no vectors":   {func(w *llmtest.Writer, r llmtest.Request) { w.Vectors(make([][]float32, len(r.Input))) }, "without values"},
		"no such name": {func(w *llmtest.Writer, _ llmtest.Request) { w.Fail(404, "none", "no such model") }, "embed.model"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, known := range []bool{false, true} {
				s := newShop(t, llmtest.Words(64, 1))
				s.set.Embed.QuestionTimeout, s.set.Embed.Timeout = 500, 1000
				if known {
					e, v := s.open()
					closed(t, e, v)
				}
				s.llm.SetReply(bad.reply)
				e, v := s.open()
				if _, err := v.Sync(t.Context(), wire.SyncParams{Scan: true}); err != nil {
					t.Fatal(err)
				}
				r := reach(t, v, question, func(r wire.SearchResult) bool { return r.Degraded != "" })
				if !strings.Contains(r.Degraded, "test-embedder") || !strings.Contains(r.Degraded, bad.says) || len(r.Hits) == 0 || strings.Contains(r.Degraded, "key-of-the-test") {
					t.Errorf("known %v: %q with %d hits", known, r.Degraded, len(r.Hits))
				}
				for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
					st, err := v.Status(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if slices.ContainsFunc(st.Notices, func(n string) bool { return strings.Contains(n, bad.says) }) {
						break
					}
					if time.Now().After(deadline) {
						t.Fatalf("known %v: status tells %q", known, st.Notices)
					}
				}
				if !known {
					s.llm.SetReply(llmtest.Words(64, 1))
					reach(t, v, question, whole("test-embedder"))
				}
				closed(t, e, v)
			}
		})
	}
}

// TestB12OtherModel: vectors of another model, another server, or of a model that
// took the place of one with its name do not meet.
func TestB12OtherModel(t *testing.T) {
	s := newShop(t, llmtest.Words(64, 1))
	for i, change := range []func(){
		func() {},
		func() { s.set.Embed.Model = "other-embedder" },
		func() { s.llm.SetReply(llmtest.Words(64, 2)) },  // the same name
		func() { s.llm.SetReply(llmtest.Words(128, 2)) }, // and another length
		func() { s.set.Embed.TextPrefix = "passage: " },
	} {
		change()
		before := len(s.llm.Requests())
		e, v := s.open()
		upToDate(t, v)
		if _, err := v.Sync(t.Context(), wire.SyncParams{Vectors: true}); err != nil {
			t.Fatal(err)
		}
		reach(t, v, question, whole("-embedder"))
		closed(t, e, v)
		again := strings.Builder{}
		for _, r := range s.llm.Requests()[before:] {
			again.WriteString(r.Text())
		}
		if !strings.Contains(again.String(), s.set.Embed.TextPrefix+"// Parcel3 weighs") && !strings.Contains(again.String(), "Parcel3 weighs") {
			t.Errorf("change %d: nothing was embedded again:\n%s", i, again.String())
		}
	}
}
