// Package sharedindextest is what every backend of a shared index has to do.
package sharedindextest

import (
	"testing"

	"coderag-ls/engine/sharedindex"
)

// Opener opens a tenant's and an edition's part of one engine, the same one at
// every call; it fails the test where it cannot.
type Opener func(t *testing.T, tenant string, e sharedindex.Edition) sharedindex.Backend
