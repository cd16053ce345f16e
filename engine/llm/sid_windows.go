package llm

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// sidOf is whom an entry of an access list is about: the SID begins where the
// entry's last field is.
func sidOf(ace *windows.ACCESS_ALLOWED_ACE) *windows.SID {
	return (*windows.SID)(unsafe.Pointer(&ace.SidStart))
}
