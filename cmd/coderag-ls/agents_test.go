package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/engine/wire"
)

// TestSimilar: another place that does the same is found, by file and by lines.
func TestSimilar(t *testing.T) {
	c := newCLI(t)
	c.write("mail/retry.go", `package mail

import "time"

// RetryDelay grows exponentially with each failed attempt to send, up to a minute.
func RetryDelay(attempt int) time.Duration {
	delay := 200 * time.Millisecond << attempt
	return min(delay, time.Minute)
}
`)
	for _, arg := range []string{"ship/retry.go", "ship/retry.go:5-9", filepath.Join(c.dir, "ship", "retry.go") + ":6"} {
		r := decode[wire.SearchResult](t, c.run("similar", "--json", arg).out)
		if len(r.Hits) == 0 || r.Hits[0].Path != "mail/retry.go" {
			t.Errorf("%s: %+v", arg, r.Hits)
		}
	}
	c.run("similar", "-k", "1", "ship/retry.go").want(t, exitOK, "mail/retry.go:", "")
}

// TestContinue: a question refers to the one before, unless it begins anew.
func TestContinue(t *testing.T) {
	c := newCLI(t)
	c.run("ask", "what does RetryDelay do?").want(t, exitOK, "ship/retry.go:", "")
	c.run("ask", "--continue", "where is it defined?").want(t, exitOK, "ship/retry.go:", "")
	c.run("ask", "-c", "where is it defined?").want(t, exitOK, "ship/retry.go:", "")
	files, err := filepath.Glob(filepath.Join(c.cache, "*", "*", "HISTORY"))
	if more, _ := filepath.Glob(filepath.Join(c.cache, "*", "HISTORY")); err != nil || len(files)+len(more) != 1 {
		t.Fatalf("history in %q and %q, %v", files, more, err)
	} else {
		files = append(files, more...)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// What cannot be read is told, and costs nothing else.
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.run("ask", "-c", "what does TotalCents do?").want(t, exitOK, "cart/cart.go:", "HISTORY")
	c.run("clean").want(t, exitOK, "deleted 1 index", "")
	if _, err := os.Stat(files[0]); !os.IsNotExist(err) {
		t.Errorf("the history outlives its index: %v", err)
	}
}

// TestWatch: it tells what becomes of the index until it is interrupted.
func TestWatch(t *testing.T) {
	c := newCLI(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, stdout := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"--root", c.dir, "--quiet", "watch", "--json"}, strings.NewReader(""), stdout, io.Discard, c.env)
		stdout.Close()
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for written := false; lines.Scan(); {
		st := decode[wire.Status](t, lines.Text())
		if st.Coverage.Total == 4 && st.Watches > 0 && !written {
			written = true
			c.write("cart/voucher.go", "package cart\n\n// RedeemVoucher takes a discount code off the total.\nfunc RedeemVoucher(code string) {}\n")
		}
		if st.Coverage.Indexed >= 5 && written {
			break
		}
	}
	cancel()
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Error(err)
	}
	if got := <-code; got != exitInterrupted {
		t.Errorf("exit code %d", got)
	}
	c.run("search", "RedeemVoucher").want(t, exitOK, "cart/voucher.go:", "")
}
