package config

import (
	"slices"
	"strings"
	"unicode"
)

// Source is a place that settings come from.
type Source string

// The sources, lowest precedence first.
const (
	FromDefault   Source = "default"
	FromFile      Source = "user file"
	FromInit      Source = "initialization options" // of an LSP client
	FromWorkspace Source = "editor configuration"   // an LSP client's section "coderag"
	FromEnv       Source = "environment"
	FromFlag      Source = "flag"
)

// order is the precedence, lowest first.
func order() []Source {
	return []Source{FromDefault, FromFile, FromInit, FromWorkspace, FromEnv, FromFlag}
}

// Problem is something in a configuration that was left out.
type Problem struct {
	Source Source
	// Origin is the file (with line and column where known), variable or flag.
	Origin string
	// Name is the setting as it was written, "" where the source as a whole is meant.
	Name string
	// Message says what is wrong and what would be right.
	Message string
}

// String is the problem in one line.
func (p Problem) String() string {
	where := string(p.Source)
	if p.Origin != "" {
		where += " " + p.Origin
	}
	if p.Name != "" && p.Name != p.Origin {
		where += ": " + p.Name
	}
	return printable(where) + ": " + printable(p.Message)
}

// printable replaces what would act on a terminal; the names come from files.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// value is a checked value and the place it stood.
type value struct {
	value  any
	origin string
}

// layer holds one source's values by setting name.
type layer map[string]value

// Layers hold the values of each source. The zero value holds none: all
// defaults. Layers are immutable; the With methods return changed copies, in
// which the source's earlier values are gone. Whatever is wrong with a value is
// a Problem, and the value is left out: a mistake never costs the rest.
type Layers struct {
	sources map[Source]layer
	keys    map[string]string // by the variable that held them
}

// Key returns a key that the environment held, "" for none. Keys are no
// settings: nothing else tells of them.
func (l Layers) Key(variable string) string { return l.keys[variable] }

// with replaces one source's values.
func (l Layers) with(s Source, values layer) Layers {
	next := make(map[Source]layer, len(l.sources)+1)
	for source, v := range l.sources {
		next[source] = v
	}
	next[s] = values
	return Layers{next, l.keys}
}

// Settings returns what is in force.
func (l Layers) Settings() Settings {
	var s Settings
	for _, e := range l.Explain() {
		e.Setting.assign(&s, e.Value)
	}
	return s
}

// Effective is a setting's value and where it came from.
type Effective struct {
	Setting Setting
	Value   any
	Source  Source
	// Origin is the file, variable or flag, "" for a default.
	Origin string
	// Hidden are the sources of lower precedence that hold a value too, lowest
	// first, without the default.
	Hidden []Source
}

// Explain returns every setting's value and where it came from, in the order
// of Table.
func (l Layers) Explain() []Effective {
	var all []Effective
	for _, d := range Table() {
		e := Effective{Setting: d, Value: d.Default, Source: FromDefault}
		for _, source := range order() {
			v, ok := l.sources[source][d.Name]
			if !ok {
				continue
			}
			if e.Source != FromDefault {
				e.Hidden = append(e.Hidden, e.Source)
			}
			e.Value, e.Source, e.Origin = v.value, source, v.origin
		}
		all = append(all, e)
	}
	return all
}

// byName finds settings by name.
func byName() map[string]Setting {
	m := map[string]Setting{}
	for _, d := range Table() {
		m[d.Name] = d
	}
	return m
}

// Nearest returns the name of candidates that is most like a mistyped one, or
// "" where none is close enough to be meant.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", max(2, len(name)/3)+1
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if d := distance(name, c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}
