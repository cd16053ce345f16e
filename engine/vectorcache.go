package engine

import (
	"path/filepath"

	"coderag-ls/engine/config"
	"coderag-ls/engine/index"
	"coderag-ls/engine/store/vectorcache"
)

// vectorDir returns the directory of the vectors that all indexes share.
func vectorDir(s config.Settings) (string, error) {
	cache, err := CacheDir(s)
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, index.SharedDir), nil
}

// openVectorCache opens the vectors that all indexes share, where the settings want
// them.
func (o *opened) openVectorCache(s config.Settings, opts Options, iopts *index.Options) {
	dir, err := vectorDir(s)
	if err != nil || s.Embed.CacheBytes == 0 {
		return // nothing is kept on disk, or nothing shared
	}
	o.vectors = vectorcache.Open(vectorcache.Options{Dir: dir, MaxBytes: int64(s.Embed.CacheBytes), Logger: opts.Logger})
	iopts.VectorCache = o.vectors
}

// VectorCacheInfo describes the vectors that all indexes share.
type VectorCacheInfo struct {
	Dir   string
	Bytes int64 // on disk
}

// VectorCache tells how large the shared vectors are.
func VectorCache(s config.Settings) (VectorCacheInfo, error) {
	dir, err := vectorDir(s)
	if err != nil {
		return VectorCacheInfo{}, err
	}
	bytes, err := vectorcache.Size(dir)
	return VectorCacheInfo{Dir: dir, Bytes: bytes}, err
}

// CollectVectorCache removes what of the shared vectors is over the bound of the
// settings, oldest first, and returns how many bytes were freed.
func CollectVectorCache(s config.Settings) (freed int64, err error) {
	dir, err := vectorDir(s)
	if err != nil {
		return 0, err
	}
	return vectorcache.Collect(dir, int64(s.Embed.CacheBytes))
}

// RemoveVectorCache deletes the shared vectors and returns how many bytes were
// freed. Processes that use them go on without.
func RemoveVectorCache(s config.Settings) (freed int64, err error) {
	dir, err := vectorDir(s)
	if err != nil {
		return 0, err
	}
	return vectorcache.Remove(dir)
}
