package bunt

import (
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// A log cannot tell that its end is missing, nor that it is an older one: what
// is left of it is in order. So what the log was when it was last made durable
// is noted beside it,
//
//	<bytes> <CRC-32C of them> <"closed" or "open"> <CRC-32C of the line so far>
//
// in hexadecimal. The mark is written after the log was synced and removed before
// the log is replaced, so that it never promises too much; where it is not
// there, or damaged, nothing is concluded.
const markFile = dbFile + ".mark"

// mark is what a log was.
type mark struct {
	size int64
	sum  uint32 // of the first size bytes
	// closed: nothing was written since.
	closed bool
}

func (m mark) String() string {
	state := "open"
	if m.closed {
		state = "closed"
	}
	line := fmt.Sprintf("%016x %08x %s", m.size, m.sum, state)
	return fmt.Sprintf("%s %08x\n", line, checksum([]byte(line)))
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// readMark reads the mark of a directory. there is true where one was made,
// whole where it can be relied on.
func (s *Store) readMark() (m mark, there, whole bool) {
	b, err := os.ReadFile(s.path(markFile))
	if err != nil {
		return mark{}, false, false
	}
	var state string
	var sum uint32
	if _, err := fmt.Sscanf(string(b), "%x %x %s %x\n", &m.size, &m.sum, &state, &sum); err != nil {
		return mark{}, true, false
	}
	m.closed = state == "closed"
	return m, true, m.String() == string(b)
}

// writeMark notes what the log is, of which size bytes are durable. What cannot
// be noted is better not there.
func (s *Store) writeMark(size int64, closed bool) {
	s.marking.Lock()
	defer s.marking.Unlock()
	sum, err := s.sumTo(size)
	if err == nil {
		err = os.WriteFile(s.path(markFile), []byte(mark{size, sum, closed}.String()), fileMode)
	}
	if err != nil {
		os.Remove(s.path(markFile))
	}
}

// sumTo returns the checksum of the log's first bytes. Those that were summed
// before are not read again. The caller holds marking.
func (s *Store) sumTo(size int64) (uint32, error) {
	if size < s.summed {
		s.summed, s.sum = 0, 0
	}
	f, err := os.Open(s.path(dbFile))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := &summer{limit: size, at: s.summed, sum: s.sum}
	n, err := io.Copy(w, io.NewSectionReader(f, s.summed, size-s.summed))
	if err == nil && s.summed+n < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return 0, err
	}
	s.summed, s.sum = size, w.sum
	return w.sum, nil
}

// forgetSum says that the log is another one.
func (s *Store) forgetSum() {
	s.marking.Lock()
	defer s.marking.Unlock()
	s.summed, s.sum = 0, 0
}

// summer sums what is written to it up to a limit.
type summer struct {
	limit, at int64
	sum       uint32
}

// Write implements io.Writer.
func (w *summer) Write(p []byte) (int, error) {
	if left := w.limit - w.at; left > 0 {
		b := p[:min(int64(len(p)), left)]
		w.sum = crc32.Update(w.sum, crc32.MakeTable(crc32.Castagnoli), b)
	}
	w.at += int64(len(p))
	return len(p), nil
}

// missing is what users are told of a log that is not what was marked.
const missing = "what is missing of it is indexed again"

// changed is said of a log that holds together and is not what was marked:
// somebody put an older one back, or a record that seems to be replaced was
// another's.
const changed = "The index was damaged or replaced since it was written last, though it holds together; " + missing + "."

// compare says what became of the log since it was marked; "" where it begins
// as it was, or where its damage is told of by itself.
func (m mark) compare(v verdict) string {
	switch {
	case v.damaged:
		return ""
	case v.sound < m.size:
		return fmt.Sprintf("The index was cut short: %d of %d bytes are left; %s.", v.sound, m.size, missing)
	case v.prefix != m.sum:
		return changed
	}
	return ""
}
