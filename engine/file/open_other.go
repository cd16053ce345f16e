//go:build !unix

package file

// openFlags are none: there is nothing here that an open waits for.
const openFlags = 0
