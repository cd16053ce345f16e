package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// user is somebody to whom file modes mean something: root reads everything.
type user struct{ id uint32 }

// nobody is the user of the tests where that is not root, else one without any
// rights. The folders are made theirs.
func nobody(tb testing.TB, folders ...string) *user {
	tb.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u := &user{65534}
	for _, dir := range folders {
		must(tb, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, int(u.id), int(u.id))
		}))
		// They must get there.
		for up := filepath.Dir(dir); strings.HasPrefix(up, os.TempDir()+"/"); up = filepath.Dir(up) {
			must(tb, os.Chmod(up, 0o755))
		}
	}
	cmd := exec.Command("/bin/true")
	u.apply(cmd)
	if err := cmd.Run(); err != nil {
		tb.Skipf("no program can be run as another user, and modes mean nothing to root: %v", err)
	}
	return u
}

// apply makes a command the user's.
func (u *user) apply(cmd *exec.Cmd) {
	if u != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.id, Gid: u.id}}
	}
}
