package lsp

import (
	"context"

	"coderag-ls/engine/wire"
)

// status tells the state of the index. Without one it says why, instead of
// failing: it is what users look at when nothing works.
func (s *server) status(ctx context.Context, req *request, _ WorkDone) (*Status, error) {
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		status := s.withoutIndex(err)
		return &status, nil
	}
	status, err := view.Status(ctx)
	if err != nil {
		return nil, err
	}
	return &status, nil
}

// withoutIndex is the state where no index is open.
func (s *server) withoutIndex(why error) Status {
	return Status{
		Version:   s.opts.Version,
		State:     wire.StateError,
		Roots:     []wire.RootStatus{},
		Languages: map[string]int{}, Coverage: wire.Coverage{Skipped: map[string]int{}},
		Model:   wire.ModelInfo{Embedder: "none"},
		Notices: []string{why.Error()}, SkippedFiles: []wire.SkippedFile{}, MemoryMeasures: []string{},
		Requests: wire.Requests{
			Methods: map[string]int64{}, Stages: map[string]wire.Distribution{},
			Candidates: map[string]wire.Distribution{}, Scores: map[string]wire.Distribution{},
		},
	}
}

// reindex has files indexed again, all where none are named.
func (s *server) reindex(ctx context.Context, req *request, p ReindexParams) (any, error) {
	s.manager.lookAgain(req)
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, err
	}
	return nil, queryError(view.Reindex(ctx, p))
}

// pause stops background work.
func (s *server) pause(ctx context.Context, req *request, _ WorkDone) (*PauseResult, error) {
	return s.setPaused(ctx, req, true)
}

// resume lets background work go on.
func (s *server) resume(ctx context.Context, req *request, _ WorkDone) (*PauseResult, error) {
	return s.setPaused(ctx, req, false)
}

func (s *server) setPaused(ctx context.Context, req *request, paused bool) (*PauseResult, error) {
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := view.SetPaused(ctx, paused); err != nil {
		return nil, err
	}
	return &PauseResult{Paused: paused}, nil
}

// sync answers when every change that was sent before it is searchable.
func (s *server) sync(ctx context.Context, req *request, p SyncParams) (*SyncResult, error) {
	done, err := s.working(p.WorkDoneToken, "coderag: indexing", "")
	if err != nil {
		return nil, err
	}
	defer done()
	if p.Scan {
		s.manager.lookAgain(req)
	}
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, err
	}
	result, err := view.Sync(ctx, p.SyncParams)
	if err != nil {
		return nil, err
	}
	s.drift.flush(ctx) // diagnostics are of the same state
	return &result, nil
}
