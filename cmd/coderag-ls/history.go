package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coderag-ls/engine"
	"coderag-ls/engine/wire"
)

// The bounds of what is kept of earlier questions: a model's window is not for
// what was said long ago.
const (
	maxTurns       = 12
	maxTurnBytes   = 8 << 10
	maxHistoryFile = 1 << 20 // bytes
)

// history is the conversation that `ask --continue` goes on with. It lies in the
// index directory of the workspace's first folder, and goes with it.
type history struct{ path string }

func historyOf(s *session) (history, error) {
	dir, err := engine.IndexDir(s.settings, s.roots[0])
	return history{filepath.Join(dir, "HISTORY")}, err
}

// turns returns the conversation, oldest first; one that cannot be read is none.
func (h history) turns() ([]wire.Turn, error) {
	info, err := os.Stat(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading earlier questions: %w", err)
	case info.Size() > maxHistoryFile:
		return nil, fmt.Errorf("reading earlier questions: %s has %d bytes, which is no history", h.path, info.Size())
	}
	data, err := os.ReadFile(h.path)
	if err != nil {
		return nil, fmt.Errorf("reading earlier questions: %w", err)
	}
	var turns []wire.Turn
	if err := json.Unmarshal(data, &turns); err != nil {
		return nil, fmt.Errorf("reading earlier questions in %s: %w", h.path, err)
	}
	return turns, nil
}

// keep writes the conversation down for the next question.
func (h history) keep(turns []wire.Turn) error {
	turns = turns[max(0, len(turns)-maxTurns):]
	for i := range turns {
		turns[i].Query, turns[i].Answer = clipped(turns[i].Query), clipped(turns[i].Answer)
	}
	data, err := json.Marshal(turns)
	if err != nil {
		return fmt.Errorf("keeping the question: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(h.path), "HISTORY-") // mode 0600
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the index is in memory
	}
	if err != nil {
		return fmt.Errorf("keeping the question: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		return fmt.Errorf("keeping the question: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// clipped bounds a text without cutting a character in two.
func clipped(s string) string {
	if len(s) <= maxTurnBytes {
		return s
	}
	return strings.ToValidUTF8(s[:maxTurnBytes], "")
}

// earlier returns the conversation that a question goes on with. The question is
// asked without it where it cannot be read.
func (a *app) earlier(s *session, again bool) []wire.Turn {
	if !again {
		return nil
	}
	h, err := historyOf(s)
	var turns []wire.Turn
	if err == nil {
		turns, err = h.turns()
	}
	if err != nil {
		a.note("note: %v", err)
	}
	return turns
}

// remember keeps the conversation. An answer is not held back for it.
func (a *app) remember(s *session, turns []wire.Turn) {
	h, err := historyOf(s)
	if err == nil {
		err = h.keep(turns)
	}
	if err != nil {
		a.note("note: %v", err)
	}
}
