package vectorcache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"coderag-ls/engine/store"
)

// A segment is a file of vectors of one model, to which one process appends:
//
//	"CRVC" u8(version) 3 zero bytes, u32(values of a vector)
//	blocks:
//	  u32(blockMagic) u32(n)
//	  n keys of 32 bytes
//	  u32(CRC-32C of the block so far)
//	  n records: float32 scale, the values of a byte each, u32(CRC-32C)
//
// All numbers are little-endian. A record's checksum is of the model's name, its
// key, scale and values, so that it proves whose vector it is: whatever happens
// to a file, what is read from it is a vector of that model and key, or nothing.
// A block whose head does not hold ends its segment.
const (
	segmentMagic   = "CRVC\x01\x00\x00\x00"
	segmentHead    = len(segmentMagic) + 4
	blockMagic     = 0x4b4c4243 // "CBLK"
	blockHead      = 8
	keySize        = 32 // of a store.VectorKey
	sumSize        = 4
	scaleSize      = 4
	maxBlock       = 1024 // records of a block
	maxDim         = 1 << 14
	maxSegment     = 1 << offsetBits
	offsetBits     = 26
	offsetMask     = maxSegment - 1
	prefixMask     = ^uint64(offsetMask)
	usualHeadBytes = blockHead + 64*keySize + sumSize
)

// errDamaged: bytes that no process wrote as they are.
var errDamaged = errors.New("damaged")

// form is how the vectors of a model are written.
type form struct {
	model string
	dim   int
}

func (f form) recordSize() int { return scaleSize + f.dim + sumSize }

// sum is the checksum of a record.
func (f form) sum(key store.VectorKey, payload []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	s := crc32.Update(crc32.Checksum([]byte(f.model), table), table, key[:])
	return crc32.Update(s, table, payload)
}

func (f form) appendHead(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(append(b, segmentMagic...), uint32(f.dim))
}

// appendBlock appends a block of at most maxBlock vectors.
func (f form) appendBlock(b []byte, keys []store.VectorKey, vectors map[store.VectorKey]store.Vector) []byte {
	from := len(b)
	b = binary.LittleEndian.AppendUint32(b, blockMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(keys)))
	for i := range keys {
		b = append(b, keys[i][:]...)
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[from:], crc32.MakeTable(crc32.Castagnoli)))
	for _, k := range keys {
		v := vectors[k]
		from := len(b)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v.Scale))
		for _, x := range v.Values {
			b = append(b, byte(x))
		}
		b = binary.LittleEndian.AppendUint32(b, f.sum(k, b[from:]))
	}
	return b
}

// record reads the record of a key.
func (f form) record(b []byte, key store.VectorKey) (store.Vector, error) {
	if len(b) != f.recordSize() {
		return store.Vector{}, errDamaged
	}
	payload := b[:len(b)-sumSize]
	if binary.LittleEndian.Uint32(b[len(payload):]) != f.sum(key, payload) {
		return store.Vector{}, errDamaged
	}
	v := store.Vector{Scale: math.Float32frombits(binary.LittleEndian.Uint32(payload)), Values: make([]int8, f.dim)}
	for i, x := range payload[scaleSize:] {
		v.Values[i] = int8(x)
	}
	return v, nil
}

// entry is a place of a key: the first bits of the key and, in the last
// offsetBits, where its record begins.
type entry = uint64

func entryOf(key store.VectorKey, offset int64) entry {
	return binary.BigEndian.Uint64(key[:])&prefixMask | uint64(offset)
}

// walk reads the blocks of a segment of size bytes from an offset on, 0 for all,
// and returns the places of their keys and where it stopped: at the end, at a
// block that is not whole yet, or, with errDamaged, at one that does not hold.
func (f form) walk(r io.ReaderAt, from, size int64) (entries []entry, at int64, err error) {
	at = from
	size = min(size, maxSegment)
	head := make([]byte, usualHeadBytes)
	if at == 0 {
		if size < int64(segmentHead) {
			return nil, 0, nil
		}
		if err := read(r, head[:segmentHead], 0); err != nil {
			return nil, 0, err
		}
		if string(head[:segmentHead]) != string(f.appendHead(nil)) {
			return nil, 0, fmt.Errorf("%w head, or of another version", errDamaged)
		}
		at = int64(segmentHead)
	}
	for size-at >= blockHead+sumSize {
		b := head[:min(int64(len(head)), size-at)]
		if err := read(r, b, at); err != nil {
			return entries, at, err
		}
		n := int64(binary.LittleEndian.Uint32(b[4:]))
		if binary.LittleEndian.Uint32(b) != blockMagic || n == 0 || n > maxBlock {
			return entries, at, fmt.Errorf("%w block at byte %d", errDamaged, at)
		}
		records := at + blockHead + n*int64(keySize) + sumSize
		next := records + n*int64(f.recordSize())
		if next > size {
			return entries, at, nil
		}
		if need := int(records - at); need > len(b) {
			b = make([]byte, need)
			if err := read(r, b, at); err != nil {
				return entries, at, err
			}
		}
		b = b[:records-at]
		if binary.LittleEndian.Uint32(b[len(b)-sumSize:]) != crc32.Checksum(b[:len(b)-sumSize], crc32.MakeTable(crc32.Castagnoli)) {
			return entries, at, fmt.Errorf("%w block at byte %d", errDamaged, at)
		}
		for i := range n {
			key := store.VectorKey(b[blockHead+i*int64(keySize):][:keySize])
			entries = append(entries, entryOf(key, records+i*int64(f.recordSize())))
		}
		at = next
	}
	return entries, at, nil
}

// read fills b; a file that ends before is one that was cut meanwhile.
func read(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	return err
}

// merge returns the entries of both in order; a is in order, b need not be.
func merge(a, b []entry) []entry {
	slices.Sort(b)
	if len(a) == 0 || len(b) == 0 || a[len(a)-1] < b[0] {
		return append(a, b...)
	}
	all := make([]entry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[0] {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// find returns the offset of a key's newest record.
func find(entries []entry, key store.VectorKey) (offset int64, ok bool) {
	prefix := binary.BigEndian.Uint64(key[:]) & prefixMask
	i, _ := slices.BinarySearch(entries, prefix|offsetMask)
	if i < len(entries) && entries[i] == prefix|offsetMask {
		return offsetMask, true
	}
	if i == 0 || entries[i-1]&prefixMask != prefix {
		return 0, false
	}
	return int64(entries[i-1] & offsetMask), true
}
