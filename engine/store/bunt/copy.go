package bunt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/record"
)

// copyBatch is how many files, or vectors, are handed on together.
const copyBatch = 256

// Copy reads the store in dir, which stays as it is, into another one: of a
// directory that can be read and not written to, that is what can be had. It
// takes neither the lock nor any damage amiss: what is sound up to the first
// damage is copied. A directory without a store holds nothing.
func Copy(ctx context.Context, dir string, to store.Store) error {
	path := filepath.Join(dir, dbFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading index %s: %w", dir, err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return fmt.Errorf("reading index %s: %w", dir, err)
	}
	c := copier{to: to, vectors: map[string]map[store.VectorKey]store.Vector{}, models: map[string]string{}}
	l := newLogReader(f, fi.Size())
	var cmd command
	for n := 0; ; n++ {
		if n%copyBatch == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch err := l.next(&cmd); {
		case err == nil:
		case err == io.EOF, errors.Is(err, errTorn), errors.Is(err, errDamaged):
			return c.flush(ctx)
		default:
			return errors.Join(fmt.Errorf("reading %s: %w", path, err), c.flush(ctx))
		}
		if n == 0 && (cmd.del || string(cmd.key) != metaKey || !sound(metaKey, text(cmd.value)) || string(cmd.value[sumSize:]) != strconv.Itoa(Schema)) {
			return nil // another schema's records mean something else
		}
		if err := c.take(ctx, string(cmd.key), string(cmd.value), cmd.del); err != nil {
			return err
		}
	}
}

// copier gathers records for a store.
type copier struct {
	to      store.Store
	put     map[string]store.FileRecord
	gone    map[string]bool
	vectors map[string]map[store.VectorKey]store.Vector // by model
	models  map[string]string                           // fingerprints by ID
	count   int
}

func (c *copier) take(ctx context.Context, key, value string, del bool) error {
	if key == "" {
		return nil
	}
	name := key[1:]
	whole := !del && sound(key, value)
	switch key[:1] {
	case filePrefix:
		if c.put == nil {
			c.put, c.gone = map[string]store.FileRecord{}, map[string]bool{}
		}
		delete(c.put, name)
		c.gone[name] = true
		if r, err := decodeIf(whole, name, value); err == nil {
			c.put[name] = r
			delete(c.gone, name)
		}
	case modelChar:
		if whole {
			c.models[name] = value[sumSize:]
		}
	case vecPrefix:
		// Vectors are never replaced by others, and one too many does no harm.
		const id = 8
		if !whole || len(name) != id+len(store.VectorKey{}) || c.models[name[:id]] == "" {
			return nil
		}
		v, _, ok := decodeVector(value, make([]int8, len(value)))
		if !ok {
			return nil
		}
		model := c.models[name[:id]]
		if c.vectors[model] == nil {
			c.vectors[model] = map[store.VectorKey]store.Vector{}
		}
		c.vectors[model][store.VectorKey([]byte(name[id:]))] = v
	}
	if c.count++; c.count < copyBatch {
		return nil
	}
	return c.flush(ctx)
}

// decodeIf is decodeRecord of what is whole.
func decodeIf(whole bool, path, value string) (store.FileRecord, error) {
	if !whole {
		return store.FileRecord{}, record.ErrDamaged
	}
	return decodeRecord(path, value)
}

// flush hands on what was gathered.
func (c *copier) flush(ctx context.Context) error {
	var put []store.FileRecord
	for _, r := range c.put {
		put = append(put, r)
	}
	var gone []string
	for path := range c.gone {
		gone = append(gone, path)
	}
	if err := c.to.Commit(ctx, put, gone); err != nil {
		return err
	}
	for model, vectors := range c.vectors {
		if err := c.to.PutVectors(ctx, model, vectors); err != nil {
			return err
		}
	}
	clear(c.put)
	clear(c.gone)
	clear(c.vectors)
	c.count = 0
	return nil
}
