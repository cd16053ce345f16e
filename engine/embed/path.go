package embed

import "strings"

// PathText is how a file's path is given to a model: its words, cut at
// everything that is not a letter or digit and at camelCase, with one space
// between them. The file's extension stays: it tells code from prose
// ("src/UserStore_test.go" -> "src User Store test go").
func PathText(path string) string {
	isLower := func(i int) bool { return i < len(path) && path[i]-'a' < 26 }
	isUpper := func(i int) bool { return i < len(path) && path[i]-'A' < 26 }
	var b strings.Builder
	gap := false
	for i := range len(path) {
		c := path[i]
		if !isLower(i) && !isUpper(i) && c-'0' >= 10 && c < 0x80 {
			gap = true
			continue
		}
		// A capital starts a word after a lowercase letter, and where it ends a
		// run of capitals before one: userID, HTTPServer.
		if i > 0 && isUpper(i) && (isLower(i-1) || isUpper(i-1) && isLower(i+1)) {
			gap = true
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteByte(c)
	}
	return b.String()
}
