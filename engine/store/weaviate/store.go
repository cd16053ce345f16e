package weaviate

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/record"
)

// storeScope is where stores' ledgers lie.
const storeScope = "store"

// The keys of a store's ledger: fileKey and a path, with the record; or vectorKey, a
// vector's key, and the model, with nothing.
const (
	fileKey   = "f"
	vectorKey = "v"
)

// maxLogged is the most bytes of records that are written at once.
const maxLogged = 8 << 20

// Store is a store.Store in a cluster. Records are held in memory as well, and
// read from there; vectors are read when they are asked for.
//
// A vector is named by model and content: all stores of a tenant share them, so
// that what one has made the others need not make. KeepVectors removes those only
// that this store has put. A store that misses one that another store
// removed has it made anew, as of any cache.
type Store struct {
	*engine
	name    string
	lease   *lease
	vectors string // the collection

	writing sync.Mutex // held by whoever writes

	mu      sync.RWMutex // guards the fields below; they are changed with writing held
	ledger  *ledger
	raw     int64 // ledger.live()
	files   int
	damaged map[string]bool
	closed  bool
	log     log
	using   sync.WaitGroup // operations that have not ended
}

var _ store.Store = (*Store)(nil)

// OpenStore opens the store of a name, which Info.Dir repeats, and takes its
// lease. The error is a store.LockedError where another process has it open;
// where that died, opening takes until its lease has run out.
func OpenStore(ctx context.Context, o Options, name string) (*Store, error) {
	if name == "" {
		return nil, errors.New("a store in the shared index needs a name")
	}
	e, err := newEngine(o)
	if err != nil {
		return nil, err
	}
	s := &Store{engine: e, name: name, vectors: e.options.Prefix + "Vector", damaged: map[string]bool{}}
	if err := s.open(ctx); err != nil {
		if s.lease != nil {
			err = errors.Join(err, s.release())
		}
		e.client.close()
		return nil, err
	}
	return s, nil
}

func (s *Store) vectorCollection(replicas int) collection {
	return newCollection(s.vectors, "vectors by model and content", replicas, property{Name: propData, DataType: []string{"blob"}})
}

func (s *Store) open(ctx context.Context) (err error) {
	if err := s.make(ctx, s.stateCollection, s.vectorCollection); err != nil {
		return err
	}
	sh := shelf{s.engine, storeScope, s.name, home(s.name)}
	if s.lease, err = sh.acquire(ctx); err != nil {
		var held *heldError
		if errors.As(err, &held) {
			return &store.LockedError{Dir: s.name, Owner: held.owner}
		}
		return err
	}
	if s.ledger, err = sh.load(ctx); err != nil {
		return err
	}
	if s.ledger == nil {
		s.ledger = newLedger()
	}
	for key, value := range s.ledger.values {
		path, ok := strings.CutPrefix(key, fileKey)
		if !ok {
			continue
		}
		s.files++
		if _, err := record.Decode(path, value); err != nil {
			s.damaged[path] = true
		}
	}
	s.raw = s.ledger.live()
	s.log = log{shelf: sh, writer: s.lease.token}
	return sh.sweep(ctx, s.ledger)
}

// release gives the lease up.
func (s *Store) release() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Timeout)
	defer cancel()
	return s.lease.release(ctx)
}

// begin begins an operation, which ends with using.Done.
func (s *Store) begin(ctx context.Context) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.using.Add(1)
	return nil
}

// Files calls fn for every stored file in path order.
func (s *Store) Files(ctx context.Context, fn func(store.FileRecord) error) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.using.Done()
	type file struct{ path, value string }
	s.mu.RLock()
	all := make([]file, 0, s.files)
	for key, value := range s.ledger.values {
		if path, ok := strings.CutPrefix(key, fileKey); ok && !s.damaged[path] {
			all = append(all, file{path, value})
		}
	}
	s.mu.RUnlock()
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.path, b.path) })
	for i, f := range all {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r, err := record.Decode(f.path, f.value)
		if err != nil {
			return fmt.Errorf("reading the record of %s: %w", f.path, err)
		}
		if err := fn(r); err != nil {
			return err
		}
	}
	return nil
}

// add writes changes to the log, some at a time.
func (s *Store) add(ctx context.Context, changes []change) error {
	for len(changes) > 0 {
		n, size := 0, 0
		for n < len(changes) && (n == 0 || size+len(changes[n].value) <= maxLogged) {
			size += len(changes[n].key) + len(changes[n].value)
			n++
		}
		if err := s.lease.check(); err != nil {
			return err
		}
		// Readers see the ledger between two writes; what add changes in it while it
		// waits for the cluster they do not read.
		if err := s.log.add(ctx, s.ledger, changes[:n], &s.mu, s.count); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// count brings the figures up to date for changes that are about to be made.
func (s *Store) count(changes []change) {
	for _, c := range changes {
		old, was := s.ledger.values[c.key]
		if was {
			s.raw -= (&change{key: c.key, value: old}).size()
		}
		if !c.gone {
			s.raw += c.size()
		}
		if path, ok := strings.CutPrefix(c.key, fileKey); ok {
			delete(s.damaged, path)
			if was {
				s.files--
			}
			if !c.gone {
				s.files++
			}
		}
	}
}

// Commit replaces records and removes the paths in gone.
func (s *Store) Commit(ctx context.Context, put []store.FileRecord, gone []string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.using.Done()
	s.writing.Lock()
	defer s.writing.Unlock()
	var e record.Encoder
	changes := make([]change, 0, len(put)+len(gone))
	kept := make(map[string]bool, len(put))
	for i := range put {
		kept[put[i].Path] = true
		value := string(e.Append(nil, &put[i]))
		if len(value) > maxObject/2 {
			return fmt.Errorf("storing %s: its record takes %d bytes, the most is %d", put[i].Path, len(value), maxObject/2)
		}
		changes = append(changes, change{key: fileKey + put[i].Path, value: value})
	}
	for _, path := range gone {
		if _, there := s.ledger.values[fileKey+path]; there && !kept[path] {
			changes = append(changes, change{key: fileKey + path, gone: true})
		}
	}
	if err := s.add(ctx, changes); err != nil {
		return fmt.Errorf("storing %d files: %w", len(changes), err)
	}
	return nil
}

func vectorID(model string, key store.VectorKey) string {
	return id("vector", model, hex.EncodeToString(key[:]))
}

func keyOf(model string, key store.VectorKey) string { return vectorKey + string(key[:]) + model }

// splitKey is the inverse of keyOf.
func splitKey(k string) (model string, key store.VectorKey, ok bool) {
	rest, ok := strings.CutPrefix(k, vectorKey)
	if !ok || len(rest) < len(key) {
		return "", key, false
	}
	copy(key[:], rest)
	return rest[len(key):], key, true
}

// Vectors returns the stored vectors of a model for the keys, whichever store of
// the tenant put them.
func (s *Store) Vectors(ctx context.Context, model string, keys []store.VectorKey) (map[store.VectorKey]store.Vector, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.using.Done()
	wanted := map[store.VectorKey]struct{}{}
	for _, k := range keys {
		wanted[k] = struct{}{}
	}
	distinct := slices.Collect(maps.Keys(wanted))
	out := make(map[store.VectorKey]store.Vector, len(distinct))
	var mu sync.Mutex
	err := each(ctx, 2*parallel, len(distinct), func(ctx context.Context, i int) error {
		var o packed
		there, err := s.get(ctx, "reading a vector of model "+model, s.vectors, vectorID(model, distinct[i]), 0, &o)
		if err != nil || !there {
			return err
		}
		b, err := unseal(o.Data)
		if err != nil {
			return nil // as if it were not there: it is made anew
		}
		r := reader{b: b}
		v := r.vector()
		if r.done() != nil {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		out[distinct[i]] = v
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// PutVectors stores vectors of a model.
func (s *Store) PutVectors(ctx context.Context, model string, vectors map[store.VectorKey]store.Vector) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.using.Done()
	s.writing.Lock()
	defer s.writing.Unlock()
	var changes []change
	objects := make([]object, 0, len(vectors))
	for key, v := range vectors {
		if k := keyOf(model, key); !s.has(k) {
			changes = append(changes, change{key: k})
		}
		objects = append(objects, object{
			Class: s.vectors, Tenant: s.options.Tenant, ID: vectorID(model, key),
			Properties: map[string]any{propData: seal(appendVector(nil, v))},
		})
	}
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.key, b.key) })
	// First what there will be, so that there is none that KeepVectors does not know.
	if err := s.add(ctx, changes); err != nil {
		return fmt.Errorf("storing %d vectors: %w", len(vectors), err)
	}
	if err := s.lease.check(); err != nil {
		return err
	}
	return s.put(ctx, fmt.Sprintf("storing %d vectors", len(vectors)), s.log.home, objects)
}

// has reports whether the ledger has a key. writing is held.
func (s *Store) has(key string) bool {
	_, ok := s.ledger.values[key]
	return ok
}

// KeepVectors removes the vectors that this store has put and for which keep is false.
func (s *Store) KeepVectors(ctx context.Context, keep func(model string, key store.VectorKey) bool) (int, error) {
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	defer s.using.Done()
	s.writing.Lock()
	defer s.writing.Unlock()
	var changes []change
	var ids []string
	for k := range s.ledger.values {
		if model, key, ok := splitKey(k); ok && !keep(model, key) {
			changes = append(changes, change{key: k, gone: true})
			ids = append(ids, vectorID(model, key))
		}
	}
	if len(changes) == 0 {
		return 0, nil
	}
	if err := s.lease.check(); err != nil {
		return 0, err
	}
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.key, b.key) })
	what := fmt.Sprintf("removing %d vectors", len(changes))
	if err := s.remove(ctx, what, s.vectors, s.log.home, ids); err != nil {
		return 0, err
	}
	if err := s.add(ctx, changes); err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return len(changes), nil
}

// Sync does nothing: what was acknowledged is on the disks of a quorum.
func (s *Store) Sync(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	s.using.Done()
	return nil
}

// Shrink compacts the records.
func (s *Store) Shrink(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.using.Done()
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.lease.check(); err != nil {
		return err
	}
	if err := s.log.compact(ctx, s.ledger, &s.mu); err != nil {
		return fmt.Errorf("compacting the store %s: %w", s.name, err)
	}
	return nil
}

// Info tells size and state. Bytes are those of the records on one replica, before
// they are compressed, without vectors, which are shared.
func (s *Store) Info() store.Info {
	s.mu.RLock()
	defer s.mu.RUnlock()
	info := store.Info{Dir: s.name}
	if s.closed {
		return info
	}
	total := s.ledger.total()
	info.Files, info.Vectors, info.Damaged = s.files-len(s.damaged), len(s.ledger.values)-s.files, len(s.damaged)
	info.Bytes, info.Garbage = total, max(0, total-s.raw)
	return info
}

// Close gives the lease and the connections up, once what is under way has ended.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return store.ErrClosed
	}
	s.using.Wait()
	err := s.release()
	s.client.close()
	s.mu.Lock()
	s.ledger = nil
	s.mu.Unlock()
	return err
}
