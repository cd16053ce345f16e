//go:build !linux

package e2e_test

import "testing"

// smallDisk skips the test.
func smallDisk(tb testing.TB, _ string, _ int) { tb.Skip("no small disk can be made here") }

func enlarge(testing.TB, string, int) {}
