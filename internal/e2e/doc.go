// Package e2e holds no code: its tests run the built program as an editor
// does, over standard input and output, on real repositories.
package e2e
