// Package store is the interface to what is kept between runs: per file its
// manifest line and chunks, and the vectors by content. store/bunt implements
// it on disk and store/mem in memory; store/storetest is the conformance suite of every
// implementation.
package store

import (
	"context"
	"errors"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
)

// The errors that callers tell apart with errors.Is.
var (
	// ErrLocked: another process owns the store.
	ErrLocked = errors.New("index is locked by another process")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store is closed")
	// ErrNewer: the store was written by a newer version of the program and cannot be
	// read; nothing was changed. (An older one is migrated, see Info.Notice.)
	ErrNewer = errors.New("index was written by a newer version")
	// ErrFull: the disk or a quota is full. What was acknowledged before is kept.
	ErrFull = errors.New("no space left for the index")
)

// FileRecord is all that is kept of one indexed file. It is replaced as a
// whole, in one transaction.
type FileRecord struct {
	Path    string // slash-separated, relative to the root
	Hash    file.Hash
	Size    int64 // bytes on disk
	ModTime int64 // Unix nanoseconds
	Class   file.Class
	// ChunkVersion is chunk.Version and the chunk settings' digest.
	ChunkVersion string
	// Skip is why the content of the file is not indexed (binary, minified); "" where
	// it is. It is kept so that the file need not be read again.
	Skip       file.SkipReason
	SkipDetail string
	File       chunk.File
}

// VectorKey names a vector by what was embedded: SHA-256 of the text given to
// the model, without what the model does not see of it.
type VectorKey [32]byte

// Vector is an int8-quantised vector: value i is Values[i]*Scale.
type Vector struct {
	Scale  float32
	Values []int8
}

// Store keeps an index. Methods are safe for concurrent use. After Close all
// return ErrClosed.
type Store interface {
	// Files calls fn for every stored file in path order until fn returns an error,
	// which Files returns. It sees the store as it was at the call; fn may use the store.
	// Empty slices come back as nil. A damaged record is left out and counted in Info.Damaged.
	Files(ctx context.Context, fn func(FileRecord) error) error
	// Commit replaces the records of the given files and removes the paths in
	// gone, all or nothing per file: a reader after a crash sees a file's old record or its
	// new one. A path in both is put. An error may come after some of the files were
	// committed; committing all of them again is safe.
	Commit(ctx context.Context, put []FileRecord, gone []string) error
	// Vectors returns the stored vectors of a model for the keys; missing or damaged
	// ones are absent from the map.
	Vectors(ctx context.Context, model string, keys []VectorKey) (map[VectorKey]Vector, error)
	// PutVectors stores vectors of a model (by fingerprint).
	PutVectors(ctx context.Context, model string, vectors map[VectorKey]Vector) error
	// KeepVectors removes the vectors for which keep is false and returns how many went.
	// keep must not use the store.
	KeepVectors(ctx context.Context, keep func(model string, key VectorKey) bool) (int, error)
	// Sync makes everything acknowledged so far durable.
	Sync(ctx context.Context) error
	// Shrink gives the room of replaced and removed records back to the disk. Writers wait
	// for it: call it when idle and where Info.Garbage is worth it.
	Shrink(ctx context.Context) error
	// Info tells size and state. After Close it tells Dir only.
	Info() Info
	// Close makes everything durable and gives the store up. The second call returns ErrClosed.
	Close() error
}

// Info describes a store.
type Info struct {
	Dir     string
	Bytes   int64 // on disk
	Garbage int64 // of them, what Shrink would free, about
	Files   int
	Vectors int
	// Notice tells the user what happened on opening: rebuilt after damage
	// (and where the damaged file was put), migrated from another schema. "" where all is well.
	Notice string
	// Damaged counts records that failed their check and were left out.
	Damaged int
	// Memory is true where nothing is on disk: what is stored ends with the
	// process. Dir is then where it would be.
	Memory bool
}
