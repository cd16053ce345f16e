package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"coderag-ls/engine/config"
)

// pullTime is how long the client has to tell its settings.
const pullTime = 5 * time.Second

// configuration is what the client says of the settings, decoded from JSON.
type configuration struct {
	// initialization are the initializationOptions: the user's own, in which
	// settings of every scope are taken.
	initialization any
	// workspace is the section "coderag" of the editor's configuration, in
	// which a repository may have a say: machine-scoped settings are refused.
	workspace any
}

// configure makes settings of the client's configuration. The problems are
// sentences that name the setting.
func (s *server) configure(c configuration) (config.Settings, []string) {
	layers, problems := s.opts.Settings.WithInit(c.initialization)
	layers, more := layers.WithWorkspace(c.workspace)
	var sentences []string
	for _, problem := range append(problems, more...) {
		sentences = append(sentences, problem.String())
	}
	return layers.Settings(), sentences
}

// settings are those in force. A request that waited for its view reads the
// ones that were in force when its turn came, or newer ones.
func (s *server) settings() *config.Settings { return s.manager.settings.Load() }

// decodeOptions decodes settings. What editors keep under the same section for
// themselves is left out: how the server is started and traced. So are empty
// texts for settings of the machine, which an editor that fills in defaults
// sends with the rest.
func decodeOptions(raw json.RawMessage) any {
	var options any
	if len(raw) == 0 || json.Unmarshal(raw, &options) != nil {
		return nil // it was decoded before: it is valid JSON
	}
	tree, ok := options.(map[string]any)
	if !ok {
		return options
	}
	if inner, ok := tree[config.Section].(map[string]any); ok {
		dropEditors(inner)
	}
	dropEditors(tree)
	return tree
}

func dropEditors(tree map[string]any) {
	delete(tree, "server")
	delete(tree, "trace")
	machine := map[string]bool{}
	for _, setting := range config.Table() {
		machine[setting.Name] = setting.Scope == config.Machine
	}
	var walk func(prefix string, tree map[string]any)
	walk = func(prefix string, tree map[string]any) {
		for key, value := range tree {
			if inner, ok := value.(map[string]any); ok {
				walk(prefix+key+".", inner)
			} else if machine[prefix+key] && value == "" {
				delete(tree, key)
			}
		}
	}
	walk("", tree)
}

type didChangeConfigurationParams struct {
	Settings json.RawMessage `json:"settings"`
}

// didChangeConfiguration takes the settings that came, or asks for them where
// the client tells them on request only.
func (s *server) didChangeConfiguration(_ context.Context, p didChangeConfigurationParams) error {
	if s.caps.configuration() {
		s.manager.want(func() { s.manager.pull = true })
		return nil
	}
	var all map[string]json.RawMessage
	if len(p.Settings) > 0 {
		if err := json.Unmarshal(p.Settings, &all); err != nil {
			return fmt.Errorf("settings: not an object: %w", err)
		}
	}
	raw, ok := all[config.Section]
	if !ok {
		return nil // another server's settings
	}
	s.manager.want(func() { s.manager.config.workspace = decodeOptions(raw) })
	return nil
}

type configurationParams struct {
	Items []configurationItem `json:"items"`
}

type configurationItem struct {
	Section string `json:"section"`
}

// pullConfiguration asks the client for its settings. Without an answer the
// ones known hold.
func (m *manager) pullConfiguration() {
	ctx, cancel := context.WithTimeout(m.ctx, pullTime)
	defer cancel()
	var values []json.RawMessage
	err := m.s.conn.Call(ctx, "workspace/configuration", configurationParams{Items: []configurationItem{{config.Section}}}, &values)
	if err != nil {
		if m.ctx.Err() == nil {
			m.s.log.Warn("the client's settings", "error", err)
		}
		return
	}
	var options any
	if len(values) > 0 {
		options = decodeOptions(values[0])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.config.workspace = options
}
