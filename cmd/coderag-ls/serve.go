package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/lsp"
	"coderag-ls/metrics"
	"coderag-ls/watcher"
)

// serveFlags names the flags that work without the word serve too, as editors
// give them.
func serveFlags() []string {
	return []string{"stdio", "listen", "token", "pipe", "clientProcessId"}
}

func (a *app) serveCommand() *cobra.Command {
	var listen, token, pipe string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the language server",
		Long: `Run the language server: on standard input and output (--stdio, the default), on
the pipe or socket file that an editor has opened (--pipe), or on a TCP port of
this machine (--listen 127.0.0.1:PORT, port 0 for a free one).

A server that listens prints its address and a token on standard error. A client
must send the token as initializationOptions {"server": {"token": "..."}}; other
connections are closed before anything is answered.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if listen != "" && pipe != "" {
				return usagef("--listen and --pipe exclude each other")
			}
			// A client that closes our output is gone: writing fails then, and the
			// session ends in order. The signal would end the process with the
			// index open.
			signal.Ignore(syscall.SIGPIPE)
			if token != "" && listen == "" {
				return usagef("--token is for --listen")
			}
			layers, err := a.layers()
			if err != nil {
				return err
			}
			log, closeLog, err := a.logger(layers.Settings())
			if err != nil {
				return err
			}
			if err := metrics.CheckAddress(layers.Settings().Metrics.Listen); err != nil {
				return errors.Join(usageError{err}, closeLog())
			}
			meter := metrics.New(version(), log)
			opts := a.serverOptions(layers, log, meter)
			ctx := cmd.Context()
			switch {
			case listen != "":
				err = a.listen(ctx, listen, token, opts)
			case pipe != "":
				err = a.servePipe(ctx, pipe, opts)
			default:
				err = lsp.Serve(ctx, stdio{a.stdin, a.stdout}, opts)
			}
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				log.Info("ended by a signal")
				err = nil
			}
			return errors.Join(err, meter.Close(), closeLog())
		},
	}
	f := cmd.Flags()
	f.Bool("stdio", false, "speak on standard input and output (the default)")
	f.StringVar(&listen, "listen", "", "listen on this loopback `address`, 127.0.0.1:PORT")
	f.StringVar(&token, "token", "", "`secret` that clients must send with --listen (default: a new one, printed)")
	f.StringVar(&pipe, "pipe", "", "connect to this pipe or socket `file` of the editor")
	f.Int("clientProcessId", 0, "taken and ignored: the initialize request tells it")
	// Editors pass it; people need not know it.
	f.Lookup("clientProcessId").Hidden = true
	return cmd
}

// stdio is standard input and output as one connection.
type stdio struct {
	io.Reader
	io.Writer
}

// Close closes the input, which ends the reader.
func (s stdio) Close() error {
	if c, ok := s.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// serverOptions join the language server with the engine, the watcher and the
// metrics.
func (a *app) serverOptions(layers config.Layers, log *slog.Logger, meter *metrics.Server) lsp.Options {
	return lsp.Options{
		Version:  version(),
		Logger:   log,
		Settings: layers,
		Open: func(ctx context.Context, o engine.Options) (lsp.Workspace, error) {
			o.OpenShared = a.openShared
			return opener(meter)(ctx, o)
		},
		Watch: func(ctx context.Context, w lsp.Watched, roots []file.Root, s config.Settings) {
			if err := watch(ctx, w, roots, s, log); err != nil {
				w.SetWatch(lsp.WatchState{
					Polling: len(roots), // for the editor to tell of changes
					Notice:  fmt.Sprintf("files are not watched: %v; changes on disk are seen when the editor tells of them", err),
				})
				log.Error("watching files", "error", err)
			}
		},
	}
}

// checkInterval is the time between two scans for what no event told.
const checkInterval = 5 * time.Minute

// watch tells the workspace what may have changed on disk until ctx ends.
func watch(ctx context.Context, w lsp.Watched, roots []file.Root, s config.Settings, log *slog.Logger) (err error) {
	if s.Index.Watch == "client" {
		checkUp(ctx, w, log)
		return nil
	}
	var dirs []string
	for _, r := range roots {
		dirs = append(dirs, r.Dir)
	}
	wt, err := watcher.New(ctx, watcher.Options{
		Roots:         dirs,
		Keep:          w.Keep,
		Holds:         w.Holds,
		Known:         w.Known,
		PollInterval:  milliseconds(s.Index.PollInterval),
		PollOnly:      s.Index.Watch == "poll",
		CheckInterval: checkInterval,
		MaxWatches:    s.Index.MaxWatches,
		Changed: func(st watcher.Stats) {
			w.SetWatch(lsp.WatchState{Watches: st.Watches, Cap: st.Cap, Polling: st.Polling, Notice: st.Notice})
		},
		Logger: log,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, wt.Close()) }()
	for b := range wt.Batches() {
		if err := w.Touch(ctx, b.Cause, b.Paths, b.Rescan); err != nil && ctx.Err() == nil {
			log.Warn("taking changed files", "cause", b.Cause, "error", err)
		}
	}
	return nil
}

// checkUp scans now and then, for what the client did not tell.
func checkUp(ctx context.Context, w lsp.Watched, log *slog.Logger) {
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := w.Touch(ctx, "check", nil, true); err != nil && ctx.Err() == nil {
				log.Warn("looking for changed files", "error", err)
			}
		}
	}
}
