package lsp

import (
	"encoding/json"
	"slices"

	"coderag-ls/engine/text"
)

// capabilities are what the client can do. Every question to them is a method,
// and a value of an unexpected type is taken for "no".
type capabilities struct{ tree map[string]any }

// UnmarshalJSON takes any object; anything else is a client without
// capabilities.
func (c *capabilities) UnmarshalJSON(data []byte) error {
	c.tree = nil
	var tree map[string]any
	if json.Unmarshal(data, &tree) == nil {
		c.tree = tree
	}
	return nil
}

// at walks down the tree; nil where there is nothing.
func (c capabilities) at(path ...string) any {
	var node any = c.tree
	for _, name := range path {
		object, ok := node.(map[string]any)
		if !ok {
			return nil
		}
		node = object[name]
	}
	return node
}

func (c capabilities) is(path ...string) bool {
	b, _ := c.at(path...).(bool)
	return b
}

func (c capabilities) strings(path ...string) []string {
	list, _ := c.at(path...).([]any)
	var all []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// encoding chooses how positions are counted: UTF-8 where the client offers
// it, for it is what texts are held in; else UTF-16, LSP's default, unless the
// client offers other ones only.
func (c capabilities) encoding() text.Encoding {
	offered := c.strings("general", "positionEncodings")
	for _, enc := range []text.Encoding{text.UTF8, text.UTF16, text.UTF32} {
		if slices.Contains(offered, string(enc)) {
			return enc
		}
	}
	return text.UTF16
}

// hoverMarkdown: the client likes hovers best as Markdown. One that names no
// format gets plain text.
func (c capabilities) hoverMarkdown() bool {
	formats := c.strings("textDocument", "hover", "contentFormat")
	return len(formats) > 0 && formats[0] == "markdown"
}

// actionLiterals: code actions may be more than commands.
func (c capabilities) actionLiterals() bool {
	return c.at("textDocument", "codeAction", "codeActionLiteralSupport") != nil
}

// actionResolve: an action's edit may be asked for when it is chosen.
func (c capabilities) actionResolve() bool {
	return c.is("textDocument", "codeAction", "dataSupport") &&
		slices.Contains(c.strings("textDocument", "codeAction", "resolveSupport", "properties"), "edit")
}

func (c capabilities) documentChanges() bool {
	return c.is("workspace", "workspaceEdit", "documentChanges")
}

func (c capabilities) applyEdit() bool       { return c.is("workspace", "applyEdit") }
func (c capabilities) configuration() bool   { return c.is("workspace", "configuration") }
func (c capabilities) workDone() bool        { return c.is("window", "workDoneProgress") }
func (c capabilities) codeLensRefresh() bool { return c.is("workspace", "codeLens", "refreshSupport") }
func (c capabilities) linkTooltip() bool {
	return c.is("textDocument", "documentLink", "tooltipSupport")
}

// pullsDiagnostics: the client asks for diagnostics, and asks again when it is
// told that what is cited has changed. One that only does the former would not
// hear of changes on disk, and is told everything.
func (c capabilities) pullsDiagnostics() bool {
	return c.at("textDocument", "diagnostic") != nil && c.is("workspace", "diagnostics", "refreshSupport")
}

func (c capabilities) diagnosticVersions() bool {
	return c.is("textDocument", "publishDiagnostics", "versionSupport")
}

func (c capabilities) diagnosticData() bool {
	return c.is("textDocument", "publishDiagnostics", "dataSupport")
}

func (c capabilities) relatedInformation() bool {
	return c.is("textDocument", "publishDiagnostics", "relatedInformation")
}

func (c capabilities) preferredActions() bool {
	return c.is("textDocument", "codeAction", "isPreferredSupport")
}

// registers: the method can be registered after the start.
func (c capabilities) registersWatchedFiles() bool {
	return c.is("workspace", "didChangeWatchedFiles", "dynamicRegistration")
}

func (c capabilities) registersConfiguration() bool {
	return c.is("workspace", "didChangeConfiguration", "dynamicRegistration")
}
