package memory

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// processMemoryCounters is Windows' PROCESS_MEMORY_COUNTERS.
type processMemoryCounters struct {
	size                                               uint32
	pageFaultCount                                     uint32
	peakWorkingSetSize, workingSetSize                 uintptr
	quotaPeakPagedPoolUsage, quotaPagedPoolUsage       uintptr
	quotaPeakNonPagedPoolUsage, quotaNonPagedPoolUsage uintptr
	pagefileUsage, peakPagefileUsage                   uintptr
}

// Resident is the process's working set in bytes.
func Resident() int64 {
	var c processMemoryCounters
	c.size = uint32(unsafe.Sizeof(c))
	get := windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")
	if get.Find() != nil {
		return held()
	}
	if ok, _, _ := get.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&c)), uintptr(c.size)); ok == 0 {
		return held()
	}
	return int64(c.workingSetSize)
}

// memoryStatus is Windows' MEMORYSTATUSEX.
type memoryStatus struct {
	length, load                              uint32
	totalPhys, availPhys                      uint64
	totalPageFile, availPageFile              uint64
	totalVirtual, availVirtual, availExtended uint64
}

func machine() int64 {
	var m memoryStatus
	m.length = uint32(unsafe.Sizeof(m))
	get := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if get.Find() != nil {
		return 0
	}
	if ok, _, _ := get.Call(uintptr(unsafe.Pointer(&m))); ok == 0 {
		return 0
	}
	return int64(m.totalPhys)
}

func granted() int64 { return 0 }
