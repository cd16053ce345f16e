package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"coderag-ls/attach"
	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
)

// workspaceRoots returns the folders of --root, else the nearest ancestor of
// the working directory that holds .git, else the working directory.
func (a *app) workspaceRoots() ([]file.Root, error) {
	dirs := a.roots
	if len(dirs) == 0 {
		wd, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("finding the working directory: %w", err)
		}
		dirs = []string{repositoryAbove(wd)}
	}
	return a.rootsOf(dirs)
}

// rootsFor are the given folders, without any those of workspaceRoots.
func (a *app) rootsFor(dirs []string) ([]file.Root, error) {
	if len(dirs) == 0 {
		return a.workspaceRoots()
	}
	return a.rootsOf(dirs)
}

// rootsOf are folders that can be indexed.
func (a *app) rootsOf(dirs []string) ([]file.Root, error) {
	var roots []file.Root
	for _, dir := range dirs {
		abs, err := a.checkDirectory(dir)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(roots, func(r file.Root) bool { return r.Dir == abs }) {
			continue
		}
		roots = append(roots, file.Root{Name: uniqueName(filepath.Base(abs), roots), Dir: abs})
	}
	return roots, a.confirmRoots(roots)
}

// repositoryAbove returns the nearest directory from dir upwards that holds
// .git, a directory or (in worktrees and submodules) a file; dir where none does.
func repositoryAbove(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

// uniqueName tells folders of the same name apart: "api", "api-2".
func uniqueName(name string, roots []file.Root) string {
	taken := func(n string) bool {
		return slices.ContainsFunc(roots, func(r file.Root) bool { return r.Name == n })
	}
	unique := name
	for i := 2; taken(unique); i++ {
		unique = fmt.Sprintf("%s-%d", name, i)
	}
	return unique
}

func (a *app) checkDirectory(dir string) (string, error) {
	if dir == "" {
		return "", usagef("--root is empty")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", usagef("folder %s does not exist", dir)
	case err != nil:
		return "", fmt.Errorf("looking at folder %s: %w", dir, err)
	case !info.IsDir():
		return "", usagef("%s is a file; --root takes a folder", dir)
	}
	f, err := os.Open(abs)
	if err == nil {
		_, err = f.Readdirnames(1)
		err = errors.Join(ignoreEOF(err), f.Close())
	}
	if err != nil {
		return "", fmt.Errorf("folder %s cannot be read: %w", dir, err)
	}
	return abs, nil
}

// confirmRoots refuses the file system's root and the home directory, and what
// holds it, unless --yes says that they are meant.
func (a *app) confirmRoots(roots []file.Root) error {
	if a.yes {
		return nil
	}
	home := a.getenv("HOME")
	if home == "" {
		home, _ = os.UserHomeDir() // none known: nothing to protect
	}
	home = resolved(home)
	for _, r := range roots {
		dir := resolved(r.Dir)
		switch {
		case filepath.Dir(dir) == dir:
			return usagef("%s is the root of the file system: name a project's folder with --root, or add --yes to index all of it", r.Dir)
		case home != "" && dir == home:
			return usagef("%s is your home directory: name a project's folder with --root, or add --yes to index all of it", r.Dir)
		case home != "" && strings.HasPrefix(home, dir+string(filepath.Separator)):
			return usagef("%s holds your home directory: name a project's folder with --root, or add --yes to index all of it", r.Dir)
		}
	}
	return nil
}

// resolved follows symbolic links where that is possible.
func resolved(dir string) string {
	if dir == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// logger logs as the settings say: to log.file, which is rotated, else to
// standard error. close ends it.
func (a *app) logger(s config.Settings) (log *slog.Logger, close func() error, err error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.Log.Level)); err != nil {
		return nil, nil, fmt.Errorf("setting log.level: %w", err)
	}
	options := &slog.HandlerOptions{Level: level}
	if s.Log.File == "" {
		return slog.New(slog.NewTextHandler(a.stderr, options)), func() error { return nil }, nil
	}
	// lumberjack makes new files 0600 and keeps an old one's mode.
	f, err := os.OpenFile(s.Log.File, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the log file of setting log.file: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, nil, fmt.Errorf("opening the log file of setting log.file: %w", err)
	}
	rotated := &lumberjack.Logger{Filename: s.Log.File, MaxSize: 10, MaxBackups: 3} // MB, files
	return slog.New(slog.NewTextHandler(rotated, options)), rotated.Close, nil
}

// session is an opened workspace on the command line.
type session struct {
	workspace *attach.Workspace
	view      *attach.View
	roots     []file.Root
	settings  config.Settings
	log       *slog.Logger
	ctx       context.Context              // of the command
	key       func(variable string) string // keys of the environment
	close     func() error
}

// openSession opens the workspace's index, or attaches to the process that has
// it open. report, which may be nil, is told of background work.
func (a *app) openSession(ctx context.Context, report func(wire.Progress)) (*session, error) {
	layers, err := a.layers()
	if err != nil {
		return nil, err
	}
	roots, err := a.workspaceRoots()
	if err != nil {
		return nil, err
	}
	s := layers.Settings()
	if !given(layers, "log.level") {
		s.Log.Level = "warn" // a server's log tells more than a command line wants
	}
	log, closeLog, err := a.logger(s)
	if err != nil {
		return nil, err
	}
	w, err := attach.Open(ctx, attach.Options{Options: engine.Options{
		Roots: roots, Version: version(), Settings: s, Logger: log, Progress: report, Foreground: true, Key: layers.Key, OpenShared: a.openShared,
		Notice: func(text string) { a.note("note: %s", text) },
	}})
	if err != nil {
		return nil, errors.Join(err, closeLog())
	}
	v := w.NewView()
	return &session{workspace: w, view: v, roots: roots, settings: s, log: log, ctx: ctx, key: layers.Key, close: func() error {
		v.Close()
		return errors.Join(w.Close(), closeLog())
	}}, nil
}

// given reports whether a setting is not the default's.
func given(l config.Layers, name string) bool {
	for _, e := range l.Explain() {
		if e.Setting.Name == name {
			return e.Source != config.FromDefault
		}
	}
	return false
}

// How long commands wait for vectors.
const (
	allVectors = time.Duration(1<<63 - 1)
	// someVectors is enough to read back those of an earlier run; those that are
	// not made yet are not worth a wait: words find most of what they do.
	someVectors = time.Second
)

// synced opens the workspace and brings the index up to date, with progress on
// standard error, waits for vectors, then runs do.
func (a *app) synced(ctx context.Context, vectors time.Duration, do func(*session) error) (err error) {
	report := func(wire.Progress) {}
	hide := func() {}
	if !a.quiet {
		bar := terminal.NewProgress(a.err)
		report = func(p wire.Progress) { bar.Set(step(p)) }
		hide = onlyOnce(bar.Close)
	}
	defer hide()
	s, err := a.openSession(ctx, report)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	state, err := s.view.Sync(ctx, wire.SyncParams{Scan: true})
	if err != nil {
		return fmt.Errorf("bringing the index up to date: %w", err)
	}
	if vectors > 0 && state.Coverage.VectorsReady < 1 {
		limited, cancel := context.WithTimeout(ctx, vectors)
		defer cancel()
		// Without them a question is answered all the same, and the answer says so.
		if err := s.waitForVectors(limited, report); err != nil && (vectors == allVectors || ctx.Err() != nil) {
			return fmt.Errorf("waiting for the vectors: %w", err)
		}
	}
	hide()
	return do(s)
}

// lookEvery is how often the queue of a wait is looked at.
const lookEvery = 300 * time.Millisecond

// waitForVectors waits until every chunk is embedded and reports how many are.
func (s *session) waitForVectors(ctx context.Context, report func(wire.Progress)) error {
	done := make(chan error, 1)
	go func() {
		_, err := s.view.Sync(ctx, wire.SyncParams{Vectors: true})
		done <- err
	}()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	most := 0
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			st, err := s.view.Status(ctx)
			if err != nil {
				continue // the wait itself tells what is wrong
			}
			most = max(most, st.Queues.Embed)
			if most > 0 {
				report(wire.Progress{Stage: "embed", Done: most - st.Queues.Embed, Total: most})
			}
		}
	}
}

func onlyOnce(f func()) func() {
	done := false
	return func() {
		if !done {
			done = true
			f()
		}
	}
}

// step words the engine's progress.
func step(p wire.Progress) terminal.Step {
	s := terminal.Step{Label: p.Stage, Unit: "files", Done: int64(p.Done), Total: int64(p.Total)}
	switch p.Stage {
	case "scan":
		s.Label = "looking for files"
	case "index":
		s.Label = "indexing"
	case "embed":
		s.Label, s.Unit = "embedding", "chunks"
	case "publish":
		s.Label = "publishing"
	}
	return s
}

// ignoreEOF makes reading an empty directory no error.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }
