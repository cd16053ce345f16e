//go:build !linux

package e2e_test

import "testing"

// specialFiles makes none here.
func specialFiles(*testing.T, string) map[string]string { return map[string]string{} }
