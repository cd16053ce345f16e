//go:build !linux

package e2e_test

import (
	"os/exec"
	"testing"
)

// user is somebody to whom file modes mean something.
type user struct{}

// nobody is the user of the tests.
func nobody(testing.TB, ...string) *user { return nil }

func (u *user) apply(*exec.Cmd) {}
