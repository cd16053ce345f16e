package watcher

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inNamespace makes a process the one that a test goes on in.
const inNamespace = "WATCHER_TEST_NAMESPACE"

// namespace runs the test again in a user namespace, where it may set the
// kernel's limits. It is true in there.
func namespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inNamespace) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	switch {
	case cmd.ProcessState == nil:
		t.Skipf("this system gives no user namespace: %v", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	}
	return false
}

func setLimit(t *testing.T, name string, n int) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/user/"+name, fmt.Append(nil, n), 0); err != nil {
		t.Skipf("the limit cannot be set: %v", err)
	}
}

// TestKernelRefusesWatches: inotify_add_watch says ENOSPC for real, then grants
// more.
func TestKernelRefusesWatches(t *testing.T) {
	if !namespace(t) {
		return
	}
	setLimit(t, "max_inotify_watches", 5)
	dir := t.TempDir()
	for i := range 12 {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("d%d/a.go", i)), "1")
	}
	var told seen
	b := watch(t, dir, func(o *Options) {
		o.MaxWatches, o.RetryInterval, o.Changed = 1000, 30*time.Millisecond, told.add
	})
	if s := b.w.Stats(); s.Watches != 5 || s.Polling != 7 || !strings.Contains(s.Notice, "fs.inotify.max_user_watches") {
		t.Errorf("%+v", s)
	}
	for i := range 12 {
		b.write(fmt.Sprintf("d%d/a.go", i), "22")
		b.until(fmt.Sprintf("d%d/a.go", i))
	}
	// Watches that become free are used.
	b.must(os.RemoveAll(b.path("d0")))
	b.must(os.RemoveAll(b.path("d1")))
	b.eventually("ten left", func(s Stats) bool { return s.Watches == 5 && s.Polling == 5 })
	setLimit(t, "max_inotify_watches", 100)
	b.eventually("all", func(s Stats) bool { return s.Watches == 10 && s.Polling == 0 && s.Notice == "" })
	if n := told.notices(); len(n) != 1 {
		t.Errorf("%d notices: %q", len(n), n)
	}
}

// TestKernelRefusesInstances: inotify_init1 says EMFILE for real.
func TestKernelRefusesInstances(t *testing.T) {
	if !namespace(t) {
		return
	}
	setLimit(t, "max_inotify_instances", 0)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "p/a.go"), "1")
	b := watch(t, dir, func(o *Options) { o.RetryInterval = 30 * time.Millisecond })
	if s := b.w.Stats(); s.Watches != 0 || s.Polling != 1 || !strings.Contains(s.Notice, "fs.inotify.max_user_instances") {
		t.Errorf("%+v", s)
	}
	b.write("p/a.go", "22")
	b.until("p/a.go")
	setLimit(t, "max_inotify_instances", 10)
	b.eventually("watched", func(s Stats) bool { return s.Watches == 1 && s.Polling == 0 && s.Notice == "" })
}

// TestLimitOfTheNamespace: a container's limit is known beforehand.
func TestLimitOfTheNamespace(t *testing.T) {
	if !namespace(t) {
		return
	}
	setLimit(t, "max_inotify_watches", 40)
	if n := systemLimit(); n != 30 {
		t.Errorf("%d of 40", n)
	}
}
