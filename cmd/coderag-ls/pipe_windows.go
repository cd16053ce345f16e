package main

import (
	"context"
	"net"

	"github.com/Microsoft/go-winio"
)

// dialPipe connects to a named pipe.
func dialPipe(ctx context.Context, path string) (net.Conn, error) {
	return winio.DialPipeContext(ctx, path)
}
