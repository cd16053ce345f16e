package mcp

import (
	"context"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"coderag-ls/engine/text"
)

// statelessVersion is the first version of the protocol without sessions: there
// a server asks by answering a call with its questions, and is called again.
const statelessVersion = "2026-07-28"

// rootsTime is how long a client may take to tell its roots.
const rootsTime = 5 * time.Second

// rootsQuestion names the question for the roots among those of a call.
const rootsQuestion = "roots"

// roots are the folders that the client has told of.
type roots struct {
	mu      sync.Mutex // guards all below
	known   bool
	folders []string
	changes int // how often they were forgotten
}

// forget has the next call ask again.
func (r *roots) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = false
	r.changes++
}

// learn takes the folders, unless they changed since they were asked for.
func (r *roots) learn(folders []string, asked int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changes == asked {
		r.known, r.folders = true, folders
	}
}

// caller is the client of a call, and what it has answered.
type caller struct {
	session *sdk.ServerSession
	version string
	caps    *sdk.ClientCapabilities
	answers sdk.InputResponseMap
}

// callerOf tells who calls.
func callerOf[P sdk.Params](req *sdk.ServerRequest[P], answers sdk.InputResponseMap) caller {
	return caller{req.Session, req.ProtocolVersion(), req.ClientCapabilities(), answers}
}

// folders returns the client's roots, none where the program's own folder is
// meant. ask is true where the client must be asked first, by the answer to its
// call.
//
// Roots are deprecated as of the protocol's version without sessions, but there
// is nothing else by which a client tells which folders are open in it.
func (s *Server) folders(ctx context.Context, c caller) (folders []string, ask bool) {
	//lint:ignore SA1019 see above
	if !s.opts.Roots || c.caps == nil || c.caps.RootsV2 == nil {
		return nil, false
	}
	s.roots.mu.Lock()
	known, folders, asked := s.roots.known, s.roots.folders, s.roots.changes
	s.roots.mu.Unlock()
	if known {
		return folders, false
	}
	//lint:ignore SA1019 see above
	var told *sdk.ListRootsResult
	if c.version >= statelessVersion {
		answer, answered := c.answers[rootsQuestion]
		if !answered {
			return nil, true
		}
		//lint:ignore SA1019 see above
		told, _ = answer.(*sdk.ListRootsResult)
	} else {
		ctx, cancel := context.WithTimeout(ctx, rootsTime)
		defer cancel()
		var err error
		//lint:ignore SA1019 see above
		if told, err = c.session.ListRoots(ctx, nil); err != nil {
			s.log.Warn("the client does not tell its roots; the program's folder is taken", "error", err)
			return nil, false
		}
	}
	if told == nil {
		return nil, false
	}
	folders = nil
	for _, r := range told.Roots {
		dir, err := text.PathFromURI(r.URI)
		if err != nil {
			s.log.Warn("a root is left out", "uri", r.URI, "error", err)
			continue
		}
		if !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	s.roots.learn(folders, asked)
	return folders, false
}

// questions are what a call is answered with where the roots must be known first.
func questions() sdk.InputRequestMap {
	//lint:ignore SA1019 see folders
	return sdk.InputRequestMap{rootsQuestion: &sdk.ListRootsParams{}}
}
