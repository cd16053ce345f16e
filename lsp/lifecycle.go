package lsp

import (
	"context"
	"encoding/json"
	"time"

	"go.lsp.dev/protocol"

	"coderag-ls/internal/jsonrpc"
)

// aliveInterval is the time between two looks at the client's process.
const aliveInterval = time.Second

// initialize answers with what the server can do. The index is opened when the
// client is ready (initialized), in the background.
func (s *server) initialize(ctx context.Context, raw json.RawMessage) (any, error) {
	var p initializeParams
	if err := json.Unmarshal(orEmpty(raw), &p); err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "bad parameters: %v", err)
	}
	s.caps, s.enc = p.Capabilities, p.Capabilities.encoding()
	s.trace.Store(p.Trace == "messages" || p.Trace == "verbose")
	if p.ClientInfo != nil {
		s.log.Info("client", "name", clip(p.ClientInfo.Name, 100), "version", clip(p.ClientInfo.Version, 100), "encoding", s.enc)
	}
	s.manager.start(foldersOf(p), decodeOptions(p.InitializationOptions))
	s.state = stateRunning
	if p.ProcessID != nil {
		s.followProcess(*p.ProcessID)
	}
	return initializeResult{
		Capabilities: s.serverCapabilities(),
		ServerInfo:   &protocol.ServerInfo{Name: "coderag-ls", Version: s.opts.Version},
	}, nil
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

func (s *server) serverCapabilities() serverCapabilities {
	var actions any = true
	if s.caps.actionLiterals() {
		actions = &protocol.CodeActionOptions{
			CodeActionKinds: []protocol.CodeActionKind{ActionKind, protocol.QuickFix, FixAllKind},
			ResolveProvider: s.caps.actionResolve(),
		}
	}
	var diagnostics *diagnosticOptions
	if s.caps.pullsDiagnostics() {
		diagnostics = &diagnosticOptions{Identifier: diagnosticSource, InterFileDependencies: true}
	}
	return serverCapabilities{
		PositionEncoding:   s.enc,
		DiagnosticProvider: diagnostics,
		ServerCapabilities: protocol.ServerCapabilities{
			TextDocumentSync: &protocol.TextDocumentSyncOptions{
				OpenClose: true,
				Change:    protocol.TextDocumentSyncKindIncremental,
				Save:      &protocol.SaveOptions{},
			},
			HoverProvider:        &protocol.HoverOptions{},
			CodeActionProvider:   actions,
			CodeLensProvider:     &protocol.CodeLensOptions{},
			DocumentLinkProvider: &protocol.DocumentLinkOptions{ResolveProvider: true},
			ExecuteCommandProvider: &protocol.ExecuteCommandOptions{Commands: []string{
				CommandAsk, CommandSearch, CommandContext, CommandSimilar, CommandExplain,
				CommandInsert, CommandMend, CommandReindex, CommandStatus, CommandSync, CommandPause, CommandResume,
			}},
			Workspace: &protocol.ServerCapabilitiesWorkspace{
				WorkspaceFolders: &protocol.ServerCapabilitiesWorkspaceFolders{
					Supported:           true,
					ChangeNotifications: true,
				},
			},
			Experimental: map[string]any{"coderag": map[string]any{"statusChanged": true}},
		},
	}
}

// initialized starts what needs the client's help: settings, registrations,
// the index.
func (s *server) initialized(context.Context, struct{}) error {
	s.manager.begin()
	return nil
}

// shutdown ends all work and closes the index, so that nothing is lost if the
// client ends the process next.
func (s *server) shutdown(context.Context) (any, error) {
	s.state = stateShutdown
	s.conn.CancelAll()
	s.manager.stop()
	return nil, nil
}

// followProcess ends the connection when the client's process has. One that is
// not seen now, because it lives in another container, is not followed.
func (s *server) followProcess(pid int) {
	if pid <= 0 || !processAlive(pid) {
		return
	}
	s.background.Go(func() {
		tick := time.NewTicker(aliveInterval)
		defer tick.Stop()
		for {
			select {
			case <-s.manager.done():
				return
			case <-tick.C:
				if !processAlive(pid) {
					s.log.Error("the client's process has ended", "pid", pid)
					s.end(ErrClientGone)
					return
				}
			}
		}
	})
}
