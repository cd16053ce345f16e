package sharedcluster_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"coderag-ls/internal/sharedcluster"
)

// TestShiftClock shifts the clock of a small program and asks it.
func TestShiftClock(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("clocks are shifted on amd64 only")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	must(t, os.WriteFile(source, []byte(`package main

import (
	"fmt"
	"time"
)

func main() {
	began := time.Now()
	for time.Since(began) < time.Millisecond {
	}
	fmt.Print(time.Now().Unix())
}
`), 0o644))
	program := filepath.Join(dir, "program")
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, by := range []time.Duration{time.Hour, -36 * time.Hour} {
		shifted := program + "-shifted"
		must(t, sharedcluster.ShiftClock(program, shifted, by))
		out, err := exec.Command(shifted).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		says, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		must(t, err)
		if off := time.Until(time.Unix(says, 0)) - by; off < -time.Minute || off > time.Minute {
			t.Errorf("shifted by %s, it is off by %s more", by, off)
		}
	}
	if err := sharedcluster.ShiftClock(source, program, time.Hour); err == nil {
		t.Error("the clock of a text was shifted")
	}
}
