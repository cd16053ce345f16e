package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"coderag-ls/assist"
	"coderag-ls/attach"
	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/wire"
	"coderag-ls/mcp"
)

// mcpTokenVariable holds the token of the MCP server. It is no setting, so that
// no list of settings shows it and no file can hold it.
const mcpTokenVariable = "CODERAG_MCP_TOKEN"

func (a *app) mcpCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve agents by the Model Context Protocol",
		Long: `Serve agents by the Model Context Protocol (MCP): on standard input and output,
or with --http over streamable HTTP at http://ADDRESS/mcp.

The tools are coderag_search, coderag_ask, coderag_context and coderag_status;
files and lines of them are resources (coderag:///PATH#L10-L20). What is asked
about is --root, else the folders that the client tells, else the repository
that the program was started in. Over HTTP clients are not asked.

A client of --http must send "Authorization: Bearer TOKEN". The token is that of
the variable ` + mcpTokenVariable + `, else that of the file which the setting
mcp.tokenFile names; the file is made, readable by you alone, where there is
none. Only loopback addresses are taken, unless the setting mcp.hosts says under
which names other machines reach this one.`,
		Example: `  claude mcp add coderag -- coderag-ls mcp
  coderag-ls mcp --http 127.0.0.1:7333`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			// A client that closes our output is gone: writing fails then, and the
			// index is closed in order.
			signal.Ignore(syscall.SIGPIPE)
			layers, err := a.layers()
			if err != nil {
				return err
			}
			s := layers.Settings()
			if !given(layers, "log.level") {
				s.Log.Level = "warn" // clients show what is on standard error
			}
			if cmd.Flags().Changed("http") {
				if err := mcp.CheckAddress(address, s.MCP.Hosts); err != nil {
					return usagef("--http %w", err)
				}
			}
			log, closeLog, err := a.logger(s)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, closeLog()) }()
			server, err := mcp.New(mcp.Options{
				Version: version(), Logger: log, NeverSend: s.LLM.NeverSend, Roots: address == "" && len(a.roots) == 0,
				Open: func(ctx context.Context, folders []string) (mcp.Workspace, error) {
					return a.openForAgents(ctx, folders, layers)
				},
			})
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if address == "" {
				err = server.Serve(ctx, io.NopCloser(a.stdin), unclosed{a.stdout})
			} else {
				err = a.mcpOverHTTP(ctx, server, address, s)
			}
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				log.Info("ended by a signal")
				err = nil
			}
			return errors.Join(err, server.Close())
		},
	}
	cmd.Flags().StringVar(&address, "http", "", "serve over HTTP on this loopback `address`, 127.0.0.1:PORT")
	return cmd
}

// mcpOverHTTP serves over HTTP and tells where, and where the token is.
func (a *app) mcpOverHTTP(ctx context.Context, server *mcp.Server, address string, s config.Settings) error {
	token, from, err := a.mcpToken(s)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", address, err)
	}
	fmt.Fprintf(a.stderr, "serving http://%s%s\ntoken in %s\n", l.Addr(), mcp.Path, a.err.Text(from))
	return server.ServeHTTP(ctx, l, mcp.HTTPOptions{Token: token, Hosts: s.MCP.Hosts})
}

// mcpToken returns the token and where it stands.
func (a *app) mcpToken(s config.Settings) (token, from string, err error) {
	if token := a.getenv(mcpTokenVariable); token != "" {
		if err := mcp.CheckToken(token); err != nil {
			return "", "", fmt.Errorf("variable %s: %w", mcpTokenVariable, err)
		}
		return token, mcpTokenVariable, nil
	}
	path, err := a.mcpTokenFile(s)
	if err != nil {
		return "", "", err
	}
	token, err = mcp.Token(path)
	return token, path, err
}

// mcpTokenFile is the file that the settings name, else the one beside the
// user's settings.
func (a *app) mcpTokenFile(s config.Settings) (string, error) {
	if s.MCP.TokenFile != "" {
		return s.MCP.TokenFile, nil
	}
	user := config.UserFile(a.getenv)
	if user == "" {
		return "", fmt.Errorf("there is no place for a token: set mcp.tokenFile or %s", mcpTokenVariable)
	}
	return filepath.Join(filepath.Dir(user), "mcp-token"), nil
}

// unclosed keeps standard output open: whoever started the program closes it.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }

// agentsWorkspace is an index that is kept up to date for agents.
type agentsWorkspace struct {
	*attach.Workspace
	asker *assist.Asker
	stop  context.CancelFunc
	tasks sync.WaitGroup
	log   func() error // closes it
}

// NewView implements mcp.Workspace.
func (w *agentsWorkspace) NewView() mcp.View { return agentsView{w.Workspace.NewView(), w.asker} }

// agentsView is a view whose answers a language model writes, where one is set.
type agentsView struct {
	*attach.View
	asker *assist.Asker
}

// Ask implements mcp.View.
func (v agentsView) Ask(ctx context.Context, p wire.AskParams, emit func(engine.Event)) (wire.AskResult, error) {
	return v.asker.Ask(ctx, v.View, p, emit)
}

// Close implements mcp.Workspace.
func (w *agentsWorkspace) Close() error {
	w.stop()
	w.tasks.Wait()
	w.asker.Close()
	return errors.Join(w.Workspace.Close(), w.log())
}

// openForAgents opens the index of the folders that a client told of, else that
// of the program's own, and watches the files.
func (a *app) openForAgents(ctx context.Context, folders []string, layers config.Layers) (mcp.Workspace, error) {
	s := layers.Settings()
	if !given(layers, "log.level") {
		s.Log.Level = "warn"
	}
	roots, err := a.rootsFor(folders)
	if err != nil {
		return nil, err
	}
	log, closeLog, err := a.logger(s)
	if err != nil {
		return nil, err
	}
	notice := func(text string) { log.Warn(text) }
	ws, err := attach.Open(ctx, attach.Options{Options: engine.Options{
		Roots: roots, Version: version(), Settings: s, Logger: log, Notice: notice, Key: layers.Key, OpenShared: a.openShared,
	}})
	if err != nil {
		return nil, errors.Join(err, closeLog())
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	w := &agentsWorkspace{Workspace: ws, stop: stop, log: closeLog}
	w.asker = assist.New(ctx, assist.Options{Settings: s, Key: layers.Key})
	w.tasks.Go(func() { keepUp(run, ws, roots, s, log, notice) })
	return w, nil
}
