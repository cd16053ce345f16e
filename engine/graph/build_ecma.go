package graph

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

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
