package lsptest

import (
	"encoding/json"
	"fmt"

	"coderag-ls/engine/text"
)

// Diagnostic is LSP's, as far as it is looked at.
type Diagnostic struct {
	Range              text.Range `json:"range"`
	Severity           int        `json:"severity"`
	Code               string     `json:"code"`
	Source             string     `json:"source"`
	Message            string     `json:"message"`
	RelatedInformation []struct {
		Location struct {
			URI   string     `json:"uri"`
			Range text.Range `json:"range"`
		} `json:"location"`
		Message string `json:"message"`
	} `json:"relatedInformation,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

// Pulls reports whether the server has diagnostics asked for.
func (e *Editor) Pulls() bool {
	var result struct {
		Capabilities struct {
			DiagnosticProvider *struct{} `json:"diagnosticProvider"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(e.Initialized, &result); err != nil {
		e.tb.Fatalf("initialize: %v", err)
	}
	return result.Capabilities.DiagnosticProvider != nil
}

// Diagnostics are those that a document has: asked for where the server wants
// that, else what it published last. In the latter case Sync has the server
// publish what it has to say.
func (e *Editor) Diagnostics(pathOrURI string) []Diagnostic {
	e.tb.Helper()
	uri := URI(pathOrURI)
	if e.Pulls() {
		var report struct {
			Kind  string       `json:"kind"`
			Items []Diagnostic `json:"items"`
		}
		e.MustCall("textDocument/diagnostic", map[string]any{"textDocument": map[string]any{"uri": uri}}, &report)
		if report.Kind != "full" {
			e.tb.Fatalf("a report of kind %q without a previous result", report.Kind)
		}
		return report.Items
	}
	var last []Diagnostic
	for _, params := range e.Received("textDocument/publishDiagnostics") {
		var p struct {
			URI         string       `json:"uri"`
			Diagnostics []Diagnostic `json:"diagnostics"`
		}
		if err := json.Unmarshal(params, &p); err != nil || p.Diagnostics == nil {
			e.tb.Fatalf("publishDiagnostics %s: %v", params, err)
		}
		if p.URI == uri {
			last = p.Diagnostics
		}
	}
	return last
}

// fixAll applies what the server offers to fix in a whole document.
func (s *session) fixAll(path string) (string, error) {
	var actions []json.RawMessage
	err := s.e.Call("textDocument/codeAction", map[string]any{
		"textDocument": map[string]any{"uri": URI(path)}, "range": text.Range{},
		"context": map[string]any{"diagnostics": []any{}, "only": []string{"source.fixAll"}},
	}, &actions)
	if err != nil {
		return "", err
	}
	for _, raw := range actions {
		if err := s.choose(raw); err != nil {
			return "", err
		}
	}
	return s.e.Text(path), nil
}

// choose applies an action.
func (s *session) choose(raw json.RawMessage) error {
	var action struct {
		Title string
		Edit  *WorkspaceEdit
	}
	if err := json.Unmarshal(raw, &action); err != nil {
		return err
	}
	if action.Edit == nil {
		if err := s.e.Call("codeAction/resolve", raw, &action); err != nil {
			return err
		}
	}
	if action.Edit == nil {
		return fmt.Errorf("%s has no edit", action.Title)
	}
	return s.e.Apply(*action.Edit)
}
