package socket

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// Listen listens on a new named pipe that only the user may open. dir has no
// part in it on Windows.
func Listen(dir string) (l net.Listener, address string, err error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, "", fmt.Errorf("finding the user: %w", err)
	}
	address = `\\.\pipe\coderag-` + rand.Text()
	// A protected list with one entry: all access for the user.
	l, err = winio.ListenPipe(address, &winio.PipeConfig{SecurityDescriptor: "D:P(A;;GA;;;" + user.User.Sid.String() + ")"})
	if err != nil {
		return nil, "", fmt.Errorf("no pipe can be made: %w", err)
	}
	return l, address, nil
}

// Remove does nothing: a pipe goes with its process.
func Remove(string) {}

// Dial connects to a listener.
func Dial(ctx context.Context, address string) (net.Conn, error) {
	return winio.DialPipeContext(ctx, address)
}
