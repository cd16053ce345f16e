//lint:file-ignore SA1019 roots are deprecated, and tested as long as clients have them

package mcp_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"coderag-ls/attach"
	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/mcp"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// buntdb's own goroutine notices up to a second later that it was closed.
		goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shop makes a small workspace.
func shop(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shop")
	write(t, filepath.Join(dir, "cart", "cart.go"), `// Package cart holds what a customer is about to buy.
package cart

// Item is an article and how many of it.
type Item struct{ Cents, Count int }

// TotalCents adds up the prices of all items in the basket.
func TotalCents(items []Item) int {
	total := 0
	for _, item := range items {
		total += item.Cents * item.Count
	}
	return total
}
`)
	write(t, filepath.Join(dir, "ship", "retry.go"), `package ship

import "time"

// RetryDelay grows exponentially with each failed delivery attempt, up to a minute.
func RetryDelay(attempt int) time.Duration {
	return min(100*time.Millisecond<<attempt, time.Minute)
}
`)
	write(t, filepath.Join(dir, "README.md"), "# Shop\n\n## Shipping\n\nParcels leave the warehouse at noon.\n")
	write(t, filepath.Join(dir, ".env"), "PASSWORD=hunter2\n")
	return dir
}

// workspace is an index that may be shared, as the program opens it.
type workspace struct{ *attach.Workspace }

func (w workspace) NewView() mcp.View { return w.Workspace.NewView() }

// world is where a server's workspaces are.
type world struct {
	t        testing.TB
	settings config.Settings
	own      string // the program's folder

	mu     sync.Mutex // guards all below
	opened [][]string
	fail   error
}

func newWorld(t testing.TB, own string) *world {
	s := config.Default()
	s.Index.CacheDir, s.Embed.Provider = t.TempDir(), "static"
	return &world{t: t, settings: s, own: own}
}

func (w *world) open(ctx context.Context, folders []string) (mcp.Workspace, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened = append(w.opened, folders)
	if err := w.fail; err != nil {
		w.fail = nil
		return nil, err
	}
	if len(folders) == 0 {
		folders = []string{w.own}
	}
	o := engine.Options{Version: "test", Settings: w.settings}
	for _, dir := range folders {
		o.Roots = append(o.Roots, file.Root{Name: filepath.Base(dir), Dir: dir})
	}
	ws, err := attach.Open(ctx, attach.Options{Options: o})
	return workspace{ws}, err
}

// serve starts a server for a client on pipes and returns the client's end.
func (w *world) serve(o mcp.Options) sdk.Transport {
	w.t.Helper()
	o.Open = w.open
	return w.serveAs(o)
}

func (w *world) serveAs(o mcp.Options) sdk.Transport {
	w.t.Helper()
	o.Version = "test"
	s, err := mcp.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background(), in, out) }()
	w.t.Cleanup(func() {
		toServer.Close()
		if err := <-ended; err != nil {
			w.t.Errorf("serving: %v", err)
		}
		if err := s.Close(); err != nil {
			w.t.Errorf("closing: %v", err)
		}
		fromServer.Close()
	})
	return &sdk.IOTransport{Reader: fromServer, Writer: toServer}
}

func connect(t testing.TB, transport sdk.Transport, o *sdk.ClientOptions, version string) *sdk.ClientSession {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	session, err := c.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// await polls for what must come.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// call calls a tool and decodes what it returns.
func call[R any](t testing.TB, s *sdk.ClientSession, tool string, args any) (R, string) {
	t.Helper()
	var r R
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if res.IsError || len(res.Content) != 1 {
		t.Fatalf("%s: %+v", tool, textOf(res))
	}
	data, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r, textOf(res)
}

func textOf(r *sdk.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if one, ok := c.(*sdk.TextContent); ok {
			all = append(all, one.Text)
		}
	}
	return strings.Join(all, "\n")
}

// refused calls a tool that must fail and returns what it says.
func refused(t testing.TB, s *sdk.ClientSession, tool string, args any) string {
	t.Helper()
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error()
	}
	if !res.IsError || res.StructuredContent != nil {
		t.Errorf("%s %v is not refused: %s", tool, args, textOf(res))
	}
	return textOf(res)
}

// versions are the protocol's with and without sessions.
func versions() []string { return []string{"2024-11-05", "2025-11-25", "2026-07-28"} }

func TestTools(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			dir := shop(t)
			s := connect(t, newWorld(t, dir).serve(mcp.Options{}), nil, version)
			if s.InitializeResult() != nil && s.InitializeResult().ProtocolVersion != version {
				t.Errorf("version %s", s.InitializeResult().ProtocolVersion)
			}

			found, said := call[wire.SearchResult](t, s, mcp.ToolSearch, map[string]any{"query": "delay before a failed delivery is tried again"})
			if len(found.Hits) == 0 || found.Hits[0].Path != "ship/retry.go" || found.Coverage.Indexed != 3 || found.Coverage.Total != 3 {
				t.Fatalf("found %+v", found)
			}
			for _, want := range []string{"100*time.Millisecond<<attempt", "ship/retry.go", "Coverage: 3 of 3 files indexed"} {
				if !strings.Contains(said, want) {
					t.Errorf("search does not say %q:\n%s", want, said)
				}
			}

			answer, said := call[wire.AskResult](t, s, mcp.ToolAsk, map[string]any{"query": "how are the prices of all items added up?"})
			if len(answer.Citations) == 0 || answer.Citations[0].Path != "cart/cart.go" || !strings.Contains(said, "["+answer.Citations[0].ID+"]") {
				t.Fatalf("answer %+v\n%s", answer, said)
			}
			for _, c := range answer.Citations {
				data, err := os.ReadFile(filepath.Join(dir, c.Path))
				if err != nil {
					t.Fatal(err)
				}
				want := strings.Join(strings.Split(string(data), "\n")[c.StartLine-1:c.EndLine], "\n")
				sum := sha256.Sum256([]byte(want))
				if c.Text != want || c.SHA256 != hex.EncodeToString(sum[:]) {
					t.Errorf("citation %s: %q, the file has %q", c.ID, c.Text, want)
				}
			}

			packed, said := call[wire.ContextResult](t, s, mcp.ToolContext, map[string]any{"query": "prices of all items", "tokenBudget": 500})
			if len(packed.Primary) == 0 || packed.TokenCount > 500 || !strings.Contains(said, "TotalCents") {
				t.Errorf("context %+v\n%s", packed, said)
			}

			st, said := call[wire.Status](t, s, mcp.ToolStatus, nil)
			if len(st.Roots) != 1 || st.Roots[0].Dir != dir || st.Coverage.Skipped["secret"] != 1 || !strings.Contains(said, "1 secret") {
				t.Errorf("status %+v\n%s", st, said)
			}

			// What a client wrote just before is there.
			write(t, filepath.Join(dir, "cart", "voucher.go"), "package cart\n\n// RedeemVoucher takes a discount code off the total.\nfunc RedeemVoucher(code string) {}\n")
			found, _ = call[wire.SearchResult](t, s, mcp.ToolSearch, map[string]any{"query": "RedeemVoucher"})
			if len(found.Hits) == 0 || found.Hits[0].Path != "cart/voucher.go" || found.Coverage.Total != 4 {
				t.Errorf("a new file is not found: %+v", found.Hits)
			}
			found, _ = call[wire.SearchResult](t, s, mcp.ToolSearch, map[string]any{
				"query": "total", "topK": 3, "filters": map[string]any{"filePatterns": []string{"**/voucher.go"}, "languages": nil}, "document": nil,
			})
			if len(found.Hits) == 0 || slices.ContainsFunc(found.Hits, func(h wire.Hit) bool { return h.Path != "cart/voucher.go" }) {
				t.Errorf("filtered: %+v", found.Hits)
			}
			none, said := call[wire.AskResult](t, s, mcp.ToolAsk, map[string]any{"query": "quantum chromodynamics lattice gauge", "history": []any{}, "llm": "none"})
			if !none.NoAnswer || len(none.Citations) > 0 || !strings.Contains(said, "Coverage:") {
				t.Errorf("no answer was expected: %+v\n%s", none, said)
			}
			followed, _ := call[wire.AskResult](t, s, mcp.ToolAsk, map[string]any{
				"query": "where is it defined?", "history": []any{map[string]any{"query": "what does RetryDelay do?", "answer": "It grows [ship/retry.go:6-8]."}},
			})
			if len(followed.Citations) == 0 || followed.Citations[0].Path != "ship/retry.go" {
				t.Errorf("a follow-up: %+v", followed.Citations)
			}
		})
	}
}

func TestBadCalls(t *testing.T) {
	s := connect(t, newWorld(t, shop(t)).serve(mcp.Options{}), nil, "")
	for _, tt := range []struct {
		tool string
		args any
		want string
	}{
		{mcp.ToolAsk, nil, "query"},
		{mcp.ToolAsk, map[string]any{"query": ""}, "minLength"},
		{mcp.ToolAsk, map[string]any{"query": " \t"}, "the question is empty"},
		{mcp.ToolAsk, map[string]any{"query": 7}, "query"},
		{mcp.ToolAsk, map[string]any{"question": "x"}, "question"},
		{mcp.ToolAsk, map[string]any{"query": "x", "topK": 1000}, "topK"},
		{mcp.ToolAsk, map[string]any{"query": "x", "tokenBudget": -1}, "tokenBudget"},
		{mcp.ToolAsk, map[string]any{"query": "x", "llm": "gpt"}, "llm"},
		{mcp.ToolSearch, map[string]any{"query": "x", "history": []any{}}, "history"},
		{mcp.ToolSearch, map[string]any{"query": "x", "filters": map[string]any{"filePatterns": []string{"[a"}}}, "[a"},
		{mcp.ToolSearch, map[string]any{"query": strings.Repeat("word ", 1<<15)}, "maxLength"},
		{mcp.ToolStatus, map[string]any{"verbose": true}, "verbose"},
		{"coderag_delete", nil, "coderag_delete"},
	} {
		if said := refused(t, s, tt.tool, tt.args); !strings.Contains(said, tt.want) {
			t.Errorf("%s %v: %q does not name %q", tt.tool, tt.args, said, tt.want)
		}
	}
	call[wire.SearchResult](t, s, mcp.ToolSearch, map[string]any{"query": "TotalCents"}) // it goes on
}

// TestSchemas: models are told what they can ask for, and results are described.
func TestSchemas(t *testing.T) {
	s := connect(t, newWorld(t, shop(t)).serve(mcp.Options{}), nil, "")
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]int{mcp.ToolAsk: 7, mcp.ToolSearch: 5, mcp.ToolContext: 6, mcp.ToolStatus: 0}
	for _, tool := range tools.Tools {
		var in, out struct {
			Type       string
			Required   []string
			Properties map[string]struct {
				Description string
				Properties  map[string]struct{ Description string }
				Items       struct {
					Properties map[string]struct{ Description string }
				}
			}
		}
		remarshal(t, tool.InputSchema, &in)
		remarshal(t, tool.OutputSchema, &out)
		want, ok := fields[tool.Name]
		delete(fields, tool.Name)
		if !ok || len(in.Properties) != want || in.Type != "object" || out.Type != "object" || len(out.Properties["coverage"].Properties) < 5 {
			t.Errorf("%s: %d parameters, want %d; %v", tool.Name, len(in.Properties), want, out.Properties["coverage"])
		}
		if want > 0 && !slices.Equal(in.Required, []string{"query"}) {
			t.Errorf("%s requires %q", tool.Name, in.Required)
		}
		if tool.Description == "" || tool.Title == "" || tool.Annotations == nil || !tool.Annotations.ReadOnlyHint || *tool.Annotations.OpenWorldHint {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
		for name, p := range in.Properties {
			if p.Description == "" {
				t.Errorf("%s: %s has no description", tool.Name, name)
			}
			for part, p := range p.Properties {
				if p.Description == "" {
					t.Errorf("%s: %s.%s has no description", tool.Name, name, part)
				}
			}
			for part, p := range p.Items.Properties {
				if p.Description == "" {
					t.Errorf("%s: %s[].%s has no description", tool.Name, name, part)
				}
			}
		}
	}
	if len(fields) > 0 {
		t.Errorf("missing: %v", fields)
	}
}

func remarshal(t testing.TB, from, to any) {
	t.Helper()
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestResources(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) { testResources(t, version) })
	}
}

func testResources(t *testing.T, version string) {
	dir := shop(t)
	write(t, filepath.Join(dir, "a b#?%.md"), "# Odd name\n")
	outside := filepath.Join(filepath.Dir(dir), "outside.go")
	write(t, outside, "package outside\n")
	if err := os.Symlink(outside, filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	s := connect(t, newWorld(t, dir).serve(mcp.Options{}), nil, version)
	templates, err := s.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 2 {
		t.Fatalf("templates %+v, %v", templates, err)
	}
	if _, err := s.ListResources(t.Context(), nil); err != nil {
		t.Error(err)
	}
	fileURI := text.URIFromPath(filepath.Join(dir, "ship", "retry.go"))
	for _, tt := range []struct{ uri, want, mime string }{
		{"coderag:///README.md", "# Shop\n\n## Shipping\n\nParcels leave the warehouse at noon.", "text/markdown"},
		{"coderag:///README.md#L5", "Parcels leave the warehouse at noon.", "text/markdown"},
		{"coderag:///ship/retry.go#L5-L6", "// RetryDelay grows exponentially with each failed delivery attempt, up to a minute.\nfunc RetryDelay(attempt int) time.Duration {", "text/plain"},
		{"coderag:///ship/retry.go#L8-900", "}", "text/plain"},
		{fileURI + "#L1", "package ship", "text/plain"},
		{"coderag:///a%20b%23%3F%25.md", "# Odd name", "text/markdown"},
	} {
		r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: tt.uri})
		if err != nil {
			t.Errorf("%s: %v", tt.uri, err)
			continue
		}
		if c := r.Contents; len(c) != 1 || c[0].Text != tt.want || c[0].URI != tt.uri || !strings.HasPrefix(c[0].MIMEType, "text/") {
			t.Errorf("%s: %+v", tt.uri, c)
		}
	}
	// Each citation can be read as a resource.
	answer, _ := call[wire.AskResult](t, s, mcp.ToolAsk, map[string]any{"query": "how are the prices of all items added up?"})
	for _, c := range answer.Citations {
		uri := "coderag:///" + strings.Replace(c.ID, ":", "#L", 1)
		if r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil || r.Contents[0].Text != c.Text {
			t.Errorf("%s: %+v, %v", uri, r, err)
		}
	}
	for _, uri := range []string{
		"coderag:///../outside.go", "coderag:///%2e%2e/outside.go", "coderag:///ship/../../outside.go", "coderag:////etc/passwd", "coderag:///link.go",
		"coderag:///.env", "coderag:///nothere.go", "coderag:///", "coderag:///%zz", "coderag:///README.md#L0", "coderag:///README.md#L7-L6", "coderag:///README.md#L99",
		"coderag:///README.md#intro", "coderag:///README.md?lines=1", "coderag://host/README.md", "coderag:///ship", "coderag:///a%00b",
		"file:///etc/passwd", text.URIFromPath(outside), text.URIFromPath(filepath.Join(dir, ".env")), "file://" + dir + "/../outside.go",
		"https://example.com/", "README.md",
	} {
		if r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: %+v", uri, r.Contents[0])
		}
	}
}

// TestRoots: a client's folders are what is asked about, also after they change.
func TestRoots(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, t.TempDir())
			dir, other := shop(t), filepath.Join(t.TempDir(), "other")
			write(t, filepath.Join(other, "zoo.go"), "package zoo\n\n// Quokka smiles.\nfunc Quokka() {}\n")
			c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
			c.AddRoots(&sdk.Root{URI: text.URIFromPath(dir)}, &sdk.Root{URI: "https://example.com/"})
			s, err := c.Connect(t.Context(), w.serve(mcp.Options{Roots: true}), &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "coderag:///README.md#L1"}); err != nil || r.Contents[0].Text != "# Shop" {
				t.Errorf("%+v, %v", r, err)
			}
			st, _ := call[wire.Status](t, s, mcp.ToolStatus, nil)
			if len(st.Roots) != 1 || st.Roots[0].Dir != dir {
				t.Errorf("roots %+v", st.Roots)
			}
			if version >= "2026" {
				return // there, a client does not tell that they change
			}
			c.AddRoots(&sdk.Root{URI: text.URIFromPath(other)})
			await(t, "answers about the new root", func() bool {
				found, _ := call[wire.SearchResult](t, s, mcp.ToolSearch, map[string]any{"query": "Quokka"})
				return len(found.Hits) > 0 && found.Hits[0].Path == "other/zoo.go"
			})
		})
	}
}

// TestNoRoots: the program's folder is taken where a client has no roots, or
// does not tell them, or is not to be asked.
func TestNoRoots(t *testing.T) {
	for name, tt := range map[string]struct {
		ask bool
		o   *sdk.ClientOptions
	}{
		"none":     {true, nil},
		"no offer": {true, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}},
		"unasked":  {false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, shop(t))
			s := connect(t, w.serve(mcp.Options{Roots: tt.ask}), tt.o, "")
			st, _ := call[wire.Status](t, s, mcp.ToolStatus, nil)
			if len(st.Roots) != 1 || st.Roots[0].Dir != w.own {
				t.Errorf("roots %+v", st.Roots)
			}
		})
	}
}

// TestOpenFails: the client is told why, and the next call tries again.
func TestOpenFails(t *testing.T) {
	w := newWorld(t, shop(t))
	w.fail = os.ErrPermission
	s := connect(t, w.serve(mcp.Options{Roots: true}), nil, "")
	if said := refused(t, s, mcp.ToolStatus, nil); !strings.Contains(said, os.ErrPermission.Error()) {
		t.Errorf("it says %q", said)
	}
	call[wire.Status](t, s, mcp.ToolStatus, nil)
}

// slow is a workspace that is never up to date.
type slow struct {
	mcp.Workspace
	began, ended chan struct{} // 1 slot each
}

func (s slow) NewView() mcp.View { return slowView{s.Workspace.NewView(), s} }

type slowView struct {
	mcp.View
	s slow
}

// Sync implements mcp.View: a volume that does not answer.
func (v slowView) Sync(ctx context.Context, _ wire.SyncParams) (wire.SyncResult, error) {
	v.s.began <- struct{}{}
	<-ctx.Done()
	v.s.ended <- struct{}{}
	return wire.SyncResult{}, ctx.Err()
}

// TestProgress: a client that waits is told how far it is, in growing figures;
// a call that it cancels ends.
func TestProgress(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, shop(t))
			var mu sync.Mutex
			var told []sdk.ProgressNotificationParams
			s := connect(t, w.serve(mcp.Options{}), &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, *req.Params)
				},
			}, version)
			p := &sdk.CallToolParams{Name: mcp.ToolAsk, Arguments: map[string]any{"query": "TotalCents"}}
			p.SetProgressToken("mine")
			if r, err := s.CallTool(t.Context(), p); err != nil || r.IsError {
				t.Fatalf("%+v, %v", r, err)
			}
			// A client may take a message after the answer that was sent behind it.
			await(t, "the last message", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return len(told) > 2 && told[len(told)-1].Progress == told[len(told)-1].Total
			})
			mu.Lock()
			defer mu.Unlock()
			for i, n := range told {
				if n.ProgressToken != "mine" || n.Message == "" || i > 0 && n.Progress <= told[i-1].Progress {
					t.Errorf("message %d: %+v", i, n)
				}
			}
		})
	}
}

func TestCancel(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, shop(t))
			began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
			s := connect(t, w.serveAs(w.patient(began, ended)), nil, version)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: mcp.ToolAsk, Arguments: map[string]any{"query": "TotalCents"}})
				done <- err
			}()
			<-began
			cancel()
			if err := <-done; err == nil {
				t.Error("a cancelled call is answered")
			}
			<-ended // on the server's side
		})
	}
}

// TestPatience: what cannot be brought up to date in time is answered from what
// there is.
func TestPatience(t *testing.T) {
	w := newWorld(t, shop(t))
	o := w.patient(make(chan struct{}, 9), make(chan struct{}, 9))
	o.Patience = 100 * time.Millisecond
	s := connect(t, w.serveAs(o), nil, "")
	call[wire.Status](t, s, mcp.ToolStatus, nil)
}

// patient are the options of a server whose volume does not answer.
func (w *world) patient(began, ended chan struct{}) mcp.Options {
	return mcp.Options{Patience: time.Hour, Open: func(ctx context.Context, folders []string) (mcp.Workspace, error) {
		ws, err := w.open(ctx, folders)
		return slow{ws, began, ended}, err
	}}
}
