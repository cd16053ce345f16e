package lsp

import (
	"context"
	"fmt"
	"time"

	"go.lsp.dev/protocol"
)

const (
	messageError   = protocol.MessageTypeError
	messageWarning = protocol.MessageTypeWarning
	messageInfo    = protocol.MessageTypeInfo
)

// showMessage shows a message to the user.
func (s *server) showMessage(kind protocol.MessageType, text string) {
	s.conn.Notify("window/showMessage", protocol.ShowMessageParams{Type: kind, Message: text})
}

// logMessage puts a message into the client's log.
func (s *server) logMessage(kind protocol.MessageType, text string) {
	s.conn.Notify("window/logMessage", protocol.LogMessageParams{Type: kind, Message: text})
}

type setTraceParams struct {
	Value string `json:"value"`
}

func (s *server) setTrace(_ context.Context, p setTraceParams) error {
	switch p.Value {
	case "off", "messages", "verbose":
		s.trace.Store(p.Value != "off")
		return nil
	}
	return fmt.Errorf("trace %.40q is none of off, messages, verbose", p.Value)
}

// traced tells the client, where it traces, how long a message took: call the
// result when it was handled.
func (s *server) traced(method string) func() {
	if !s.trace.Load() {
		return func() {}
	}
	start := time.Now()
	return func() {
		s.conn.Notify("$/logTrace", protocol.LogTraceParams{
			Message: fmt.Sprintf("%s: %d ms", method, time.Since(start).Milliseconds()),
		})
	}
}

// clip cuts s to at most n bytes for a message, whole runes only.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
