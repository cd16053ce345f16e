//go:build !linux

package main

import "errors"

func run(int, int, string, []string) (int, error) {
	return 1, errors.New("clusters are started on Linux only")
}
