//go:build !windows

package main

import (
	"context"
	"net"
)

// dialPipe connects to a socket file.
func dialPipe(ctx context.Context, path string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", path)
}
