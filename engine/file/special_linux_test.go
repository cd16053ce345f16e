package file_test

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"coderag-ls/engine/file"
)

func TestFIFOsSocketsAndDevicesAreNotOpened(t *testing.T) {
	dir := tree(t, map[string]string{"a.go": "x"})
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo.go"), 0o644))
	want := map[string]file.SkipReason{"a.go": "", "fifo.go": file.SkipNotRegular, ".env": file.SkipSecret}
	must(t, syscall.Mkfifo(filepath.Join(dir, ".env"), 0o644))
	// A FIFO by an ignore file's name would block whoever opens it.
	must(t, syscall.Mkfifo(filepath.Join(dir, ".gitignore"), 0o644))
	want[".gitignore"] = file.SkipNotRegular
	// A socket's path is short: beside the long names of temporary directories.
	if short, err := os.MkdirTemp("", "s"); err == nil {
		defer os.RemoveAll(short)
		if l, err := net.Listen("unix", filepath.Join(short, "s")); err == nil {
			defer l.Close()
			must(t, os.Rename(filepath.Join(short, "s"), filepath.Join(dir, "socket.go")))
			want["socket.go"] = file.SkipNotRegular
		}
	}
	checkSkips(t, scan(t, dir, file.Options{}), want)
	for path := range want {
		if path == "a.go" {
			continue
		}
		_, err := file.Read(filepath.Join(dir, path), 0)
		var skip *file.SkipError
		if !errors.As(err, &skip) || skip.Reason != file.SkipNotRegular || skip.Detail == "" {
			t.Errorf("Read(%s) = %v", path, err)
		}
	}
	if _, err := file.Read("/dev/zero", 0); err == nil {
		t.Error("/dev/zero was read")
	}
}

// asNobody runs f without the rights of the super-user, who may read anything.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		must(t, syscall.Setresuid(-1, 65534, -1))
		defer func() { must(t, syscall.Setresuid(-1, 0, -1)) }()
	}
	f()
}

func TestUnreadable(t *testing.T) {
	dir := tree(t, map[string]string{"a.go": "x", "closed/b.go": "x", "closed/deep/c.go": "x", "locked.go": "x", "open/d.go": "x", "open/.gitignore": "d.go\n", ".ignore": "a.go\n"})
	for up := dir; up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
		must(t, os.Chmod(up, 0o755))
	}
	for _, p := range []string{"closed", "locked.go", "open/.gitignore", ".ignore"} {
		must(t, os.Chmod(filepath.Join(dir, p), 0))
	}
	t.Cleanup(func() { must(t, os.Chmod(filepath.Join(dir, "closed"), 0o755)) })
	asNobody(t, func() {
		l := scan(t, dir, file.Options{})
		checkSkips(t, l, map[string]file.SkipReason{"a.go": "", "locked.go": "", "closed/b.go": file.SkipUnreadable, "open/d.go": ""})
		if !slices.Equal(l.Unreadable, []string{"closed"}) {
			t.Errorf("unreadable directories %q", l.Unreadable)
		}
		for path, want := range map[string]bool{"closed/deep/c.go": true, "closed/b.go": true, "closed.go": false, "a.go": false} {
			if l.UnderUnreadable(path) != want {
				t.Errorf("UnderUnreadable(%s) = %v", path, !want)
			}
		}
		// An ignore file that cannot be read is not passed over in silence.
		for _, p := range []string{"open/.gitignore", ".ignore"} {
			if !slices.ContainsFunc(l.Skips, func(s file.Skip) bool { return s.Path == p && s.Reason == file.SkipUnreadable && s.Detail != "" }) {
				t.Errorf("skips %+v say nothing of %s", l.Skips, p)
			}
		}
		for _, p := range []string{"locked.go", "closed/b.go"} {
			c, err := file.Read(filepath.Join(dir, p), 0)
			var skip *file.SkipError
			if !errors.As(err, &skip) || skip.Reason != file.SkipUnreadable || !errors.Is(err, fs.ErrPermission) {
				t.Errorf("Read(%s) = %v: unreadable is not gone", p, err)
			}
			if p == "locked.go" && c.Size != 1 {
				t.Errorf("size %d of an unreadable file", c.Size)
			}
		}
	})
}

// TestReadOfAFileThatChanges swaps files for FIFOs and symlinks all the time:
// a read gives a text, a skip or nothing, and always comes back.
func TestReadOfAFileThatChanges(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.go")
	must(t, os.WriteFile(outside, []byte("outside"), 0o644))
	dir := t.TempDir()
	path, next := filepath.Join(dir, "a.go"), filepath.Join(dir, "next")
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		done <- func() error {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return nil
				default:
				}
				var err error
				switch i % 4 {
				case 0:
					err = os.WriteFile(next, []byte("inside"), 0o644)
				case 1:
					err = syscall.Mkfifo(next, 0o644)
				case 2:
					err = os.Symlink(outside, next)
				case 3:
					err = os.Remove(path)
					if err == nil {
						continue
					}
				}
				if err == nil {
					err = os.Rename(next, path)
				}
				if err != nil {
					return err
				}
			}
		}()
	}()
	for range 5000 {
		c, err := file.Read(path, 0)
		var skip *file.SkipError
		switch {
		case err == nil && c.Text != "inside":
			t.Fatalf("read %q", c.Text)
		case err != nil && !errors.As(err, &skip) && !errors.Is(err, fs.ErrNotExist):
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-done; err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
}
