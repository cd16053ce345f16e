package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"coderag-ls/engine/config"
)

type didChangeWatchedFilesParams struct {
	Changes []struct {
		URI string `json:"uri"`
	} `json:"changes"`
}

// didChangeWatchedFiles passes on which files the client saw changing. What
// happened to them is not taken from the event: the disk is looked at.
func (s *server) didChangeWatchedFiles(ctx context.Context, p didChangeWatchedFilesParams) error {
	var paths []string
	for _, change := range p.Changes {
		if path := filePath(change.URI); path != "" {
			paths = append(paths, path)
		}
	}
	s.manager.touch(ctx, "didChangeWatchedFiles", paths)
	return nil
}

// watchedFilesID names the registration for changes on disk.
const watchedFilesID = "coderag-watched-files"

// watchedFiles is the registration for changes on disk.
func watchedFiles() protocol.Registration {
	return protocol.Registration{
		ID: watchedFilesID, Method: "workspace/didChangeWatchedFiles",
		RegisterOptions: protocol.DidChangeWatchedFilesRegistrationOptions{
			Watchers: []protocol.FileSystemWatcher{{GlobPattern: "**/*"}},
		},
	}
}

// registerWatchedFiles asks the client, which must offer it, to tell about
// changes on disk, or no longer.
func (s *server) registerWatchedFiles(ctx context.Context, on bool) error {
	one := watchedFiles()
	if on {
		return s.conn.Call(ctx, "client/registerCapability", protocol.RegistrationParams{Registrations: []protocol.Registration{one}}, nil)
	}
	return s.conn.Call(ctx, "client/unregisterCapability", protocol.UnregistrationParams{
		Unregisterations: []protocol.Unregistration{{ID: one.ID, Method: one.Method}},
	}, nil)
}

// register asks the client to tell about changed settings, and about changed
// files where nobody else does.
func (s *server) register() {
	var all []protocol.Registration
	if s.opts.Watch == nil && s.caps.registersWatchedFiles() {
		all = append(all, watchedFiles())
	}
	if s.caps.registersConfiguration() {
		all = append(all, protocol.Registration{
			ID: "coderag-configuration", Method: "workspace/didChangeConfiguration",
			RegisterOptions: map[string]string{"section": config.Section},
		})
	}
	if len(all) == 0 {
		return
	}
	err := s.conn.Call(s.manager.ctx, "client/registerCapability", protocol.RegistrationParams{Registrations: all}, nil)
	if err != nil && s.manager.ctx.Err() == nil {
		s.log.Warn("registering for changes", "error", err)
	}
}
