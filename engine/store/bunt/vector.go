package bunt

import (
	"encoding/binary"
	"math"

	"coderag-ls/engine/store"
)

// scaleSize is the bytes of a vector's scale, a little-endian float32; the
// values follow, one byte each.
const scaleSize = 4

// appendVector encodes a vector as the value of key.
func appendVector(buf []byte, key string, v store.Vector) string {
	buf = append(buf[:0], make([]byte, sumSize)...)
	buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v.Scale))
	for _, x := range v.Values {
		buf = append(buf, byte(x))
	}
	return seal(key, buf)
}

// decodeVector decodes a sound value; the values go to the front of room.
func decodeVector(value string, room []int8) (v store.Vector, rest []int8, ok bool) {
	p := value[sumSize:]
	if len(p) < scaleSize {
		return store.Vector{}, room, false
	}
	v.Scale = math.Float32frombits(binary.LittleEndian.Uint32(view(p)))
	p = p[scaleSize:]
	v.Values, rest = room[:len(p):len(p)], room[len(p):]
	for i := range v.Values {
		v.Values[i] = int8(p[i])
	}
	return v, rest, true
}
