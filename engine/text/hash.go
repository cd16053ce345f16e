package text

import (
	"crypto/sha256"
	"encoding/hex"
	"unsafe"
)

// Hash returns the SHA-256 of a text's bytes.
func Hash(s string) [32]byte {
	// Sum256 only reads: no need to copy the text.
	return sha256.Sum256(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// HexHash returns Hash as 64 lower-case hexadecimal digits.
func HexHash(s string) string {
	h := Hash(s)
	return hex.EncodeToString(h[:])
}
