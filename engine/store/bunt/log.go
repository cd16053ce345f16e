package bunt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// buntdb's file is a log of commands in the Redis protocol:
//
//	*3 $3 set $<len> key $<len> value      *2 $3 del $<len> key
//
// (each part ended by CR LF). buntdb itself trusts the lengths it reads, skips NUL
// bytes and then writes at the wrong place, and has no checksums. So the log is
// checked here before buntdb reads it, which costs a sequential read.

// command is one command of the log; key and value are valid until the next.
type command struct {
	del        bool
	key, value []byte
}

// Errors of a log. errTorn: the file ends within a command, as a crash leaves it.
var (
	errTorn    = errors.New("the file ends within a record")
	errDamaged = errors.New("no record where one should be")
)

// logReader reads commands one after the other.
type logReader struct {
	r    *bufio.Reader
	left int64 // bytes that are not read
	buf  []byte
}

func newLogReader(r io.Reader, size int64) *logReader {
	return &logReader{r: bufio.NewReaderSize(r, 1<<16), left: size}
}

// logOf reads the commands in b.
func logOf(b []byte) *logReader {
	return &logReader{r: bufio.NewReaderSize(bytes.NewReader(b), 64), left: int64(len(b))}
}

// next reads a command: io.EOF at the end of the log, errTorn, errDamaged, or
// what reading the file said.
func (l *logReader) next(c *command) error {
	if l.left == 0 {
		return io.EOF
	}
	parts, err := l.number('*')
	if err != nil {
		return err
	}
	if parts != 2 && parts != 3 {
		return errDamaged
	}
	l.buf = l.buf[:0]
	var ends [3]int
	for i := range parts {
		n, err := l.number('$')
		if err != nil {
			return err
		}
		if i == 0 && n != 3 {
			return errDamaged
		}
		if n+2 > l.left {
			return errTorn
		}
		at := len(l.buf)
		l.buf = append(l.buf, make([]byte, n+2)...)
		if _, err := io.ReadFull(l.r, l.buf[at:]); err != nil {
			return err
		}
		l.left -= n + 2
		if string(l.buf[at+int(n):]) != "\r\n" {
			return errDamaged
		}
		l.buf = l.buf[:at+int(n)]
		ends[i] = len(l.buf)
	}
	switch name := string(l.buf[:3]); {
	case name == "set" && parts == 3:
		*c = command{key: l.buf[3:ends[1]], value: l.buf[ends[1]:ends[2]]}
	case name == "del" && parts == 2:
		*c = command{del: true, key: l.buf[3:ends[1]]}
	default:
		return errDamaged
	}
	return nil
}

// number reads a line of a mark and a number.
func (l *logReader) number(mark byte) (int64, error) {
	const longest = 1 + 12 + 2 // no record has a terabyte
	line, err := l.r.Peek(int(min(longest, l.left)))
	if err != nil && err != io.EOF {
		return 0, err
	}
	if len(line) > 0 && line[0] != mark {
		return 0, errDamaged
	}
	i := 1
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	switch {
	case i >= len(line) || i+1 == len(line) && line[i] == '\r':
		if int64(len(line)) == l.left {
			return 0, errTorn
		}
		return 0, errDamaged
	case i == 1 || line[i] != '\r' || line[i+1] != '\n':
		return 0, errDamaged
	}
	n, err := strconv.ParseInt(string(line[1:i]), 10, 64)
	if err != nil {
		return 0, errDamaged
	}
	l.left -= int64(i + 2)
	_, err = l.r.Discard(i + 2)
	return n, err
}

// verdict is the state of a log.
type verdict struct {
	size    int64
	sound   int64 // bytes up to which all commands are in order
	torn    bool  // what follows is the beginning of one more command
	damaged bool  // what follows is something else
	// badSums counts set commands within the sound part whose value's checksum fails.
	badSums int
	// meta is the value of the first command, "" where that is not the meta record.
	meta string
	// prefix is the checksum of as many bytes as were asked for. It is not
	// complete where the log is damaged or shorter.
	prefix uint32
}

// inspect checks a log and sums its first bytes up to a limit.
func inspect(path string, limit int64) (v verdict, err error) {
	f, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return v, err
	}
	v.size = fi.Size()
	prefix := &summer{limit: limit}
	l := newLogReader(io.TeeReader(f, prefix), v.size)
	var c command
	for first := true; ; first = false {
		switch err := l.next(&c); err {
		case nil:
		case io.EOF:
			v.prefix = prefix.sum
			return v, nil
		case errTorn:
			v.torn, v.prefix = true, prefix.sum
			return v, v.refute(path)
		case errDamaged:
			v.damaged = true
			return v, nil
		default:
			return v, fmt.Errorf("reading %s: %w", path, err)
		}
		v.sound = v.size - l.left
		if c.del {
			continue
		}
		if !sound(text(c.key), text(c.value)) {
			v.badSums++
		} else if first && string(c.key) == metaKey {
			v.meta = string(c.value[sumSize:])
		}
	}
}

// followed reports whether a whole record stands behind the sound part.
func (v *verdict) followed(path string) (bool, error) {
	rest, err := readFrom(path, v.sound)
	if err != nil {
		return false, err
	}
	at, _ := resync(rest, 1)
	return at >= 0, nil
}

// refute looks whether a torn end is a flipped length in the middle: then
// whole records follow.
func (v *verdict) refute(path string) error {
	more, err := v.followed(path)
	if more {
		v.torn, v.damaged = false, true
	}
	return err
}

func readFrom(path string, offset int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return b, nil
}

// resync finds the next whole set command with a sound checksum at or after
// from, and where it ends; -1 where there is none.
func resync(b []byte, from int) (at, end int) {
	begin := []byte("*3\r\n$3\r\nset\r\n")
	for from < len(b) {
		i := bytes.Index(b[from:], begin)
		if i < 0 {
			break
		}
		from += i
		l := logOf(b[from:])
		var c command
		if l.next(&c) == nil && sound(text(c.key), text(c.value)) {
			return from, len(b) - int(l.left)
		}
		from++
	}
	return -1, -1
}

// salvage copies the records of a damaged or outdated log that are in order and that keep
// wants to a new log at to, with a fresh meta record in front, and returns how
// many there were. Values that a damaged command replaced may come back: the
// owner compares them with the files anyway.
func (s *Store) salvage(from, to string, keep func(key string) bool) (records int, err error) {
	b, err := readFrom(from, 0)
	if err != nil {
		return 0, err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	w.Write(appendSet(nil, metaKey, metaValue()))
	for at := 0; at < len(b); {
		l := logOf(b[at:])
		var c command
		for {
			end := len(b) - int(l.left)
			if l.next(&c) != nil {
				at = end
				break
			}
			key := string(c.key)
			switch {
			case key == metaKey || !keep(key):
			case c.del:
				w.Write(b[end : len(b)-int(l.left)])
			case sound(key, text(c.value)):
				records++
				w.Write(b[end : len(b)-int(l.left)])
			}
		}
		next, _ := resync(b, at+1)
		if next < 0 {
			break
		}
		at = next
	}
	if err := w.Flush(); err != nil { // keeps the first error of all writes
		return 0, err
	}
	if err := s.opts.Fsync(f); err != nil {
		return 0, err
	}
	return records, f.Close()
}

// appendSet appends a set command as buntdb writes it.
func appendSet(b []byte, key, value string) []byte {
	return fmt.Appendf(b, "*3\r\n$3\r\nset\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(key), key, len(value), value)
}
