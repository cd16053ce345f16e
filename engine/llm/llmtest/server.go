// Package llmtest is a language model for tests: a server that speaks OpenAI's
// protocol over HTTP and says what a script tells it. It is no model; what it
// proves is how the asking side behaves.
package llmtest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Request is a chat completion, or texts to embed, as the server got it.
type Request struct {
	// Input are the texts of which vectors are wanted, nil for a completion.
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions"`

	Key      string // without "Bearer "
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Temperature    float64         `json:"temperature"`
	MaxTokens      int             `json:"max_tokens"`
	ResponseFormat json.RawMessage `json:"response_format"`
}

// Text is all messages and all texts.
func (r Request) Text() string {
	var b strings.Builder
	for _, s := range r.Input {
		b.WriteString(s + "\n")
	}
	for _, m := range r.Messages {
		b.WriteString(m.Content + "\n")
	}
	return b.String()
}

// Reply answers one request.
type Reply func(w *Writer, r Request)

// Server is a running server.
type Server struct {
	*httptest.Server
	// Gone receives a value whenever a client goes before its reply has ended.
	Gone chan struct{}

	mu       sync.Mutex // guards all below
	requests []Request
	reply    Reply
}

// New starts a server that gives every request the reply.
func New(reply Reply) *Server {
	s := &Server{reply: reply, Gone: make(chan struct{}, 100)}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// URL is what clients take for a base URL.
func (s *Server) BaseURL() string { return s.Server.URL + "/v1" }

// SetReply gives every request from now on another reply.
func (s *Server) SetReply(reply Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reply = reply
}

// Requests are those that came so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request{}, s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" && r.URL.Path != "/v1/embeddings" {
		http.NotFound(w, r)
		return
	}
	var req Request
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err != nil {
		http.Error(w, `{"error":{"message":"bad JSON"}}`, http.StatusBadRequest)
		return
	}
	req.Key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.requests = append(s.requests, req)
	reply := s.reply
	s.mu.Unlock()
	reply(&Writer{w: w, r: r, gone: s.Gone}, req)
}

// Writer writes one reply.
type Writer struct {
	w     http.ResponseWriter
	r     *http.Request
	gone  chan struct{}
	begun bool
}

// Raw sends bytes as they are.
func (w *Writer) Raw(s string) {
	io.WriteString(w.w, s)
	w.w.(http.Flusher).Flush()
}

// Text sends a part of the answer.
func (w *Writer) Text(s string) {
	content, _ := json.Marshal(s)
	w.Delta(string(content))
}

// Delta sends a part of the answer as the JSON literal that it is.
func (w *Writer) Delta(literal string) {
	if !w.begun {
		w.begun = true
		w.w.Header().Set("Content-Type", "text/event-stream")
	}
	w.Raw(`data: {"model":"test-model","choices":[{"index":0,"delta":{"content":` + literal + `}}]}` + "\n\n")
}

// End ends the answer.
func (w *Writer) End() {
	w.Raw(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7}}` + "\n\ndata: [DONE]\n\n")
}

// Answer sends all of an answer, in parts of n bytes' worth of characters.
func (w *Writer) Answer(s string, n int) {
	for len(s) > 0 {
		k := 0
		for i := range s {
			if k = i; i >= n {
				break
			}
			k = len(s)
		}
		w.Text(s[:k])
		s = s[k:]
	}
	w.End()
}

// Vectors sends vectors, one for each text, the last one first: servers need not
// keep to the order, and the index says which is which.
func (w *Writer) Vectors(vectors [][]float32) {
	type one struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	data := []one{}
	for i := len(vectors) - 1; i >= 0; i-- {
		data = append(data, one{i, vectors[i]})
	}
	w.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w.w).Encode(map[string]any{"object": "list", "data": data, "model": "test-model", "usage": map[string]int{"prompt_tokens": 5}})
}

// Fail replies with a status and an error message.
func (w *Writer) Fail(status int, code, message string) {
	w.w.Header().Set("Content-Type", "application/json")
	w.w.WriteHeader(status)
	fmt.Fprintf(w.w, `{"error":{"message":%q,"type":"error","code":%q}}`, message, code)
}

// Header sets a header before anything is sent.
func (w *Writer) Header(name, value string) { w.w.Header().Set(name, value) }

// Hang sends nothing more until the client is gone, or a minute has passed.
func (w *Writer) Hang() {
	w.w.(http.Flusher).Flush()
	select {
	case <-w.r.Context().Done():
		w.gone <- struct{}{}
	case <-time.After(time.Minute):
	}
}

// Drop closes the connection in the middle.
func (w *Writer) Drop() {
	if c, _, err := w.w.(http.Hijacker).Hijack(); err == nil {
		c.Close()
	}
}

// Words embeds texts as the words that they have: each adds to one value of dim,
// which depends on seed. It is no good model, and one that can be foretold.
func Words(dim int, seed uint32) Reply {
	return func(w *Writer, r Request) {
		vectors := make([][]float32, len(r.Input))
		for i, text := range r.Input {
			vectors[i] = make([]float32, dim)
			for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
				h := fnv.New32a()
				_ = binary.Write(h, binary.LittleEndian, seed)
				_, _ = io.WriteString(h, word)
				vectors[i][h.Sum32()%uint32(dim)]++
			}
		}
		w.Vectors(vectors)
	}
}

// Says is the reply of a model that says s whatever it is asked.
func Says(s string) Reply { return func(w *Writer, _ Request) { w.Answer(s, 7) } }
