// Package engine answers questions about a workspace from an index of it.
package engine
