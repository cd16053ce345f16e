// Package audit writes down what is sent to a model, before it is sent.
package audit

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"coderag-ls/engine/llm"
	"coderag-ls/engine/wire"
)

// Record is one line of the log.
type Record struct {
	Time     string         `json:"time"` // RFC 3339, UTC; set by Write
	Endpoint string         `json:"endpoint"`
	Model    string         `json:"model"`
	Purpose  string         `json:"purpose"`          // one of wire.Purpose*, or PurposeEmbed
	Places   []string       `json:"places,omitempty"` // path:start-end of what was found
	Redacted map[string]int `json:"redacted"`         // secrets replaced, by kind
	Tokens   int            `json:"tokens"`           // estimated; set by Write
	Messages []wire.Message `json:"messages,omitempty"`
	Texts    []string       `json:"texts,omitempty"` // those that were embedded
}

// PurposeEmbed is that of texts of which vectors are made.
const PurposeEmbed = "embed"

// Log appends records to a file, one JSON object a line. It is safe for
// concurrent use.
type Log struct {
	path string
	mu   sync.Mutex // held while a line is written
}

// New returns the log in a file, which is made where it does not exist; "" for a
// log that writes nothing.
func New(path string) *Log { return &Log{path: path} }

// Write appends a record. Where it cannot, nothing must be sent.
func (l *Log) Write(r Record) error {
	if l.path == "" {
		return nil
	}
	r.Time = time.Now().UTC().Format(time.RFC3339Nano)
	for _, m := range r.Messages {
		r.Tokens += llm.Tokens(m.Content)
	}
	for _, s := range r.Texts {
		r.Tokens += llm.Tokens(s)
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding a line of the audit log: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the audit log of setting llm.auditLog: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("writing the audit log %s: %w", l.path, err)
	}
	return nil
}
