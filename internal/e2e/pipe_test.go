package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"coderag-ls/engine/text"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// A client that closes the server's output, and nothing else, ends the session:
// in order, with the index closed and kept, not by SIGPIPE.
func TestClientThatStopsReading(t *testing.T) {
	for _, stderr := range []bool{true, false} {
		t.Run(fmt.Sprintf("stderr %v", stderr), func(t *testing.T) {
			h := newHome(t)
			dir := workspace(t)
			out, w, err := os.Pipe()
			must(t, err)
			errs, errW, err := os.Pipe()
			must(t, err)
			ctx, cancel := context.WithTimeout(context.Background(), runLimit)
			defer cancel()
			cmd := h.command(ctx, "--config", h.config, "--log-level", "debug", "serve")
			in, err := cmd.StdinPipe()
			must(t, err)
			defer in.Close()
			cmd.Stdout, cmd.Stderr = w, errW
			must(t, cmd.Start())
			must(t, w.Close())
			must(t, errW.Close())
			said := make(chan string, 1)
			if stderr {
				go func() {
					all, _ := io.ReadAll(errs)
					said <- string(all)
				}()
			} else {
				must(t, errs.Close()) // what is logged cannot be written either
				said <- ""
			}

			send := func(method string, id int, params any) {
				t.Helper()
				p, err := json.Marshal(params)
				must(t, err)
				m := lsptest.Message{Version: "2.0", Method: method, Params: p}
				if id > 0 {
					m.ID = fmt.Append(nil, id)
				}
				content, err := json.Marshal(m)
				must(t, err)
				_, err = in.Write(lsptest.Frame(content))
				must(t, err)
			}
			send("initialize", 1, map[string]any{"capabilities": map[string]any{}, "rootUri": text.URIFromPath(dir)})
			send("initialized", 0, map[string]any{})
			send(lsp.MethodSync, 2, map[string]any{})
			awaitAnswer(t, out, 2)
			must(t, out.Close())
			send(lsp.MethodStatus, 3, nil) // its answer cannot be written
			err = cmd.Wait()
			if cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("the server ended with %v, want exit status 1", err)
			}
			checkStderr(t, <-said)
			errs.Close()

			kept, err := filepath.Glob(filepath.Join(h.cache, "*", "*", "postings", "*.part"))
			if err != nil || len(kept) == 0 {
				t.Errorf("the index was not closed: %v %v", kept, err)
			}
			if st := h.status(dir); st.Coverage.Indexed == 0 {
				t.Errorf("afterwards: %+v", st.Coverage)
			}
		})
	}
}

// awaitAnswer reads messages up to the answer to a request.
func awaitAnswer(t *testing.T, r io.Reader, id int) {
	t.Helper()
	in := bufio.NewReader(r)
	for {
		header, err := textproto.NewReader(in).ReadMIMEHeader()
		must(t, err)
		size, err := strconv.Atoi(header.Get("Content-Length"))
		must(t, err)
		content := make([]byte, size)
		_, err = io.ReadFull(in, content)
		must(t, err)
		var m lsptest.Message
		must(t, json.Unmarshal(content, &m))
		if m.Method == "" && string(m.ID) == strconv.Itoa(id) {
			if m.Error != nil {
				t.Fatal(m.Error)
			}
			return
		}
	}
}
