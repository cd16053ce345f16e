// Package sharedcluster runs a cluster of the shared index's engine for tests
// and measurements: real nodes, each with a network of its own, which can be
// killed, paused, cut off and started again. Nothing of it binds or reaches
// outside of the network namespace in which the tests run ([Main]), and all of
// it ends with them, however they end. Linux only.
package sharedcluster
