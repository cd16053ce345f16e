package host

import "golang.org/x/sys/unix"

const (
	// niceness is what is added to the thread's: a third of the weight of others
	// (sched(7): each step is a tenth of the processor time).
	niceness = 5
	// ioPriority is the lowest of the best-effort class (ioprio_set(2)): served
	// after others, and always in the end.
	ioPriority = 2<<13 | 7
)

// lower sets the calling thread's priority: on Linux, who is 0.
func lower() {
	// getpriority(2) returns 20 - niceness.
	if raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, min(20-raw+niceness, 19)) // refused: as any other
	}
	const ioprioWhoProcess = 1 // means a thread
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoProcess, 0, ioPriority)
}
