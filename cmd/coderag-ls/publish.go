package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine"
	"coderag-ls/engine/file"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store/weaviate"
	"coderag-ls/engine/wire"
)

// openWeaviate opens the shared index of the settings on a Weaviate cluster.
func openWeaviate(ctx context.Context, s engine.SharedAccess) (sharedindex.Backend, error) {
	b, err := weaviate.Open(ctx, weaviate.Options{
		Endpoints: s.Endpoints, APIKey: s.Key, CAFile: s.CAFile, Tenant: s.Tenant, Edition: s.Edition, Replication: s.Replication,
	})
	if err != nil {
		return nil, err // not a nil *weaviate.Backend
	}
	return b, nil
}

// publishFlags are those of `publish`.
type publishFlags struct {
	repository, commit               string
	verify, remove, prune, list, dry bool
	patience                         time.Duration
}

func (a *app) publishCommand() *cobra.Command {
	var f publishFlags
	cmd := &cobra.Command{
		Use:   "publish [flags] [FOLDER]",
		Short: "Publish a repository into the shared index",
		Long: `Publish a repository at a commit into the shared index (settings shared.*), from
where editors that work on the same repository, or search it, read it. It is made
for a CI job: only what differs from what is published is written, and a
publication that ended half-way is gone on with by the next one.

What is published is exactly the commit: of a worktree that has other text the
files are exported with git first. In a folder without git, --repository and
--commit say what it is. Files that llm.neverSend names are left out.`,
		Example: `  coderag-ls publish
  coderag-ls publish --commit v1.8.0 --verify
  coderag-ls publish --list
  coderag-ls publish --remove --repository github.com/acme/old`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			only := 0
			for _, one := range []bool{f.remove, f.list, f.prune, f.verify || f.dry || f.commit != ""} {
				if one {
					only++
				}
			}
			if only > 1 && !(f.prune && !f.remove && !f.list) || f.verify && f.dry || f.prune && f.dry {
				return usagef("--list, --remove and publishing exclude each other, and so do --dry-run and what changes something")
			}
			return a.publish(cmd.Context(), f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.repository, "repository", "", "`name` that it is published under (default: that of git's remote origin, as github.com/spf13/cobra)")
	flags.StringVar(&f.commit, "commit", "", "`revision` that is published (default: HEAD); without git, a label for what is in the folder")
	flags.BoolVar(&f.verify, "verify", false, "compare all that is stored with what is to be there, id by id, and repair it")
	flags.BoolVar(&f.dry, "dry-run", false, "say what would be written, write nothing")
	flags.BoolVar(&f.list, "list", false, "list what is published")
	flags.BoolVar(&f.remove, "remove", false, "remove the repository from the shared index, in all editions")
	flags.BoolVar(&f.prune, "prune", false, "remove editions of other models and versions that were published before this program's complete one, after publishing")
	flags.DurationVar(&f.patience, "patience", 2*time.Minute, "how `long` a shared index that is not reachable is asked again")
	a.jsonFlag(cmd)
	return cmd
}

// publish does what the flags say.
func (a *app) publish(ctx context.Context, f publishFlags, args []string) error {
	layers, err := a.layers()
	if err != nil {
		return err
	}
	o := engine.Options{Version: version(), Settings: layers.Settings(), Key: layers.Key, OpenShared: a.openShared}
	if len(o.Settings.Shared.Endpoints) == 0 {
		return usagef("no shared index is set: set shared.endpoints (CODERAG_SHARED_ENDPOINTS) to the URLs of its nodes")
	}
	if !given(layers, "log.level") {
		o.Settings.Log.Level = "warn"
	}
	log, closeLog, err := a.logger(o.Settings)
	if err != nil {
		return err
	}
	defer closeLog()
	o.Logger = log
	if f.list {
		return a.listShared(ctx, o)
	}
	dir := "."
	if len(args) == 1 {
		dir = args[0]
	} else if len(a.roots) > 0 {
		dir = a.roots[0]
	}
	if f.remove {
		return a.removeShared(ctx, o, f, dir)
	}
	return a.publishFolder(ctx, o, f, dir)
}

// repositoryOf is the name that is given, else that of the folder's repository.
func (a *app) repositoryOf(ctx context.Context, o engine.Options, f publishFlags, dir string) (string, error) {
	if f.repository != "" {
		return f.repository, nil
	}
	if name := o.Settings.Shared.Repository; name != "auto" && name != "none" && name != "" {
		return name, nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if name := engine.RepositoryName(ctx, repositoryAbove(abs)); name != "" {
		return name, nil
	}
	return "", usagef("what %s is called is not known, because it has no git remote origin with a host: say it with --repository, as in --repository github.com/acme/shop", dir)
}

func (a *app) publishFolder(ctx context.Context, o engine.Options, f publishFlags, dir string) (err error) {
	began := time.Now()
	abs, err := a.checkDirectory(dir)
	if err != nil {
		return err
	}
	name, err := a.repositoryOf(ctx, o, f, dir)
	if err != nil {
		return err
	}
	rev := f.commit
	if rev == "" {
		rev = "HEAD"
	}
	from, err := checkoutOf(ctx, abs, rev)
	switch {
	case errors.Is(err, errNoGit) && f.commit != "":
		from = &checkout{dir: abs, commit: f.commit}
	case errors.Is(err, errNoGit):
		return usagef("%s is in no git repository: --repository and --commit LABEL say what it is", dir)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	o.Roots = []file.Root{{Name: uniqueName(filepath.Base(from.dir), nil), Dir: from.dir}}
	if err := a.confirmRoots(o.Roots); err != nil {
		return err
	}
	hide := func() {}
	if !a.quiet {
		bar := terminal.NewProgress(a.err)
		o.Progress = func(p wire.Progress) { bar.Set(step(p)) }
		hide = onlyOnce(bar.Close)
	}
	defer hide()
	var told atomic.Bool
	done, err := engine.Publish(ctx, engine.PublishOptions{
		Options: o, Repository: name, Commit: from.commit, Files: from.files, Verify: f.verify, DryRun: f.dry, Patience: f.patience,
		Waiting: func(err error) {
			if !told.Swap(true) {
				a.note("note: %v; it is tried again for %s", err, duration(f.patience))
			}
		},
	})
	hide()
	if err != nil {
		return fmt.Errorf("publishing %s: %w", name, err)
	}
	if f.prune {
		if done.Removed, err = engine.PruneShared(ctx, o, name); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(done)
	}
	return a.print(a.publicationText(done) + a.out.Paint(terminal.Dim, "in "+duration(time.Since(began))) + "\n")
}

// publicationText says what was done.
func (a *app) publicationText(p wire.Publication) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", a.out.Paint(terminal.Bold, a.out.Text(p.Repository)), a.out.Text(p.Commit))
	verb := "written"
	if p.DryRun {
		verb = "to write"
	}
	fmt.Fprintf(&b, "  %s, %s: %d %s, %d to be as they are, %d removed\n", plural(p.Files, "file"), plural(p.Chunks, "chunk"), p.Put, verb, p.Unchanged, p.Deleted)
	if p.Verified {
		b.WriteString("  verified, document by document and posting by posting")
		if p.Swept > 0 {
			fmt.Fprintf(&b, "; %s that nothing accounted for removed", plural(p.Swept, "posting"))
		}
		b.WriteString("\n")
	}
	for _, r := range p.Removed {
		fmt.Fprintf(&b, "  removed what %s made of %s\n", a.out.Text(r.Model), a.out.Text(r.Commit))
	}
	return b.String()
}

func (a *app) listShared(ctx context.Context, o engine.Options) error {
	all, err := engine.SharedRepositories(ctx, o)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(all)
	}
	if len(all) == 0 {
		return a.print("nothing is published\n")
	}
	return a.print(a.repositoriesText(all))
}

// repositoriesText lists repositories with their editions.
func (a *app) repositoriesText(all []wire.SharedRepository) string {
	var b strings.Builder
	for i, r := range all {
		if i == 0 || all[i-1].Repository != r.Repository {
			b.WriteString(a.out.Paint(terminal.Bold, a.out.Text(r.Repository)) + "\n")
		}
		b.WriteString("  " + a.out.Text(repositoryText(r)) + "\n")
	}
	return b.String()
}

// repositoryText tells one edition of a repository.
func repositoryText(r wire.SharedRepository) string {
	what := fmt.Sprintf("%s, %s, %s", r.Commit, plural(r.Files, "file"), plural(r.Chunks, "chunk"))
	if r.State == wire.SharedFirst {
		what = "nothing can be read yet"
	}
	if r.Publishing != "" {
		what += ", " + r.Publishing + " is being published"
	}
	if r.Published != "" {
		what += ", published " + r.Published
	}
	what += ", " + orNone(r.Model)
	if !r.Current {
		what += " (another edition than this program's)"
	}
	return what
}

func (a *app) removeShared(ctx context.Context, o engine.Options, f publishFlags, dir string) error {
	name, err := a.repositoryOf(ctx, o, f, dir)
	if err != nil {
		return err
	}
	removed, err := engine.RemoveShared(ctx, o, name)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(removed)
	}
	return a.print(fmt.Sprintf("%s is removed from the shared index, %s\n", a.out.Text(name), plural(len(removed), "edition")))
}
