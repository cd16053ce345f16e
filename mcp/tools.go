package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"coderag-ls/engine/wire"
)

// The tools' names.
const (
	ToolSearch  = "coderag_search"
	ToolAsk     = "coderag_ask"
	ToolContext = "coderag_context"
	ToolStatus  = "coderag_status"
)

// noParams are those of coderag_status.
type noParams struct{}

// nothing is the text of a result where nothing was found: it must not look as
// if the workspace had no such thing while the index is being made.
const nothing = "Nothing relevant was found.\n"

func (s *Server) addTools() error {
	question := []string{"query", "document", "filters", "topK", "tokenBudget"}
	question = question[:len(question):len(question)] // each append copies
	for _, add := range []func() error{
		func() error {
			return addTool(s, tool{
				name: ToolSearch, title: "Search code", params: question,
				doc: "Find where something is in the workspace's code and documentation, by meaning and by name. The text holds the best places with their code, within a token budget; hits ranks all of them as path, startLine, endLine.",
			}, s.search)
		},
		func() error {
			return addTool(s, tool{
				name: ToolAsk, title: "Ask about code", params: append(question, "history", "llm"),
				doc: "Answer a question about the workspace. Each claim cites path:start-end, and each citation was checked against the file as it stands.",
			}, s.ask)
		},
		func() error {
			return addTool(s, tool{
				name: ToolContext, title: "Collect context", params: append(question, "history"),
				doc: "Collect what is needed to answer a question or to make a change, as Markdown within a token budget: the best chunks with what stands around them, related files, and how the files hang together.",
			}, s.collect)
		},
		func() error {
			return addTool(s, tool{
				name: ToolStatus, title: "State of the index",
				doc: "Tell the state of the index: folders, how many files are indexed, pending and left out and why, models, and what is wrong.",
			}, status)
		},
	} {
		if err := add(); err != nil {
			return err
		}
	}
	return nil
}

// tool declares a tool.
type tool struct {
	name, title, doc string
	params           []string // those of wire.AskParams that it takes
}

// addTool adds a tool whose schemas are those of its Go types. do makes the
// result and its text.
func addTool[In, Out any](s *Server, t tool, do func(ctx context.Context, v View, in In) (Out, string, error)) error {
	input, err := inputSchema[In](t.params)
	if err != nil {
		return fmt.Errorf("schema of %s's parameters: %w", t.name, err)
	}
	output, err := outputSchema[Out]()
	if err != nil {
		return fmt.Errorf("schema of %s's result: %w", t.name, err)
	}
	no := false
	sdk.AddTool(s.sdk, &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.doc, InputSchema: input, OutputSchema: output,
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no, DestructiveHint: &no},
	}, func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
		var none Out
		ctx, cancel := s.within(ctx)
		defer cancel()
		p := &progress{ctx: ctx, session: req.Session, token: req.Params.GetProgressToken()}
		view, end, unknown, err := s.begin(ctx, callerOf(req, req.Params.InputResponses), p)
		if err != nil {
			return nil, none, failure(ctx, err)
		}
		if unknown {
			return &sdk.CallToolResult{InputRequests: questions()}, none, nil
		}
		defer end()
		out, text, err := do(ctx, view, in)
		if err != nil {
			return nil, none, failure(ctx, err)
		}
		p.tell(progressDone, "done")
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, out, nil
	})
	return nil
}

// search ranks, and packs the best of what it ranked as text.
func (s *Server) search(ctx context.Context, v View, p wire.AskParams) (searchResult, string, error) {
	c := cleaner{redactor: s.redactor}
	var none searchResult
	p.Filters.Omit = s.omit(p.Filters.Omit)
	r, err := v.Search(ctx, p.SearchParams)
	if err != nil {
		return none, "", err
	}
	r.Hits = c.hits(r.Hits)
	text := nothing
	if len(r.Hits) > 0 {
		packed, err := v.Context(ctx, p)
		if err != nil {
			return none, "", err
		}
		text = c.markdown(packed.Content)
	}
	return searchResult{r, c.redactions}, strings.TrimRight(text, "\n") + "\n\n" + s.foot(c.redactions, r.Plan, r.Coverage), nil
}

func (s *Server) ask(ctx context.Context, v View, p wire.AskParams) (askResult, string, error) {
	c := cleaner{redactor: s.redactor}
	p.Filters.Omit = s.omit(p.Filters.Omit)
	r, err := v.Ask(ctx, p, nil)
	if err != nil {
		return askResult{}, "", err
	}
	r.Citations, r.Answer = c.citations(r.Citations), c.markdown(r.Answer)
	var b strings.Builder
	b.WriteString(strings.TrimRight(r.Answer, "\n") + "\n\n")
	if r.Dropped > 0 {
		fmt.Fprintf(&b, "%d citations no longer held and were dropped.\n", r.Dropped)
	}
	b.WriteString(s.foot(c.redactions, r.Plan, r.Coverage))
	return askResult{r, c.redactions}, b.String(), nil
}

func (s *Server) collect(ctx context.Context, v View, p wire.AskParams) (contextResult, string, error) {
	c := cleaner{redactor: s.redactor}
	p.Filters.Omit = s.omit(p.Filters.Omit)
	r, err := v.Context(ctx, p)
	if err != nil {
		return contextResult{}, "", err
	}
	r.Primary, r.Content = c.citations(r.Primary), c.markdown(r.Content)
	text := r.Content
	if len(r.Primary) == 0 {
		text = nothing
	}
	return contextResult{r, c.redactions}, strings.TrimRight(text, "\n") + "\n\n" + s.foot(c.redactions, wire.Plan{}, r.Coverage), nil
}

// omit adds what is never sent to what a client does not want.
func (s *Server) omit(more []string) []string { return slices.Concat(s.opts.NeverSend, more) }

// foot ends a result's text: what it lacks, and why.
func (s *Server) foot(r redactions, p wire.Plan, c wire.Coverage) string {
	withheld := ""
	if len(s.opts.NeverSend) > 0 {
		withheld = "Files that the setting llm.neverSend names are left out.\n"
	}
	return r.note() + withheld + fallbackText(p) + coverageText(c)
}

// fallbackText tells where filters had to be dropped.
func fallbackText(p wire.Plan) string {
	if p.Fallback == "" {
		return ""
	}
	return "Nothing matched the filters; " + p.Fallback + ".\n"
}

func status(ctx context.Context, v View, _ noParams) (wire.Status, string, error) {
	st, err := v.Status(ctx)
	if err != nil {
		return st, "", err
	}
	var b strings.Builder
	for _, r := range st.Roots {
		fmt.Fprintf(&b, "%s: %s, %d of %d files indexed\n", r.Dir, r.State, r.Indexed, r.Total)
		if r.Error != "" {
			fmt.Fprintf(&b, "  %s\n", r.Error)
		}
	}
	fmt.Fprintf(&b, "State: %s; %d chunks, %d symbols; model %s\n", st.State, st.Chunks, st.Symbols, st.Model.Embedder)
	for _, n := range st.Notices {
		fmt.Fprintf(&b, "Note: %s\n", n)
	}
	b.WriteString(coverageText(st.Coverage))
	return st, b.String(), nil
}
