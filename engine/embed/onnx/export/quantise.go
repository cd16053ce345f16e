package export

import "math"

// transpose turns a row-major [rows, cols] matrix into [cols, rows].
func transpose[T any](w []T, rows, cols int) []T {
	out := make([]T, len(w))
	for r := 0; r < rows; r++ {
		for c := 0; c < cols; c++ {
			out[c*rows+r] = w[r*cols+c]
		}
	}
	return out
}

// rowsInt8 quantises each row of a [rows, cols] matrix symmetrically: value =
// q * scale, |q| <= limit.
func rowsInt8(w []float32, rows, cols int, limit float64) (q []int8, scale []float32) {
	q = make([]int8, len(w))
	scale = make([]float32, rows)
	for r := 0; r < rows; r++ {
		row := w[r*cols : (r+1)*cols]
		var top float64
		for _, v := range row {
			top = max(top, math.Abs(float64(v)))
		}
		s := float32(top / limit)
		if s == 0 {
			s = 1
		}
		scale[r] = s
		for c, v := range row {
			q[r*cols+c] = int8(min(max(math.RoundToEven(float64(v)/float64(s)), -limit), limit))
		}
	}
	return q, scale
}
