package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/sharedindex"
)

// app is one run of the program: its streams, its environment and the flags
// that all commands share.
type app struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	environ []string

	out *terminal.Output // stdout
	err *terminal.Output // stderr

	roots      []string
	configFile string
	yes        bool
	quiet      bool
	json       bool
	color      string
	flags      map[string]string // settings given as flags, by name

	// openShared opens the shared index.
	openShared func(ctx context.Context, s engine.SharedAccess) (sharedindex.Backend, error)
}

// run is the program: it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) int {
	return newApp(stdin, stdout, stderr, environ).run(ctx, args)
}

func newApp(stdin io.Reader, stdout, stderr io.Writer, environ []string) *app {
	return &app{stdin: stdin, stdout: stdout, stderr: stderr, environ: environ, color: string(terminal.Auto), flags: map[string]string{}, openShared: openWeaviate}
}

// run runs the command of the arguments and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	a.open()
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	code, show := exitCode(ctx, err)
	if show {
		a.complain(cmd, err, code)
	}
	return code
}

// open looks at the streams, again once --color is known.
func (a *app) open() {
	a.out = terminal.New(a.stdout, a.getenv, terminal.Mode(a.color))
	a.err = terminal.New(a.stderr, a.getenv, terminal.Mode(a.color))
}

// complain prints an error and what to do.
func (a *app) complain(cmd *cobra.Command, err error, code int) {
	fmt.Fprintf(a.stderr, "%s %s\n", a.err.Paint(terminal.Bad, "error:"), a.err.Text(err.Error()))
	switch code {
	case exitUsage:
		fmt.Fprintf(a.stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
	case exitLocked:
		if cmd.Name() == "clean" || cmd.Name() == "publish" {
			return // the others go on without it
		}
		fmt.Fprintln(a.stderr, "To work beside it, use an index of your own: --cache-dir FOLDER.")
	}
}

// getenv looks into the environment that run was given; the last value counts.
func (a *app) getenv(name string) string {
	value := ""
	for _, entry := range a.environ {
		if k, v, ok := strings.Cut(entry, "="); ok && k == name {
			value = v
		}
	}
	return value
}

// settingsEnviron is the environment without the token of the MCP server.
func (a *app) settingsEnviron() []string {
	return slices.DeleteFunc(slices.Clone(a.environ), func(v string) bool { return strings.HasPrefix(v, mcpTokenVariable+"=") })
}

// layers loads what the user's file, the environment and the flags say. What
// is wrong in the first two is told and left out; a wrong flag is an error.
func (a *app) layers() (config.Layers, error) {
	file := a.configFile
	if file == "" {
		file = config.UserFile(a.getenv)
	}
	l, problems := config.Layers{}.WithFile(file)
	l, more := l.WithEnv(a.settingsEnviron())
	for _, p := range append(problems, more...) {
		fmt.Fprintf(a.stderr, "%s %s\n", a.err.Paint(terminal.Warn, "warning:"), p)
	}
	l, wrong := l.WithFlags(a.flags)
	if len(wrong) > 0 {
		return l, usagef("%s", wrong[0])
	}
	return l, nil
}

// note prints a line for people, unless they asked for quiet.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.stderr, a.err.Text(fmt.Sprintf(format, args...)))
	}
}

// printJSON prints a result as one indented JSON document. DEL and the C1
// controls, which JSON allows and terminals obey, are escaped.
func (a *app) printJSON(v any) error { return a.encodeJSON(v, "  ") }

// printJSONLine is printJSON on one line.
func (a *app) printJSONLine(v any) error { return a.encodeJSON(v, "") }

func (a *app) encodeJSON(v any, indent string) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encoding the result: %w", err)
	}
	var out strings.Builder
	for _, r := range b.String() {
		if r >= 0x7f && r <= 0x9f {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return a.print(out.String())
}

// print writes to standard output; a closed pipe is an error.
func (a *app) print(text string) error {
	if _, err := io.WriteString(a.stdout, text); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// version is the module's version where the program was installed with go
// install, else the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
