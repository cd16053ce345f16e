package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"coderag-ls/engine"
	"coderag-ls/engine/file"
	"coderag-ls/engine/llm/redact"
	"coderag-ls/engine/wire"
)

// View is a workspace as the clients see it. Its methods are *engine.View's.
type View interface {
	Close()
	Sync(ctx context.Context, p wire.SyncParams) (wire.SyncResult, error)
	Ask(ctx context.Context, p wire.AskParams, emit func(engine.Event)) (wire.AskResult, error)
	Search(ctx context.Context, p wire.SearchParams) (wire.SearchResult, error)
	Context(ctx context.Context, p wire.AskParams) (wire.ContextResult, error)
	Excerpt(ctx context.Context, p wire.ExcerptParams) (wire.ExcerptResult, error)
	Status(ctx context.Context) (wire.Status, error)
}

// Workspace is an opened index.
type Workspace interface {
	NewView() View
	Close() error
}

// Options are what a server is made with.
type Options struct {
	// Version is the program's version, told to clients.
	Version string
	// Logger takes what the server logs; nil for nothing. Texts and questions
	// are not logged.
	Logger *slog.Logger
	// Open opens the index of folders (absolute paths), without any that of the
	// folder that the program was started for. It is called again after it
	// failed.
	Open func(ctx context.Context, folders []string) (Workspace, error)
	// NeverSend are folders and glob patterns of files whose text clients do not get
	// (setting llm.neverSend).
	NeverSend []string
	// Roots has the server ask a client that offers it for its roots, and open
	// those. It is for servers of one client: over HTTP nobody is asked.
	Roots bool
	// Patience is how long a call waits for changes to be indexed before it is
	// answered from what there is; 0 for 20 seconds. Clients give up after a
	// minute, mostly.
	Patience time.Duration
}

// Server answers the clients of one workspace.
type Server struct {
	opts  Options
	log   *slog.Logger
	sdk   *sdk.Server
	desk  *desk
	roots roots

	redactor *redact.Redactor
}

// instructions tell a client's model when to use the server.
const instructions = `Answers questions about the code of the user's workspace from an index that follows every change.
Use coderag_search to find where something is, with the code around it; coderag_ask for a short answer in which each claim
cites path:start-end; coderag_context for everything that is needed to understand or change something, within a token
budget. Citations were checked against the files when the result was made: quote them as they are. [redacted ...] stands
for a secret, which only the file has: do not ask for it, nor write it there. Lines of an indexed
file can be read as the resource coderag:///PATH#L10-L20. Every result says how much of the workspace was indexed.`

// New returns a server that has no client yet. Close it after its last one.
func New(opts Options) (*Server, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Patience <= 0 {
		opts.Patience = 20 * time.Second
	}
	if _, err := file.NewGlobs(opts.NeverSend); err != nil {
		return nil, fmt.Errorf("setting llm.neverSend: %w", err)
	}
	s := &Server{opts: opts, log: opts.Logger, desk: newDesk(opts), redactor: redact.New()}
	s.sdk = sdk.NewServer(
		&sdk.Implementation{Name: "coderag-ls", Title: "coderag-ls", Version: opts.Version},
		&sdk.ServerOptions{
			Instructions: instructions,
			Logger:       opts.Logger,
			Capabilities: &sdk.ServerCapabilities{},
			SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
			//lint:ignore SA1019 clients of older versions of the protocol tell so
			RootsListChangedHandler: func(context.Context, *sdk.RootsListChangedRequest) { s.roots.forget() },
		})
	if err := s.addTools(); err != nil {
		return nil, err
	}
	s.addResources()
	return s, nil
}

// Serve speaks with one client, a message on each line, until it closes its end
// or ctx ends. in is closed at the end.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	if !s.opts.Roots {
		s.desk.begin(ctx)
	}
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
	if errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	return err
}

// Close ends what is under way and closes the workspace.
func (s *Server) Close() error { return s.desk.close() }
