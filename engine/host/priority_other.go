//go:build !linux && !darwin && !windows

package host

func lower() {}
