//go:build !windows

package socket

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// talk sends a word through a listener and back.
func talk(t *testing.T, l net.Listener, address string) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			err = CheckPeer(c)
		}
		if err == nil {
			_, err = io.Copy(c, io.LimitReader(c, 4))
			c.Close()
		}
		done <- err
	}()
	c, err := Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := CheckPeer(c); err != nil {
		t.Error(err)
	}
	if _, err := c.Write([]byte("word")); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(c); err != nil || string(got) != "word" {
		t.Errorf("%q, %v", got, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// short is a directory whose path leaves room for a socket's.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestListen(t *testing.T) {
	dir := short(t)
	l, address, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(address) != dir {
		t.Errorf("it listens at %s, not in %s", address, dir)
	}
	if info, err := os.Stat(address); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	talk(t, l, address)

	// A dead process's socket is replaced.
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	again, address, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	talk(t, again, address)
	again.Close()
	if _, err := os.Lstat(address); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
}

func TestListenElsewhere(t *testing.T) {
	long := filepath.Join(short(t), strings.Repeat("long", 30))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"too long": long, "no directory": filepath.Join(short(t), "none")} {
		t.Run(name, func(t *testing.T) {
			base := short(t)
			t.Setenv("XDG_RUNTIME_DIR", filepath.Join(base, "missing"))
			t.Setenv("TMPDIR", base)
			l, address, err := Listen(dir)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(filepath.Dir(address)); err != nil || info.Mode().Perm() != 0o700 || !strings.HasPrefix(address, base) {
				t.Errorf("%s: %v, %v", address, info.Mode(), err)
			}
			talk(t, l, address)
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			l.Close()
			Remove(address)
			if left, _ := os.ReadDir(base); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			t.Setenv("TMPDIR", filepath.Join(base, "missing"))
			if l, _, err := Listen(dir); err == nil {
				l.Close()
				t.Error("it listens nowhere")
			}
		})
	}
}

// TestRemove: only what Listen makes is removed.
func TestRemove(t *testing.T) {
	dir := short(t)
	for _, path := range []string{filepath.Join(dir, name), filepath.Join(dir, "other")} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		Remove(path)
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	Remove(name)
	Remove("")
}
