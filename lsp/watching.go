package lsp

import (
	"context"
	"sync"

	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
)

// Watched is what a watcher asks and tells.
type Watched interface {
	// Touch tells that absolute paths may have changed on disk; with rescan, that
	// anything may have.
	Touch(ctx context.Context, cause string, paths []string, rescan bool) error
	// Keep reports whether an absolute path is indexed or may hold indexed files.
	Keep(path string, isDir bool) bool
	// Holds reports whether a directory itself holds indexed files, as far as
	// that is known.
	Holds(dir string) (holds, known bool)
	// Known returns the files (absolute) below directories that are indexed, left
	// out or being looked at.
	Known(dirs []string) []string
	// SetWatch tells how watching goes.
	SetWatch(WatchState)
}

// WatchState is how watching goes.
type WatchState struct {
	// Watches is the number of directories that the system tells of, Cap how many
	// they may be.
	Watches, Cap int
	// Polling is the number of directories that are looked at instead: where the
	// client offers to tell of changes, it is asked to.
	Polling int
	// Notice is for the user, "" where all is well. The first one of a session is
	// shown, all are in the status.
	Notice string
}

// watching is the state of what sees changes on disk.
type watching struct {
	stop func() // ends the watcher; nil where none runs

	mu     sync.Mutex
	warned bool // a notice was shown in this session

	asking     sync.Mutex // held while the client is asked
	registered bool       // guarded by asking: the client tells of changes
	wanted     bool       // guarded by mu: it should
}

// watch restarts the watcher.
func (m *manager) watch(ws Workspace, roots []file.Root, settings config.Settings) {
	m.endWatch()
	if m.s.opts.Watch == nil {
		return // the client was asked to at the start
	}
	mode := settings.Index.Watch
	offered := m.s.caps.registersWatchedFiles()
	if mode == "client" && !offered {
		m.report(`index.watch is "client", but this editor does not offer to watch files: the server watches them`)
		mode = "server"
	}
	// Until the watcher has said more it serves all.
	m.clientWatches(mode == "client")
	if mode == "off" {
		ws.SetWatch(0, 0, "")
		return
	}
	settings.Index.Watch = mode
	ctx, cancel := context.WithCancel(m.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if ws.AwaitOwner(ctx) != nil {
			return
		}
		m.s.opts.Watch(ctx, watched{ws, m, mode}, roots, settings)
	}()
	m.watching.stop = func() {
		cancel()
		<-ended
	}
}

func (m *manager) endWatch() {
	if m.watching.stop != nil {
		m.watching.stop()
		m.watching.stop = nil
	}
}

// watched is a workspace as its watcher sees it.
type watched struct {
	Workspace
	m    *manager
	mode string
}

// SetWatch implements Watched.
func (w watched) SetWatch(s WatchState) {
	w.Workspace.SetWatch(s.Watches, s.Cap, s.Notice)
	if s.Notice != "" {
		w.m.watching.mu.Lock()
		first := !w.m.watching.warned
		w.m.watching.warned = true
		w.m.watching.mu.Unlock()
		if first {
			w.m.show(s.Notice)
		}
	}
	if w.mode == "auto" {
		w.m.clientWatches(s.Polling > 0)
	}
}

// clientWatches has the client tell of changes on disk, where it offers that, or
// no longer. The client is asked in the background.
func (m *manager) clientWatches(on bool) {
	if !m.s.caps.registersWatchedFiles() {
		return
	}
	w := &m.watching
	w.mu.Lock()
	same := w.wanted == on
	w.wanted = on
	w.mu.Unlock()
	if same {
		return
	}
	m.s.background.Go(func() {
		w.asking.Lock()
		defer w.asking.Unlock()
		w.mu.Lock()
		on := w.wanted // it may have changed again
		w.mu.Unlock()
		if on == w.registered {
			return
		}
		if err := m.s.registerWatchedFiles(m.ctx, on); err != nil {
			if m.ctx.Err() == nil {
				m.s.log.Warn("asking the client to watch files", "error", err)
			}
			return
		}
		w.registered = on
	})
}
