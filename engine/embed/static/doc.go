// Package static embeds text with a table of word-piece vectors that is part
// of the binary: no network, no runtime, no download. It is made for code; a
// text's vector is the sum, over its distinct pieces, of count^alpha times
// the piece's row, so it needs no matrix products and takes microseconds.
//
// # The file format, CESM 1
//
// Little endian throughout:
//
//	"CESM"
//	uint32   version, 1
//	uint32   n, the number of pieces
//	uint32   dim, the number of values of a row
//	float32  alpha, the exponent of a piece's count
//	float16  scale [n]
//	int8     row [n][dim]; piece i's vector is scale[i] * row[i]
//	uint32   length in bytes of what follows, the end of the file
//	zlib     the n pieces in UTF-8, joined by "\n"
//
// A piece that starts with "##" continues a word, any other starts one.
package static
