package bunt

import (
	"encoding/binary"
	"hash/crc32"
	"unsafe"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/record"
)

// A value is a CRC-32C of its key and payload, 4 bytes little-endian, and the payload.
const sumSize = 4

// seal puts the checksum in front of payload, whose first sumSize bytes are free.
func seal(key string, b []byte) string {
	binary.LittleEndian.PutUint32(b, sum(key, b[sumSize:]))
	return string(b)
}

// sound says whether a value's checksum holds.
func sound(key, value string) bool {
	return len(value) >= sumSize && binary.LittleEndian.Uint32(view(value)) == sum(key, view(value[sumSize:]))
}

func sum(key string, payload []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(view(key), table), table, payload)
}

// view is a string's bytes without a copy. They must not be written to.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// text is bytes as a string without a copy, for as long as they are not written to.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// encoder makes the values of files. It is reused from file to file.
type encoder struct {
	record.Encoder
	out []byte
}

// record encodes r as the value of key.
func (e *encoder) record(key string, r *store.FileRecord) string {
	e.out = e.Append(append(e.out[:0], make([]byte, sumSize)...), r)
	return seal(key, e.out)
}

// decodeRecord decodes the sound value of a file record.
func decodeRecord(path, value string) (store.FileRecord, error) {
	return record.Decode(path, value[sumSize:])
}
