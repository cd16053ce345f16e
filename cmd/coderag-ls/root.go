package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine/config"
)

const about = `coderag-ls answers questions about a workspace's code. Every answer cites
path:start-end, and every citation is checked against the text as it stands.

Without a command it is a language server on standard input and output.`

const exitCodes = `Exit codes:
  0    done
  1    an error; doctor, citations --check: a check failed
  2    wrong usage
  3    nothing relevant was found
  4    the index is in use (clean), its owner cannot be shared with, or the
       repository is being published by another process
  5    the shared index cannot be reached
  6    the shared index denies access: the key is missing, wrong or not good for it
  7    the shared index was written by another version of the program
  130  interrupted`

func (a *app) rootCommand() *cobra.Command {
	serve := a.serveCommand()
	root := &cobra.Command{
		Use:   "coderag-ls",
		Short: "Questions about your code, answered with checked citations",
		Long:  about,
		Example: `  coderag-ls ask "where are file events debounced?"
  coderag-ls search --lang go "retry with backoff"
  coderag-ls doctor`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			message := fmt.Sprintf("unknown command %q", args[0])
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				message += fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
			} else if strings.ContainsAny(args[0], " ?") {
				message += fmt.Sprintf("; to ask a question: coderag-ls ask %q", args[0])
			}
			return usagef("%s", message)
		},
		RunE:                       serve.RunE,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		CompletionOptions:          cobra.CompletionOptions{HiddenDefaultCmd: false},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			switch terminal.Mode(a.color) {
			case terminal.Auto, terminal.Always, terminal.Never:
				a.open()
				return nil
			}
			return usagef("--color %q is none of auto, always, never", a.color)
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{err} })
	root.SetHelpTemplate(root.HelpTemplate() + "{{if not .HasParent}}\n" + exitCodes + "\n{{end}}")

	flags := root.PersistentFlags()
	flags.StringArrayVarP(&a.roots, "root", "r", nil, "workspace `folder`, repeatable (default: the nearest one above with .git, else this one)")
	flags.StringVar(&a.configFile, "config", "", "settings `file` (default: coderag/config.toml in the user's configuration directory)")
	flags.BoolVarP(&a.yes, "yes", "y", false, "index even / or the home directory; do not ask")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "no progress and no notes on standard error")
	flags.StringVar(&a.color, "color", a.color, "`when` to use colours: auto, always, never")
	a.settingFlags(flags)

	root.AddCommand(
		a.askCommand(), a.searchCommand(), a.similarCommand(), a.contextCommand(), a.indexCommand(), a.publishCommand(), a.watchCommand(), a.statusCommand(), a.citationsCommand(),
		a.doctorCommand(), serve, a.mcpCommand(), a.configCommand(), a.modelCommand(), a.evalCommand(), a.cleanCommand(), a.versionCommand(), settingsTopic(),
	)
	for _, f := range serveFlags() {
		root.Flags().AddFlag(serve.Flags().Lookup(f))
		root.Flags().Lookup(f).Hidden = true
	}
	return root
}

// settingValue is the flag of one setting.
type settingValue struct {
	setting config.Setting
	flags   map[string]string
}

// Set implements pflag.Value. The value is checked with those of the other sources.
func (v settingValue) Set(text string) error {
	if before, again := v.flags[v.setting.Name]; again && v.setting.Type == config.List {
		text = before + "\n" + text
	}
	v.flags[v.setting.Name] = text
	return nil
}

// String implements pflag.Value.
func (v settingValue) String() string {
	if v.setting.Name == "" {
		return ""
	}
	if given, ok := v.flags[v.setting.Name]; ok {
		return given
	}
	return v.setting.Format(v.setting.Default)
}

// Type implements pflag.Value.
func (v settingValue) Type() string { return string(v.setting.Type) }

// settingFlags makes a flag of every setting, hidden from the help, and short
// ones of the common settings.
func (a *app) settingFlags(flags *pflag.FlagSet) {
	aliases := map[string]string{
		"index.exclude":  "exclude",
		"index.include":  "include",
		"index.cacheDir": "cache-dir",
		"log.level":      "log-level",
	}
	for _, d := range config.Table() {
		add := func(name, doc string, hidden bool) {
			f := flags.VarPF(settingValue{d, a.flags}, name, "", doc)
			f.Hidden = hidden
			if d.Type == config.Bool {
				f.NoOptDefVal = "true"
			}
		}
		add(d.Name, d.Doc, true)
		if alias := aliases[d.Name]; alias != "" {
			add(alias, lowerFirst(strings.TrimSuffix(d.Doc, ".")), false)
		}
	}
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// settingsTopic is the help topic that lists the settings.
func settingsTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Every setting is a flag, an environment variable and a key of the settings file\n($XDG_CONFIG_HOME/coderag/config.toml). Flags win over variables, variables over\nthe editor's configuration, that over the file. `coderag-ls config` shows what is\nin force and why.\n")
	for _, d := range config.Table() {
		fmt.Fprintf(&b, "\n  --%s  (%s)\n      %s\n      %s", d.Name, d.Env, d.Doc, "Default "+orNone(d.Format(d.Default)))
		if r := d.Range(); r != "" {
			b.WriteString("; " + r)
		}
		b.WriteString("\n")
	}
	return &cobra.Command{Use: "settings", Short: "The settings, with their flags and variables", Long: b.String()}
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
