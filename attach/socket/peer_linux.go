package socket

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// CheckPeer returns ErrStranger where the other end's process belongs to
// another user (SO_PEERCRED, unix(7)).
func CheckPeer(conn net.Conn) error {
	return control(conn, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		switch {
		case err != nil:
			return fmt.Errorf("asking who is at the other end: %w", err)
		case int(cred.Uid) != os.Geteuid():
			return fmt.Errorf("%w (%d)", ErrStranger, cred.Uid)
		}
		return nil
	})
}
