package host

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// throttling is Windows' THREAD_POWER_THROTTLING_STATE.
type throttling struct{ version, controlMask, stateMask uint32 }

// lower has the calling thread run on the efficient cores and at the efficient
// clock where there are such (EcoQoS). Priorities below normal, background mode
// among them, are not served at all while others are busy: see InBackground.
func lower() {
	const (
		threadPowerThrottling = 3
		executionSpeed        = 1
	)
	set := windows.NewLazySystemDLL("kernel32.dll").NewProc("SetThreadInformation")
	if set.Find() != nil {
		return // before Windows 8
	}
	t := throttling{version: 1, controlMask: executionSpeed, stateMask: executionSpeed}
	_, _, _ = set.Call(uintptr(windows.CurrentThread()), threadPowerThrottling, uintptr(unsafe.Pointer(&t)), unsafe.Sizeof(t))
}
