//go:build !unix

package vectorcache_test

func limited() int { return 0 }
