package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine/config"
)

// settingInfo is one line of `config --json`.
type settingInfo struct {
	Name   string `json:"name"`
	Value  any    `json:"value"`
	Source string `json:"source"`
	Origin string `json:"origin,omitempty"`
}

func (a *app) configCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "config [NAME...]",
		Short: "Show the settings in force and where they come from",
		Long:  "Show the settings in force and where they come from: those that are not the\ndefault's, all with --all, or the named ones. `coderag-ls help settings` explains them.",
		RunE: func(cmd *cobra.Command, args []string) error {
			layers, err := a.layers()
			if err != nil {
				return err
			}
			var names []string
			effective := map[string]config.Effective{}
			for _, e := range layers.Explain() {
				names = append(names, e.Setting.Name)
				effective[e.Setting.Name] = e
			}
			for _, name := range args {
				if _, ok := effective[name]; !ok {
					message := fmt.Sprintf("there is no setting %q", name)
					if near := config.Nearest(name, names); near != "" {
						message += "; did you mean " + near + "?"
					}
					return usagef("%s", message)
				}
			}
			if len(args) > 0 {
				names, all = args, true
			}
			infos := []settingInfo{}
			var b strings.Builder
			for _, name := range names {
				e := effective[name]
				if !all && e.Source == config.FromDefault {
					continue
				}
				infos = append(infos, settingInfo{name, e.Value, string(e.Source), e.Origin})
				from := string(e.Source)
				if e.Origin != "" {
					from += " " + e.Origin
				}
				fmt.Fprintf(&b, "%s = %s  %s\n", name, a.out.Text(e.Setting.Format(e.Value)), a.out.Paint(terminal.Dim, "("+a.out.Text(from)+")"))
			}
			if a.json {
				return a.printJSON(infos)
			}
			if b.Len() == 0 {
				b.WriteString("Every setting has its default value.\n")
			}
			return a.print(b.String())
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "show the defaults too")
	a.jsonFlag(cmd)
	return cmd
}
