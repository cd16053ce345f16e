//go:build !linux

package main

import "errors"

func run(options) (int, error) { return 1, errors.New("clusters are started on Linux only") }
