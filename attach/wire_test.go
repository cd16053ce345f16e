package attach

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/attach/socket"
	"coderag-ls/engine"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
	"coderag-ls/internal/jsonrpc"
)

// frame is a message as it goes over the socket.
func frame(content string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(content), content)
}

// owning opens a workspace and returns where it listens.
func owning(t *testing.T, d *desk, change func(*Options)) (v *View, o Options, address string) {
	t.Helper()
	dir := d.folder("zoo", "Quokka")
	o = d.options(dir)
	if change != nil {
		change(&o)
	}
	_, v = d.open(o)
	r, ok := Who(statusOf(t, v).Roots[0].Index)
	if !ok {
		t.Fatal("no record")
	}
	return v, o.withDefaults(), r.Address
}

// answer reads one message.
func answer(t *testing.T, in *bufio.Reader) (m struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *jsonrpc.ResponseError
}) {
	t.Helper()
	header, err := textproto.NewReader(in).ReadMIMEHeader()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, n)
	if _, err := io.ReadFull(in, content); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestHandshake: nothing is told before both sides have said who they are.
func TestHandshake(t *testing.T) {
	d := newDesk(t)
	v, o, address := owning(t, d, nil)
	hello := func(change func(*helloParams)) string {
		p := helloParams{o.version(), foldersOf(o.Roots), settingsOf(o.Settings)}
		change(&p)
		params, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, methodHello, params)
	}
	nothing := func(*helloParams) {}
	for _, tt := range []struct {
		name, sends string
		code        jsonrpc.Code // 0: it is let in
		says        []string
	}{
		{"right", hello(nothing), 0, nil},
		{"another protocol", hello(func(p *helloParams) { p.Protocol, p.Program = 1, "7.7" }), codeMismatch, []string{"1.2.3 (protocol 2,", "7.7 (protocol 1,"}},
		{"another schema", hello(func(p *helloParams) { p.Schema = 77 }), codeMismatch, []string{"schema 77"}},
		{"other folders", hello(func(p *helloParams) { p.Roots = []folder{{"", "/elsewhere"}} }), codeRoots, nil},
		{"no parameters", `{"jsonrpc":"2.0","id":1,"method":"attach/hello"}`, codeMismatch, nil},
		{"parameters of another kind", `{"jsonrpc":"2.0","id":1,"method":"attach/hello","params":[7]}`, jsonrpc.InvalidRequest, nil},
		{"a question first", `{"jsonrpc":"2.0","id":1,"method":"view/search","params":{"view":1,"params":{"query":"x"}}}`, jsonrpc.ServerNotInitialized, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := socket.Dial(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, frame(tt.sends)+frame(`{"jsonrpc":"2.0","id":2,"method":"attach/openView"}`)); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(c)
			first, second := answer(t, in), answer(t, in)
			if tt.code == 0 {
				if first.Error != nil || second.Error != nil {
					t.Errorf("refused: %v, %v", first.Error, second.Error)
				}
				return
			}
			if first.Error == nil || jsonrpc.Code(first.Error.Code) != tt.code || second.Error == nil {
				t.Errorf("answered %s %v, then %s %v", first.Result, first.Error, second.Result, second.Error)
				return
			}
			for _, text := range tt.says {
				if !strings.Contains(first.Error.Message, text) {
					t.Errorf("%q does not say %q", first.Error.Message, text)
				}
			}
		})
	}
	wantFinds(t, v, "Quokka")
}

// TestSilentStranger: a connection on which nothing is said ends.
func TestSilentStranger(t *testing.T) {
	d := newDesk(t)
	v, _, address := owning(t, d, func(o *Options) { o.Hello = 20 * time.Millisecond })
	c, err := socket.Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read %d bytes, %v", n, err)
	}
	wantFinds(t, v, "Quokka")
}

// TestGarbage: whatever is sent to the socket, the owner goes on.
func TestGarbage(t *testing.T) {
	d := newDesk(t)
	v, _, address := owning(t, d, nil)
	for _, sends := range []string{
		"", "\x00\x00\x00", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", strings.Repeat("x", 1<<17),
		"Content-Length: 999999999999999999\r\n\r\n", "Content-Length: 10\r\n\r\n{", frame("{"), frame("[]"), frame("null"),
		frame(`{"jsonrpc":"2.0","method":"view/apply","params":7}`), frame(`{"jsonrpc":"2.0","id":1,"result":{}}`),
	} {
		c, err := socket.Dial(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, sends) // it may be closed already
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	wantFinds(t, v, "Quokka")
	await(t, "forgetting the strangers", func() bool { return statusOf(t, v).OwnedBy.Clients == 0 })
}

// FuzzHello: nobody gets in but who says what the owner would say, and no
// message breaks the handshake.
func FuzzHello(f *testing.F) {
	o := Options{Options: engine.Options{Version: "1", Roots: []file.Root{{Name: "a", Dir: "/a"}}}}.withDefaults()
	good, err := json.Marshal(helloParams{o.version(), foldersOf(o.Roots), settingsOf(o.Settings)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"protocol":1,"schema":1,"roots":null}`))
	f.Add([]byte(`{"protocol":"1"}`))
	f.Add([]byte(`{"protocol":1e99,"roots":[{"dir":"/a"}]}`))
	f.Add([]byte("\xff\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		own := &owner{opts: o, roots: o.Roots, log: o.Logger, sessions: map[*session]bool{}}
		s := &session{o: own, news: newNews(), views: map[int64]*engine.View{}}
		_, err := s.hello(data)
		var p helloParams
		right := json.Unmarshal(data, &p) == nil && p.fits(o.version()) && slices.Equal(p.Roots, foldersOf(o.Roots))
		if (err == nil) != right || s.greeted() != right {
			t.Errorf("%q: %v, let in: %v", data, err, s.greeted())
		}
	})
}

// FuzzWho: no file in an index directory breaks those who read it.
func FuzzWho(f *testing.F) {
	f.Add([]byte(`{"protocol":1,"pid":7,"address":"/a/socket","roots":[{"dir":"/a"}]}`))
	f.Add([]byte(`{"pid":-1,"address":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		write(t, recordPath(dir), string(data))
		r, ok := Who(dir)
		if ok && (r.Address == "" || r.PID <= 0) {
			t.Errorf("%q: %v", data, r)
		}
		if !ok && !bytes.Equal([]byte(r.Address), nil) {
			t.Errorf("%q: not a record, but %v", data, r)
		}
		_ = r.String()
	})
}

// TestErrors: errors are on the one side what they were on the other.
func TestErrors(t *testing.T) {
	for _, tt := range []struct{ sent, got error }{
		{&engine.QueryError{Reason: "no question"}, &engine.QueryError{Reason: "no question"}},
		{engine.ErrClosed, errLost},
		{fmt.Errorf("x: %w", engine.ErrClosed), errLost},
		{errors.New("disk on fire"), errors.New("disk on fire")},
	} {
		var rpc *jsonrpc.Error
		if !errors.As(encodeError(t.Context(), tt.sent), &rpc) {
			t.Fatalf("%v is not encoded", tt.sent)
		}
		got := decodeError(t.Context(), fmt.Errorf("asking: %w", &jsonrpc.ResponseError{Code: float64(rpc.Code), Message: rpc.Message}))
		var query *engine.QueryError
		if got.Error() != tt.got.Error() || errors.Is(got, errLost) != errors.Is(tt.got, errLost) || errors.As(got, &query) != errors.As(tt.sent, &query) {
			t.Errorf("%v became %v", tt.sent, got)
		}
	}
	if err := decodeError(t.Context(), jsonrpc.ErrEnded); !errors.Is(err, errLost) {
		t.Errorf("the end of a connection: %v", err)
	}
}

// TestTold: an answer that is begun twice is told once.
func TestTold(t *testing.T) {
	cite := func(id string) engine.Event { return engine.Event{Citation: &wire.Citation{ID: id}} }
	say := func(text string) engine.Event { return engine.Event{Text: text} }
	result := wire.AskResult{Citations: []wire.Citation{{ID: "b"}}}
	for _, tt := range []struct {
		name          string
		first, second []engine.Event
		want          string
	}{
		{"the same again", []engine.Event{say("1"), cite("b")}, []engine.Event{say("1"), cite("b"), say("2")}, "1 [b] 2"},
		{"another answer", []engine.Event{say("1"), cite("a")}, []engine.Event{say("x"), cite("b"), say("y")}, "1 [a] -a"},
		{"nothing was told yet", nil, []engine.Event{say("x"), cite("b")}, "x [b]"},
		{"a shorter answer", []engine.Event{cite("b"), cite("c")}, []engine.Event{cite("b")}, "[b] [c] -c"},
	} {
		var got []string
		told := told{emit: func(e engine.Event) {
			switch {
			case e.Citation != nil:
				got = append(got, "["+e.Citation.ID+"]")
			case e.Retract != "":
				got = append(got, "-"+e.Retract)
			default:
				got = append(got, e.Text)
			}
		}}
		for _, events := range [][]engine.Event{tt.first, tt.second} {
			told.begin()
			for _, e := range events {
				told.event(e)
			}
		}
		told.settle(result)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestBuffersMany: many changes to one buffer cost one message, and large ones
// go over whole.
func TestBuffersMany(t *testing.T) {
	d := newDesk(t)
	v, o, _ := owning(t, d, nil)
	_, theirs := d.open(o)
	var typing sync.WaitGroup
	dir := o.Roots[0].Dir
	for i := range 8 {
		typing.Go(func() {
			path := fmt.Sprintf("%s/f%d.go", dir, i)
			write(t, path, source(fmt.Sprintf("Saved%d", i)))
			for n := range 300 {
				edit(t, theirs, path, source(fmt.Sprintf("Typed%dx%d", i, n))+strings.Repeat("// padding\n", 3000))
			}
		})
	}
	typing.Wait()
	if _, err := v.Sync(t.Context(), wire.SyncParams{Scan: true}); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		wantFinds(t, theirs, fmt.Sprintf("Typed%dx299", i))
		wantMisses(t, theirs, fmt.Sprintf("Saved%d", i), fmt.Sprintf("Typed%dx298", i))
		wantFinds(t, v, fmt.Sprintf("Saved%d", i))
	}
}
