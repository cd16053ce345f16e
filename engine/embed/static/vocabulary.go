package static

import (
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// continuation marks the pieces that continue a word.
const continuation = "##"

// vocabulary finds pieces by their bytes. Pieces that start a word and those
// that continue one are kept apart, the latter without their mark.
type vocabulary struct {
	start, inner hashTable
}

func newVocabulary(pieces []string) (vocabulary, error) {
	inner := 0
	for _, p := range pieces {
		if strings.HasPrefix(p, continuation) {
			inner++
		}
	}
	v := vocabulary{newHashTable(len(pieces) - inner), newHashTable(inner)}
	for i, p := range pieces {
		t := &v.start
		key, inside := strings.CutPrefix(p, continuation)
		if inside {
			t = &v.inner
		}
		if !t.insert(key, int32(i)) {
			return vocabulary{}, fmt.Errorf("piece %d, %q, is in the list twice", i, p)
		}
	}
	v.start.keys, v.inner.keys = v.start.build.String(), v.inner.build.String()
	v.start.build, v.inner.build = nil, nil
	return v, nil
}

// hashTable maps byte strings to piece numbers: open addressing with linear
// probing, keys compared in full.
type hashTable struct {
	slots   []slot // a power of two of them, at most two thirds full
	shift   uint   // a hash's slot is its upper bits: hash >> shift
	longest int    // bytes of the longest key
	first   [256]bool
	keys    string
	build   *strings.Builder // of keys
}

// slot is empty where size is 0.
type slot struct {
	tag      uint32 // some of the hash's bits
	at, size uint32 // the key is keys[at:at+size]
	id       int32
}

// hashSeed and hashMul make the hash, hash = (hash ^ byte) * hashMul from the
// first byte to the last, so that a prefix's hash is had on the way. The
// multiplier is 2^64 over the golden ratio (Knuth, TAOCP volume 3, section 6.4).
const (
	hashSeed = 0x243F6A8885A308D3
	hashMul  = 0x9E3779B97F4A7C15
)

func newHashTable(n int) hashTable {
	size := max(16, bits.Len(uint(n+n/2)))
	return hashTable{slots: make([]slot, 1<<size), shift: uint(64 - size), build: new(strings.Builder)}
}

// insert adds a key of 1 to maxPieceBytes bytes; false if it is there already.
func (t *hashTable) insert(key string, id int32) bool {
	h := uint64(hashSeed)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * hashMul
	}
	at := uint32(t.build.Len())
	for i := h >> t.shift; ; i = (i + 1) & uint64(len(t.slots)-1) {
		s := &t.slots[i]
		if s.size == 0 {
			t.build.WriteString(key)
			*s = slot{tag: uint32(h >> 8), at: at, size: uint32(len(key)), id: id}
			break
		}
		if t.build.String()[s.at:s.at+s.size] == key {
			return false
		}
	}
	t.longest = max(t.longest, len(key))
	t.first[key[0]] = true
	return true
}

// find returns the piece with these bytes and this hash, or -1.
func (t *hashTable) find(h uint64, key []byte) int32 {
	tag := uint32(h >> 8)
	for i := h >> t.shift; ; i = (i + 1) & uint64(len(t.slots)-1) {
		s := &t.slots[i]
		if s.size == 0 {
			return -1
		}
		if s.tag == tag && int(s.size) == len(key) && t.keys[s.at:s.at+s.size] == string(key) {
			return s.id
		}
	}
}

// appendPieces appends the longest pieces that follow each other in a word,
// which is lowercase and at most maxSub code points long. A code point at which
// no piece starts is left out.
func (v *vocabulary) appendPieces(ids []int32, word []byte) []int32 {
	var hashes [maxPieceBytes + 1]uint64
	for i := 0; i < len(word); {
		t := &v.start
		if i > 0 {
			t = &v.inner
		}
		id, size := int32(-1), 0
		if t.first[word[i]] {
			h := uint64(hashSeed)
			size = min(len(word)-i, t.longest)
			for k := 1; k <= size; k++ {
				h = (h ^ uint64(word[i+k-1])) * hashMul
				hashes[k] = h
			}
			for ; size > 0; size-- {
				if id = t.find(hashes[size], word[i:i+size]); id >= 0 {
					break
				}
			}
		}
		if id < 0 {
			_, size = utf8.DecodeRune(word[i:])
		} else {
			ids = append(ids, id)
		}
		i += size
	}
	return ids
}
