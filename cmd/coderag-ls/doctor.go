package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"coderag-ls/attach"
	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/embed/onnx/modeldir"
	"coderag-ls/engine/file"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/bunt"
	"coderag-ls/engine/vector"
)

// finding is what one check of `doctor` found.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"` // ok, warning, error
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // what to do
}

// The states of a finding.
const (
	stateOK      = "ok"
	stateWarning = "warning"
	stateError   = "error"
)

func ok(check, format string, args ...any) finding {
	return finding{Check: check, State: stateOK, Detail: fmt.Sprintf(format, args...)}
}

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what the program needs and say what to do",
		Long:  "Check what the program needs, in this workspace and on this machine, and say what\nto do about what is missing. The exit code is 1 where a check failed.",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			findings := a.examine(cmd.Context())
			bad := false
			for _, f := range findings {
				bad = bad || f.State == stateError
			}
			var err error
			if a.json {
				err = a.printJSON(findings)
			} else {
				err = a.print(a.findingsText(findings))
			}
			if err == nil && bad {
				err = errReported
			}
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) findingsText(findings []finding) string {
	styles := map[string]terminal.Style{stateOK: terminal.Good, stateWarning: terminal.Warn, stateError: terminal.Bad}
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s %-10s %s\n", a.out.Paint(styles[f.State], fmt.Sprintf("%-7s", f.State)), f.Check, a.out.Text(f.Detail))
		if f.Advice != "" {
			fmt.Fprintf(&b, "%19s%s\n", "", a.out.Paint(terminal.Dim, "→ "+a.out.Text(f.Advice)))
		}
	}
	return b.String()
}

// examine runs every check; one that fails does not stop the others.
func (a *app) examine(ctx context.Context) []finding {
	findings := []finding{
		ok("program", "coderag-ls %s, %s, %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH),
		examineProcessor(),
		examineGrammars(ctx),
	}
	layers, settings := a.examineSettings()
	s := layers.Settings()
	findings = append(findings, settings)
	roots, err := a.workspaceRoots()
	if err != nil {
		findings = append(findings, finding{"workspace", stateError, err.Error(), "run it in a project's folder, or name one with --root"})
	}
	dirs := 0
	for _, r := range roots {
		f, n := examineRoot(ctx, r, s)
		dirs += n
		findings = append(findings, f, examineGit(r), examineStore(ctx, r, s))
	}
	findings = append(findings, examineCache(s), examineSocket(s), examineModel(s), examineWatches(s, dirs), examineProvider(ctx, s, layers.Key), examineEmbedServer(ctx, s, layers.Key), a.examineShared(ctx, layers, roots), examineLog(a, s))
	return append(findings, examineListening(a, s)...)
}

func examineProcessor() finding {
	fastest := vector.Kernels()[0]
	f := ok("processor", "%d of them; vectors are compared with %s", runtime.NumCPU(), fastest)
	if fastest == vector.Go {
		f.State, f.Advice = stateWarning, "without AVX2 or NEON vector search is slower; nothing else changes"
	}
	return f
}

func (a *app) examineSettings() (config.Layers, finding) {
	path := a.configFile
	if path == "" {
		path = config.UserFile(a.getenv)
	}
	l, problems := config.Layers{}.WithFile(path)
	l, more := l.WithEnv(a.settingsEnviron())
	l, wrong := l.WithFlags(a.flags)
	problems = append(append(problems, more...), wrong...)
	if len(problems) > 0 {
		var lines []string
		for _, p := range problems {
			lines = append(lines, p.String())
		}
		return l, finding{"settings", stateWarning, strings.Join(lines, "; "), "correct them: they are left out. `coderag-ls help settings` lists all"}
	}
	changed := 0
	for _, e := range l.Explain() {
		if e.Source != config.FromDefault {
			changed++
		}
	}
	return l, ok("settings", "%d set; the file is %s", changed, orNone(path))
}

func examineRoot(ctx context.Context, r file.Root, s config.Settings) (finding, int) {
	rules, err := file.NewRules(r, file.Options{MaxBytes: int64(s.Index.MaxFileBytes), Exclude: s.Index.Exclude, Include: s.Index.Include})
	if err != nil {
		return finding{"workspace", stateError, err.Error(), "correct the ignore rules or the settings index.exclude and index.include"}, 0
	}
	listing, err := rules.Scan(ctx)
	if err != nil {
		return finding{"workspace", stateError, err.Error(), "make the folder readable"}, 0
	}
	f := ok("workspace", "%s: %s in %s", r.Dir, plural(len(listing.Entries), "file"), plural(len(listing.Dirs), "folder"))
	switch {
	case len(listing.Unreadable) > 0:
		f.State = stateWarning
		f.Detail += fmt.Sprintf("; %s cannot be read: %s", plural(len(listing.Unreadable), "folder"), strings.Join(listing.Unreadable[:min(3, len(listing.Unreadable))], ", "))
		f.Advice = "make them readable, or exclude them with index.exclude"
	case len(listing.Entries) == 0:
		f.State, f.Advice = stateWarning, "nothing would be indexed: `coderag-ls index --dry-run` says why"
	}
	return f, len(listing.Dirs)
}

func examineGit(r file.Root) finding {
	top := repositoryAbove(r.Dir)
	if _, err := os.Lstat(filepath.Join(top, ".git")); err != nil {
		return ok("git", "%s is in no repository; that is fine", r.Dir)
	}
	if data, err := os.ReadFile(filepath.Join(top, ".git")); err == nil { // a worktree's or submodule's
		dir, named := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(top, dir)
		}
		if _, err := os.Stat(dir); !named || err != nil {
			return finding{"git", stateWarning, fmt.Sprintf("%s names no repository: git does not work here", filepath.Join(top, ".git")), "git worktree repair, in the main checkout; files are indexed all the same"}
		}
	}
	if _, err := exec.LookPath("git"); err != nil {
		return ok("git", "repository %s; git itself is not installed and not needed", top)
	}
	return ok("git", "repository %s", top)
}

// examineStore opens the workspace's index as the engine does, if there is one.
func examineStore(ctx context.Context, r file.Root, s config.Settings) finding {
	const check = "index"
	dir, err := engine.IndexDir(s, r)
	if err != nil {
		return finding{check, stateError, err.Error() + "; the index is kept in memory and made again at each start", "set index.cacheDir (CODERAG_INDEX_CACHE_DIR) to a folder of yours"}
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return ok(check, "%s is not indexed yet", r.Dir)
	}
	st, err := bunt.Open(ctx, dir, bunt.Options{})
	switch {
	case errors.Is(err, store.ErrLocked):
		if err := attach.CheckOwner(ctx, dir, attach.Options{Options: engine.Options{Version: version(), Settings: s}}); err != nil {
			return finding{check, stateWarning, fmt.Sprintf("in use, and not shared: %v; commands keep a second index", err), "end that process, let it go on, or bring both programs to one version"}
		}
		who, _ := attach.Who(dir)
		return ok(check, "in use by %s; this program attaches to it", who)
	case engine.Unwritable(err):
		return finding{check, stateError, fmt.Sprintf("%v; until then the index is kept in memory and made again at each start", err),
			"make the directory writable, or set index.cacheDir (CODERAG_INDEX_CACHE_DIR) to a folder of yours"}
	case err != nil:
		return finding{check, stateError, err.Error(), "delete it with `coderag-ls clean`; it is made again"}
	}
	info := st.Info()
	if err := st.Close(); err != nil {
		return finding{check, stateError, err.Error(), "delete it with `coderag-ls clean`; it is made again"}
	}
	f := ok(check, "%s, %s, in %s", plural(info.Files, "file"), bytesText(info.Bytes), dir)
	if info.Damaged > 0 || info.Notice != "" {
		f.State = stateWarning
		f.Detail += "; " + orNone(strings.TrimSpace(info.Notice))
		f.Advice = "what was damaged is indexed again on the next use"
	}
	return f
}

// examineCache tries to write where the indexes are, or would be.
func examineCache(s config.Settings) finding {
	const check = "cache"
	advice := "make it writable, or set index.cacheDir (CODERAG_INDEX_CACHE_DIR) to a folder of yours"
	dir, err := engine.CacheDir(s)
	if err != nil {
		return finding{check, stateError, err.Error(), advice}
	}
	at := dir
	for {
		_, err := os.Stat(at)
		if err == nil || filepath.Dir(at) == at {
			break
		}
		at = filepath.Dir(at)
	}
	probe, err := os.MkdirTemp(at, ".coderag-doctor-")
	if err != nil {
		return finding{check, stateError, fmt.Sprintf("%s cannot be written: %v; questions are answered from an index in memory, which is made again at each start", dir, err), advice}
	}
	if err := os.Remove(probe); err != nil {
		return finding{check, stateWarning, err.Error(), ""}
	}
	return ok(check, "%s can be written", dir)
}

func examineModel(s config.Settings) finding {
	const check = "model"
	if s.Embed.Provider == "static" || s.Embed.Provider == "none" {
		return ok(check, "setting embed.provider is %s", s.Embed.Provider)
	}
	st := lookAtModel(s.Embed.ModelDir, s.Embed.LibraryPath)
	if st.Installed {
		return ok(check, "%s (%s), onnxruntime %s", modeldir.Name, st.Variant, st.Version)
	}
	f := finding{check, stateOK, "the code model inside the program; MiniLM is not used: " + st.Problem, "optional: `coderag-ls model fetch` and `coderag-ls model library` add it"}
	if s.Embed.Provider == "onnx" || s.Embed.ModelDir != "" || s.Embed.LibraryPath != "" {
		f.State = stateError
		f.Advice = "install it (`coderag-ls model fetch`, `coderag-ls model library`), or set embed.provider to auto or static"
	}
	return f
}

// examineWatches compares the folders of the workspace with what the system
// grants.
func examineWatches(s config.Settings, dirs int) finding {
	const check = "watching"
	switch mode, most := s.Index.Watch, s.Index.MaxWatches; {
	case mode == "off":
		return finding{check, stateWarning, "setting index.watch is off: changes that no editor tells of are seen by the next command only", "set index.watch to auto"}
	case mode == "poll":
		return ok(check, "%s, looked at every %d ms (index.watch)", plural(dirs, "folder"), s.Index.PollInterval)
	case most > 0 && dirs > most:
		return finding{check, stateWarning, fmt.Sprintf("%s, but index.maxWatches is %d: the rest is polled", plural(dirs, "folder"), most), "raise index.maxWatches, or set it to 0"}
	}
	if runtime.GOOS != "linux" {
		return ok(check, "%s", plural(dirs, "folder"))
	}
	limit, err := readNumber("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return finding{check, stateWarning, fmt.Sprintf("the system's limit cannot be read: %v", err), "folders that cannot be watched are polled"}
	}
	f := ok(check, "%s of at most %d watches of this user", plural(dirs, "folder"), limit)
	if dirs > limit*3/4 {
		f.State = stateWarning
		f.Advice = fmt.Sprintf("raise it: sysctl fs.inotify.max_user_watches=%d; what is above it is polled", max(2*dirs, 524288))
	}
	return f
}

func readNumber(path string) (int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(data)))
}
