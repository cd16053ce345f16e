package graph

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/mod/modfile"
)

// buildFiles is what the workspace's build files say of how names are resolved.
// A file that cannot be read or parsed says nothing.
type buildFiles struct {
	goModules  []goModule
	goModuleAt map[string]int // by directory
	tsConfigs  map[string]*tsConfig
	npm        []npmPackage
	npmAt      map[string]int // by directory
	npmByName  map[string][]int
	psr4       []psr4
	crates     []crate
	crateAt    map[string]int // by directory
	crateNames map[string][]int
	swift      []swiftTarget
}

// goModule is a go.mod with its local replacements and those of a go.work that
// uses it.
type goModule struct {
	dir, path string
	replaces  []goReplace
	aside     bool // of a test or an example: for what stands beside it only
}

type goReplace struct{ old, dir string }

type tsConfig struct {
	baseURL string // a workspace path, "" for none
	paths   []tsPath
}

// tsPath is one pattern of a tsconfig's paths.
type tsPath struct {
	prefix, suffix string
	wild           bool
	to             []string
	base           string // what to is relative to, a workspace path
}

// npmPackage is a package.json.
type npmPackage struct {
	dir, name        string
	main             []string
	exports, imports any
	aside            bool // as goModule has it
}

// psr4 maps a namespace to a directory (PSR-4, composer.json).
type psr4 struct{ prefix, dir string }

// crate is a Cargo.toml with a package.
type crate struct {
	dir, name string
	lib       string            // the library's root file, a workspace path
	renamed   map[string]string // dependencies by the names they have here
	aside     bool              // as goModule has it
}

type swiftTarget struct{ name, dir string }

// isBuildFile reports whether a file decides how others resolve.
func isBuildFile(p string) bool {
	base := path.Base(p)
	switch base {
	case "go.mod", "go.work", "package.json", "composer.json", "Cargo.toml", "Package.swift":
		return true
	}
	return isTSConfig(base)
}

func isTSConfig(base string) bool {
	return (strings.HasPrefix(base, "tsconfig") || strings.HasPrefix(base, "jsconfig")) && strings.HasSuffix(base, ".json")
}

func readBuildFiles(t *tables, read Reader) buildFiles {
	b := buildFiles{goModuleAt: map[string]int{}, tsConfigs: map[string]*tsConfig{}, npmAt: map[string]int{}, npmByName: map[string][]int{}, crateAt: map[string]int{}, crateNames: map[string][]int{}}
	ts := map[string]*tsFile{}
	var work []string
	for i := range t.files {
		p := t.files[i].Path
		if !isBuildFile(p) {
			continue
		}
		content, ok := read(p)
		if !ok {
			continue
		}
		dir, base := path.Dir(p), path.Base(p)
		aside := t.files[i].Test || t.files[i].Minor
		switch base {
		case "go.mod":
			if m, ok := parseGoMod(dir, content); ok {
				m.aside = aside
				b.goModuleAt[dir] = len(b.goModules)
				b.goModules = append(b.goModules, m)
			}
		case "go.work":
			work = append(work, p)
		case "package.json":
			if n, ok := parseNPM(dir, content); ok {
				n.aside = aside
				b.npmAt[dir] = len(b.npm)
				if n.name != "" {
					b.npmByName[n.name] = append(b.npmByName[n.name], len(b.npm))
				}
				b.npm = append(b.npm, n)
			}
		case "composer.json":
			b.psr4 = append(b.psr4, parseComposer(dir, content)...)
		case "Cargo.toml":
			if c, ok := parseCargo(dir, content); ok {
				c.aside = aside
				b.crateAt[dir] = len(b.crates)
				b.crateNames[c.name] = append(b.crateNames[c.name], len(b.crates))
				b.crates = append(b.crates, c)
			}
		case "Package.swift":
			b.swift = append(b.swift, parseSwiftPackage(dir, content)...)
		default:
			if f, ok := parseTSConfig(content); ok {
				ts[p] = f
			}
		}
	}
	for _, p := range work {
		if content, ok := read(p); ok {
			b.applyGoWork(path.Dir(p), content)
		}
	}
	for i := range b.crates {
		c := &b.crates[i]
		if t.file(c.lib) == none {
			if main := path.Join(c.dir, "src/main.rs"); t.file(main) != none {
				c.lib = main
			}
		}
	}
	// The longest namespace counts.
	slices.SortStableFunc(b.psr4, func(x, y psr4) int { return len(y.prefix) - len(x.prefix) })
	for p := range ts {
		dir, base := path.Dir(p), path.Base(p)
		if base == "tsconfig.json" || base == "jsconfig.json" && b.tsConfigs[dir] == nil {
			b.tsConfigs[dir] = resolveTSConfig(p, ts, 0)
		}
	}
	return b
}

// fits tells how well a project in dir serves what stands at a path: more is
// better, less than 0 not at all. A project of tests serves what stands beside
// it.
func fits(p, dir string, aside bool) int {
	if aside {
		if above := path.Dir(dir); above != "." && !strings.HasPrefix(p, above+"/") {
			return -1
		}
	}
	return common(p, dir+"/")
}

func parseGoMod(dir, content string) (goModule, bool) {
	f, err := modfile.ParseLax("go.mod", []byte(content), nil)
	if err != nil || f.Module == nil {
		return goModule{}, false
	}
	m := goModule{dir: dir, path: f.Module.Mod.Path}
	// ParseLax leaves replacements out; what it does not know it skips.
	if full, err := modfile.Parse("go.mod", []byte(content), nil); err == nil {
		m.replaces = localReplaces(dir, full.Replace)
	}
	return m, true
}

// localReplaces are the replacements by directories of the workspace; those of
// a file in dir are relative to it.
func localReplaces(dir string, all []*modfile.Replace) []goReplace {
	var out []goReplace
	for _, r := range all {
		if r.New.Version == "" && (strings.HasPrefix(r.New.Path, "./") || strings.HasPrefix(r.New.Path, "../")) {
			if at, ok := join(dir, r.New.Path); ok {
				out = append(out, goReplace{r.Old.Path, at})
			}
		}
	}
	return out
}

// applyGoWork gives the modules that a go.work uses its replacements.
func (b *buildFiles) applyGoWork(dir, content string) {
	f, err := modfile.ParseWork("go.work", []byte(content), nil)
	if err != nil {
		return
	}
	replaces := localReplaces(dir, f.Replace)
	for _, u := range f.Use {
		if at, ok := join(dir, u.Path); ok {
			if i, ok := b.goModuleAt[at]; ok {
				m := &b.goModules[i]
				m.replaces = slices.Concat(replaces, m.replaces)
			}
		}
	}
}

// tsFile is a tsconfig.json as it is written.
type tsFile struct {
	Extends         json.RawMessage
	References      []struct{ Path string }
	CompilerOptions struct {
		BaseURL *string             `json:"baseUrl"`
		Paths   map[string][]string `json:"paths"`
	} `json:"compilerOptions"`
}

func parseTSConfig(content string) (*tsFile, bool) {
	var f tsFile
	if json.Unmarshal(plainJSON(content), &f) != nil {
		return nil, false
	}
	return &f, true
}

// maxExtends bounds how long a chain of tsconfigs is followed.
const maxExtends = 8

// resolveTSConfig joins a tsconfig with those it extends and, where it only
// refers to others of its directory, with them.
func resolveTSConfig(p string, all map[string]*tsFile, depth int) *tsConfig {
	f := all[p]
	if f == nil || depth == maxExtends {
		return nil
	}
	dir := path.Dir(p)
	c := &tsConfig{}
	var extends []string
	if s := ""; json.Unmarshal(f.Extends, &s) == nil {
		extends = []string{s}
	} else if json.Unmarshal(f.Extends, &extends) != nil {
		extends = nil
	}
	for _, e := range extends {
		if base := resolveTSConfig(tsConfigPath(dir, e, all), all, depth+1); base != nil {
			if base.baseURL != "" {
				c.baseURL = base.baseURL
			}
			if len(base.paths) > 0 {
				c.paths = base.paths
			}
		}
	}
	if u := f.CompilerOptions.BaseURL; u != nil {
		if at, ok := join(dir, *u); ok {
			c.baseURL = at
		}
	}
	if paths := f.CompilerOptions.Paths; len(paths) > 0 {
		c.paths = nil
		base := dir
		if c.baseURL != "" {
			base = c.baseURL
		}
		for pattern, to := range paths {
			prefix, suffix, wild := strings.Cut(pattern, "*")
			c.paths = append(c.paths, tsPath{prefix, suffix, wild, to, base})
		}
		slices.SortFunc(c.paths, func(a, b tsPath) int {
			if n := strings.Compare(a.prefix, b.prefix); n != 0 {
				return n
			}
			return strings.Compare(a.suffix, b.suffix)
		})
	}
	if c.baseURL == "" && len(c.paths) == 0 {
		for _, ref := range f.References {
			if at := tsConfigPath(dir, ref.Path, all); path.Dir(at) == dir && at != p {
				if other := resolveTSConfig(at, all, depth+1); other != nil && (other.baseURL != "" || len(other.paths) > 0) {
					return other
				}
			}
		}
	}
	return c
}

// tsConfigPath is the file that "extends" or "references" means.
func tsConfigPath(dir, ref string, all map[string]*tsFile) string {
	at, ok := join(dir, ref)
	if !ok {
		return ""
	}
	for _, p := range [...]string{at, at + ".json", path.Join(at, "tsconfig.json")} {
		if all[p] != nil {
			return p
		}
	}
	return ""
}

// plainJSON is JSON with comments and commas before closing brackets, as
// tsconfig.json may have them, without both.
func plainJSON(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			start := i
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			out = append(out, s[start:min(i+1, len(s))]...)
		case c == '/' && i+1 < len(s) && s[i+1] == '/':
			for i < len(s) && s[i] != '\n' {
				i++
			}
			out = append(out, '\n')
		case c == '/' && i+1 < len(s) && s[i+1] == '*':
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return out
			}
			i += 2 + end + 1
		case c == '}' || c == ']':
			k := len(out)
			for k > 0 && (out[k-1] == ' ' || out[k-1] == '\n' || out[k-1] == '\t' || out[k-1] == '\r') {
				k--
			}
			if k > 0 && out[k-1] == ',' {
				out = out[:k-1]
			}
			out = append(out, c)
		default:
			out = append(out, c)
		}
	}
	return out
}

func parseNPM(dir, content string) (npmPackage, bool) {
	var f struct {
		Name, Main, Module, Types, Typings, Source json.RawMessage
		Exports, Imports                           any
	}
	if json.Unmarshal([]byte(content), &f) != nil {
		return npmPackage{}, false
	}
	text := func(raw json.RawMessage) string {
		s := ""
		if json.Unmarshal(raw, &s) != nil {
			return ""
		}
		return s
	}
	p := npmPackage{dir: dir, name: text(f.Name), exports: f.Exports, imports: f.Imports}
	for _, raw := range []json.RawMessage{f.Source, f.Types, f.Typings, f.Module, f.Main} {
		if s := text(raw); s != "" {
			p.main = append(p.main, s)
		}
	}
	return p, true
}

// entries are the files that a package.json gives for a subpath, "" for the
// package itself, as written.
func (p *npmPackage) entries(sub string) []string {
	var out []string
	key := "."
	if sub != "" {
		key = "./" + sub
	}
	switch e := p.exports.(type) {
	case string, []any:
		if sub == "" {
			out = conditions(e, out)
		}
	case map[string]any:
		subpaths := false
		for k := range e {
			subpaths = subpaths || strings.HasPrefix(k, ".")
		}
		if subpaths {
			out = matchSubpath(e, key, out)
		} else if sub == "" {
			out = conditions(e, out)
		}
	}
	if sub == "" {
		out = append(out, p.main...)
	}
	return out
}

// imported are the files behind a "#name".
func (p *npmPackage) imported(name string) []string {
	if m, ok := p.imports.(map[string]any); ok {
		return matchSubpath(m, name, nil)
	}
	return nil
}

// matchSubpath looks a key up in a map whose keys may have one "*", the longest
// first.
func matchSubpath(m map[string]any, key string, out []string) []string {
	if v, ok := m[key]; ok {
		return conditions(v, out)
	}
	best := ""
	for pattern := range m {
		prefix, suffix, wild := strings.Cut(pattern, "*")
		if wild && len(key) >= len(prefix)+len(suffix) && strings.HasPrefix(key, prefix) && strings.HasSuffix(key, suffix) &&
			(best == "" || len(pattern) > len(best) || len(pattern) == len(best) && pattern < best) {
			best = pattern
		}
	}
	if best == "" {
		return out
	}
	prefix, suffix, _ := strings.Cut(best, "*")
	star := key[len(prefix) : len(key)-len(suffix)]
	for _, e := range conditions(m[best], nil) {
		out = append(out, strings.ReplaceAll(e, "*", star))
	}
	return out
}

// conditions collects the files of an exports value: a path, alternatives, or
// an object by condition. Sources come first, then the rest by name.
func conditions(v any, out []string) []string {
	switch v := v.(type) {
	case string:
		return append(out, v)
	case []any:
		for _, e := range v {
			out = conditions(e, out)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		order := []string{"source", "development", "types", "import", "module", "default", "require"}
		weight := func(k string) int {
			if i := slices.Index(order, k); i >= 0 {
				return i
			}
			return len(order)
		}
		slices.SortFunc(keys, func(a, b string) int {
			if n := weight(a) - weight(b); n != 0 {
				return n
			}
			return strings.Compare(a, b)
		})
		for _, k := range keys {
			out = conditions(v[k], out)
		}
	}
	return out
}

func parseComposer(dir, content string) []psr4 {
	type autoload struct {
		PSR4 map[string]any `json:"psr-4"`
		PSR0 map[string]any `json:"psr-0"`
	}
	var f struct {
		Autoload    autoload `json:"autoload"`
		AutoloadDev autoload `json:"autoload-dev"`
	}
	if json.Unmarshal([]byte(content), &f) != nil {
		return nil
	}
	var out []psr4
	for _, a := range []autoload{f.Autoload, f.AutoloadDev} {
		for prefix, dirs := range a.PSR4 {
			for _, d := range conditions(dirs, nil) {
				if at, ok := join(dir, d); ok {
					out = append(out, psr4{strings.Trim(prefix, `\`), at})
				}
			}
		}
		for prefix, dirs := range a.PSR0 { // the namespace stands in the path too
			prefix = strings.Trim(prefix, `\`)
			for _, d := range conditions(dirs, nil) {
				if at, ok := join(dir, path.Join(d, strings.ReplaceAll(prefix, `\`, "/"))); ok {
					out = append(out, psr4{prefix, at})
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b psr4) int {
		if n := strings.Compare(a.prefix, b.prefix); n != 0 {
			return n
		}
		return strings.Compare(a.dir, b.dir)
	})
	return out
}

func parseCargo(dir, content string) (crate, bool) {
	var f struct {
		Package struct{ Name string }
		Lib     struct{ Name, Path string }

		Dependencies      map[string]any
		DevDependencies   map[string]any `toml:"dev-dependencies"`
		BuildDependencies map[string]any `toml:"build-dependencies"`
	}
	if toml.Unmarshal([]byte(content), &f) != nil || f.Package.Name == "" {
		return crate{}, false
	}
	c := crate{dir: dir, name: strings.ReplaceAll(f.Package.Name, "-", "_"), renamed: map[string]string{}}
	if f.Lib.Name != "" {
		c.name = f.Lib.Name
	}
	c.lib = path.Join(dir, "src/lib.rs")
	if f.Lib.Path != "" {
		if at, ok := join(dir, f.Lib.Path); ok {
			c.lib = at
		}
	}
	for _, deps := range []map[string]any{f.Dependencies, f.DevDependencies, f.BuildDependencies} {
		for name, d := range deps {
			if m, ok := d.(map[string]any); ok {
				if real, ok := m["package"].(string); ok {
					c.renamed[strings.ReplaceAll(name, "-", "_")] = strings.ReplaceAll(real, "-", "_")
				}
			}
		}
	}
	return c, true
}

// parseSwiftPackage finds the targets of a Package.swift: their names, and the
// directories that are not the usual ones.
func parseSwiftPackage(dir, content string) []swiftTarget {
	var out []swiftTarget
	for _, part := range strings.Split(content, "arget(")[1:] {
		if !strings.HasPrefix(strings.TrimSpace(part), "name:") {
			continue
		}
		name := quotedAfter(part, "name:")
		if name == "" {
			continue
		}
		at := quotedAfter(part, "path:")
		if at == "" {
			at = "Sources/" + name
		}
		if p, ok := join(dir, at); ok {
			out = append(out, swiftTarget{name, p})
		}
	}
	return out
}

// quotedAfter is the string after a label.
func quotedAfter(s, label string) string {
	_, rest, ok := strings.Cut(s, label)
	if !ok {
		return ""
	}
	rest, ok = strings.CutPrefix(strings.TrimSpace(rest), `"`)
	if !ok {
		return ""
	}
	name, _, ok := strings.Cut(rest, `"`)
	if !ok {
		return ""
	}
	return name
}
