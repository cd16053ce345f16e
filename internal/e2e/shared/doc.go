// Package shared_test publishes and reads a shared index as users do, through
// the built program, on a cluster of three real nodes that are killed and cut
// off meanwhile: make test-shared. Without the engine
// (CODERAG_SHARED_ENGINE) everything is skipped.
package shared
