package redact

import (
	"slices"
	"strings"
)

// Going through a text with an expression takes some 20 ns for each byte and rule,
// and a prompt has tens of thousands of them. Most text is ruled out by what
// every match must hold.

// span is a part of a text, in bytes.
type span struct{ from, to int }

// find returns the secrets that the rule sees. low is text as lower makes it.
func (r *rule) find(text, low string) []span {
	if len(r.hints) > 0 && !slices.ContainsFunc(r.hints, func(h string) bool {
		if lower(h) == h {
			return strings.Contains(low, h)
		}
		return strings.Contains(text, h)
	}) {
		return nil
	}
	parts := []span{{0, len(text)}}
	if r.near != nil {
		parts = r.near(text, low)
	}
	var found []span
	for _, p := range parts {
		for _, m := range r.re.FindAllStringSubmatchIndex(text[p.from:p.to], -1) {
			from, to := m[0], m[1]
			if len(m) > 2 && m[2] >= 0 {
				from, to = m[2], m[3]
			}
			found = append(found, span{p.from + from, p.from + to})
		}
	}
	return found
}

// lower makes ASCII's capital letters small; bytes stay where they are.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// stems are in every name that says secret.
func stems() []string { return []string{"pass", "pwd", "secret", "token", "key", "credential"} }

// The bounds of the expressions for assigned secrets.
const (
	namePrefix = 16  // of a name before its stem: encryption_key
	nameRest   = 64  // from the stem's beginning to the name's end
	blanks     = 4   // on either side of the sign
	valueMost  = 250 // of a secret
)

// assigned returns the places behind the sign of an assignment to each name that
// says secret, with the name's stem.
func assigned(low string) []span {
	var all []span
	for _, stem := range stems() {
		for from := 0; ; {
			i := strings.Index(low[from:], stem)
			if i < 0 {
				break
			}
			from += i
			at := skip(low, from, nameRest, func(c byte) bool {
				return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
			})
			at = skip(low, at, 1, func(c byte) bool { return c == '"' || c == '\'' })
			at = skip(low, at, blanks, isBlank)
			if sign := skip(low, at, 2, func(c byte) bool { return c == ':' || c == '=' || c == '>' }); sign > at {
				all = append(all, span{from, sign})
			}
			from += len(stem)
		}
	}
	return all
}

// quotedNear are the parts of a text where a quoted literal is assigned to a name
// that says secret.
func quotedNear(_, low string) []span {
	var parts []span
	for _, a := range assigned(low) {
		at := skip(low, a.to, blanks, isBlank)
		if at < len(low) && (low[at] == '"' || low[at] == '\'' || low[at] == '`') {
			parts = append(parts, span{max(0, a.from-namePrefix), min(len(low), at+valueMost+2)})
		}
	}
	return joined(parts)
}

// linesNear are the lines where something is assigned to a name that says secret.
func linesNear(_, low string) []span {
	var parts []span
	for _, a := range assigned(low) {
		p := span{strings.LastIndexByte(low[:a.from], '\n') + 1, min(len(low), a.to+blanks+valueMost)}
		if i := strings.IndexByte(low[p.to:], '\n'); i >= 0 {
			p.to += i
		} else {
			p.to = len(low)
		}
		parts = append(parts, p)
	}
	return joined(parts)
}

// joined sorts parts and joins those that overlap.
func joined(parts []span) []span {
	slices.SortFunc(parts, func(a, b span) int { return a.from - b.from })
	out := parts[:0]
	for _, p := range parts {
		if n := len(out); n > 0 && p.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, p.to)
			continue
		}
		out = append(out, p)
	}
	return out
}

// skip returns the place behind at most n bytes that are wanted.
func skip(s string, at, n int, wanted func(byte) bool) int {
	for ; n > 0 && at < len(s) && wanted(s[at]); n-- {
		at++
	}
	return at
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\v' }
