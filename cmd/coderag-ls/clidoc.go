package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// cliPage is docs/cli.md: every command as its help has it. A test writes it and
// fails where it is stale.
func (a *app) cliPage() string {
	var b strings.Builder
	b.WriteString("# The command line\n\n<!-- generated: go generate ./cmd/coderag-ls -->\n\n")
	root := a.rootCommand()
	root.InitDefaultCompletionCmd("ask") // cobra makes it when the program runs
	b.WriteString(about + "\n\n```\n" + exitCodes + "\n```\n\n")
	b.WriteString("Every setting is a flag too, such as `--search.topK 30` ([settings.md](settings.md)). What `--json` prints is described in\n[wire.md](wire.md) and below. These flags are taken by all commands:\n\n")
	flagTable(&b, root.PersistentFlags())
	b.WriteString("\n## What --json prints\n\n| command | document |\n|---|---|\n")
	for _, d := range jsonDocuments() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", d.command, d.document)
	}
	b.WriteString("\nFields may be added; none changes its meaning or goes within a major version. The exit code says whether anything was found.\n")
	eachCommand(root, func(c *cobra.Command) {
		fmt.Fprintf(&b, "\n## %s\n\n", c.CommandPath())
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		b.WriteString(strings.TrimSpace(text) + "\n\n```\n" + c.UseLine() + "\n```\n")
		if c.Example != "" {
			b.WriteString("\nExamples:\n\n```\n" + strings.TrimRight(c.Example, "\n") + "\n```\n")
		}
		if c.LocalNonPersistentFlags().HasAvailableFlags() {
			b.WriteString("\n")
			flagTable(&b, c.LocalNonPersistentFlags())
		}
	})
	return b.String()
}

// eachCommand visits the commands that do something, in the order of their names.
func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() || sub.Name() == "help" {
			continue
		}
		visit(sub)
		eachCommand(sub, visit)
	}
}

func flagTable(b *strings.Builder, flags *pflag.FlagSet) {
	b.WriteString("| flag | |\n|---|---|\n")
	cell := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\n", " "), "|", "\\|") }
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			name += " " + strings.ToUpper(value)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, cell(usage))
	})
}

// jsonDocument says what a command's --json prints.
type jsonDocument struct{ command, document string }

func jsonDocuments() []jsonDocument {
	return []jsonDocument{
		{"ask", "[AskResult](wire.md#askresult); with `--show-prompt` [PromptResult](wire.md#promptresult)"},
		{"citations", "[CitationsReport](wire.md#citationsreport)"},
		{"config", "a list of `{name, value, source, origin}`; source is default, user file, environment or flag, origin the file, variable or flag"},
		{"context", "[ContextResult](wire.md#contextresult)"},
		{"doctor", "a list of `{check, state, detail, advice}`; state is ok, warning or error. The checks are program, processor, grammars, settings, workspace, git, index, cache, socket, model, watching, provider, log, metrics and mcp"},
		{"eval", "`{suites: [...]}`, described in [eval/README.md](../eval/README.md)"},
		{"index", "[Status](wire.md#status); with `--dry-run` [DryRun](wire.md#dryrun)"},
		{"model status", "`{installed, dir, variant, library, version, problem}`"},
		{"publish", "[Publication](wire.md#publication); with `--list` and `--remove` a list of [SharedRepository](wire.md#sharedrepository)"},
		{"search, similar", "[SearchResult](wire.md#searchresult)"},
		{"status", "[Status](wire.md#status); with `--watch` one line each time, without skippedFiles"},
		{"watch", "[Status](wire.md#status), one line for each change, without skippedFiles"},
	}
}
