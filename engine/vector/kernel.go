package vector

// Kernel is a way to compute integer dot products. All give the same numbers.
type Kernel uint8

// The kernels, from the slowest.
const (
	Go   Kernel = iota + 1 // plain Go, everywhere
	NEON                   // arm64
	AVX2                   // amd64, chosen at run time
)

// String is the kernel's name: "go", "neon" or "avx2".
func (k Kernel) String() string {
	switch k {
	case Go:
		return "go"
	case NEON:
		return "neon"
	case AVX2:
		return "avx2"
	}
	return "unknown"
}

// Kernels lists what this build can use on this machine, the fastest first; Go
// is always among them and the only one in a build without cgo.
func Kernels() []Kernel { return append(nativeKernels(), Go) }

// dots sets out[i] to the dot product of the query and row first+i.
func (q *Query) dots(m *Matrix, first int, out []int32) {
	rows := m.values[first*m.stride : (first+len(out))*m.stride]
	if q.kernel != Go {
		nativeDots(q, rows, nil, out)
		return
	}
	for i := range out {
		out[i] = dotGo(rows[i*m.stride:(i+1)*m.stride], q.values)
	}
}

// dotsAt sets out[i] to the dot product of the query and row rows[i].
func (q *Query) dotsAt(m *Matrix, rows []int32, out []int32) {
	if q.kernel != Go {
		nativeDots(q, m.values, rows, out)
		return
	}
	for i, r := range rows {
		out[i] = dotGo(m.values[int(r)*m.stride:(int(r)+1)*m.stride], q.values)
	}
}

// dotGo is the kernel in plain Go. Both slices have the same length, a
// multiple of lane.
func dotGo(a, b []int8) int32 {
	var s0, s1, s2, s3 int32
	for len(a) >= 16 && len(b) >= 16 {
		x, y := (*[16]int8)(a), (*[16]int8)(b)
		for i := 0; i < 16; i += 4 {
			s0 += int32(x[i]) * int32(y[i])
			s1 += int32(x[i+1]) * int32(y[i+1])
			s2 += int32(x[i+2]) * int32(y[i+2])
			s3 += int32(x[i+3]) * int32(y[i+3])
		}
		a, b = a[16:], b[16:]
	}
	return s0 + s1 + s2 + s3
}
