package chunk

import (
	"fmt"
	"path"
	"strings"
)

// LayerRule gives the files that match one of the globs a layer. A glob is
// matched against the slash-separated path in lower case: "*" and "?" stay
// within a segment, "**" stands for any number of segments.
type LayerRule struct {
	Layer string
	Globs []string
}

// DefaultLayers are the layers by the usual names of folders and files.
func DefaultLayers() []LayerRule {
	folders := func(names string) []string {
		var globs []string
		for _, n := range strings.Fields(names) {
			globs = append(globs, "**/"+n+"/**")
		}
		return globs
	}
	return []LayerRule{
		{"test", append(folders("test tests testing testdata spec specs __tests__ e2e fixtures mocks"),
			"**/*_test.*", "**/test_*.*", "**/*.test.*", "**/*.spec.*", "**/*_spec.*", "**/*test.java", "**/*tests.cs", "**/conftest.py")},
		{"config", append(folders("config configs configuration settings conf .github .circleci deploy deployment helm terraform ansible"),
			"**/config.*", "**/settings.*", "**/*.config.*", "**/*config.go", "**/*.toml", "**/*.ini", "**/*.cfg", "**/*.properties", "**/dockerfile*", "**/docker-compose*", "**/makefile", "**/package.json", "**/tsconfig*.json", "**/.*rc")},
		{"cli", append(folders("cmd cli command commands bin console"), "**/cli.*", "**/main.go", "**/__main__.py", "**/main.rs")},
		{"api", append(folders("api apis rest graphql grpc rpc controller controllers handler handlers route routes router routers endpoint endpoints resolver resolvers views viewsets middleware server"),
			"**/*controller.*", "**/*_handler.*", "**/*handler.*", "**/*router.*", "**/*routes.*", "**/urls.py", "**/views.py", "**/*.proto", "**/*resource.java")},
		{"ui", append(folders("ui gui view components component widgets widget pages page screens templates layouts frontend web www styles css"),
			"**/*.tsx", "**/*.jsx", "**/*.vue", "**/*.svelte", "**/*.html", "**/*.css", "**/*.scss", "**/*.less")},
		{"domain", append(folders("domain domains model models entity entities service services core usecase usecases business aggregate logic"),
			"**/*service.*", "**/*usecase.*", "**/*entity.*", "**/models.py")},
		{"infrastructure", append(folders("infrastructure infra db database databases storage store stores persistence repository repositories dao adapter adapters migrations cache queue messaging client clients network net io platform"),
			"**/*repository.*", "**/*dao.*", "**/*_store.*", "**/*.sql")},
	}
}

// ParseLayers reads rules written as LAYER=GLOB; rules of one layer need not
// follow one another. The error names a rule that is none.
func ParseLayers(rules []string) ([]LayerRule, error) {
	var out []LayerRule
	for _, r := range rules {
		layer, glob, ok := strings.Cut(r, "=")
		layer, glob = strings.TrimSpace(layer), strings.TrimSpace(glob)
		_, err := path.Match(glob, "")
		if !ok || layer == "" || glob == "" || err != nil {
			return nil, fmt.Errorf("%q is no layer rule: write LAYER=GLOB, such as api=services/**/http/**", r)
		}
		out = append(out, LayerRule{Layer: layer, Globs: []string{glob}})
	}
	return out, nil
}

// layers are compiled rules: most globs name a folder or a file's base name,
// which needs no walk over the path's segments.
type layers []compiledLayer

type compiledLayer struct {
	name    string
	folders map[string]bool // "**/x/**"
	bases   []string        // "**/x"
	globs   []string        // all others
}

func compileLayers(rules []LayerRule) layers {
	var out layers
	for _, r := range rules {
		c := compiledLayer{name: r.Layer, folders: map[string]bool{}}
		for _, g := range r.Globs {
			g = strings.ToLower(g)
			inner, any := strings.CutPrefix(g, "**/")
			folder, deep := strings.CutSuffix(inner, "/**")
			switch {
			case any && deep && !strings.ContainsAny(folder, "/*?[\\"):
				c.folders[folder] = true
			case any && !strings.Contains(inner, "/") && inner != "**":
				c.bases = append(c.bases, inner)
			default:
				c.globs = append(c.globs, g)
			}
		}
		out = append(out, c)
	}
	return out
}

// of is the layer of a path, or "".
func (ls layers) of(p string) string {
	p = strings.ToLower(p)
	dir, base := "", p
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		dir, base = p[:i], p[i+1:]
	}
	for i := range ls {
		if ls[i].matches(p, dir, base) {
			return ls[i].name
		}
	}
	return ""
}

func (c *compiledLayer) matches(p, dir, base string) bool {
	for seg := range strings.SplitSeq(dir, "/") {
		if c.folders[seg] {
			return true
		}
	}
	for _, b := range c.bases {
		if ok, err := path.Match(b, base); err == nil && ok {
			return true
		}
	}
	for _, g := range c.globs {
		if matchGlob(g, p) {
			return true
		}
	}
	return false
}

// matchGlob matches a path with a glob that may hold "**". A malformed glob
// matches nothing.
func matchGlob(glob, p string) bool {
	for {
		seg, rest, more := strings.Cut(glob, "/")
		if seg == "**" {
			if !more {
				return true
			}
			for {
				if matchGlob(rest, p) {
					return true
				}
				_, after, ok := strings.Cut(p, "/")
				if !ok {
					return false
				}
				p = after
			}
		}
		pseg, prest, pmore := strings.Cut(p, "/")
		if ok, err := path.Match(seg, pseg); err != nil || !ok {
			return false
		}
		if !more || !pmore {
			return more == pmore
		}
		glob, p = rest, prest
	}
}
