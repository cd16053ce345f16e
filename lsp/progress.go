package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/internal/jsonrpc"
)

// checkToken refuses what cannot be a progress token; a missing one is none.
func checkToken(name string, token Token) (Token, error) {
	if len(token) == 0 || bytes.Equal(token, []byte("null")) {
		return nil, nil
	}
	if _, err := jsonrpc.IDKey(token); err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "bad parameters: %s must be a number or a string, not %.40s", name, token)
	}
	return token, nil
}

// progress sends one step of progress.
func (s *server) progress(token Token, value any) {
	s.conn.Notify("$/progress", progressParams{Token: token, Value: value})
}

// working reports that a request is worked on, where the client asked for
// that; call the result when it is done.
func (s *server) working(token Token, title, message string) (end func(), err error) {
	token, err = checkToken("workDoneToken", token)
	if err != nil || token == nil {
		return func() {}, err
	}
	s.progress(token, workDone{Kind: "begin", Title: title, Message: clip(message, 80), Cancellable: true})
	return func() { s.progress(token, workDone{Kind: "end"}) }, nil
}

// reportInterval is the least time between two reports on indexing.
const reportInterval = 100 * time.Millisecond

// indexProgress holds the newest step of indexing: the engine must not wait
// for the client.
type indexProgress struct {
	mu     sync.Mutex // guards newest
	newest wire.Progress
	wake   chan struct{} // 1 slot: newest changed
}

func newIndexProgress() *indexProgress { return &indexProgress{wake: make(chan struct{}, 1)} }

func (p *indexProgress) step(step wire.Progress) {
	p.mu.Lock()
	p.newest = step
	p.mu.Unlock()
	signal(p.wake)
}

func (p *indexProgress) get() wire.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newest
}

// showIndexProgress shows the work on the index until ctx ends, one progress
// per stage.
func (s *server) showIndexProgress(ctx context.Context, p *indexProgress) {
	if !s.caps.workDone() {
		return
	}
	var token Token // of the stage that is shown
	var shown wire.Progress
	number := 0
	end := func() {
		if token != nil {
			s.progress(token, workDone{Kind: "end", Message: counts(shown)})
			token = nil
		}
	}
	defer end()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
		step := p.get()
		if step.Stage != shown.Stage {
			end()
		}
		running := step.Done < step.Total
		if token == nil && running {
			number++
			created := json.RawMessage(strconv.Quote(fmt.Sprintf("coderag/index/%d", number)))
			if err := s.conn.Call(ctx, "window/workDoneProgress/create", progressParams{Token: created}, nil); err != nil {
				s.log.Warn("showing progress", "error", err)
				return
			}
			token = created
			s.progress(token, workDone{Kind: "begin", Title: stageTitle(step.Stage), Message: counts(step), Percentage: percent(step)})
		} else if token != nil && running {
			s.progress(token, workDone{Kind: "report", Message: counts(step), Percentage: percent(step)})
		}
		shown = step
		if !running {
			end()
		}
		pause.Reset(reportInterval)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

func stageTitle(stage string) string {
	switch stage {
	case "scan":
		return "coderag: looking for files"
	case "embed":
		return "coderag: embedding"
	}
	return "coderag: indexing"
}

func counts(p wire.Progress) string {
	if p.Stage == "embed" {
		return fmt.Sprintf("%d/%d chunks", p.Done, p.Total)
	}
	return fmt.Sprintf("%d/%d files", p.Done, p.Total)
}

func percent(p wire.Progress) *uint32 {
	n := uint32(0)
	if p.Total > 0 {
		n = uint32(max(0, min(100, p.Done*100/p.Total)))
	}
	return &n
}

// statusInterval is the least time between two statusChanged notifications.
const statusInterval = 250 * time.Millisecond

// tellStatus sends the state of the index when it changed. Of changes that come
// faster than statusInterval the last is told.
func (m *manager) tellStatus() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-m.ctx.Done():
			return
		case <-m.news:
		}
		status, err := m.state(m.ctx)
		switch {
		case m.ctx.Err() != nil:
			return
		case err != nil:
			m.s.log.Warn("telling the state of the index", "error", err)
			continue
		}
		status.SkippedFiles = []wire.SkippedFile{}
		m.s.conn.Notify(MethodStatusChanged, status)
		pause.Reset(statusInterval)
		select {
		case <-m.ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// state is the state of the index as it is now: where none is open, why.
func (m *manager) state(ctx context.Context) (wire.Status, error) {
	m.mu.Lock()
	view, why := m.view, m.err
	m.mu.Unlock()
	if view == nil {
		return m.s.withoutIndex(why), nil
	}
	return view.Status(ctx)
}
