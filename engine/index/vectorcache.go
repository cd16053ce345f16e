package index

import (
	"context"
	"sync"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/store"
)

// SharedDir is the folder of the cache directory that holds what all indexes
// share.
const SharedDir = "vectors"

// VectorCache keeps vectors for many indexes, as store/vectorcache does: what is
// embedded in one worktree need not be in another. It may lose vectors at any
// time, and never gives a wrong one.
type VectorCache interface {
	// Vectors returns those vectors of a model (by fingerprint) that are kept.
	Vectors(model string, dim int, keys []store.VectorKey) map[store.VectorKey]store.Vector
	// Put keeps vectors.
	Put(model string, dim int, vectors map[store.VectorKey]store.Vector)
	// Claim tells other processes that this one embeds the texts of keys now, and
	// returns those that another one embeds already.
	Claim(model string, dim int, keys []store.VectorKey) (taken map[store.VectorKey]bool)
}

// sharedVectors returns what other indexes have of the keys that are in none of
// the given maps.
func (ix *Index) sharedVectors(m embed.Model, keys []store.VectorKey, known ...map[store.VectorKey]store.Vector) map[store.VectorKey]store.Vector {
	if ix.opts.VectorCache == nil {
		return nil
	}
	missing := make([]store.VectorKey, 0, len(keys))
	asked := make(map[store.VectorKey]bool, len(keys))
	for _, k := range keys {
		have := asked[k]
		for _, vectors := range known {
			_, there := vectors[k]
			have = have || there
		}
		if !have {
			asked[k] = true
			missing = append(missing, k)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return ix.opts.VectorCache.Vectors(m.Fingerprint, m.Dim, missing)
}

// maxRecent is how many vectors each of the two generations of recentVectors
// holds: half a megabyte together.
const maxRecent = 1024

// recentVectors are those made of buffers last, in memory only: what is typed is
// not stored, but most of it is saved soon.
type recentVectors struct {
	mu         sync.Mutex
	young, old map[store.VectorKey]store.Vector
}

func (r *recentVectors) put(vectors map[store.VectorKey]store.Vector) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, v := range vectors {
		if r.young == nil || len(r.young) >= maxRecent {
			r.young, r.old = map[store.VectorKey]store.Vector{}, r.young
		}
		r.young[k] = v
	}
}

// get returns those of the keys that have lacks.
func (r *recentVectors) get(keys []store.VectorKey, have map[store.VectorKey]store.Vector) map[store.VectorKey]store.Vector {
	found := map[store.VectorKey]store.Vector{}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.young == nil {
		return found
	}
	for _, k := range keys {
		if _, ok := have[k]; ok {
			continue
		}
		v, ok := r.young[k]
		if !ok {
			v, ok = r.old[k]
		}
		if ok {
			found[k] = v
		}
	}
	return found
}

// share gives vectors to other indexes.
func (ix *Index) share(m embed.Model, vectors map[store.VectorKey]store.Vector) {
	if ix.opts.VectorCache != nil && len(vectors) > 0 {
		ix.opts.VectorCache.Put(m.Fingerprint, m.Dim, vectors)
	}
}

// claim returns which of the keys another process embeds now.
func (ix *Index) claim(m embed.Model, keys []store.VectorKey) (taken map[store.VectorKey]bool) {
	if ix.opts.VectorCache == nil {
		return nil
	}
	return ix.opts.VectorCache.Claim(m.Fingerprint, m.Dim, keys)
}

// handOver gives the vectors that a store is about to lose to the other
// indexes, from where they come back when a branch does.
func (ix *Index) handOver(ctx context.Context, r *root, used vectorSet) error {
	lost := map[string][]store.VectorKey{}
	_, err := r.store.KeepVectors(ctx, func(model string, key store.VectorKey) bool {
		if !used.has(model, key) {
			lost[model] = append(lost[model], key)
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, m := range ix.models {
		for keys := lost[m.Fingerprint]; len(keys) > 0; {
			n := min(len(keys), 4096)
			vectors, err := r.store.Vectors(ctx, m.Fingerprint, keys[:n])
			if err != nil {
				return err
			}
			ix.share(m, vectors)
			keys = keys[n:]
		}
	}
	return nil
}
