package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Section is the section of an LSP client's configuration, and of
// initializationOptions, that holds our settings.
const Section = "coderag"

// UserFile returns the path of the user's settings file:
// $XDG_CONFIG_HOME/coderag/config.toml, where that variable is not set
// %AppData%\coderag\config.toml on Windows and ~/.config/coderag/config.toml
// elsewhere, or "" where no such directory is known.
func UserFile(getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME") // the XDG base directory specification: relative ones are ignored
	if !filepath.IsAbs(dir) {
		dir = ""
	}
	if dir == "" && runtime.GOOS == "windows" {
		dir = getenv("AppData")
	}
	if dir == "" && getenv("HOME") != "" && runtime.GOOS != "windows" {
		dir = filepath.Join(getenv("HOME"), ".config")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "coderag", "config.toml")
}

// maxUserFile bounds the settings file in bytes: more is not a settings file.
const maxUserFile = 1 << 20

// WithFile reads the user's settings file. A file that does not exist holds
// nothing; one that cannot be read or is no TOML is one Problem.
func (l Layers) WithFile(path string) (Layers, []Problem) {
	bad := func(message string) (Layers, []Problem) {
		return l.with(FromFile, nil), []Problem{{Source: FromFile, Origin: path, Message: message}}
	}
	if path == "" {
		return l.with(FromFile, nil), nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l.with(FromFile, nil), nil
	case err != nil:
		return bad(err.Error())
	case !info.Mode().IsRegular():
		return bad("is not a regular file")
	case info.Size() > maxUserFile:
		return bad("is larger than 1 MiB")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return bad(err.Error())
	}
	return l.WithTOML(path, data)
}

// WithTOML is WithFile for the text of a file at path.
func (l Layers) WithTOML(path string, data []byte) (Layers, []Problem) {
	var tree map[string]any
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := toml.Unmarshal(data, &tree); err != nil {
		origin, message := path, err.Error()
		if bad := (*toml.DecodeError)(nil); errors.As(err, &bad) {
			row, column := bad.Position()
			origin = fmt.Sprintf("%s:%d:%d", path, row, column)
		}
		return l.with(FromFile, nil), []Problem{{Source: FromFile, Origin: origin, Message: message}}
	}
	values, problems := fromTree(FromFile, path, tree)
	return l.with(FromFile, values), problems
}

// WithInit takes an LSP client's initializationOptions, decoded from JSON:
// nested objects or dotted names, with or without a section "coderag" around
// them. Machine-scoped settings are taken. Anything but an object or null is a
// Problem.
func (l Layers) WithInit(options any) (Layers, []Problem) {
	values, problems := fromClient(FromInit, options)
	return l.with(FromInit, values), problems
}

// WithWorkspace is WithInit for workspace configuration, which a repository
// may carry: machine-scoped settings are refused by name.
func (l Layers) WithWorkspace(configuration any) (Layers, []Problem) {
	values, problems := fromClient(FromWorkspace, configuration)
	return l.with(FromWorkspace, values), problems
}

func fromClient(source Source, configuration any) (layer, []Problem) {
	tree, ok := configuration.(map[string]any)
	if !ok {
		if configuration == nil {
			return nil, nil
		}
		return nil, []Problem{{Source: source, Message: show(configuration) + " is not an object"}}
	}
	if inner, ok := tree[Section].(map[string]any); ok {
		tree = maps.Clone(tree)
		delete(tree, Section)
		values, problems := fromTree(source, "", inner)
		more, moreProblems := fromTree(source, "", tree)
		maps.Copy(more, values)
		return more, append(problems, moreProblems...)
	}
	return fromTree(source, "", tree)
}

// fromTree checks the values of nested maps whose keys may be dotted. null
// means not set, as in JSON configurations.
func fromTree(source Source, origin string, tree map[string]any) (layer, []Problem) {
	settings := byName()
	values := layer{}
	var problems []Problem
	var walk func(prefix string, tree map[string]any)
	walk = func(prefix string, tree map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			name := prefix + key
			d, known := settings[name]
			inner, isMap := tree[key].(map[string]any)
			var message string
			switch {
			case !known && clientsOwn(source, name):
				continue
			case !known && isMap:
				walk(name+".", inner)
				continue
			case tree[key] == nil && (known || isGroup(settings, name) || name == Section):
				continue
			case !known && (isGroup(settings, name) || name == Section):
				message = fmt.Sprintf("is a group of settings: want an object, not %s", show(tree[key]))
			case !known:
				message = unknown(name, slices.Collect(maps.Keys(settings)))
			case source == FromWorkspace && d.Scope == Machine:
				message = "is not taken from a workspace's configuration, because it says what runs here, which files are read or written, or what is sent where; set it in the user file, the environment or the client's initialization options"
			default:
				v, err := d.check(tree[key])
				if err == nil {
					values[name] = value{v, origin}
					continue
				}
				message = err.Error()
			}
			problems = append(problems, Problem{Source: source, Origin: origin, Name: name, Message: message})
		}
	}
	walk("", tree)
	return values, problems
}

// isGroup reports whether a name is what settings' names begin with.
func isGroup(settings map[string]Setting, name string) bool {
	for known := range settings {
		if strings.HasPrefix(known, name+".") {
			return true
		}
	}
	return false
}

// clientsOwn reports whether a name in an editor's section is the editor's
// business: where the server is and how its traffic is traced.
func clientsOwn(source Source, name string) bool {
	group, _, _ := strings.Cut(name, ".")
	return (source == FromInit || source == FromWorkspace) && (group == "server" || group == "trace")
}

// The environment variables that hold keys. They are no settings, so that no
// list of settings shows them and no file can hold them.
const (
	LLMKeyVariable    = "CODERAG_LLM_API_KEY"
	EmbedKeyVariable  = "CODERAG_EMBED_API_KEY"
	SharedKeyVariable = "CODERAG_SHARED_API_KEY"
	OpenAIKeyVariable = "OPENAI_API_KEY" // for OpenAI itself
)

// WithEnv takes the environment, as os.Environ returns it. Variables whose
// names start with CODERAG_ but are no setting's are Problems, except
// CODERAG_TEST_* and those of keys. An empty variable counts as not set.
func (l Layers) WithEnv(environ []string) (Layers, []Problem) {
	settings := map[string]Setting{}
	for _, d := range Table() {
		settings[d.Env] = d
	}
	values := layer{}
	keys := map[string]string{}
	var problems []Problem
	for _, entry := range environ {
		name, text, ok := strings.Cut(entry, "=")
		if ok && (name == LLMKeyVariable || name == EmbedKeyVariable || name == SharedKeyVariable || name == OpenAIKeyVariable) {
			keys[name] = strings.TrimSpace(text)
			continue
		}
		if !ok || text == "" || !strings.HasPrefix(name, envPrefix) || strings.HasPrefix(name, envPrefix+"TEST_") {
			continue
		}
		problem := Problem{Source: FromEnv, Origin: name, Name: name}
		if d, known := settings[name]; !known {
			problem.Message = unknown(name, slices.Collect(maps.Keys(settings)))
		} else if v, err := d.parse(text); err != nil {
			problem.Message = err.Error()
		} else {
			values[d.Name] = value{v, name}
			continue
		}
		problems = append(problems, problem)
	}
	l = l.with(FromEnv, values)
	l.keys = keys
	return l, problems
}

// WithFlags takes the flags that were given, by setting name.
func (l Layers) WithFlags(flags map[string]string) (Layers, []Problem) {
	settings := byName()
	values := layer{}
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		problem := Problem{Source: FromFlag, Origin: "--" + name, Name: "--" + name}
		if d, known := settings[name]; !known {
			problem.Message = unknown(name, slices.Collect(maps.Keys(settings)))
		} else if v, err := d.parse(flags[name]); err != nil {
			problem.Message = err.Error()
		} else {
			values[name] = value{v, "--" + name}
			continue
		}
		problems = append(problems, problem)
	}
	return l.with(FromFlag, values), problems
}

func unknown(name string, candidates []string) string {
	if near := Nearest(name, candidates); near != "" {
		return fmt.Sprintf("there is no such setting; did you mean %s?", near)
	}
	return "there is no such setting"
}
