package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"coderag-ls/engine/llm/llmtest"
)

// terminalPair is a pseudo-terminal: what the program writes to the one end is
// read from the other.
func terminalPair(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("needs a pseudo-terminal: ", err)
	}
	t.Cleanup(func() { screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 90}); err != nil {
		t.Fatal(err)
	}
	return screen, tty
}

// reading collects what a terminal shows.
type reading struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{}
	done chan struct{}
}

func readAll(f io.Reader) *reading {
	r := &reading{more: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		buf := make([]byte, 4096)
		for {
			n, err := f.Read(buf)
			r.mu.Lock()
			r.text.Write(buf[:n])
			r.mu.Unlock()
			select {
			case r.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return r
}

func (r *reading) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.ReplaceAll(r.text.String(), "\r", "")
}

// await returns when a text was shown, or false after a minute.
func (r *reading) await(text string) bool {
	for limit := time.After(time.Minute); ; {
		if strings.Contains(r.String(), text) {
			return true
		}
		select {
		case <-r.more:
		case <-limit:
			return false
		}
	}
}

// TestAskStreams: a terminal shows a model's answer while it is written, and in
// the end what it shows without a stream; a pipe and --json get it whole.
func TestAskStreams(t *testing.T) {
	// A sentence is shown when it is complete: only then can it be checked.
	const begin, rest = "The cart adds up `item.Cents * item.Count` in `TotalCents` [1].\n\nThat is ", "all there is to it.\n"
	release := make(chan struct{})
	model := llmtest.New(func(w *llmtest.Writer, _ llmtest.Request) {
		w.Text(begin)
		<-release
		w.Answer(rest, 5)
	})
	defer model.Close()
	c := newCLI(t)
	c.env = append(c.env, "CODERAG_LLM_BASE_URL="+model.BaseURL(), "CODERAG_LLM_MODEL=test-model", "CODERAG_LLM_ROUTER=off", "TERM=xterm")
	const question = "how are the cents of a cart added up?"

	screen, tty := terminalPair(t)
	shown := readAll(screen)
	code := make(chan int, 1)
	var errs strings.Builder
	go func() {
		code <- run(context.WithoutCancel(t.Context()), []string{"--root", c.dir, "ask", "--color", "never", question}, strings.NewReader(""), tty, &errs, c.env)
	}()
	if !shown.await("The cart adds up") {
		t.Errorf("nothing is shown while the model writes: %q", shown)
	}
	if strings.Contains(shown.String(), "all there is") {
		t.Error("the model was not waiting")
	}
	close(release)
	if got := <-code; got != exitOK {
		t.Fatalf("exit code %d: %s", got, errs.String())
	}
	tty.Close()
	<-shown.done

	piped := c.run("ask", question)
	piped.want(t, exitOK, "all there is to it", "")
	answer := func(s string) string { // without how long it took
		return s[:strings.LastIndex(strings.TrimRight(s, "\n"), "\n")]
	}
	if got := shown.String(); answer(got) != answer(piped.out) || strings.Count(got, "The cart adds up") != 1 {
		t.Errorf("the terminal shows\n%s\nthe pipe got\n%s", got, piped.out)
	}
	c.run("ask", "--json", question).want(t, exitOK, `"answer"`, "")
}
