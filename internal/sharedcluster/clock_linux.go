package sharedcluster

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"
)

// The end of Go's time.now on amd64 (runtime/time_linux_amd64.s): the seconds of the wall
// clock are in AX, and behind the return stands what is run without a vDSO only.
var clockTail = []byte{
	0x48, 0x89, 0xfb, // MOVQ DI, BX
	0x48, 0x01, 0xd1, // ADDQ DX, CX
	0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3, // ADDQ $16, SP; POPQ BP; RET
	0x48, 0xc7, 0xc0, 0xe4, 0x00, 0x00, 0x00, 0x0f, 0x05, // MOVQ $SYS_clock_gettime, AX; SYSCALL
	0xbf, 0x01, 0x00, 0x00, 0x00, // MOVL $CLOCK_MONOTONIC, DI
}

// ShiftClock writes a copy of a Go program, for Linux on amd64, whose wall clock is off by
// so much (whole seconds, under 68 years); its monotonic clock is as it was. Programs in Go ask the
// kernel without libc, so that nothing can be put between by the loader.
func ShiftClock(from, to string, by time.Duration) error {
	seconds := int64(by / time.Second)
	if runtime.GOARCH != "amd64" || seconds < math.MinInt32 || seconds > math.MaxInt32 {
		return fmt.Errorf("shifting the clock of %s by %s: only amd64, only 68 years", from, by)
	}
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	at := bytes.Index(program, clockTail)
	if at < 0 || bytes.Contains(program[at+1:], clockTail) {
		return fmt.Errorf("shifting the clock of %s: its time.now is not the one that is known", from)
	}
	// From the two instructions before the return to behind it, where they are done, and
	// the seconds are added.
	copy(program[at:], []byte{0xeb, 10}) // JMP
	with := append([]byte{0x48, 0x89, 0xfb, 0x48, 0x01, 0xd1, 0x48, 0x05}, binary.LittleEndian.AppendUint32(nil, uint32(int32(seconds)))...)
	copy(program[at+12:], append(with, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3))
	return os.WriteFile(to, program, 0o755)
}
