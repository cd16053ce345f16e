package embed

import "strings"

// PathText is how a file's path is given to a model: its names without the
// slashes and the file's extension.
func PathText(path string) string {
	return strings.Join(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }), " ")
}
