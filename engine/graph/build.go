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
