package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"coderag-ls/engine/config"
	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/llm"
	"coderag-ls/engine/sharedindex"
)

// SharedAccess says how a shared index is reached.
type SharedAccess struct {
	config.Shared
	// Key is the key for the endpoints, "" for none.
	Key     string
	Edition sharedindex.Edition
	Logger  *slog.Logger
}

// The values of shared.repository that name none.
const (
	autoRepository = "auto"
	noRepository   = "none"
)

// hasShared reports whether a shared index is set.
func hasShared(s config.Settings) bool {
	return slices.ContainsFunc(s.Shared.Endpoints, func(e string) bool { return strings.TrimSpace(e) != "" })
}

// sharedKey finds the key for shared.endpoints: the environment's, else the key
// file's.
func sharedKey(s config.Settings, getenv func(string) string) (string, error) {
	key, err := llm.FindKey(getenv, config.SharedKeyVariable, s.Shared.APIKeyFile)
	if err != nil {
		return "", err
	}
	if err := llm.CheckKey(key); err != nil { // a file's was checked
		return "", fmt.Errorf("variable %s: %w", config.SharedKeyVariable, err)
	}
	return key, nil
}

// errNoShared is what is asked of a shared index gets where none is set.
var errNoShared = errors.New("no shared index is set: set shared.endpoints to the URLs of its nodes")

// openBackend opens the edition of the shared index that the settings name.
func (o Options) openBackend(ctx context.Context, s config.Settings, e sharedindex.Edition) (sharedindex.Backend, error) {
	if !hasShared(s) {
		return nil, errNoShared
	}
	if o.OpenShared == nil {
		return nil, errors.New("this program was started without support for a shared index")
	}
	key, err := sharedKey(s, o.Key)
	if err != nil {
		return nil, err
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return o.OpenShared(ctx, SharedAccess{Shared: s.Shared, Key: key, Edition: e, Logger: log})
}

// publishSettings are the settings that files are published with: those of all
// readers.
func publishSettings(s config.Settings) config.Settings {
	d := config.Default()
	s.Chunk, s.Embed.Provider, s.Embed.BaseURL, s.Embed.PathWeight = d.Chunk, "static", "", d.Embed.PathWeight
	return s
}

// edition is what the program publishes and reads.
func edition(m *static.Model) sharedindex.Edition {
	opts, _ := indexOptions(Options{}, publishSettings(config.Default()), nil) // whether there is a cache directory does not matter
	return sharedindex.Edition{ChunkVersion: opts.Chunks.Digest(), Tokenizer: lexical.TokenizerVersion, Model: m.Model()}
}

// sharedIndex is the shared index as a workspace reads it.
type sharedIndex struct {
	reader  *sharedindex.Reader
	ix      atomic.Pointer[index.Index] // nil until it is open
	own     map[string]file.Root        // the workspace's folders by the names of their repositories
	names   map[string]string           // these names by the folders' paths
	others  file.Globs
	never   file.Globs // files whose text is not sent anywhere (llm.neverSend)
	copies  *copies
	set     config.Shared
	log     *slog.Logger
	covers  bool
	edition sharedindex.Edition
}

// openShared begins to read the shared index, where one is set. A wrong setting is a
// notice: the workspace is then indexed here.
func (e *Engine) openShared(ctx context.Context, s config.Settings, roots []file.Root, o *opened, iopts *index.Options) error {
	if !hasShared(s) || e.opts.OpenShared == nil {
		return nil
	}
	bad := func(err error) error {
		o.notices = append(o.notices, fmt.Sprintf("The shared index is not used: %v", err))
		e.opts.Logger.Warn("the shared index is not used", "error", err)
		return nil
	}
	model := e.inline
	if model == nil {
		var err error
		if model, err = static.New(); err != nil {
			return fmt.Errorf("loading the embedded code model: %w", err)
		}
		defer model.Close()
	}
	sh := &sharedIndex{set: s.Shared, log: e.opts.Logger, own: map[string]file.Root{}, names: map[string]string{}, edition: edition(model)}
	var err error
	if sh.others, err = file.NewGlobs(s.Shared.Repositories); err != nil {
		return bad(fmt.Errorf("setting shared.repositories: %w", err))
	}
	if sh.never, err = neverSent(s); err != nil {
		return bad(err)
	}
	if sh.copies, err = newCopies(iopts.CacheDir, s.Shared); err != nil {
		return bad(err)
	}
	for i, r := range roots {
		name := s.Shared.Repository
		switch {
		case name == noRepository:
			continue
		case name == autoRepository, name == "", i > 0: // a name is the first folder's
			name = RepositoryName(ctx, r.Dir)
		}
		if name == "" {
			continue
		}
		if err := sharedindex.CheckName(name); err != nil {
			return bad(fmt.Errorf("setting shared.repository: %w", err))
		}
		if _, twice := sh.own[name]; !twice { // two worktrees: the second is indexed here
			sh.own[name], sh.names[filepath.Clean(r.Dir)] = r, name
		}
	}
	if len(sh.own) == 0 && len(s.Shared.Repositories) == 0 {
		return nil // nothing would ever be asked
	}
	// Files that are cut otherwise, or searched by another model only, are indexed here.
	sh.covers = iopts.Chunks.Digest() == sh.edition.ChunkVersion && (iopts.Inline != nil || s.Embed.Provider == "none")
	ropts := sharedindex.ReaderOptions{
		Open: func(ctx context.Context, ed sharedindex.Edition) (sharedindex.Backend, error) {
			return e.opts.openBackend(ctx, s, ed)
		},
		Edition: sh.edition, Others: sh.others.Match, Timeout: time.Duration(s.Shared.Timeout) * time.Millisecond,
		CacheBytes: int64(s.Shared.CacheBytes), Prepare: sh.prepare, Logger: e.opts.Logger,
		Changed: func() {
			if ix := sh.ix.Load(); ix != nil {
				ix.Recheck()
			}
			e.changed()
		},
	}
	if sh.covers {
		for name := range sh.own {
			ropts.Own = append(ropts.Own, name)
		}
		slices.Sort(ropts.Own)
		iopts.Covered = sh.covered
	}
	sh.reader = sharedindex.NewReader(ctx, ropts)
	// What is covered from the start need not be indexed and let go of again.
	limited, cancel := context.WithTimeout(ctx, ropts.Timeout)
	defer cancel()
	sh.reader.Loaded(limited)
	o.shared = sh
	return nil
}

// opened tells that the index is open.
func (sh *sharedIndex) opened(ix *index.Index) {
	sh.ix.Store(ix)
	ix.Recheck() // what was read in between
}

// covered implements index.Options.Covered.
func (sh *sharedIndex) covered(root file.Root, rel string, hash file.Hash) (covered, known bool) {
	name, ok := sh.names[filepath.Clean(root.Dir)]
	if !ok {
		return false, true
	}
	return sh.reader.Covered(name, rel, hash)
}

// prepare implements sharedindex.ReaderOptions.Prepare.
func (sh *sharedIndex) prepare(ctx context.Context, files []sharedindex.File) ([]sharedindex.Prepared, error) {
	ix := sh.ix.Load()
	if ix == nil {
		return nil, errors.New("the index is not open yet")
	}
	out := make([]sharedindex.Prepared, len(files))
	var in []index.OutsideFile
	var at []int
	for i := range files {
		f, ok := sh.outside(ix, &files[i])
		if !ok {
			sh.log.Warn("a file of the shared index is left out: it has no usable path", "repository", files[i].Repository, "path", files[i].Path)
			continue
		}
		in, at = append(in, f), append(at, i)
	}
	made, err := ix.Outside(ctx, in)
	if err != nil && ctx.Err() == nil { // one of them is damaged: the others count
		made = make([]*index.Outside, len(in))
		for i := range in {
			one, err := ix.Outside(ctx, in[i:i+1])
			if err != nil {
				sh.log.Warn("a file of the shared index is left out", "repository", files[at[i]].Repository, "error", err)
				continue
			}
			made[i] = one[0]
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, m := range made {
		if m != nil {
			out[at[i]] = m
		}
	}
	return out, nil
}

// outside says what a file of the shared index is in this workspace.
func (sh *sharedIndex) outside(ix *index.Index, f *sharedindex.File) (index.OutsideFile, bool) {
	rel := filepath.FromSlash(f.Path)
	if !filepath.IsLocal(rel) || f.Record.Path != f.Path || strings.ContainsAny(f.Path, "\x00\\") {
		return index.OutsideFile{}, false
	}
	out := index.OutsideFile{Record: f.Record, Text: f.Text, Vectors: f.Vectors, Model: sh.edition.Model.Fingerprint}
	if f.WordsOnly {
		out.Vectors, out.Model = nil, ""
	}
	if f.Own {
		out.Root = sh.own[f.Repository]
		var ok bool
		out.Path, ok = ix.WorkspacePath(filepath.Join(out.Root.Dir, rel))
		return out, ok
	}
	name := f.Repository + "@" + f.Commit
	out.Root = file.Root{Name: name, Dir: sh.copies.root(f.Repository, f.Commit)}
	out.Path = name + ":" + f.Path
	return out, true
}

// close ends the reading.
func (sh *sharedIndex) close() error { return sh.reader.Close() }
