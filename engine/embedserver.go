package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"coderag-ls/engine/config"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/onnx"
	"coderag-ls/engine/embed/remote"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/llm"
	"coderag-ls/engine/llm/audit"
	"coderag-ls/engine/llm/openai"
)

// embedServer is the server that makes embeddings, as far as it is known.
type embedServer struct {
	model   *remote.Embedder // nil where it cannot be used
	missing string           // why, for answers
	stop    context.CancelFunc
	tasks   sync.WaitGroup
}

// hasServer reports whether a server makes embeddings. The settings that say so
// are the machine's.
func hasServer(s config.Settings) bool { return s.Embed.BaseURL != "" && s.Embed.Model != "" }

// openServer opens the model on the server. One that is away is used once it is
// back; meanwhile, and where the settings are wrong, answers and status say that
// it does not take part.
func (e *Engine) openServer(ctx context.Context, s config.Settings, o *opened, iopts *index.Options) {
	o.server = &embedServer{stop: func() {}}
	never, err := neverSent(s)
	var ropts remote.Options
	if err == nil {
		ropts, err = e.remoteOptions(s, iopts.CacheDir)
	}
	if err == nil {
		o.server.model, err = remote.Open(ctx, ropts)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return
	default:
		o.server.missing = fmt.Sprintf("%s at embed.baseUrl did not take part: %v", s.Embed.Model, err)
		o.notices = append(o.notices, fmt.Sprintf("%s at embed.baseUrl is not used: %v", s.Embed.Model, err))
		e.opts.Logger.Warn("the embeddings server is not used", "error", err)
		if errors.Is(err, remote.ErrUnknown) {
			run, stop := context.WithCancel(context.WithoutCancel(ctx))
			o.server.stop = stop
			o.server.tasks.Go(func() { e.learn(run, ropts) })
		}
		return
	}
	iopts.Behind = o.server.model
	iopts.Server = &index.Server{EmbedAll: o.server.model.EmbedAll}
	if len(s.LLM.NeverSend) > 0 {
		iopts.Server.Unsent = func(r file.Root, rel string) bool { return never.Match(rel) || never.Match(r.Name+"/"+rel) }
	}
}

func neverSent(s config.Settings) (file.Globs, error) {
	never, err := file.NewGlobs(s.LLM.NeverSend)
	if err != nil {
		return never, fmt.Errorf("setting llm.neverSend: %w; nothing is sent until it is right", err)
	}
	return never, nil
}

// CheckEmbedServer says what is wrong with the settings of the server that makes
// embeddings, else where texts are sent to. Nothing is asked of it. key is
// Options.Key.
func CheckEmbedServer(s config.Settings, key func(variable string) string) (endpoint string, err error) {
	if _, err := neverSent(s); err != nil {
		return "", err
	}
	client, err := embedClient(s, key)
	if err != nil {
		return "", err
	}
	defer client.Close()
	return client.Endpoint(), nil
}

// embedClient makes the client of the server that the settings name.
func embedClient(s config.Settings, getenv func(string) string) (*openai.Client, error) {
	key, err := embedKey(s, getenv)
	if err != nil {
		return nil, err
	}
	client, err := openai.New(openai.Options{BaseURL: s.Embed.BaseURL, Model: s.Embed.Model, Key: key, CAFile: s.LLM.CAFile, Group: "embed"})
	if err != nil {
		return nil, fmt.Errorf("setting embed.baseUrl: %w", err)
	}
	return client, nil
}

// remoteOptions translates the settings.
func (e *Engine) remoteOptions(s config.Settings, dir string) (remote.Options, error) {
	client, err := embedClient(s, e.opts.Key)
	if err != nil {
		return remote.Options{}, err
	}
	if dir == noCacheDir {
		dir = ""
	} else {
		dir = filepath.Clean(dir)
	}
	return remote.Options{
		Client: client, Dim: s.Embed.Dimensions, QuestionPrefix: s.Embed.QuestionPrefix, TextPrefix: s.Embed.TextPrefix,
		PathWeight: onnx.PathWeight, Timeout: time.Duration(s.Embed.Timeout) * time.Millisecond,
		QuestionTimeout: time.Duration(s.Embed.QuestionTimeout) * time.Millisecond,
		Dir:             dir, Audit: audit.New(s.LLM.AuditLog), Changed: e.openAgain,
	}, nil
}

// embedKey finds the key for embed.baseUrl: the environment's, else the key
// file's. OPENAI_API_KEY goes to OpenAI and nowhere else.
func embedKey(s config.Settings, getenv func(string) string) (string, error) {
	if key, err := llm.FindKey(getenv, config.EmbedKeyVariable, s.Embed.APIKeyFile); key != "" || err != nil || getenv == nil {
		return key, err
	}
	if openai.IsOpenAI(s.Embed.BaseURL) {
		return getenv(config.OpenAIKeyVariable), nil
	}
	return "", nil
}

// How long a server of which nothing is known is left alone: the first time, and
// at most.
const (
	firstPause = time.Second
	maxPause   = time.Minute
)

// learn asks a server until it is known, then has the index opened with it.
func (e *Engine) learn(ctx context.Context, o remote.Options) {
	defer o.Client.Close()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		err := remote.Learn(ctx, o)
		if err == nil {
			e.openAgain()
			return
		}
		e.opts.Logger.Debug("asking the embeddings server", "error", err)
	}
}

// close closes the server's model.
func (s *embedServer) close() error {
	s.stop()
	s.tasks.Wait()
	if s.model == nil {
		return nil
	}
	return s.model.Close()
}

// openAgain has the index opened again with the settings in force, soon.
func (e *Engine) openAgain() {
	select {
	case e.again <- struct{}{}:
	default:
	}
}

// reopens opens the index again whenever that is asked for, until ctx ends.
func (e *Engine) reopens(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.again:
		}
		e.changing.Lock()
		e.mu.Lock()
		settings, roots, usable := e.settings, e.roots, e.now != nil && !e.closed
		e.mu.Unlock()
		if usable {
			if err := e.reopen(ctx, settings, roots); err != nil {
				e.opts.Logger.Error("opening the index again", "error", err)
			}
		}
		e.changing.Unlock()
		e.changed()
	}
}

// localEmbedders are those whose texts stay on this machine.
func localEmbedders(ix *index.Index, o *opened) []embed.Embedder {
	all := ix.Embedders()
	if o == nil || o.server == nil || o.server.model == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(e embed.Embedder) bool { return e == embed.Embedder(o.server.model) })
}

// missing says which model does not take part and why, "" where all do.
func (e *Engine) missing() string {
	if o := e.current(); o != nil && o.server != nil {
		return o.server.missing
	}
	return ""
}
