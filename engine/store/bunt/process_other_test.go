//go:build !unix

package bunt_test

const roleVar = "BUNT_TEST_ROLE"

// child has no roles here.
func child(string) int { return 2 }
