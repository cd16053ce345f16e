package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// traceEvery is how often, in ms, the runtime of a process that is watched
// lists its goroutines on standard error.
const traceEvery = 10_000

// traced is the value of GODEBUG that has it do so: the program itself needs to
// know nothing of being watched.
func traced() string { return fmt.Sprintf("schedtrace=%d,scheddetail=1", traceEvery) }

// stderr takes what a process writes: the newest count of goroutines, and
// whatever is not the runtime's list.
type stderr struct {
	mu         sync.Mutex // guards all
	partial    []byte
	counting   int
	goroutines int // 0 before the first list
	said       bytes.Buffer
}

// Write implements io.Writer.
func (s *stderr) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partial = append(s.partial, p...)
	for {
		line, rest, ok := bytes.Cut(s.partial, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		s.line(string(line))
		s.partial = bytes.Clone(rest)
	}
}

func (s *stderr) line(line string) {
	switch {
	case strings.HasPrefix(line, "SCHED "):
		if s.counting > 0 {
			s.goroutines = s.counting
		}
		s.counting = 0
	case strings.HasPrefix(line, "  G"):
		// Dead ones wait to be used again.
		if !strings.Contains(line, "status=6") {
			s.counting++
		}
	case strings.HasPrefix(line, "  P"), strings.HasPrefix(line, "  M"):
	default:
		if s.said.Len() < 1<<20 {
			fmt.Fprintln(&s.said, line)
		}
	}
}

// count is the newest count of goroutines.
func (s *stderr) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.goroutines
}

// fell is what a process said that fell over, "" where it did not.
func (s *stderr) fell() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	said := s.said.String()
	for _, mark := range []string{"panic:", "fatal error:", "SIGSEGV"} {
		if at := strings.Index(said, mark); at >= 0 {
			return said[at:min(len(said), at+4000)]
		}
	}
	return ""
}

// sample is the state of a process.
type sample struct {
	rss        int64 // bytes
	anonymous  int64 // of them, without what is mapped from files
	files      int   // descriptors
	goroutines int
}

var memoryLine = regexp.MustCompile(`(?m)^(VmRSS|RssAnon):\s+(\d+) kB`)

// look takes a sample of a process.
func look(pid int, from *stderr) (sample, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return sample{}, fmt.Errorf("only Linux tells what a process uses: %w", err)
	}
	s := sample{goroutines: from.count()}
	for _, m := range memoryLine.FindAllSubmatch(status, -1) {
		n, err := strconv.ParseInt(string(m[2]), 10, 64)
		if err != nil {
			return sample{}, err
		}
		if string(m[1]) == "VmRSS" {
			s.rss = n << 10
		} else {
			s.anonymous = n << 10
		}
	}
	fds, err := os.ReadDir(filepath.Join(dir, "fd"))
	s.files = len(fds)
	return s, err
}
