package sharedcluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// bridge joins the hosts; the tests themselves sit on it.
	bridge = "coderag0"
	// subnet is that of all hosts; the tests have its address 254.
	subnet = "10.77.0."
)

// network is a bridge in this process's network namespace.
type network struct {
	mu    sync.Mutex
	hosts int
}

func newNetwork() (*network, error) {
	if err := ip("link", "add", bridge, "type", "bridge"); err != nil {
		return nil, err
	}
	if err := ip("addr", "add", subnet+"254/24", "dev", bridge); err != nil {
		return nil, err
	}
	return &network{}, ip("link", "set", bridge, "up")
}

func (n *network) close() error { return ip("link", "del", bridge) }

// Host is a machine of the cluster's network, with an address of its own.
type Host struct {
	// Address is its IP address.
	Address string
	link    string   // the bridge's end of its cable
	space   *os.File // its network namespace
}

// add joins a new host to the network.
func (n *network) add() (*Host, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts++
	space, err := newSpace()
	if err != nil {
		return nil, err
	}
	h := &Host{Address: subnet + strconv.Itoa(n.hosts), link: "host" + strconv.Itoa(n.hosts), space: space}
	// The namespace is the ip program's fourth descriptor.
	cmd := exec.Command("ip", "link", "add", h.link, "type", "veth", "peer", "name", "eth0", "netns", "/proc/self/fd/3")
	cmd.ExtraFiles = []*os.File{space}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("adding the cable of %s: %w: %s", h.Address, err, out)
	}
	if err := ip("link", "set", h.link, "master", bridge, "up"); err != nil {
		return nil, err
	}
	return h, h.in(func() error {
		for _, args := range [][]string{
			{"link", "set", "lo", "up"},
			{"addr", "add", h.Address + "/24", "dev", "eth0"},
			{"link", "set", "eth0", "up"},
		} {
			if err := ip(args...); err != nil {
				return err
			}
		}
		return nil
	})
}

func (h *Host) close() error { return h.space.Close() }

// newSpace makes a network namespace that lives as long as its file is open.
func newSpace() (*os.File, error) {
	type made struct {
		f   *os.File
		err error
	}
	done := make(chan made)
	go func() {
		// Never unlocked: the thread ends with the goroutine.
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			done <- made{err: fmt.Errorf("making a network namespace: %w", err)}
			return
		}
		f, err := os.Open("/proc/thread-self/ns/net")
		done <- made{f, err}
	}()
	m := <-done
	return m.f, m.err
}

// in runs fn on a thread that is in the host's network: sockets that it makes
// and processes that it starts are the host's.
func (h *Host) in(fn func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		own, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			done <- err
			return
		}
		defer own.Close()
		if err := unix.Setns(int(h.space.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- fmt.Errorf("entering the network of %s: %w", h.Address, err)
			return
		}
		err = fn()
		// Unlocked only if the thread is what it was; it ends with the goroutine else.
		if back := unix.Setns(int(own.Fd()), unix.CLONE_NEWNET); back == nil {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

// Start starts a command on the host.
func (h *Host) Start(cmd *exec.Cmd) error { return h.in(cmd.Start) }

// DialContext connects from the host to an address, which is not a name.
func (h *Host) DialContext(ctx context.Context, network, address string) (conn net.Conn, err error) {
	err = h.in(func() error {
		var d net.Dialer
		conn, err = d.DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// Listen listens on the host.
func (h *Host) Listen(network, address string) (l net.Listener, err error) {
	err = h.in(func() error {
		l, err = net.Listen(network, address)
		return err
	})
	return l, err
}

// Cut pulls the host's cable: nothing reaches it, and it reaches nothing.
// Connections are not closed by it.
func (h *Host) Cut() error { return ip("link", "set", h.link, "down") }

// Heal undoes Cut.
func (h *Host) Heal() error { return ip("link", "set", h.link, "up") }

// Block stops what goes between this host and others; it is still reached by
// everybody else.
func (h *Host) Block(others ...*Host) error {
	return h.in(func() error {
		for _, o := range others {
			if err := ip("route", "add", "blackhole", o.Address+"/32"); err != nil {
				return err
			}
		}
		return nil
	})
}

// Unblock undoes Block.
func (h *Host) Unblock(others ...*Host) error {
	return h.in(func() error {
		for _, o := range others {
			if err := ip("route", "del", "blackhole", o.Address+"/32"); err != nil {
				return err
			}
		}
		return nil
	})
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}
