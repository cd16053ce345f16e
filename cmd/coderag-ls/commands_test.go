package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/attach"
	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
)

// decode reads one JSON document that has no fields but the type's.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// TestAskJSON: the citations are what stands in the files.
func TestAskJSON(t *testing.T) {
	c := newCLI(t)
	r := c.run("ask", "--json", "how long is the delay before a failed delivery is tried again?")
	r.want(t, exitOK, "", "")
	a := decode[wire.AskResult](t, r.out)
	if len(a.Citations) == 0 || a.Citations[0].Path != "ship/retry.go" || a.NoAnswer {
		t.Fatalf("citations: %+v", a.Citations)
	}
	if a.Coverage.Indexed != 4 || a.Coverage.Total != 4 || a.Coverage.Pending != 0 {
		t.Errorf("coverage: %+v", a.Coverage)
	}
	for _, one := range a.Citations {
		data, err := os.ReadFile(filepath.Join(c.dir, one.Path))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Join(strings.Split(string(data), "\n")[one.StartLine-1:one.EndLine], "\n")
		sum := sha256.Sum256([]byte(want))
		if one.Text != want || one.SHA256 != hex.EncodeToString(sum[:]) || !strings.Contains(a.Answer, "["+one.ID+"]") {
			t.Errorf("citation %s: %q, the file has %q", one.ID, one.Text, want)
		}
	}
}

// TestAskText: what people see cites lines, quotes code and tells how complete
// the index was.
func TestAskText(t *testing.T) {
	c := newCLI(t)
	for _, args := range [][]string{{"ask", "how", "are", "the", "prices", "of", "all", "items", "added", "up?"}, {"ask", "--lines", "0", "TotalCents"}} {
		r := c.run(args...)
		r.want(t, exitOK, "TotalCents", "")
		r.want(t, exitOK, "cart/cart.go:", "")
		r.want(t, exitOK, "4 of 4 files indexed", "")
		if strings.Contains(r.out, "\x1b") {
			t.Errorf("escape sequences without a terminal:\n%q", r.out)
		}
	}
	colored := c.run("ask", "--color", "always", "TotalCents")
	colored.want(t, exitOK, "\x1b[", "")
	colored.want(t, exitOK, " │ ", "") // quoted lines have a gutter with their numbers
	if strings.Contains(colored.out, "\x1b]8;") {
		t.Error("hyperlinks without a terminal")
	}
	c.env = append(c.env, "NO_COLOR=1")
	if r := c.run("ask", "TotalCents"); strings.Contains(r.out, "\x1b") {
		t.Errorf("colours in spite of NO_COLOR:\n%q", r.out)
	}
}

func TestQuestions(t *testing.T) {
	c := newCLI(t)
	c.bare("what is\nTotalCents?\n", "--root", c.dir, "ask", "-").want(t, exitOK, "cart/cart.go", "")
	c.bare("", "--root", c.dir, "ask", "-").want(t, exitUsage, "", "there is no question")
	huge := strings.Repeat("word ", 1<<17)
	c.bare(huge, "--root", c.dir, "ask", "-").want(t, exitUsage, "", "error:")
	c.run("ask", huge).want(t, exitUsage, "", "error:")
	c.run("ask", "\xff\xfe TotalCents").want(t, exitOK, "cart/cart.go", "")
	nothing := c.run("ask", "--json", "quantum chromodynamics lattice gauge")
	nothing.want(t, exitNothing, "", "")
	if a := decode[wire.AskResult](t, nothing.out); !a.NoAnswer || len(a.Citations) > 0 {
		t.Errorf("no answer was expected: %+v", a)
	}
}

// TestFollowsTheDisk: each run sees what changed since the last.
func TestFollowsTheDisk(t *testing.T) {
	c := newCLI(t)
	c.run("ask", "TotalCents").want(t, exitOK, "cart/cart.go", "")
	c.write("cart/voucher.go", "package cart\n\n// RedeemVoucher takes a discount code off the total.\nfunc RedeemVoucher(code string) {}\n")
	c.run("search", "RedeemVoucher").want(t, exitOK, "cart/voucher.go:", "")
	if err := os.Remove(filepath.Join(c.dir, "cart", "voucher.go")); err != nil {
		t.Fatal(err)
	}
	if r := c.run("search", "--json", "RedeemVoucher"); strings.Contains(r.out, "voucher.go") {
		t.Errorf("a deleted file is found:\n%s", r.out)
	}
}

func TestSearch(t *testing.T) {
	c := newCLI(t)
	r := c.run("search", "--json", "prices of all items")
	r.want(t, exitOK, "", "")
	s := decode[wire.SearchResult](t, r.out)
	if len(s.Hits) == 0 || s.Hits[0].Path != "cart/cart.go" {
		t.Fatalf("hits: %+v", s.Hits)
	}
	one := decode[wire.SearchResult](t, c.run("search", "--json", "--top-k", "1", "prices of all items").out)
	if len(one.Hits) != 1 {
		t.Errorf("--top-k 1 gives %d hits", len(one.Hits))
	}
	md := decode[wire.SearchResult](t, c.run("search", "--json", "--type", "markdown", "warehouse parcels").out)
	if len(md.Hits) == 0 || md.Hits[0].Path != "README.md" {
		t.Errorf("--type markdown: %+v", md.Hits)
	}
	for _, h := range decode[wire.SearchResult](t, c.run("search", "--json", "--file", "retry.go", "delay").out).Hits {
		if h.Path != "ship/retry.go" {
			t.Errorf("--file retry.go found %s", h.Path)
		}
	}
	c.run("search", "--why", "prices of all items").want(t, exitOK, "cart/cart.go:", "")
}

func TestContext(t *testing.T) {
	c := newCLI(t)
	c.run("context", "how are the prices of all items added up?").want(t, exitOK, "total += item.Cents * item.Count", "")
	ctx := decode[wire.ContextResult](t, c.run("context", "--json", "--budget", "500", "prices of all items").out)
	if len(ctx.Primary) == 0 || ctx.TokenCount > 500 {
		t.Errorf("%d primary results, %d tokens", len(ctx.Primary), ctx.TokenCount)
	}
}

func TestIndexAndStatus(t *testing.T) {
	c := newCLI(t)
	c.write("secret/.env", "PASSWORD=x\n")
	c.write("img.png", "\x89PNG\r\n\x1a\n\x00\x00")

	dry := c.run("index", "--dry-run")
	dry.want(t, exitOK, "4 files", "")
	dry.want(t, exitOK, "img.png", "")
	dry.want(t, exitOK, "secret", "")
	if _, err := os.Stat(c.cache); !os.IsNotExist(err) {
		t.Errorf("--dry-run wrote to the cache: %v", err)
	}
	plan := decode[wire.DryRun](t, c.run("index", "--dry-run", "--json").out)
	if plan.Files != 4 || plan.Languages["go"] != 2 || len(plan.SkippedFiles) == 0 {
		t.Errorf("plan: %+v", plan)
	}

	c.run("index").want(t, exitOK, "4 of 4 indexed", "")
	st := decode[wire.Status](t, c.run("status", "--json").out)
	if st.Coverage.Indexed != 4 || st.Coverage.Total != 4 || len(st.Roots) != 1 || st.Roots[0].Dir != c.dir || !strings.HasPrefix(st.Roots[0].Index, c.cache) {
		t.Errorf("status: %+v", st)
	}
	c.run("status").want(t, exitOK, "4 of 4 indexed", "")
	again := decode[wire.Status](t, c.run("index", "--json", "--force").out)
	if again.Counters.Commits == 0 {
		t.Errorf("--force indexed nothing: %+v", again.Counters)
	}
	c.run("index", "--exclude", "ship/**", "--exclude", "*.md").want(t, exitOK, "2 of 2 indexed", "")
}

// TestStatusOfOddNames: a name that is no line of text does not break the list.
func TestStatusOfOddNames(t *testing.T) {
	c := newCLI(t)
	if err := os.WriteFile(filepath.Join(c.dir, "new\nline\x1b[31m.go"), []byte("package x\n"), 0o644); err != nil {
		t.Skipf("the file system takes no such name: %v", err)
	}
	c.run("status").want(t, exitOK, `"new\nline\x1b[31m.go"  (the name holds control characters`, "")
}

// TestShared: commands use the index that another process keeps, and only
// deleting it is refused.
func TestShared(t *testing.T) {
	c := newCLI(t)
	s := config.Default()
	s.Index.CacheDir, s.Embed.Provider = c.cache, "static"
	w, err := attach.Open(t.Context(), attach.Options{Options: engine.Options{Roots: []file.Root{{Name: "shop", Dir: c.dir}}, Version: "4.5.6", Settings: s}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	pid := fmt.Sprintf("pid %d", os.Getpid())
	c.run("ask", "TotalCents").want(t, exitOK, "cart/cart.go", "")
	c.run("search", "TotalCents").want(t, exitOK, "cart/cart.go", "")
	c.run("context", "TotalCents").want(t, exitOK, "cart/cart.go", "")
	c.run("index").want(t, exitOK, pid+", coderag-ls 4.5.6", "")
	c.run("status").want(t, exitOK, "kept by", "")
	c.run("ask", "--chunk.maxChars", "900", "TotalCents").want(t, exitOK, "cart/cart.go", "chunk.maxChars is 1500 there, 900 here")
	c.run("clean").want(t, exitLocked, "deleted 0 indexes", pid+", coderag-ls 4.5.6")
	c.run("doctor").want(t, exitOK, "in use by "+pid, "")
	st := decode[wire.Status](t, c.run("status", "--json").out)
	if st.Owner || st.OwnedBy.PID != os.Getpid() || st.OwnedBy.Version != "4.5.6" || st.OwnedBy.Clients != 1 {
		t.Errorf("owner %v, owned by %+v", st.Owner, st.OwnedBy)
	}
}

// TestLocked: an index that is held and not shared is deleted by nobody.
func TestLocked(t *testing.T) {
	c := newCLI(t)
	s := config.Default()
	s.Index.CacheDir, s.Embed.Provider = c.cache, "static"
	e, err := engine.Open(t.Context(), engine.Options{Roots: []file.Root{{Name: "shop", Dir: c.dir}}, Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	c.run("clean").want(t, exitLocked, "deleted 0 indexes", "locked")
	c.run("doctor").want(t, exitOK, "in use", "")
	c.run("ask", "--cache-dir", filepath.Join(c.cache, "mine"), "TotalCents").want(t, exitOK, "cart/cart.go", "")
}

func TestClean(t *testing.T) {
	c := newCLI(t)
	c.run("clean").want(t, exitOK, "deleted 0 indexes", "")
	c.run("clean", "--list").want(t, exitOK, "There are no indexes.", "")
	keep := filepath.Join(c.cache, "v1", "precious")
	if err := os.MkdirAll(keep, 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "a.md"), []byte("# A\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.run("index").want(t, exitOK, "", "")
	c.bare("", "--root", other, "index").want(t, exitOK, "", "")
	if err := os.RemoveAll(other); err != nil {
		t.Fatal(err)
	}
	list := c.run("clean", "--list")
	list.want(t, exitOK, c.dir, "")
	list.want(t, exitOK, other+" (vanished)", "")
	c.run("clean", "--vanished").want(t, exitOK, "deleted 1 index,", "")
	c.run("clean").want(t, exitOK, "deleted 1 index,", "")
	c.run("index").want(t, exitOK, "", "")
	c.run("clean", "--all").want(t, exitOK, "deleted 1 index,", "")
	if _, err := os.Stat(keep); err != nil {
		t.Errorf("clean deleted what is no index: %v", err)
	}
	c.run("ask", "TotalCents").want(t, exitOK, "cart/cart.go", "") // everything is made again
}

func TestDoctor(t *testing.T) {
	c := newCLI(t)
	r := c.run("doctor")
	for _, check := range []string{"program", "processor", "settings", "workspace", "git", "index", "cache", "model", "watching"} {
		r.want(t, exitOK, check, "")
	}
	states := map[string]string{}
	for _, f := range decode[[]finding](t, c.run("doctor", "--json").out) {
		states[f.Check] = f.State
	}
	if states["workspace"] != stateOK || states["cache"] != stateOK {
		t.Errorf("states: %v", states)
	}
	// What is wrong is named, with what to do.
	if err := os.WriteFile(c.cache, nil, 0o600); err != nil { // a file where the directory should be
		t.Fatal(err)
	}
	c.env = append(c.env, "CODERAG_TOPK=3", "CODERAG_EMBED_PROVIDER=onnx", "CODERAG_EMBED_MODEL_DIR="+filepath.Join(c.dir, "nothere"))
	bad := c.run("doctor")
	bad.want(t, exitError, "did you mean CODERAG_TOP_K?", "")
	bad.want(t, exitError, "nothere", "")
	bad.want(t, exitError, "set index.cacheDir", "")
	c.bare("", "--root", filepath.Join(c.dir, "missing"), "doctor").want(t, exitError, "missing does not exist", "")
}

func TestConfig(t *testing.T) {
	c := newCLI(t)
	c.env = append(c.env, "CODERAG_RRF_K=33", "CODERAG_BM25_K=nonsense")
	home := filepath.Join(filepath.Dir(c.dir), "home", "config", "coderag")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "config.toml")
	if err := os.WriteFile(path, []byte("[search]\ntopK = 40\nrrfK = 11\ntopq = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := c.run("config", "--search.hybrid=false")
	for _, line := range []string{"search.topK = 40  (user file " + path + ")", "search.rrfK = 33  (environment CODERAG_RRF_K)", "search.hybrid = false  (flag --search.hybrid)"} {
		r.want(t, exitOK, line, "")
	}
	// Mistakes outside of the command line are told, and cost nothing else.
	r.want(t, exitOK, "", "search.topq: there is no such setting; did you mean search.topK?")
	r.want(t, exitOK, "", `CODERAG_BM25_K: "nonsense" is not a whole number`)
	infos := decode[[]settingInfo](t, c.run("config", "--json", "search.topK", "search.bm25K").out)
	if len(infos) != 2 || infos[0].Value != 40.0 || infos[1].Source != "default" {
		t.Errorf("%+v", infos)
	}
	if all := decode[[]settingInfo](t, c.run("config", "--json", "--all").out); len(all) != len(config.Table()) {
		t.Errorf("--all lists %d of %d", len(all), len(config.Table()))
	}
	other := filepath.Join(c.dir, "other.toml")
	c.write("other.toml", "search.topK = 41\n")
	c.run("config", "--config", other).want(t, exitOK, "search.topK = 41", "")
}

func TestModelStatus(t *testing.T) {
	c := newCLI(t)
	dir := filepath.Join(c.dir, "nothere")
	c.run("model", "status", "--embed.modelDir", dir).want(t, exitOK, "The code model inside the program is.", "")
	st := decode[modelStatus](t, c.run("model", "status", "--json", "--embed.modelDir", dir).out)
	if st.Installed || st.Dir != dir || st.Problem == "" {
		t.Errorf("%+v", st)
	}
	c.run("model", "build", filepath.Join(c.dir, "none.whl"), "--embed.modelDir", dir).want(t, exitError, "", "none.whl")
	c.run("model", "library", filepath.Join(c.dir, "go.mod"), "--embed.modelDir", dir).want(t, exitError, "", "go.mod")
}

func TestVersionAndCompletion(t *testing.T) {
	c := newCLI(t)
	c.run("version").want(t, exitOK, "coderag-ls ", "")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		c.run("completion", shell).want(t, exitOK, "coderag-ls", "")
	}
}

// TestLogFile: messages go to log.file, which only the user can read, and hold
// neither questions nor code.
func TestLogFile(t *testing.T) {
	c := newCLI(t)
	path := filepath.Join(t.TempDir(), "coderag.log")
	c.run("ask", "--log.file", path, "--log-level", "debug", "TotalCents of zanzibar").want(t, exitOK, "cart/cart.go", "")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("log file: %v, %v", info, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) == 0 || strings.Contains(string(data), "zanzibar") || strings.Contains(string(data), "item.Cents") {
		t.Errorf("log: %s", data)
	}
	c.run("ask", "--log.file", filepath.Join(path, "x"), "y").want(t, exitError, "", "log.file")
}

// TestSharedVectors: what was embedded stays when an index is deleted, is used
// by the next one, and goes with --all or where it is too much.
func TestSharedVectors(t *testing.T) {
	c := newCLI(t)
	c.run("index").want(t, exitOK, "", "")
	c.run("clean").want(t, exitOK, "kept shared vectors", "")
	c.run("clean", "--list").want(t, exitOK, "vectors that indexes share", "")
	counters := decode[wire.Status](t, c.run("index", "--json").out).Counters
	if counters.Embedded != 0 || counters.EmbedCacheHits == 0 {
		t.Errorf("after deleting the index: %+v", counters)
	}
	c.run("clean", "--embed.cacheBytes", "10").want(t, exitOK, "deleted shared vectors that were too much", "")
	c.run("index").want(t, exitOK, "", "")
	c.run("clean", "--all").want(t, exitOK, "", "")
	counters = decode[wire.Status](t, c.run("index", "--embed.cacheBytes", "0", "--json").out).Counters
	if counters.Embedded == 0 {
		t.Errorf("after deleting everything: %+v", counters)
	}
	if out := c.run("clean", "--all").out; strings.Contains(out, "shared vectors") {
		t.Errorf("with embed.cacheBytes 0 there were shared vectors: %s", out)
	}
}
