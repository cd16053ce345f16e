//go:build !unix

package shared_test

func limited() int { return 0 }
