package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"coderag-ls/assist"
	"coderag-ls/attach"
	"coderag-ls/engine"
	"coderag-ls/engine/chunk"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/mcp"
	"coderag-ls/metrics"
)

// samples are a definition in each language whose grammar most people need.
func samples() map[string]string {
	return map[string]string{
		"sample.go":   "package sample\n\nfunc Sample() int { return 1 }\n",
		"sample.py":   "def sample():\n    return 1\n",
		"sample.js":   "function sample() { return 1 }\n",
		"sample.ts":   "function sample(): number { return 1 }\n",
		"Sample.java": "class Sample { int sample() { return 1; } }\n",
		"sample.rs":   "fn sample() -> i32 { 1 }\n",
		"sample.c":    "int sample(void) { return 1; }\n",
		"sample.rb":   "def sample\n  1\nend\n",
	}
}

// examineGrammars parses a line or two with the grammars that the program holds.
func examineGrammars(ctx context.Context) finding {
	c := chunk.New(chunk.Options{})
	defer c.Close()
	var bad []string
	all := samples()
	for name, content := range all {
		class, _, _ := file.Classify(name, content)
		f := c.Chunk(ctx, chunk.Input{Path: name, Class: class, Text: text.New(content)})
		if f.Fallback != "" || len(f.Symbols) == 0 {
			bad = append(bad, fmt.Sprintf("%s (%s)", name, orNone(f.Fallback)))
		}
	}
	if len(bad) > 0 {
		return finding{"grammars", stateError, "no syntax tree of " + strings.Join(bad, ", "), "the program is damaged: install it again"}
	}
	return ok("grammars", "%d of %d samples are parsed", len(all), len(all))
}

// examineSocket tries whether others could attach to an index of this program.
func examineSocket(s config.Settings) finding {
	const check = "socket"
	dir, err := engine.CacheDir(s)
	if err != nil {
		return finding{check, stateWarning, err.Error(), "set index.cacheDir (CODERAG_INDEX_CACHE_DIR) to a folder of yours"}
	}
	// Where the folder cannot be made either, the check of the cache says so.
	if err := attach.CheckSocket(existing(dir)); err != nil {
		return finding{check, stateError, fmt.Sprintf("no socket can be made, so each process keeps an index of its own: %v", err),
			"set index.cacheDir to a shorter path, or XDG_RUNTIME_DIR to a folder of yours"}
	}
	return ok(check, "other processes can share an index")
}

// existing is the nearest folder above that there is.
func existing(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// providerTime is how long a language model's server may take to be reached.
const providerTime = 3 * time.Second

// examineProvider looks at who writes answers. Nothing is asked of it.
func examineProvider(ctx context.Context, s config.Settings, key func(string) string) finding {
	const check = "provider"
	l := s.LLM
	bad := func(advice, format string, args ...any) finding {
		return finding{check, stateError, fmt.Sprintf(format, args...), advice}
	}
	switch {
	case l.Provider == "none":
		return ok(check, "setting llm.provider is none: answers are extracted from the code")
	case l.BaseURL == "" && l.Model == "" && l.Provider != "openai":
		return ok(check, "no language model is set: answers are extracted from the code")
	case l.BaseURL == "":
		return bad("set llm.baseUrl, or llm.provider to none", "llm.baseUrl is not set: no server is asked")
	case l.Model == "":
		return bad("set llm.model to a model of that server, or llm.provider to none", "llm.baseUrl is %s, but llm.model is not set", l.BaseURL)
	}
	asker := assist.New(ctx, assist.Options{Settings: s, Key: key})
	defer asker.Close()
	model, at, err := asker.Model()
	if err != nil {
		return bad("correct the settings llm.*; until then answers are extracted from the code", "%v", err)
	}
	if err := reach(ctx, at); err != nil {
		return bad("start the server, or correct llm.baseUrl; until then answers are extracted from the code", "%s cannot be reached: %v", at, err)
	}
	return ok(check, "%s at %s can be reached", model, at)
}

// examineEmbedServer looks at who makes embeddings. Nothing is asked of it.
func examineEmbedServer(ctx context.Context, s config.Settings, key func(string) string) finding {
	const check = "embeddings"
	bad := func(advice, format string, args ...any) finding {
		return finding{check, stateError, fmt.Sprintf(format, args...), advice}
	}
	switch set := s.Embed; {
	case set.BaseURL == "" && set.Model == "":
		return ok(check, "no server is set: vectors are made on this machine")
	case set.BaseURL == "":
		return bad("set embed.baseUrl to the server that has the model, or embed.model to nothing", "embed.model is %s, but embed.baseUrl is not set: vectors are made on this machine", set.Model)
	case set.Model == "":
		return bad("set embed.model to a model of that server, or embed.baseUrl to nothing", "embed.baseUrl is %s, but embed.model is not set: vectors are made on this machine", set.BaseURL)
	}
	at, err := engine.CheckEmbedServer(s, key)
	if err != nil {
		return bad("correct the settings embed.*; until then the models of this machine do", "%v", err)
	}
	if err := reach(ctx, at); err != nil {
		return bad("start the server, or correct embed.baseUrl; until then it is searched without it", "%s cannot be reached: %v", at, err)
	}
	return ok(check, "%s at %s can be reached", s.Embed.Model, at)
}

// examineShared asks the shared index what it has.
func (a *app) examineShared(ctx context.Context, layers config.Layers, roots []file.Root) finding {
	const check = "shared"
	s := layers.Settings()
	if len(s.Shared.Endpoints) == 0 {
		return ok(check, "no shared index is set: all is indexed on this machine")
	}
	bad := func(advice string, err error) finding {
		return finding{check, stateError, fmt.Sprintf("%s: %v", strings.Join(s.Shared.Endpoints, ", "), err), advice}
	}
	limited, cancel := context.WithTimeout(ctx, sharedTime)
	defer cancel()
	heads, names, err := engine.CheckShared(limited, engine.Options{Roots: roots, Version: version(), Settings: s, Key: layers.Key, OpenShared: a.openShared})
	const until = "; until then it is searched what is indexed on this machine"
	switch {
	case errors.Is(err, sharedindex.ErrDenied):
		return bad("set CODERAG_SHARED_API_KEY or shared.apiKeyFile to a key that may read it"+until, err)
	case errors.Is(err, sharedindex.ErrSchema):
		return bad("install the version of the program that publishes it, or have it published by this one"+until, err)
	case errors.Is(err, sharedindex.ErrUnreachable), err != nil && limited.Err() != nil:
		return bad("start the cluster, or correct shared.endpoints, or shared.caFile"+until, err)
	case err != nil:
		return bad("correct the settings shared.*"+until, err)
	}
	var missing, other []string
	for _, name := range names {
		var edition, complete bool
		for _, h := range heads {
			if h.Repository == name && h.State != wire.SharedFirst {
				complete, edition = true, edition || h.Current
			}
		}
		switch {
		case !complete:
			missing = append(missing, name)
		case !edition:
			other = append(other, name)
		}
	}
	at := fmt.Sprintf("%s, tenant %s: %s published", strings.Join(s.Shared.Endpoints, ", "), s.Shared.Tenant, plural(len(heads), "edition"))
	switch {
	case len(missing) > 0:
		return finding{check, stateWarning, fmt.Sprintf("%s; not %s", at, strings.Join(missing, ", ")), "publish it with `coderag-ls publish`, or set shared.repository to the name that it is published under; until then it is indexed on this machine"}
	case len(other) > 0:
		return finding{check, stateWarning, fmt.Sprintf("%s; %s with another model or version than this program's", at, strings.Join(other, ", ")), "publish it with this version; until then it is indexed on this machine"}
	}
	return ok(check, "%s", at)
}

// sharedTime is how long the shared index may take to tell what it has.
const sharedTime = 10 * time.Second

// reach connects to the host of a URL that was checked, and says nothing there.
func reach(ctx context.Context, base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	limited, cancel := context.WithTimeout(ctx, providerTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(limited, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}

// examineLog tries to open the log file as the server does.
func examineLog(a *app, s config.Settings) finding {
	const check = "log"
	if s.Log.File == "" {
		return ok(check, "standard error, from %s on", s.Log.Level)
	}
	_, closeLog, err := a.logger(s)
	if err == nil {
		err = closeLog()
	}
	if err != nil {
		return finding{check, stateError, err.Error(), "make the folder of log.file, or set it to a file that you can write"}
	}
	return ok(check, "%s", s.Log.File)
}

// examineListening looks at what the servers would listen with.
func examineListening(a *app, s config.Settings) []finding {
	metric := ok("metrics", "%s", orNone(s.Metrics.Listen))
	if err := metrics.CheckAddress(s.Metrics.Listen); err != nil {
		metric = finding{"metrics", stateError, err.Error(), "set metrics.listen to 127.0.0.1:PORT, or to nothing"}
	}
	token := finding{Check: "mcp", State: stateOK}
	if t := a.getenv(mcpTokenVariable); t != "" {
		token.Detail = "the token of mcp --http is that of " + mcpTokenVariable
		if err := mcp.CheckToken(t); err != nil {
			token = finding{"mcp", stateError, fmt.Sprintf("variable %s: %v", mcpTokenVariable, err), "set it to a longer word, or not at all: a file is made then"}
		}
		return []finding{metric, token}
	}
	path, err := a.mcpTokenFile(s)
	if err != nil {
		return []finding{metric, {"mcp", stateWarning, err.Error(), "only mcp --http needs it"}}
	}
	token.Detail = "the token of mcp --http is in " + path
	if _, err := os.Lstat(path); err != nil {
		token.Detail = "the token of mcp --http will be made in " + path
	} else if err := mcp.CheckTokenFile(path); err != nil {
		token = finding{"mcp", stateError, err.Error(), "delete it: a new one is made by mcp --http, and clients need the new token"}
	}
	return []finding{metric, token}
}
