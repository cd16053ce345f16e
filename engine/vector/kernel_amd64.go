//go:build cgo

package vector

/*
#include <immintrin.h>
#include <stdint.h>

// Dot products of n rows of int8 with the query; row i is the i-th, or the
// index[i]-th where an index is given. stride is a multiple of 64 bytes.
#define ROW(i) (rows + (index ? (int64_t)index[i] : (int64_t)(i)) * stride)

// Values are widened to 16 bits first: the 8-bit multiply-add saturates.
__attribute__((target("avx2")))
static inline __m256i madd32(__m256i acc, const int8_t *row, __m256i q0, __m256i q1) {
	__m256i lo = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)row));
	__m256i hi = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(row + 16)));
	acc = _mm256_add_epi32(acc, _mm256_madd_epi16(lo, q0));
	return _mm256_add_epi32(acc, _mm256_madd_epi16(hi, q1));
}

__attribute__((target("avx2")))
static void dots_avx2(const int8_t *rows, int64_t stride, const int32_t *index, int64_t n, const int16_t *query, int32_t *out) {
	int64_t i = 0;
	for (; i + 4 <= n; i += 4) {
		const int8_t *r0 = ROW(i), *r1 = ROW(i + 1), *r2 = ROW(i + 2), *r3 = ROW(i + 3);
		// The scan waits for memory (wider registers, with AVX-512 VNNI, gain nothing), so the next four rows are asked for.
		int64_t ahead = i + 8 <= n ? i + 4 : i;
		const int8_t *p0 = ROW(ahead), *p1 = ROW(ahead + 1), *p2 = ROW(ahead + 2), *p3 = ROW(ahead + 3);
		__m256i a0 = _mm256_setzero_si256(), a1 = a0, a2 = a0, a3 = a0;
		for (int64_t d = 0; d < stride; d += 32) {
			_mm_prefetch((const char *)(p0 + d), _MM_HINT_T0);
			_mm_prefetch((const char *)(p1 + d), _MM_HINT_T0);
			_mm_prefetch((const char *)(p2 + d), _MM_HINT_T0);
			_mm_prefetch((const char *)(p3 + d), _MM_HINT_T0);
			__m256i q0 = _mm256_loadu_si256((const __m256i *)(query + d));
			__m256i q1 = _mm256_loadu_si256((const __m256i *)(query + d + 16));
			a0 = madd32(a0, r0 + d, q0, q1);
			a1 = madd32(a1, r1 + d, q0, q1);
			a2 = madd32(a2, r2 + d, q0, q1);
			a3 = madd32(a3, r3 + d, q0, q1);
		}
		__m256i s = _mm256_hadd_epi32(_mm256_hadd_epi32(a0, a1), _mm256_hadd_epi32(a2, a3));
		_mm_storeu_si128((__m128i *)(out + i), _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1)));
	}
	for (; i < n; i++) {
		const int8_t *r = ROW(i);
		__m256i a = _mm256_setzero_si256();
		for (int64_t d = 0; d < stride; d += 32)
			a = madd32(a, r + d, _mm256_loadu_si256((const __m256i *)(query + d)), _mm256_loadu_si256((const __m256i *)(query + d + 16)));
		__m128i s = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
		s = _mm_hadd_epi32(s, s);
		s = _mm_hadd_epi32(s, s);
		out[i] = _mm_cvtsi128_si32(s);
	}
}

#cgo noescape dots_avx2
#cgo nocallback dots_avx2
*/
import "C"

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

func nativeKernels() []Kernel {
	if cpu.X86.HasAVX2 {
		return []Kernel{AVX2}
	}
	return nil
}

// nativeDots computes len(out) products in one call: of consecutive rows, or
// of those in index.
func nativeDots(q *Query, rows []int8, index, out []int32) {
	if len(out) == 0 {
		return
	}
	var at *C.int32_t
	if index != nil {
		at = (*C.int32_t)(unsafe.Pointer(&index[0]))
	}
	C.dots_avx2((*C.int8_t)(unsafe.Pointer(&rows[0])), C.int64_t(len(q.values)), at, C.int64_t(len(out)),
		(*C.int16_t)(unsafe.Pointer(&q.wide[0])), (*C.int32_t)(unsafe.Pointer(&out[0])))
}
