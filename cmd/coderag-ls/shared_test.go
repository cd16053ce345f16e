package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coderag-ls/engine/llm/llmtest"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/sharedindex/mem"
	"coderag-ls/engine/sharedindex/sharedindextest"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// shopName is what the workspace of newCLI is published as.
const shopName = "github.com/acme/shop"

// newTeam is a workspace with git, and a shared index that is empty.
func newTeam(t *testing.T) *cli {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	c := newCLI(t)
	c.space = &mem.Space{}
	c.env = append(c.env, "CODERAG_SHARED_ENDPOINTS=http://shared.invalid", "CODERAG_SHARED_TIMEOUT=5000")
	c.git("init", "-q", "-b", "main")
	c.git("remote", "add", "origin", "git@github.com:acme/shop.git")
	c.commit("first")
	return c
}

// git runs git in the workspace.
func (c *cli) git(args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "git", append([]string{"-C", c.dir, "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits what stands in the workspace and returns the commit.
func (c *cli) commit(message string) string {
	c.git("add", "-A")
	c.git("commit", "-q", "--allow-empty", "-m", message)
	return c.git("rev-parse", "HEAD")
}

// publish publishes the workspace.
func (c *cli) publish(args ...string) wire.Publication {
	c.t.Helper()
	r := c.bare("", append([]string{"publish", "--json", c.dir}, args...)...)
	r.want(c.t, exitOK, "", "")
	return decode[wire.Publication](c.t, r.out)
}

// another is another workspace of the same team.
func (c *cli) another(t *testing.T, name string, files map[string]string) *cli {
	t.Helper()
	d := &cli{t: t, dir: filepath.Join(t.TempDir(), name), cache: c.cache, env: c.env, space: c.space}
	for path, content := range files {
		d.write(path, content)
	}
	d.git("init", "-q", "-b", "main")
	d.git("remote", "add", "origin", "https://user:secret@GitHub.com/acme/"+name+".git")
	d.commit("first")
	return d
}

// editor opens the workspace in an editor.
func (c *cli) editor(t *testing.T, args ...string) *lsptest.Editor {
	t.Helper()
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{c.dir}, Dial: c.serving(args...)})
	t.Cleanup(func() {
		if err := e.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	e.Sync(wire.SyncParams{Scan: true})
	return e
}

func askIn(e *lsptest.Editor, q string) wire.AskResult {
	var a wire.AskResult
	e.MustCall(lsp.MethodAsk, wire.AskParams{SearchParams: wire.SearchParams{Query: q}}, &a)
	return a
}

func statusIn(e *lsptest.Editor) wire.Status {
	var st wire.Status
	e.MustCall(lsp.MethodStatus, nil, &st)
	return st
}

// eventually asks until something holds, for at most a minute.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("a minute later it does not hold that %s", what)
		}
	}
}

// cites returns the paths that an answer cites, and fails where a citation is not what stands in
// the file that it leads to.
func cites(t *testing.T, all []wire.Citation) []string {
	t.Helper()
	var paths []string
	for _, c := range all {
		paths = append(paths, c.Path)
		at, err := text.PathFromURI(c.URI)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(at)
		if err != nil {
			t.Errorf("%s cannot be opened: %v", c.ID, err)
			continue
		}
		if lines, ok := text.New(string(data)).Lines(c.StartLine, c.EndLine); !ok || lines != c.Text || text.HexHash(lines) != c.SHA256 {
			t.Errorf("%s is not what stands in %s:\n%s", c.ID, at, lines)
		}
	}
	return paths
}

// TestF1Covered: what is published as it stands here is not indexed here, and found and
// cited all the same; an unsaved edit, a change on disk and a deletion win at once.
func TestF1Covered(t *testing.T) {
	c := newTeam(t)
	if p := c.publish(); p.Repository != shopName || p.Put != 4 || p.State != wire.SharedComplete {
		t.Fatalf("%+v", p)
	}
	e := c.editor(t)
	st := statusIn(e)
	if st.Coverage.Shared != 4 || st.Coverage.Indexed != 4 || st.Chunks != 0 || st.Shared == nil || !st.Shared.Reachable || st.Shared.Covered != 4 {
		t.Fatalf("all four files are published, but %+v, %d chunks here, %+v", st.Coverage, st.Chunks, st.Shared)
	}
	if r := st.Shared.Repositories; len(r) != 1 || r[0].Repository != shopName || r[0].Folder != c.dir || r[0].Commit != c.git("rev-parse", "HEAD") {
		t.Errorf("%+v", r)
	}
	a := askIn(e, "how does the retry delay grow with failed delivery attempts?")
	if paths := cites(t, a.Citations); !slices.Contains(paths, "ship/retry.go") || a.Degraded != "" {
		t.Errorf("cited %q, degraded %q", paths, a.Degraded)
	}
	var ex wire.ExplainResult
	file := filepath.Join(c.dir, "ship", "retry.go")
	e.OpenFile(file)
	e.MustCall(lsp.MethodExplain, wire.RangeParams{Document: wire.Document{URI: lsptest.URI(file), Range: &wire.Range{
		Start: wire.Position{Line: 5, Character: 8}, End: wire.Position{Line: 5, Character: 8}}}}, &ex)
	if len(cites(t, ex.Definitions)) != 1 || ex.Symbol != "RetryDelay" {
		t.Errorf("explained: %+v", ex)
	}

	e.Replace(file, "RetryDelay grows", "WibbleFrobnicator: RetryDelay grows")
	a = askIn(e, "WibbleFrobnicator")
	if len(a.Citations) == 0 || a.Citations[0].Path != "ship/retry.go" || !strings.Contains(a.Citations[0].Text, "Wibble") {
		t.Errorf("the unsaved edit is not found: %+v", a.Citations)
	}
	e.Close(file)
	c.write("cart/voucher.go", "package cart\n\n// RedeemVoucher takes a discount code off the total.\nfunc RedeemVoucher(code string) {}\n")
	if err := os.Remove(filepath.Join(c.dir, "cart", "cart.go")); err != nil {
		t.Fatal(err)
	}
	e.Sync(wire.SyncParams{Scan: true})
	if paths := cites(t, askIn(e, "RedeemVoucher discount code").Citations); !slices.Contains(paths, "cart/voucher.go") {
		t.Errorf("a new file is not found: %q", paths)
	}
	a = askIn(e, "TotalCents prices of all items in the basket")
	for _, one := range a.Citations {
		if one.Path == "cart/cart.go" {
			t.Errorf("a deleted file is cited: %+v", one)
		}
	}
}

// TestF1Repositories: other repositories are searched by name, and cited at their commit, with lines that
// open in a copy nobody can write to.
func TestF1Repositories(t *testing.T) {
	c := newTeam(t)
	c.publish()
	lib := c.another(t, "billing", map[string]string{
		"go.mod":     "module billing\n",
		"invoice.go": "package billing\n\n// PrintInvoice renders an invoice as PDF, with the customer's address.\nfunc PrintInvoice(number int) []byte {\n\treturn nil\n}\n",
	})
	p := lib.publish()
	c.env = append(c.env, "CODERAG_SHARED_REPOSITORIES=github.com/acme/*", "CODERAG_SHARED_WEB_LINK=https://{repository}/blob/{commit}/{path}#L{start}-L{end}")
	e := c.editor(t)
	a := askIn(e, "how is an invoice rendered as PDF?")
	paths := cites(t, a.Citations)
	want := "github.com/acme/billing@" + p.Commit + ":invoice.go"
	if !slices.Contains(paths, want) {
		t.Fatalf("cited %q, want %s", paths, want)
	}
	for _, one := range a.Citations {
		if one.Path != want {
			continue
		}
		if link := fmt.Sprintf("https://github.com/acme/billing/blob/%s/invoice.go#L%d-L%d", p.Commit, one.StartLine, one.EndLine); one.WebLink != link {
			t.Errorf("web link %q, want %q", one.WebLink, link)
		}
		if one.Root != "github.com/acme/billing@"+p.Commit || one.ID != fmt.Sprintf("%s:%d-%d", want, one.StartLine, one.EndLine) {
			t.Errorf("%+v", one)
		}
		at, _ := text.PathFromURI(one.URI)
		if info, err := os.Stat(at); err != nil || info.Mode().Perm()&0o222 != 0 {
			t.Errorf("the copy %s can be written to: %v", at, err)
		}
	}
	r := c.run("search", "--json", "--repository", "billing", "total of an order")
	for _, h := range decode[wire.SearchResult](t, r.out).Hits {
		if !strings.HasPrefix(h.Path, "github.com/acme/billing@") {
			t.Errorf("%s is none of billing's", h.Path)
		}
	}
	r = c.run("search", "--json", "--repository", shopName, "TotalCents adds up the prices of an invoice")
	hits := decode[wire.SearchResult](t, r.out).Hits
	for _, h := range hits {
		if strings.Contains(h.Path, "@") {
			t.Errorf("%s is none of this workspace", h.Path)
		}
	}
	if len(hits) == 0 {
		t.Error("the workspace goes by its published name, and nothing of it is found")
	}
	r = c.run("search", "--json", "--repository", "billing", "--file", "*.go", "--lang", "go", "invoice")
	if hits := decode[wire.SearchResult](t, r.out).Hits; len(hits) == 0 || !strings.HasSuffix(hits[0].Path, ":invoice.go") {
		t.Errorf("filters on path and language do not count there: %+v", hits)
	}
	c.run("search", "--repository", "nosuch", "invoice").want(t, exitUsage, "", "no repository that is searched is called nosuch; there are")
	// A name that only another repository has is found as written, and misspelt.
	for _, name := range []string{"PrintInvoice", "PrintInvioce"} {
		if hits := decode[wire.SearchResult](t, c.run("search", "--json", name).out).Hits; len(hits) == 0 || !strings.HasSuffix(hits[0].Path, ":invoice.go") {
			t.Errorf("%s: %+v", name, hits)
		}
	}
	// Its citations are links in documents.
	file := filepath.Join(c.dir, "notes.md")
	e.Open(file, "markdown", "See "+want+":3-6 for how.\n")
	var links []struct {
		Data struct{ Path string }
	}
	e.MustCall("textDocument/documentLink", map[string]any{"textDocument": map[string]any{"uri": lsptest.URI(file)}}, &links)
	if len(links) != 1 || links[0].Data.Path != want {
		t.Errorf("links: %+v", links)
	}
	if r := c.run("clean", "--all"); !strings.Contains(r.out, "copies of cited files") {
		t.Errorf("copies are not deleted: %s%s", r.out, r.errOut)
	}
	// A checkout with the same text is what is opened.
	c.env = append(c.env, "CODERAG_SHARED_CHECKOUTS=github.com/acme/billing="+lib.dir)
	own := c.another(t, "third", map[string]string{"a.txt": "nothing to see\n"})
	own.env = c.env
	for _, one := range askIn(own.editor(t), "how is an invoice rendered as PDF?").Citations {
		if at, _ := text.PathFromURI(one.URI); one.Path == want && at != filepath.Join(lib.dir, "invoice.go") {
			t.Errorf("opened in %s", at)
		}
	}
}

// TestF1Degraded: an index that fails, denies or hangs costs a question nothing but what only it
// has; the answer says so, and all is back without a restart.
func TestF1Degraded(t *testing.T) {
	for name, trouble := range map[string]func(ctx context.Context, operation string) error{
		"fails": func(context.Context, string) error {
			return fmt.Errorf("%w: connection refused", sharedindex.ErrUnreachable)
		},
		"denies": func(context.Context, string) error { return fmt.Errorf("%w: the key is wrong", sharedindex.ErrDenied) },
		"hangs":  func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			c := newTeam(t)
			c.publish()
			c.write("cart/voucher.go", "package cart\n\n// RedeemVoucher takes a discount code off the total.\nfunc RedeemVoucher(code string) {}\n")
			c.env = append(c.env, "CODERAG_SHARED_TIMEOUT=300")
			e := c.editor(t)
			if a := askIn(e, "how does the retry delay grow with failed delivery attempts?"); !slices.Contains(cites(t, a.Citations), "ship/retry.go") {
				t.Fatalf("%+v", a)
			}
			c.space.Trouble(trouble)
			a := askIn(e, "RedeemVoucher discount code")
			if !slices.Contains(cites(t, a.Citations), "cart/voucher.go") || !strings.Contains(a.Degraded, "shared index") || !strings.Contains(a.Degraded, "only the 1 that are indexed here") {
				t.Errorf("cited %+v, degraded %q", a.Citations, a.Degraded)
			}
			if !strings.Contains(a.Answer, a.Degraded) {
				t.Errorf("the answer does not say it: %s", a.Answer)
			}
			if st := statusIn(e); st.Shared.Reachable || st.Shared.Degraded == "" || st.Shared.Since == "" {
				t.Errorf("%+v", st.Shared)
			}
			c.space.Trouble(nil)
			eventually(t, "the shared index is back", func() bool { return statusIn(e).Shared.Reachable })
			if a := askIn(e, "how does the retry delay grow with failed delivery attempts?"); !slices.Contains(cites(t, a.Citations), "ship/retry.go") || a.Degraded != "" {
				t.Errorf("cited %+v, degraded %q", a.Citations, a.Degraded)
			}
		})
	}
}

// TestF1AwayAtStart: an index that is away at the start costs nothing: all is indexed here, and let go of
// again when it is back.
func TestF1AwayAtStart(t *testing.T) {
	c := newTeam(t)
	c.publish()
	c.space.Trouble(func(context.Context, string) error { return sharedindex.ErrUnreachable })
	e := c.editor(t)
	if st := statusIn(e); st.Coverage.Indexed != 4 || st.Coverage.Shared != 0 || st.Shared.Reachable {
		t.Errorf("%+v %+v", st.Coverage, st.Shared)
	}
	if a := askIn(e, "how does the retry delay grow with failed delivery attempts?"); !slices.Contains(cites(t, a.Citations), "ship/retry.go") || a.Degraded == "" {
		t.Errorf("cited %+v, degraded %q", a.Citations, a.Degraded)
	}
	c.space.Trouble(nil)
	eventually(t, "all files are covered", func() bool { return statusIn(e).Coverage.Shared == 4 })
	if a := askIn(e, "how does the retry delay grow with failed delivery attempts?"); !slices.Contains(cites(t, a.Citations), "ship/retry.go") || a.Degraded != "" {
		t.Errorf("cited %+v, degraded %q", a.Citations, a.Degraded)
	}
}

// TestF1HangsAtStart: neither does one that hangs: a question waits for it once, at most.
func TestF1HangsAtStart(t *testing.T) {
	c := newTeam(t)
	c.publish()
	c.env = append(c.env, "CODERAG_SHARED_TIMEOUT=100")
	c.space.Trouble(func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() })
	r := c.run("ask", "--json", "how does the retry delay grow with failed delivery attempts?")
	if a := decode[wire.AskResult](t, r.out); !slices.Contains(cites(t, a.Citations), "ship/retry.go") || !strings.Contains(a.Degraded, "did not answer within 100 ms") {
		t.Errorf("cited %+v, degraded %q", a.Citations, a.Degraded)
	}
}

// TestF1Absent: where nothing is indexed here and the shared index is away, the answer is that, and not that
// there is nothing.
func TestF1Absent(t *testing.T) {
	c := newTeam(t)
	c.publish()
	e := c.editor(t)
	c.space.Trouble(func(context.Context, string) error { return sharedindex.ErrUnreachable })
	a := askIn(e, "how does the retry delay grow with failed delivery attempts?")
	if !a.NoAnswer || !strings.Contains(a.Answer, "4 files are found through the shared index") || !strings.Contains(a.Degraded, "only the 0 that are indexed here") {
		t.Errorf("%s\n%s", a.Answer, a.Degraded)
	}
}

// TestF1PublishedAnew: what somebody publishes while an editor is open covers no text but its own; what stands
// here is found all the same.
func TestF1PublishedAnew(t *testing.T) {
	c := newTeam(t)
	c.publish()
	e := c.editor(t)
	if paths := cites(t, askIn(e, "RetryDelay").Citations); !slices.Contains(paths, "ship/retry.go") {
		t.Fatalf("%q", paths)
	}
	ci := &cli{t: t, dir: filepath.Join(t.TempDir(), "shop"), cache: c.cache, env: c.env, space: c.space}
	c.git("clone", "-q", c.dir, ci.dir)
	ci.git("remote", "set-url", "origin", "git@github.com:acme/shop.git")
	ci.write("ship/retry.go", "package ship\n\nimport \"time\"\n\n// RetryDelay is constant now.\nfunc RetryDelay(int) time.Duration { return time.Second }\n")
	ci.commit("another text")
	if p := ci.publish(); p.Put != 1 {
		t.Fatalf("%+v", p)
	}
	a := askIn(e, "RetryDelay")
	if paths := cites(t, a.Citations); !slices.Contains(paths, "ship/retry.go") && !strings.Contains(a.Degraded, "published with another text") {
		t.Errorf("cited %q, degraded %q", paths, a.Degraded)
	}
	// Questions notice it; nothing is read while nothing asks.
	eventually(t, "what stands here is indexed here", func() bool { askIn(e, "RetryDelay"); return statusIn(e).Coverage.Shared == 3 })
	a = askIn(e, "RetryDelay")
	if paths := cites(t, a.Citations); !slices.Contains(paths, "ship/retry.go") || a.Degraded != "" || !strings.Contains(a.Citations[0].Text, "exponentially") {
		t.Errorf("cited %+v, degraded %q", a.Citations, a.Degraded)
	}
	c.git("pull", "-q", ci.dir, "main")
	e.Sync(wire.SyncParams{Scan: true})
	if a = askIn(e, "RetryDelay"); len(cites(t, a.Citations)) == 0 || !strings.Contains(a.Citations[0].Text, "constant now") || statusIn(e).Coverage.Shared != 4 {
		t.Errorf("after the pull: %+v, %+v", a.Citations, statusIn(e).Coverage)
	}
}

// TestF1LanguageModel: a language model is given lines of other repositories and may cite them; what it
// cites is checked as what stands here is.
func TestF1LanguageModel(t *testing.T) {
	c := newTeam(t)
	lib := c.another(t, "billing", map[string]string{
		"invoice.go": "package billing\n\n// PrintInvoice renders an invoice as PDF, with the customer's address.\nfunc PrintInvoice(number int) []byte {\n\treturn nil\n}\n",
	})
	want := "github.com/acme/billing@" + lib.publish().Commit + ":invoice.go"
	model := llmtest.New(llmtest.Says("`PrintInvoice` renders an invoice as PDF [" + want + ":3-4]. It is not in [" + want + ":90-91]."))
	defer model.Close()
	c.env = append(c.env, "CODERAG_SHARED_REPOSITORIES=**", "CODERAG_LLM_BASE_URL="+model.BaseURL(), "CODERAG_LLM_MODEL=m")
	a := decode[wire.AskResult](t, c.run("ask", "--json", "how does PrintInvoice render an invoice as PDF?").out)
	if !strings.Contains(model.Requests()[0].Text(), "renders an invoice as PDF") {
		t.Errorf("the model was not given the lines: %s", model.Requests()[0].Text())
	}
	if paths := cites(t, a.Citations); len(paths) != 1 || paths[0] != want || a.Citations[0].StartLine != 3 || strings.Contains(a.Answer, ":90-91]") {
		t.Errorf("cited %+v\n%s\n%s", a.Citations, a.Answer, a.Notice)
	}
}

// TestF1Prune: editions of other models that were published before go; those of repositories that have no
// other stay.
func TestF1Prune(t *testing.T) {
	c := newTeam(t)
	ctx, old := t.Context(), sharedindextest.Edition(1)
	for _, name := range []string{shopName, "github.com/acme/other"} {
		d := sharedindextest.Document("a.go", 1, 2)
		_, err := sharedindex.Publish(ctx, c.space.Open("default", old), sharedindex.PublishOptions{
			Repository: name, Commit: "old", Edition: old, Files: []sharedindex.Entry{{Path: "a.go", Hash: d.Record.Hash, Chunks: 2}},
			Documents: func(context.Context, []string) ([]sharedindex.Document, error) { return []sharedindex.Document{d}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if st := statusIn(c.editor(t)); st.Coverage.Shared != 0 || len(st.Shared.Notices) != 1 || !strings.Contains(st.Shared.Notices[0], "another model") {
		t.Errorf("%+v %+v", st.Coverage, st.Shared)
	}
	if p := c.publish(); len(p.Removed) != 0 {
		t.Errorf("removed without being asked: %+v", p.Removed)
	}
	if p := c.publish("--prune"); len(p.Removed) != 1 || p.Removed[0].Repository != shopName || p.Removed[0].Current {
		t.Errorf("%+v", p.Removed)
	}
	all := decode[[]wire.SharedRepository](t, c.bare("", "publish", "--list", "--json").out)
	if len(all) != 2 || all[0].Repository != "github.com/acme/other" || all[0].Current || !all[1].Current {
		t.Errorf("%+v", all)
	}
}

// TestF1PublishExactly: what is published is the commit, whatever stands in the worktree; renamed,
// shrunk and deleted files leave nothing behind.
func TestF1PublishExactly(t *testing.T) {
	c := newTeam(t)
	first := c.git("rev-parse", "HEAD")
	c.write("cart/cart.go", "package cart\n\n// Uncommitted is not published.\nfunc Uncommitted() {}\n")
	c.write("untracked.go", "package shop\n\nfunc Untracked() {}\n")
	if p := c.publish(); p.Commit != first || p.Put != 4 || p.Files != 4 {
		t.Fatalf("%+v", p)
	}
	if p := c.publish("--verify"); p.Put != 0 || p.Unchanged != 4 || !p.Verified {
		t.Errorf("again: %+v", p)
	}
	c.git("mv", "ship/retry.go", "ship/again.go")
	second := c.commit("second")
	if p := c.publish("--dry-run"); p.Put != 3 || p.Deleted != 1 || !p.DryRun || p.Unchanged != 2 {
		t.Errorf("dry run: %+v", p)
	}
	if p := c.publish(); p.Commit != second || p.Put != 3 || p.Deleted != 1 || p.Unchanged != 2 || p.Files != 5 {
		t.Errorf("%+v", p)
	}
	if p := c.publish("--verify"); p.Put+p.Deleted+p.Swept != 0 || !p.Verified {
		t.Errorf("something is left over: %+v", p)
	}
	if p := c.publish("--commit", first, "--verify"); p.Commit != first || p.Files != 4 {
		t.Errorf("back to the first commit: %+v", p)
	}
	r := c.bare("", "publish", "--list", "--json")
	if all := decode[[]wire.SharedRepository](t, r.out); len(all) != 1 || all[0].Commit != first || all[0].State != wire.SharedComplete || !all[0].Current {
		t.Errorf("%s", r.out)
	}
	c.bare("", "publish", "--list").want(t, exitOK, shopName, "")
	c.bare("", "publish", "--remove", c.dir).want(t, exitOK, "removed", "")
	c.bare("", "publish", "--remove", c.dir).want(t, exitError, "", "no such repository")
	c.bare("", "publish", "--list").want(t, exitOK, "nothing is published", "")
}

// TestF1PublishInterrupted: a publication that ends at any step is gone on with by the next one,
// and what is there then is exact.
func TestF1PublishInterrupted(t *testing.T) {
	c := newTeam(t)
	c.publish()
	c.write("cart/cart.go", "package cart\n\nfunc Small() {}\n")
	c.write("new.go", "package shop\n\nfunc New() {}\n")
	c.git("rm", "-q", "ship/retry.go")
	states := []string{c.git("rev-parse", "HEAD"), c.commit("second")}
	for step := 0; ; step++ {
		if step > 50 {
			t.Fatal("it never ends")
		}
		to := states[(step+1)%2]
		var n atomic.Int64
		c.space.Trouble(func(_ context.Context, operation string) error {
			if operation != "Heads" && n.Add(1) > int64(step) {
				return fmt.Errorf("the publisher dies at %s", operation)
			}
			return nil
		})
		r := c.bare("", "publish", "--commit", to, c.dir)
		c.space.Trouble(nil)
		if r.code == exitOK {
			break
		}
		r.want(t, exitError, "", "dies at")
		if p := c.publish("--commit", to); p.Commit != to || p.State != wire.SharedComplete {
			t.Fatalf("after step %d: %+v", step, p)
		}
		if p := c.publish("--commit", to, "--verify"); p.Put+p.Deleted+p.Swept != 0 || !p.Verified {
			t.Fatalf("after step %d something was not right: %+v", step, p)
		}
	}
}

// TestF1PublishErrors: each kind of trouble has an error that says what it is, and an exit code.
func TestF1PublishErrors(t *testing.T) {
	c := newTeam(t)
	fails := func(err error) func(context.Context, string) error {
		return func(context.Context, string) error { return err }
	}
	for _, test := range []struct {
		err  error
		code int
		says string
	}{
		{sharedindex.ErrDenied, exitDenied, "denies access"},
		{sharedindex.ErrSchema, exitSchema, "another schema"},
		{sharedindex.ErrUnreachable, exitUnreachable, "not reachable"},
	} {
		c.space.Trouble(fails(test.err))
		c.bare("", "publish", "--patience", "1ms", c.dir).want(t, test.code, "", test.says)
		c.bare("", "publish", "--list").want(t, test.code, "", test.says)
		d := c.run("doctor")
		if !strings.Contains(d.out, test.says) {
			t.Errorf("doctor does not say %q:\n%s", test.says, d.out)
		}
	}
	c.space.Trouble(nil)
	if d := c.run("doctor"); !strings.Contains(d.out, "not "+shopName) {
		t.Errorf("doctor does not say that the repository is not published:\n%s", d.out)
	}
	c.bare("", "publish", "--commit", "nosuch", c.dir).want(t, exitUsage, "", "names no commit")
	c.bare("", "publish", "--repository", "a b", c.dir).want(t, exitUsage, "", "cannot name a repository")
	c.bare("", "publish", "--list", "--remove").want(t, exitUsage, "", "exclude each other")
	bare := t.TempDir()
	if err := os.WriteFile(filepath.Join(bare, "a.go"), []byte("package a\n\nfunc A() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.bare("", "publish", bare).want(t, exitUsage, "", "--repository")
	c.bare("", "publish", "--repository", "plain", bare).want(t, exitUsage, "", "no git repository")
	c.bare("", "publish", "--repository", "plain", "--commit", "v1", bare).want(t, exitOK, "plain", "")
	c.env = slices.DeleteFunc(c.env, func(v string) bool { return strings.HasPrefix(v, "CODERAG_SHARED_ENDPOINTS=") })
	c.bare("", "publish", c.dir).want(t, exitUsage, "", "shared.endpoints")
}

// TestF1TwoPublishers: the second publisher of a repository is told, and the first is not
// disturbed.
func TestF1TwoPublishers(t *testing.T) {
	c := newTeam(t)
	inside, goOn := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	c.space.Trouble(func(_ context.Context, operation string) error {
		if operation == "Put" && !once.Swap(true) {
			close(inside)
			<-goOn
		}
		return nil
	})
	first := make(chan result, 1)
	go func() { first <- c.bare("", "publish", c.dir) }()
	<-inside
	c.bare("", "publish", c.dir).want(t, exitLocked, "", "being published by another process")
	close(goOn)
	(<-first).want(t, exitOK, "4 written", "")
	c.publish("--verify")
}
