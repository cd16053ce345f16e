package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// parse reads a value written as text: an environment variable, a flag or a
// default.
func (d Setting) parse(text string) (any, error) {
	switch d.Type {
	case Bool:
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true", "1", "yes", "on":
			return true, nil
		case "false", "0", "no", "off":
			return false, nil
		}
		return nil, fmt.Errorf("%q is not true or false", text)
	case Int:
		v, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", text)
		}
		return d.check(v)
	case Float:
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		return d.check(v)
	case List:
		return splitList(text), nil
	default:
		return d.check(text)
	}
}

// check takes a value as the decoders of JSON and TOML make it and returns it
// in the setting's type, or says what is wrong with it.
func (d Setting) check(value any) (any, error) {
	wrong := func(want string) (any, error) {
		return nil, fmt.Errorf("%s is not %s", show(value), want)
	}
	switch d.Type {
	case Bool:
		if v, ok := value.(bool); ok {
			return v, nil
		}
		return wrong("true or false")
	case Int:
		v, ok := number(value)
		if !ok || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return wrong("a whole number")
		}
		if err := d.inRange(v); err != nil {
			return nil, err
		}
		return int(v), nil
	case Float:
		v, ok := number(value)
		if !ok {
			return wrong("a number")
		}
		if err := d.inRange(v); err != nil {
			return nil, err
		}
		return v, nil
	case List:
		return checkList(value)
	default:
		v, ok := value.(string)
		if b, is := value.(bool); is && d.Aliases != nil {
			v, ok = strconv.FormatBool(b), true
		}
		if !ok {
			return wrong("text")
		}
		if is, former := d.Aliases[v]; former {
			v = is
		}
		if d.Enum != nil && !slices.Contains(d.Enum, v) {
			return nil, fmt.Errorf("%q is none of %s", v, d.Range())
		}
		if strings.ContainsRune(v, 0) {
			return nil, fmt.Errorf("%q holds a NUL character", v)
		}
		return v, nil
	}
}

func (d Setting) inRange(v float64) error {
	if d.Min != nil && v < *d.Min || d.Max != nil && v > *d.Max {
		return fmt.Errorf("%s is out of range (%s)", strconv.FormatFloat(v, 'f', -1, 64), d.Range())
	}
	return nil
}

// number accepts every finite number that a decoder makes.
func number(value any) (float64, bool) {
	var v float64
	switch n := value.(type) {
	case int:
		v = float64(n)
	case int64:
		v = float64(n)
	case float64:
		v = n
	default:
		return 0, false
	}
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

func checkList(value any) (any, error) {
	switch list := value.(type) {
	case []string:
		return slices.Clone(list), nil
	case []any:
		out := make([]string, 0, len(list))
		for i, item := range list {
			text, ok := item.(string)
			if !ok {
				return nil, fmt.Errorf("item %d, %s, is not text", i+1, show(item))
			}
			out = append(out, text)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%s is not a list of text", show(value))
}

// splitList splits at commas and line ends, but not at the commas inside the
// braces of a glob pattern such as "*.{js,ts}".
func splitList(text string) []string {
	var out []string
	depth, start := 0, 0
	cut := func(end int) {
		if item := strings.TrimSpace(text[start:end]); item != "" {
			out = append(out, item)
		}
		start = end + 1
	}
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth = max(depth-1, 0)
		case ',':
			if depth == 0 {
				cut(i)
			}
		case '\n':
			depth = 0
			cut(i)
		}
	}
	cut(len(text))
	return out
}

// show writes a value of a configuration file for a message, shortened.
func show(value any) string {
	text := fmt.Sprintf("%v", value)
	if s, ok := value.(string); ok {
		text = strconv.Quote(s)
	}
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "…"
	}
	return text
}
