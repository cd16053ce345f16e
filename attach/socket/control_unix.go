//go:build linux || darwin

package socket

import (
	"errors"
	"fmt"
	"net"
)

// control runs f with a Unix connection's descriptor.
func control(conn net.Conn, f func(fd int) error) error {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("%T is no Unix connection", conn)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var checked error
	err = raw.Control(func(fd uintptr) { checked = f(int(fd)) })
	return errors.Join(err, checked)
}
