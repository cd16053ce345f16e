//go:build cgo

package vector

/*
#include <arm_neon.h>
#include <stdint.h>

// Dot products of n rows of int8 with the query; row i is the i-th, or the
// index[i]-th where an index is given. stride is a multiple of 64 bytes.
static void dots_neon(const int8_t *rows, int64_t stride, const int32_t *index, int64_t n, const int8_t *query, int32_t *out) {
	for (int64_t i = 0; i < n; i++) {
		const int8_t *r = rows + (index ? (int64_t)index[i] : i) * stride;
		int32x4_t a = vdupq_n_s32(0), b = a;
		for (int64_t d = 0; d < stride; d += 32) {
			int8x16_t r0 = vld1q_s8(r + d), r1 = vld1q_s8(r + d + 16);
			int8x16_t q0 = vld1q_s8(query + d), q1 = vld1q_s8(query + d + 16);
			a = vpadalq_s16(a, vmull_s8(vget_low_s8(r0), vget_low_s8(q0)));
			b = vpadalq_s16(b, vmull_s8(vget_high_s8(r0), vget_high_s8(q0)));
			a = vpadalq_s16(a, vmull_s8(vget_low_s8(r1), vget_low_s8(q1)));
			b = vpadalq_s16(b, vmull_s8(vget_high_s8(r1), vget_high_s8(q1)));
		}
		out[i] = vaddvq_s32(vaddq_s32(a, b));
	}
}

#cgo noescape dots_neon
#cgo nocallback dots_neon
*/
import "C"

import "unsafe"

func nativeKernels() []Kernel { return []Kernel{NEON} }

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
	C.dots_neon((*C.int8_t)(unsafe.Pointer(&rows[0])), C.int64_t(len(q.values)), at, C.int64_t(len(out)),
		(*C.int8_t)(unsafe.Pointer(&q.values[0])), (*C.int32_t)(unsafe.Pointer(&out[0])))
}
