// Package socket connects processes of one user on one machine: Unix sockets
// with mode 0600 in a directory of mode 0700, on Windows named pipes that only
// their owner may open. It knows nothing of what is said.
package socket

import "errors"

// ErrStranger is what CheckPeer returns where the other end belongs to another
// user.
var ErrStranger = errors.New("the process at the other end belongs to another user")
