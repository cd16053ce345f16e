package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/metrics"
)

// metered is a workspace whose requests are counted for Prometheus. The figures
// are those of this process's clients, the state that of the index, whoever
// keeps it.
type metered struct {
	shared
	meter  *metrics.Server
	log    *slog.Logger
	notice func(string)
	remove func()
}

// opener opens workspaces whose requests are counted. The setting
// metrics.listen is obeyed as the last client gave it.
func opener(meter *metrics.Server) func(context.Context, engine.Options) (lsp.Workspace, error) {
	return func(ctx context.Context, o engine.Options) (lsp.Workspace, error) {
		ws, err := openShared(ctx, o)
		if err != nil {
			return nil, err
		}
		m := &metered{shared: ws, meter: meter, log: o.Logger, notice: o.Notice}
		m.remove = meter.Add(func(ctx context.Context) (wire.Status, error) {
			v := ws.NewView()
			defer v.Close()
			return v.Status(ctx)
		})
		m.listen(ctx, o.Settings)
		return m, nil
	}
}

// listen offers the metrics where the settings say. Where that fails the user is
// told, and all else goes on.
func (m *metered) listen(ctx context.Context, s config.Settings) {
	if err := m.meter.Listen(context.WithoutCancel(ctx), s.Metrics.Listen); err != nil {
		m.log.Warn("no metrics", "error", err)
		if m.notice != nil {
			m.notice("no metrics are offered: " + err.Error())
		}
	}
}

// NewView implements lsp.Workspace.
func (m *metered) NewView() lsp.View { return meteredView{m.shared.NewView(), m.meter} }

// SetSettings implements lsp.Workspace.
func (m *metered) SetSettings(ctx context.Context, s config.Settings) error {
	m.listen(ctx, s)
	return m.shared.SetSettings(ctx, s)
}

// Close implements lsp.Workspace.
func (m *metered) Close() error {
	m.remove()
	return m.shared.Close()
}

// meteredView counts the requests of one client.
type meteredView struct {
	lsp.View
	meter *metrics.Server
}

// count takes the figures of a request that began at a time.
func (v meteredView) count(method string, began time.Time, m wire.Metrics, err error) {
	outcome := metrics.OK
	bad := (*engine.QueryError)(nil)
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled):
		outcome = metrics.Canceled
	case errors.As(err, &bad):
		outcome = metrics.Refused
	default:
		outcome = metrics.Failed
	}
	v.meter.Request(method, outcome, time.Since(began), m)
}

// Ask implements lsp.View.
func (v meteredView) Ask(ctx context.Context, p wire.AskParams, emit func(engine.Event)) (wire.AskResult, error) {
	began := time.Now()
	res, err := v.View.Ask(ctx, p, emit)
	v.count("ask", began, res.Metrics, err)
	return res, err
}

// Search implements lsp.View.
func (v meteredView) Search(ctx context.Context, p wire.SearchParams) (wire.SearchResult, error) {
	began := time.Now()
	res, err := v.View.Search(ctx, p)
	v.count("search", began, res.Metrics, err)
	return res, err
}

// Similar implements lsp.View.
func (v meteredView) Similar(ctx context.Context, p wire.RangeParams) (wire.SearchResult, error) {
	began := time.Now()
	res, err := v.View.Similar(ctx, p)
	v.count("similar", began, res.Metrics, err)
	return res, err
}

// Context implements lsp.View.
func (v meteredView) Context(ctx context.Context, p wire.AskParams) (wire.ContextResult, error) {
	began := time.Now()
	res, err := v.View.Context(ctx, p)
	v.count("context", began, wire.Metrics{}, err)
	return res, err
}

// Explain implements lsp.View.
func (v meteredView) Explain(ctx context.Context, name string, near wire.Document) (wire.ExplainResult, error) {
	began := time.Now()
	res, err := v.View.Explain(ctx, name, near)
	v.count("explain", began, wire.Metrics{}, err)
	return res, err
}
