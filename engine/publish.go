package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/index"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/mem"
	"coderag-ls/engine/wire"
)

// PublishOptions say what is published into the shared index of the settings.
type PublishOptions struct {
	// Options are the engine's; Roots is the one folder that is published. Settings of chunking
	// and of models do not count: readers share what is published.
	Options
	// Repository is the name that it is published under, Commit what it is.
	Repository, Commit string
	// Files keep it to these, relative to the folder, where it is not nil.
	Files map[string]bool
	// Verify compares all that is stored, id by id, and repairs it.
	Verify bool
	// DryRun says what would be done, and does nothing.
	DryRun bool
	// Patience is how long a shared index that is not reachable is asked again; 0 for two minutes.
	Patience time.Duration
	// Waiting is told why nothing goes on for now. May be nil.
	Waiting func(err error)
}

// Publish indexes a folder and makes a repository of the shared index hold exactly that. What is
// there already is not written again; what ended half-way is gone on with.
func Publish(ctx context.Context, o PublishOptions) (out wire.Publication, err error) {
	if err := sharedindex.CheckName(o.Repository); err != nil {
		return out, &QueryError{Reason: err.Error()}
	}
	if len(o.Roots) != 1 {
		return out, &QueryError{Reason: fmt.Sprintf("one folder is published at a time, not %d", len(o.Roots))}
	}
	model, err := static.New()
	if err != nil {
		return out, fmt.Errorf("loading the embedded code model: %w", err)
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	ed := edition(model)
	b, err := o.openBackend(ctx, o.Settings, ed)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if _, err := b.Heads(ctx); err != nil && !errors.Is(err, sharedindex.ErrUnreachable) {
		return out, fmt.Errorf("reading what is published: %w", err) // before work is done for nothing
	}
	ix, closeIndex, err := o.index(ctx, model)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, closeIndex()) }()
	p, err := o.publication(ix, ed)
	if err != nil {
		return out, err
	}
	if o.DryRun {
		return o.compare(ctx, b, p)
	}
	done, err := sharedindex.Publish(ctx, b, p)
	out = wire.Publication{
		SharedRepository: repositoryOf(done.Head, ed), Put: done.Put, Deleted: done.Deleted, Unchanged: done.Unchanged, Swept: done.Swept, Verified: done.Verified,
	}
	return out, err
}

// index makes the index of the folder, in memory: the next publication may well be of
// another folder, and nothing of it need be kept.
func (o *PublishOptions) index(ctx context.Context, model *static.Model) (*index.Index, func() error, error) {
	s := publishSettings(o.Settings)
	opts := o.Options
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	made := &opened{}
	iopts, err := indexOptions(opts, s, o.Roots)
	if err == nil {
		made.openVectorCache(s, opts, &iopts)
	}
	space := &mem.Space{}
	iopts.CacheDir, iopts.NoGit, iopts.Inline = noCacheDir, true, model
	iopts.OpenStore = func(ctx context.Context, dir string) (store.Store, error) { return space.Open(ctx, dir, "") }
	if made.ix, err = index.Open(ctx, iopts); err != nil {
		return nil, nil, errors.Join(err, made.close())
	}
	if err := made.ix.Sync(ctx, true, true); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("indexing %s: %w", o.Roots[0].Dir, err), made.close())
	}
	return made.ix, made.close, nil
}

// publication says what is published of an index.
func (o *PublishOptions) publication(ix *index.Index, ed sharedindex.Edition) (sharedindex.PublishOptions, error) {
	never, err := neverSent(o.Settings)
	if err != nil {
		return sharedindex.PublishOptions{}, err
	}
	entries, statistics, err := index.Entries(ix, func(path string) bool { return (o.Files == nil || o.Files[path]) && !never.Match(path) })
	if err != nil {
		return sharedindex.PublishOptions{}, err
	}
	p := sharedindex.PublishOptions{
		Repository: o.Repository, Commit: o.Commit, Edition: ed, Files: entries, Statistics: statistics, Verify: o.Verify, Patience: o.Patience, Waiting: o.Waiting,
		Documents: func(ctx context.Context, paths []string) ([]sharedindex.Document, error) {
			documents := make([]sharedindex.Document, 0, len(paths))
			err := index.Export(ctx, ix, paths, func(d sharedindex.Document) error {
				documents = append(documents, d)
				return nil
			})
			return documents, err
		},
	}
	if o.Progress != nil {
		var mu sync.Mutex // it is told by several goroutines
		p.Progress = func(done, total int) {
			mu.Lock()
			defer mu.Unlock()
			o.Progress(wire.Progress{Stage: "publish", Done: done, Total: total})
		}
	}
	return p, nil
}

// compare says what a publication would do.
func (o *PublishOptions) compare(ctx context.Context, b sharedindex.Backend, p sharedindex.PublishOptions) (wire.Publication, error) {
	stored := map[string]sharedindex.Entry{}
	err := b.Manifest(ctx, o.Repository, func(e sharedindex.Entry) error {
		stored[e.Path] = e
		return nil
	})
	if err != nil && !errors.Is(err, sharedindex.ErrNoRepository) {
		return wire.Publication{}, fmt.Errorf("reading what is published of %s: %w", o.Repository, err)
	}
	out := wire.Publication{SharedRepository: repositoryOf(sharedindex.Head{Repository: o.Repository, Commit: o.Commit, Edition: p.Edition, Files: len(p.Files)}, p.Edition), DryRun: true}
	for _, f := range p.Files {
		out.Chunks += f.Chunks
		if have, ok := stored[f.Path]; ok && have == f {
			out.Unchanged++
		} else {
			out.Put++
		}
		delete(stored, f.Path)
	}
	out.Deleted = len(stored)
	return out, nil
}

// withShared opens this program's edition of the shared index for do, which may open others.
func withShared(ctx context.Context, o Options, do func(b sharedindex.Backend, ed sharedindex.Edition) error) (err error) {
	model, err := static.New()
	if err != nil {
		return fmt.Errorf("loading the embedded code model: %w", err)
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	ed := edition(model)
	b, err := o.openBackend(ctx, o.Settings, ed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return do(b, ed)
}

// SharedRepositories lists what is published in the shared index of the settings, by name.
func SharedRepositories(ctx context.Context, o Options) ([]wire.SharedRepository, error) {
	all := []wire.SharedRepository{}
	err := withShared(ctx, o, func(b sharedindex.Backend, ed sharedindex.Edition) error {
		heads, err := b.Heads(ctx)
		if err != nil {
			return fmt.Errorf("reading what is published: %w", err)
		}
		for _, h := range heads {
			all = append(all, repositoryOf(h, ed))
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b wire.SharedRepository) int {
		return cmp.Or(strings.Compare(a.Repository, b.Repository), strings.Compare(a.Edition, b.Edition))
	})
	return all, err
}

// RemoveShared removes a repository from the shared index of the settings, in all editions.
// It is sharedindex.ErrNoRepository where there is none.
func RemoveShared(ctx context.Context, o Options, repository string) ([]wire.SharedRepository, error) {
	return removeShared(ctx, o, func(h sharedindex.Head, _ []sharedindex.Head, _ sharedindex.Edition) bool {
		return h.Repository == repository
	},
		fmt.Errorf("%w: %s", sharedindex.ErrNoRepository, repository))
}

// PruneShared removes editions of a repository ("" for all) that this program's replaces: where that is
// complete, those that were published before it.
func PruneShared(ctx context.Context, o Options, repository string) ([]wire.SharedRepository, error) {
	return removeShared(ctx, o, func(h sharedindex.Head, all []sharedindex.Head, ed sharedindex.Edition) bool {
		if repository != "" && h.Repository != repository || h.Edition == ed {
			return false
		}
		return slices.ContainsFunc(all, func(ours sharedindex.Head) bool {
			return ours.Repository == h.Repository && ours.Edition == ed && ours.Complete() && ours.Publishing == "" && h.Published.Before(ours.Published)
		})
	}, nil)
}

// removeShared removes the repositories that which names; none is an error where that is not nil.
func removeShared(ctx context.Context, o Options, which func(h sharedindex.Head, all []sharedindex.Head, ed sharedindex.Edition) bool, none error) ([]wire.SharedRepository, error) {
	removed := []wire.SharedRepository{}
	err := withShared(ctx, o, func(b sharedindex.Backend, ed sharedindex.Edition) error {
		heads, err := b.Heads(ctx)
		if err != nil {
			return fmt.Errorf("reading what is published: %w", err)
		}
		for _, h := range heads {
			if !which(h, heads, ed) {
				continue
			}
			other, err := o.openBackend(ctx, o.Settings, h.Edition)
			if err != nil {
				return err
			}
			err = other.Remove(ctx, h.Repository)
			if err = errors.Join(err, other.Close()); err != nil {
				return fmt.Errorf("removing %s: %w", h.Repository, err)
			}
			removed = append(removed, repositoryOf(h, ed))
		}
		if len(removed) == 0 {
			return none
		}
		return nil
	})
	return removed, err
}

// CheckShared asks the shared index of the settings what it has, as doctor does. names are those of the
// folders' repositories, by the settings.
func CheckShared(ctx context.Context, o Options) (heads []wire.SharedRepository, names []string, err error) {
	heads, err = SharedRepositories(ctx, o)
	for i, r := range o.Roots {
		name := o.Settings.Shared.Repository
		if i > 0 || name == autoRepository || name == "" {
			name = RepositoryName(ctx, r.Dir)
		}
		if name != "" && name != noRepository {
			names = append(names, name)
		}
	}
	return heads, names, err
}
