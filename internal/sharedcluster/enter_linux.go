package sharedcluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideVariable tells a process that it was started by [Enter].
const insideVariable = "CODERAG_SHARED_INSIDE"

// Enter runs this process's program again, with the same arguments, in
// namespaces of its own: a network, where nothing but a loopback is, and
// processes, all of which the kernel ends with the first of them. It returns
// inside = true in there, with the namespaces ready; outside it returns the
// exit status of the process inside. As a user without rights it
// needs user namespaces. Call it on the main goroutine before anything is
// started.
func Enter() (code int, inside bool, err error) {
	if os.Getenv(insideVariable) != "" {
		return 0, true, prepare()
	}
	exe, err := os.Executable()
	if err != nil {
		return 1, false, fmt.Errorf("finding this program: %w", err)
	}
	// A parent's death is that of the thread that started the child.
	runtime.LockOSThread()
	probe := exec.Command("/bin/true")
	isolate(probe)
	if err := probe.Run(); err != nil {
		return 1, false, fmt.Errorf("the system grants no network namespace of one's own (be root, or allow user namespaces): %w", err)
	}
	for _, tool := range []string{"ip"} {
		if _, err := exec.LookPath(tool); err != nil {
			return 1, false, fmt.Errorf("iproute2 is not installed: %w", err)
		}
	}
	cmd := exec.Command(exe, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	isolate(cmd)
	if err := cmd.Start(); err != nil {
		return 1, false, fmt.Errorf("starting in namespaces: %w", err)
	}
	// A terminal tells the child too; others tell this process only.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case s := <-signals:
				_ = cmd.Process.Signal(s)
			case <-ended:
				return
			}
		}
	}()
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 1, false, fmt.Errorf("waiting for the process in namespaces: %w", err)
	}
	if code = cmd.ProcessState.ExitCode(); code < 0 {
		return 1, false, fmt.Errorf("the process in namespaces: %w", err)
	}
	return code, false, nil
}

func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
		Pdeathsig:  syscall.SIGKILL,
	}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
}

// prepare makes the namespaces usable.
func prepare() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting the namespace's /proc: %w", err)
	}
	return ip("link", "set", "lo", "up")
}

// Main is a TestMain's body for tests of a cluster: it runs them in namespaces
// of their own ([Enter]) and returns the exit status. Without an engine
// ([Engine]) or a namespace they run where they are, and must ask
// [Available].
func Main(run func() int) int {
	if _, err := Engine(); err != nil {
		return run()
	}
	code, inside, err := Enter()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "sharedcluster:", err)
		if os.Getenv(requiredVariable) != "" {
			return 1
		}
		return run()
	case inside:
		return run()
	}
	return code
}

// Available says why no cluster can be started in this process, nil where one can.
func Available() error {
	if _, err := Engine(); err != nil {
		return err
	}
	if os.Getenv(insideVariable) == "" {
		return errors.New("the tests are in no network namespace of their own")
	}
	return nil
}

const (
	// EngineVariable names the engine's program (scripts/shared-engine.sh).
	EngineVariable = "CODERAG_SHARED_ENGINE"
	// requiredVariable makes the lack of an engine or of a namespace an error.
	requiredVariable = "CODERAG_SHARED_REQUIRED"
)

// Engine returns the path of the engine's program.
func Engine() (string, error) {
	path := os.Getenv(EngineVariable)
	if path == "" {
		return "", errors.New(EngineVariable + " is not set (make test-shared installs the engine)")
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the engine of %s: %w", EngineVariable, err)
	}
	return path, nil
}
