//go:build !cgo || !(amd64 || arm64)

package vector

func nativeKernels() []Kernel { return nil }

// nativeDots is not reached: no query has a native kernel in this build.
func nativeDots(*Query, []int8, []int32, []int32) { panic("vector: no native kernel in this build") }
