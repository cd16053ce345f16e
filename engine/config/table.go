package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// Type is the type of a setting's value.
type Type string

// The types and the Go types of their values in Setting.Default, Effective.Value
// and the maps that layers are made from.
const (
	Bool   Type = "boolean" // bool
	Int    Type = "integer" // int
	Float  Type = "number"  // float64
	String Type = "string"  // string
	List   Type = "list"    // []string
)

// Scope says where a setting may come from.
type Scope string

// The scopes.
const (
	// Any settings may come from every source.
	Any Scope = "any"
	// Machine settings run a program, load a library, or say where something is
	// read, written or sent to. A repository must not be able to set them, so
	// the workspace's configuration is refused.
	Machine Scope = "machine"
)

// Setting declares one setting.
type Setting struct {
	Name    string // dotted: search.topK
	Env     string // CODERAG_TOP_K
	Type    Type
	Default any
	// Min and Max bound Int and Float, inclusive; nil where unbounded.
	Min, Max *float64
	// Enum lists the values of a String that has a fixed set; nil otherwise.
	Enum []string
	// Aliases are former values of such a setting, by what they were.
	Aliases map[string]string
	Scope   Scope
	// Doc is one or more sentences.
	Doc string
	// Seed names the document that the default comes from, "" for our own.
	Seed string

	index []int // of the field in Settings
}

// envPrefix starts the name of every environment variable of ours.
const envPrefix = "CODERAG_"

// Table returns every setting in the order of declaration.
func Table() []Setting {
	var table []Setting
	root := reflect.TypeFor[Settings]()
	for i := range root.NumField() {
		group := root.Field(i).Type
		for j := range group.NumField() {
			table = append(table, declared(group.Field(j), []int{i, j}))
		}
	}
	return table
}

// Default returns the settings where nothing is configured.
func Default() Settings {
	var s Settings
	for _, d := range Table() {
		d.assign(&s, d.Default)
	}
	return s
}

// declared reads a field's tags. A tag that cannot be read is a mistake in
// this package, which its tests find.
func declared(f reflect.StructField, index []int) Setting {
	d := Setting{
		Name:  f.Tag.Get("setting"),
		Env:   f.Tag.Get("env"),
		Type:  typeOf(f.Type),
		Scope: Scope(f.Tag.Get("scope")),
		Doc:   f.Tag.Get("doc"),
		Seed:  f.Tag.Get("seed"),
		index: index,
	}
	if d.Env == "" {
		d.Env = envPrefix + upperSnake(d.Name)
	}
	if d.Scope == "" {
		d.Scope = Any
	}
	if e := f.Tag.Get("enum"); e != "" {
		d.Enum = strings.Split(e, ",")
	}
	if list := f.Tag.Get("alias"); list != "" {
		d.Aliases = map[string]string{}
		for alias := range strings.SplitSeq(list, ",") {
			was, is, _ := strings.Cut(alias, "=")
			d.Aliases[was] = is
		}
	}
	d.Min, d.Max = bound(f, "min"), bound(f, "max")
	v, err := d.parse(f.Tag.Get("default"))
	if err != nil {
		panic(fmt.Sprintf("default of setting %s: %v", d.Name, err))
	}
	d.Default = v
	return d
}

func typeOf(t reflect.Type) Type {
	switch t.Kind() {
	case reflect.Bool:
		return Bool
	case reflect.Int:
		return Int
	case reflect.Float64:
		return Float
	case reflect.String:
		return String
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return List
		}
	}
	panic(fmt.Sprintf("settings of type %s are not supported", t))
}

func bound(f reflect.StructField, tag string) *float64 {
	text, ok := f.Tag.Lookup(tag)
	if !ok {
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("%s of setting %s: %v", tag, f.Name, err))
	}
	return &v
}

// upperSnake turns "search.minRelevance" into "SEARCH_MIN_RELEVANCE" and
// "search.bm25K1" into "SEARCH_BM25_K1".
func upperSnake(name string) string {
	var b strings.Builder
	before := '.'
	for _, r := range name {
		if r == '.' {
			b.WriteByte('_')
		} else {
			if unicode.IsUpper(r) && before != '.' && !unicode.IsUpper(before) {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToUpper(r))
		}
		before = r
	}
	return b.String()
}

// Range describes the values that are allowed: "10-50", "auto, static", "0 or
// more", or "".
func (d Setting) Range() string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case d.Enum != nil:
		return strings.Join(d.Enum, ", ")
	case d.Min != nil && d.Max != nil:
		return number(*d.Min) + " to " + number(*d.Max)
	case d.Min != nil:
		return number(*d.Min) + " or more"
	case d.Max != nil:
		return number(*d.Max) + " or less"
	}
	return ""
}

// Format writes a value of the setting's type as an environment variable or a
// flag holds it. The value comes from Default or Effective.
func (d Setting) Format(value any) string {
	if list, ok := value.([]string); ok {
		return strings.Join(list, ",")
	}
	if f, ok := value.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// Get returns the setting's value in s.
func (d Setting) Get(s Settings) any {
	return reflect.ValueOf(s).FieldByIndex(d.index).Interface()
}

// assign stores a checked value.
func (d Setting) assign(s *Settings, value any) {
	if list, ok := value.([]string); ok {
		value = append([]string(nil), list...) // nobody shares a slice with a layer
	}
	reflect.ValueOf(s).Elem().FieldByIndex(d.index).Set(reflect.ValueOf(value))
}
