package assist

import (
	"context"
	"errors"
	"fmt"

	"coderag-ls/engine/config"
	"coderag-ls/engine/llm"
	"coderag-ls/engine/llm/openai"
	"coderag-ls/engine/wire"
)

// choose finds who answers.
func (a *Asker) choose(ctx context.Context) {
	set := a.set
	server := set.BaseURL != "" && set.Model != ""
	switch {
	case set.Provider == "none":
		return
	case set.Provider == "client" || set.Provider == "auto" && !server && set.BaseURL == "" && a.opts.Client != nil:
		if a.opts.Client == nil {
			a.why = errors.New("llm.provider is client, and this client offers no model of its own")
			return
		}
		a.main, a.small = a.opts.Client, a.opts.Client
		return
	case !server && (set.Provider == "openai" || set.BaseURL != ""):
		missing := "llm.baseUrl"
		if set.BaseURL != "" {
			missing = "llm.model"
		}
		a.why = fmt.Errorf("setting %s is missing", missing)
		return
	case !server:
		return
	}
	key, err := a.key(ctx)
	if err != nil {
		a.why = err
		return
	}
	open := func(model string) llm.Provider {
		c, err := openai.New(openai.Options{BaseURL: set.BaseURL, Model: model, Key: key, CAFile: set.CAFile})
		if err != nil {
			a.why = fmt.Errorf("setting llm.baseUrl: %w", err)
			return nil
		}
		return c
	}
	if a.main = open(set.Model); a.main == nil {
		return
	}
	a.small = a.main
	if set.RouterModel != "" && set.RouterModel != set.Model {
		a.small = open(set.RouterModel)
	}
}

// key finds the key for llm.baseUrl: the environment's, the key file's, the one
// of the client's secret store. OPENAI_API_KEY goes to OpenAI and nowhere else.
func (a *Asker) key(ctx context.Context) (string, error) {
	getenv := func(name string) string {
		if a.opts.Key == nil {
			return ""
		}
		return a.opts.Key(name)
	}
	if key, err := llm.FindKey(getenv, config.LLMKeyVariable, a.set.APIKeyFile); key != "" || err != nil {
		return key, err
	}
	if openai.IsOpenAI(a.set.BaseURL) {
		if key := getenv(config.OpenAIKeyVariable); key != "" {
			return key, nil
		}
	}
	if a.opts.Secret != nil {
		key, err := a.opts.Secret(ctx, wire.SecretParams{Name: wire.SecretLLM, BaseURL: a.set.BaseURL})
		if err != nil {
			return "", fmt.Errorf("asking the editor for the key: %w", err)
		}
		return key, nil
	}
	return "", nil
}
