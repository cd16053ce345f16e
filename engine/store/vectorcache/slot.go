package vectorcache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"coderag-ls/engine/store"
)

const (
	maxSlots    = 64
	slotPrefix  = "slot-"
	claimSuffix = ".claim"
	// claimTime is how long a claim counts: longer than a batch takes, short
	// enough that what a killed process claimed is not waited for.
	claimTime = 30 * time.Second
	maxClaim  = 4096 // keys
)

// slot is the number under which a process writes. The system gives it up when
// the process ends, however it ends.
type slot struct {
	number int
	lock   *flock.Flock
}

func slotPath(dir string, number int) string {
	return filepath.Join(dir, fmt.Sprintf("%s%02x", slotPrefix, number))
}

// takeSlot takes the first free slot.
func takeSlot(dir string) (*slot, error) {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, fmt.Errorf("creating the vector cache: %w", err)
	}
	for n := range maxSlots {
		path := slotPath(dir, n)
		l := flock.New(path, flock.SetPermissions(fileMode))
		ok, err := l.TryLock()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("taking a slot of the vector cache: %w", err), l.Close())
		}
		// A file that Remove deleted meanwhile locks nobody out.
		there, errThere := os.Stat(path)
		mine, errMine := l.Stat()
		if ok && errThere == nil && errMine == nil && os.SameFile(there, mine) {
			return &slot{number: n, lock: l}, nil
		}
		l.Close()
	}
	return nil, fmt.Errorf("writing to the vector cache: %d processes do so already", maxSlots)
}

func (s *slot) release() error {
	if err := s.lock.Unlock(); err != nil {
		return fmt.Errorf("giving up slot %d of the vector cache: %w", s.number, err)
	}
	return nil
}

func (s *slot) claimPath(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%02x%s", s.number, claimSuffix))
}

// unclaim takes back what the slot claimed of a model.
func (s *slot) unclaim(dir string) {
	os.Remove(s.claimPath(dir)) // else it runs out
}

// Claim tells other processes that this one embeds the texts of keys now, until
// it claims others, and returns the keys that another process embeds already:
// their vectors are found soon. It is a courtesy, not a lock: who embeds a text
// all the same makes the same vector.
func (c *Cache) Claim(model string, dim int, keys []store.VectorKey) (taken map[store.VectorKey]bool) {
	m := c.model(model, dim)
	if m == nil {
		return nil
	}
	s := c.writable()
	if s == nil {
		return nil
	}
	if len(keys) == 0 {
		s.unclaim(m.dir)
		return nil
	}
	if err := os.MkdirAll(m.dir, dirMode); err != nil {
		return nil
	}
	now := time.Now()
	// A claim is read whole or not at all: its checksum tells. Without one, two
	// processes may do the same work.
	if err := os.WriteFile(s.claimPath(m.dir), encodeClaim(now, keys[:min(len(keys), maxClaim)]), fileMode); err != nil {
		return nil
	}
	files, err := os.ReadDir(m.dir)
	if err != nil {
		return nil
	}
	mine := map[store.VectorKey]bool{}
	for _, k := range keys {
		mine[k] = true
	}
	taken = map[store.VectorKey]bool{}
	for _, e := range files {
		path := filepath.Join(m.dir, e.Name())
		if !strings.HasSuffix(path, claimSuffix) || path == s.claimPath(m.dir) {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		at, theirs := decodeClaim(b)
		if age := now.Sub(at); age < 0 || age > claimTime || age == 0 && path > s.claimPath(m.dir) {
			continue // theirs is later, or nobody's
		}
		for _, k := range theirs {
			if mine[k] {
				taken[k] = true
			}
		}
	}
	return taken
}

// A claim is u32(CRC-32C of the rest), i64(Unix nanoseconds), the keys.

func encodeClaim(at time.Time, keys []store.VectorKey) []byte {
	b := make([]byte, sumSize, sumSize+8+len(keys)*keySize)
	b = binary.LittleEndian.AppendUint64(b, uint64(at.UnixNano()))
	for i := range keys {
		b = append(b, keys[i][:]...)
	}
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[sumSize:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

func decodeClaim(b []byte) (at time.Time, keys []store.VectorKey) {
	if len(b) < sumSize+8 || binary.LittleEndian.Uint32(b) != crc32.Checksum(b[sumSize:], crc32.MakeTable(crc32.Castagnoli)) {
		return time.Time{}, nil
	}
	at = time.Unix(0, int64(binary.LittleEndian.Uint64(b[sumSize:])))
	for b = b[sumSize+8:]; len(b) >= keySize; b = b[keySize:] {
		keys = append(keys, store.VectorKey(b[:keySize]))
	}
	return at, keys
}
