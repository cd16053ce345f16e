package config_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"coderag-ls/engine/config"
)

// TestTableIsWellFormed checks what everything generated from the table relies on.
func TestTableIsWellFormed(t *testing.T) {
	names, envs := map[string]bool{}, map[string]bool{}
	dotted := regexp.MustCompile(`^[a-z]+\.[a-z][A-Za-z0-9]*$`)
	env := regexp.MustCompile(`^CODERAG_[A-Z0-9_]+$`)
	for _, d := range config.Table() {
		if !dotted.MatchString(d.Name) || names[d.Name] {
			t.Errorf("%q: not a dotted name, or twice in the table", d.Name)
		}
		if !env.MatchString(d.Env) || envs[d.Env] {
			t.Errorf("%s: variable %q is malformed or taken twice", d.Name, d.Env)
		}
		names[d.Name], envs[d.Env] = true, true
		if !strings.HasSuffix(d.Doc, ".") && !strings.HasSuffix(d.Doc, ")") {
			t.Errorf("%s: documentation %q is no sentence", d.Name, d.Doc)
		}
		if d.Scope != config.Any && d.Scope != config.Machine {
			t.Errorf("%s: scope %q", d.Name, d.Scope)
		}
		if (d.Type == config.Int || d.Type == config.Float) && (d.Min == nil || d.Max == nil) {
			t.Errorf("%s: a number without bounds", d.Name)
		}
		if got := d.Get(config.Default()); !reflect.DeepEqual(got, d.Default) && d.Type != config.List {
			t.Errorf("%s: Default() holds %v, the table %v", d.Name, got, d.Default)
		}
		// What Format writes, the environment reads back.
		if text := d.Format(d.Default); text != "" {
			l, problems := config.Layers{}.WithEnv([]string{d.Env + "=" + text})
			if len(problems) > 0 || !reflect.DeepEqual(d.Get(l.Settings()), d.Default) {
				t.Errorf("%s: %q does not read back: %v", d.Name, text, problems)
			}
		}
	}
	if len(names) < 40 {
		t.Errorf("only %d settings in the table", len(names))
	}
}

func TestDocumentedDefaultsAndNames(t *testing.T) {
	s := config.Default()
	if s.Search.RRFK != 60 || s.Search.VectorK != 50 || s.Search.BM25K != 50 || s.Search.TopK != 20 || !s.Search.Hybrid ||
		s.Answer.TokenBudget != 8000 || s.Embed.BatchSize != 32 || s.Chunk.TextWords != 512 {
		t.Errorf("defaults differ from the documents': %+v", s)
	}
	l, problems := config.Layers{}.WithEnv([]string{
		"CODERAG_ENABLE_HYBRID=false", "CODERAG_RRF_K=30", "CODERAG_VECTOR_K=60", "CODERAG_BM25_K=70",
		"CODERAG_TOP_K=15", "CODERAG_SEARCH_MIN_RELEVANCE=0.5", "CODERAG_INDEX_EXCLUDE=*.{js,ts}, docs/**\nbuild", "PATH=/bin",
	})
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	s = l.Settings()
	if s.Search.Hybrid || s.Search.RRFK != 30 || s.Search.VectorK != 60 || s.Search.BM25K != 70 || s.Search.TopK != 15 || s.Search.MinRelevance != 0.5 {
		t.Errorf("environment: %+v", s.Search)
	}
	if want := []string{"*.{js,ts}", "docs/**", "build"}; !reflect.DeepEqual(s.Index.Exclude, want) {
		t.Errorf("index.exclude = %q, want %q", s.Index.Exclude, want)
	}
}

// TestPrecedence sets one setting in one source after the other.
func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, []byte("[search]\ntopK = 11\nrrfK = 12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var l config.Layers
	steps := []struct {
		add    func() (config.Layers, []config.Problem)
		want   int
		source config.Source
		origin string
	}{
		{func() (config.Layers, []config.Problem) { return l, nil }, 20, config.FromDefault, ""},
		{func() (config.Layers, []config.Problem) { return l.WithFile(file) }, 11, config.FromFile, file},
		{func() (config.Layers, []config.Problem) { return l.WithInit(decode(t, `{"search.topK": 13}`)) }, 13, config.FromInit, ""},
		{func() (config.Layers, []config.Problem) {
			return l.WithWorkspace(decode(t, `{"search": {"topK": 14}}`))
		}, 14, config.FromWorkspace, ""},
		{func() (config.Layers, []config.Problem) { return l.WithEnv([]string{"CODERAG_TOP_K=15"}) }, 15, config.FromEnv, "CODERAG_TOP_K"},
		{func() (config.Layers, []config.Problem) { return l.WithFlags(map[string]string{"search.topK": "16"}) }, 16, config.FromFlag, "--search.topK"},
	}
	for _, step := range steps {
		next, problems := step.add()
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		l = next
		if got := l.Settings().Search.TopK; got != step.want {
			t.Errorf("topK = %d after %s, want %d", got, step.source, step.want)
		}
		e := explained(l, "search.topK")
		if e.Source != step.source || e.Origin != step.origin || e.Value != step.want {
			t.Errorf("explained as %v from %q %q, want %d from %q %q", e.Value, e.Source, e.Origin, step.want, step.source, step.origin)
		}
	}
	if e := explained(l, "search.topK"); len(e.Hidden) != 4 {
		t.Errorf("hidden sources: %v", e.Hidden)
	}
	if e := explained(l, "search.rrfK"); e.Value != 12 || e.Source != config.FromFile {
		t.Errorf("rrfK: %+v", e)
	}
	// New editor configuration replaces the old one as a whole.
	l, _ = l.WithFlags(nil)
	l, _ = l.WithEnv(nil)
	l, _ = l.WithWorkspace(nil)
	if got := l.Settings().Search.TopK; got != 13 {
		t.Errorf("topK = %d after the sources above went, want 13", got)
	}
}

func explained(l config.Layers, name string) config.Effective {
	for _, e := range l.Explain() {
		if e.Setting.Name == name {
			return e
		}
	}
	return config.Effective{}
}

func decode(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestProblems: every mistake is named, none costs the other values.
func TestProblems(t *testing.T) {
	for _, tt := range []struct{ name, tree, want string }{
		{"unknown, suggested", `{"search": {"topk": 12, "rrfK": 33}}`, "search.topk: there is no such setting; did you mean search.topK?"},
		{"unknown group", `{"zzzzzzzzzzzz": 1, "search.rrfK": 33}`, "zzzzzzzzzzzz: there is no such setting"},
		{"list for a group", `{"index": [], "search.rrfK": 33}`, "index: is a group of settings: want an object, not []"},
		{"number for the section", `{"coderag": 5, "search.rrfK": 33}`, "coderag: is a group of settings: want an object, not 5"},
		{"text for a number", `{"search": {"topK": "many", "rrfK": 33}}`, `search.topK: "many" is not a whole number`},
		{"fraction", `{"search": {"topK": 12.5, "rrfK": 33}}`, "search.topK: 12.5 is not a whole number"},
		{"huge", `{"search": {"topK": 1e300, "rrfK": 33}}`, "is not a whole number"},
		{"below", `{"search": {"topK": 9, "rrfK": 33}}`, "search.topK: 9 is out of range (10 to 50)"},
		{"above", `{"search.minRelevance": 1.5, "search.rrfK": 33}`, "search.minRelevance: 1.5 is out of range (0 to 1)"},
		{"text for a boolean", `{"search": {"hybrid": "yes", "rrfK": 33}}`, `search.hybrid: "yes" is not true or false`},
		{"enum", `{"log": {"level": "loud"}, "search.rrfK": 33}`, `log.level: "loud" is none of debug, info, warn, error`},
		{"list of numbers", `{"index": {"exclude": ["a", 2]}, "search.rrfK": 33}`, "index.exclude: item 2, 2, is not text"},
		{"text for a list", `{"index": {"exclude": "a"}, "search.rrfK": 33}`, `index.exclude: "a" is not a list of text`},
		{"object for a number", `{"search": {"topK": {"a": 1}, "rrfK": 33}}`, "search.topK: map[a:1] is not a whole number"},
		{"machine scope", `{"embed": {"libraryPath": "./evil.so"}, "search.rrfK": 33}`, "embed.libraryPath: is not taken from a workspace's configuration"},
	} {
		l, problems := config.Layers{}.WithWorkspace(decode(t, tt.tree))
		if len(problems) != 1 || !strings.Contains(problems[0].String(), tt.want) {
			t.Errorf("%s: problems %q, want one with %q", tt.name, problems, tt.want)
		}
		if got := l.Settings(); got.Search.RRFK != 33 || got.Search.TopK != 20 || got.Embed.LibraryPath != "" {
			t.Errorf("%s: the good value was lost or the bad one taken: %+v", tt.name, got.Search)
		}
	}
}

func TestClientConfigurationShapes(t *testing.T) {
	for _, tt := range []struct {
		tree     string
		problems int
	}{
		{`{"coderag": {"search": {"topK": 12}}}`, 0},
		{`{"coderag": {"search.topK": 12}}`, 0},
		{`{"search": {"topK": 12, "rrfK": null}}`, 0},
		{`{"search": {"topK": 12}, "index": null, "coderag": null}`, 0},
		{`{"search": {"topK": 12}, "server": {"path": "/usr/bin/coderag-ls"}, "trace": {"server": "off"}}`, 0},
		{`{"coderag": {"search": {"topK": 12}}, "other": true}`, 1},
	} {
		l, problems := config.Layers{}.WithWorkspace(decode(t, tt.tree))
		if l.Settings().Search.TopK != 12 || len(problems) != tt.problems {
			t.Errorf("%s: topK %d, problems %q", tt.tree, l.Settings().Search.TopK, problems)
		}
	}
	for _, tree := range []string{`null`, `{}`} {
		if _, problems := (config.Layers{}).WithWorkspace(decode(t, tree)); len(problems) > 0 {
			t.Errorf("%s: %q", tree, problems)
		}
	}
	for _, tree := range []string{`[]`, `"x"`, `1`} {
		if l, problems := (config.Layers{}).WithInit(decode(t, tree)); len(problems) != 1 || !reflect.DeepEqual(l.Settings(), config.Default()) {
			t.Errorf("%s: %q", tree, problems)
		}
	}
	// What a person gives on the command line of their editor may name libraries.
	l, problems := config.Layers{}.WithInit(decode(t, `{"embed": {"libraryPath": "/opt/libonnxruntime.so"}}`))
	if len(problems) > 0 || l.Settings().Embed.LibraryPath != "/opt/libonnxruntime.so" {
		t.Errorf("initialization options: %q", problems)
	}
}

func TestUserFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	l, problems := config.Layers{}.WithFile(write("good.toml", "\xef\xbb\xbf\"search.topK\" = 12\n[embed]\nlibraryPath = '/x.so'\n[index]\nexclude = ['a', 'b/**']\n[search]\nminRelevance = 1\n"))
	s := l.Settings()
	if len(problems) > 0 || s.Search.TopK != 12 || s.Embed.LibraryPath != "/x.so" || len(s.Index.Exclude) != 2 || s.Search.MinRelevance != 1 {
		t.Errorf("good file: %+v, %q", s, problems)
	}
	if _, problems := (config.Layers{}).WithFile(filepath.Join(dir, "none.toml")); len(problems) > 0 {
		t.Errorf("missing file: %q", problems)
	}
	if _, problems := (config.Layers{}).WithFile(dir); len(problems) != 1 || !strings.Contains(problems[0].String(), dir) {
		t.Errorf("directory: %q", problems)
	}
	broken := write("broken.toml", "[search]\ntopK = = 3\n")
	if _, problems := (config.Layers{}).WithFile(broken); len(problems) != 1 || !strings.Contains(problems[0].String(), broken+":2:") {
		t.Errorf("syntax error: %q", problems)
	}
	dated := write("dated.toml", "[search]\ntopK = 1979-05-27\nbm25B = nan\nrrfK = 33\n")
	if l, problems := (config.Layers{}).WithFile(dated); len(problems) != 2 || l.Settings().Search.RRFK != 33 {
		t.Errorf("date and nan: %q", problems)
	}
}

func TestUserFilePath(t *testing.T) {
	env := map[string]string{"HOME": "/home/u", "AppData": `C:\Users\u\AppData`}
	get := func(k string) string { return env[k] }
	plain := config.UserFile(get)
	if !strings.HasSuffix(filepath.ToSlash(plain), "/coderag/config.toml") && !strings.HasSuffix(plain, `\coderag\config.toml`) {
		t.Errorf("UserFile = %q", plain)
	}
	env["XDG_CONFIG_HOME"] = "relative"
	if got := config.UserFile(get); got != plain {
		t.Errorf("a relative XDG_CONFIG_HOME was taken: %q", got)
	}
	env["XDG_CONFIG_HOME"] = t.TempDir()
	if got := config.UserFile(get); got != filepath.Join(env["XDG_CONFIG_HOME"], "coderag", "config.toml") {
		t.Errorf("UserFile = %q", got)
	}
	if got := config.UserFile(func(string) string { return "" }); got != "" {
		t.Errorf("UserFile without an environment = %q", got)
	}
}

func TestEnvironmentProblems(t *testing.T) {
	l, problems := config.Layers{}.WithEnv([]string{"CODERAG_TOPK=12", "CODERAG_RRF_K=abc", "CODERAG_BM25_K=30", "CODERAG_VECTOR_K=", "CODERAG_TEST_MODEL=x", "CODERAG_INDEX_WATCH=maybe"})
	if len(problems) != 3 || !strings.Contains(problems[0].String(), "did you mean CODERAG_TOP_K?") {
		t.Errorf("problems: %q", problems)
	}
	if s := l.Settings(); s.Search.BM25K != 30 || s.Search.RRFK != 60 || s.Search.VectorK != 50 {
		t.Errorf("settings: %+v", s.Search)
	}
}

func TestFlagProblems(t *testing.T) {
	_, problems := config.Layers{}.WithFlags(map[string]string{"search.topK": "99", "search.topq": "1"})
	if len(problems) != 2 || problems[0].Origin != "--search.topK" || !strings.Contains(problems[0].String(), "flag --search.topK: 99 is out of range (10 to 50)") {
		t.Errorf("problems: %q", problems)
	}
}

// TestLayersAreImmutable: two clients may share the layers of one process.
func TestLayersAreImmutable(t *testing.T) {
	base, _ := config.Layers{}.WithEnv([]string{"CODERAG_INDEX_EXCLUDE=a,b"})
	changed, _ := base.WithWorkspace(map[string]any{"search.topK": 12})
	if base.Settings().Search.TopK != 20 || changed.Settings().Search.TopK != 12 {
		t.Error("WithWorkspace changed its receiver")
	}
	s := base.Settings()
	s.Index.Exclude[0] = "changed"
	if base.Settings().Index.Exclude[0] != "a" {
		t.Error("settings share a slice with the layers")
	}
}

func TestNearest(t *testing.T) {
	for _, tt := range [][2]string{{"serch.topK", "search.topK"}, {"SEARCH.TOPK", "search.topK"}, {"log.levle", "log.level"}, {"q", ""}, {"", ""}, {"something.else.entirely", ""}} {
		var names []string
		for _, d := range config.Table() {
			names = append(names, d.Name)
		}
		if got := config.Nearest(tt[0], names); got != tt[1] {
			t.Errorf("Nearest(%q) = %q, want %q", tt[0], got, tt[1])
		}
	}
}

// check holds for whatever a source holds: settings stay inside their bounds.
func check(t *testing.T, l config.Layers, problems []config.Problem) {
	s := l.Settings()
	for _, d := range config.Table() {
		v, isNumber := 0.0, true
		switch n := d.Get(s).(type) {
		case int:
			v = float64(n)
		case float64:
			v = n
		default:
			isNumber = false
		}
		if isNumber && (math.IsNaN(v) || v < *d.Min || v > *d.Max) {
			t.Errorf("%s = %v, outside %s", d.Name, v, d.Range())
		}
	}
	for _, p := range problems {
		if p.Message == "" || strings.Contains(p.String(), "\x00") {
			t.Errorf("problem %q", p)
		}
	}
}

func FuzzTOML(f *testing.F) {
	f.Add([]byte("[search]\ntopK = 12\nhybrid = false\n[index]\nexclude = ['a']\n"))
	f.Add([]byte("search.topK = 1e9\n\"search.rrfK\" = nan\nsearch.topk = [1, {a = 2}]\n"))
	f.Add([]byte("a.b.c.d = 1\nlog.level = \"loud\"\nindex.maxFileBytes = 9223372036854775807\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, problems := config.Layers{}.WithTOML("config.toml", data)
		check(t, l, problems)
	})
}

func FuzzClient(f *testing.F) {
	f.Add([]byte(`{"coderag": {"search": {"topK": 12}}, "embed.libraryPath": "x"}`))
	f.Add([]byte(`{"search": {"topK": -1e400, "hybrid": null}, "index.exclude": [[], {}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if json.Unmarshal(data, &v) != nil {
			return
		}
		l, problems := config.Layers{}.WithWorkspace(v)
		check(t, l, problems)
		if s := l.Settings(); s.Embed.LibraryPath != "" || s.Index.CacheDir != "" || s.Embed.ModelDir != "" || s.Log.File != "" {
			t.Error("a machine-scoped setting came from a workspace")
		}
		l, problems = l.WithInit(v)
		check(t, l, problems)
	})
}

func FuzzEnv(f *testing.F) {
	f.Add("CODERAG_TOP_K", "12")
	f.Add("CODERAG_INDEX_EXCLUDE", "{a,b},}{,\n,")
	f.Add("CODERAG_SEARCH_BM25_B", "+Inf")
	f.Fuzz(func(t *testing.T, name, text string) {
		l, problems := config.Layers{}.WithEnv([]string{name + "=" + text})
		check(t, l, problems)
	})
}
