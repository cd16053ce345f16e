package e2e_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// insideVariable tells a test process that it is in namespaces of its own.
const insideVariable = "CODERAG_TEST_INSIDE"

// inside reports whether the test is in user and mount namespaces of its own,
// where it may mount disks. Where it is not, the test is run again in such, by
// another process, and has nothing more to do.
func inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVariable) == t.Name() {
		return true
	}
	isolate := func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	probe := exec.Command("/bin/true")
	isolate(probe)
	if err := probe.Run(); err != nil {
		t.Skipf("the system grants no user namespace, so that no small disk can be mounted: %v", err)
	}
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), insideVariable+"="+t.Name())
	isolate(cmd)
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		t.Errorf("in namespaces of its own: %v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("in namespaces of its own:\n%s", out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Errorf("in namespaces of its own it was not run:\n%s", out)
	default:
		t.Logf("%s", out)
	}
	return false
}
