package socket

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// CheckPeer returns ErrStranger where the other end's process belongs to
// another user (LOCAL_PEERCRED, unix(4)).
func CheckPeer(conn net.Conn) error {
	return control(conn, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		switch {
		case err != nil:
			return fmt.Errorf("asking who is at the other end: %w", err)
		case int(cred.Uid) != os.Geteuid():
			return fmt.Errorf("%w (%d)", ErrStranger, cred.Uid)
		}
		return nil
	})
}
