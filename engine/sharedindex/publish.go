package sharedindex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// putBytes and putDocuments bound what is handed over at once, putters how
	// often at the same time: this times their product is about what is in memory.
	putBytes     = 2 << 20
	putDocuments = 32
	putters      = 4
	// deletedAtOnce are the paths of one Delete.
	deletedAtOnce = 100
	// readAtOnce are the documents of one read of a verification.
	readAtOnce = 32
	// rounds are how often a verification repairs before it gives up.
	rounds = 3
	// patience is how long an index that is not reachable is asked again.
	patience = 2 * time.Minute
	// firstPause and lastPause bound the pauses between.
	firstPause, lastPause = 100 * time.Millisecond, 10 * time.Second
)

// PublishOptions say what is published.
type PublishOptions struct {
	// Repository is the name, Commit what is published of it.
	Repository, Commit string
	Edition            Edition
	// Files are all files that are to be there.
	Files []Entry
	// Documents makes the documents of some of them. It is called by several goroutines.
	Documents func(ctx context.Context, paths []string) ([]Document, error)
	// Statistics are those of the words in all files.
	Statistics Statistics
	// Verify compares what is stored with what is to be there, document by document,
	// posting by posting and term by term, and repairs what differs.
	Verify bool
	// Patience is how long an index that is not reachable is asked again; 0 for two
	// minutes.
	Patience time.Duration
	// Progress is told how many of the changes are done. It must not block. May be nil.
	Progress func(done, total int)
	// Waiting is told why nothing goes on for now. May be nil.
	Waiting func(err error)
}

// Published says what a publication did.
type Published struct {
	Head Head
	// Put and Deleted count documents, Unchanged those that were there already.
	Put, Deleted, Unchanged int
	// Swept counts postings that no document accounted for (PublishOptions.Verify).
	Swept int
	// Verified is true where everything was compared, postings included; where the
	// backend cannot tell its postings only the documents were.
	Verified bool
}

// Publish makes a repository of the shared index what is given, by what differs
// between the two. A publication that ended anywhere is gone on with by the next one, whoever
// runs it: nothing needs to be remembered. It is ErrPublishing where somebody else
// publishes the repository.
func Publish(ctx context.Context, b Backend, o PublishOptions) (_ Published, err error) {
	if err := CheckName(o.Repository); err != nil {
		return Published{}, err
	}
	if o.Commit == "" {
		return Published{}, errors.New("a publication needs the name of what is published: a commit or a label")
	}
	p := &publication{PublishOptions: o, b: b, began: time.Now(), files: make(map[string]Entry, len(o.Files))}
	if p.Patience <= 0 {
		p.Patience = patience
	}
	for _, f := range o.Files {
		if _, twice := p.files[f.Path]; twice {
			return Published{}, fmt.Errorf("publishing %s: the path %s stands for two files", o.Repository, f.Path)
		}
		p.files[f.Path] = f
	}
	err = p.try(ctx, "beginning to publish "+o.Repository, func() error {
		p.w, err = b.Write(ctx, o.Repository)
		return err
	})
	if err != nil {
		return Published{}, err
	}
	defer func() { err = errors.Join(err, p.w.Close()) }()
	return p.publish(ctx)
}

// publication is one Publish.
type publication struct {
	PublishOptions
	b     Backend
	w     Writer
	files map[string]Entry // by path
	begun bool
	out   Published

	began time.Time    // with the monotonic clock: the other one may jump
	alive atomic.Int64 // when the index last answered, in nanoseconds after that
	wrote atomic.Int64 // documents that were put
	done  atomic.Int64
	total int
}

// changes are what makes the stored what it is to be.
type changes struct {
	put   []Entry
	gone  []string
	sweep map[string][]int
}

func (c *changes) none() bool { return len(c.put)+len(c.gone)+len(c.sweep) == 0 }

func (p *publication) publish(ctx context.Context) (out Published, err error) {
	defer func() { out.Put = int(p.wrote.Load()) }()
	before, err := p.head(ctx)
	if err != nil {
		return p.out, err
	}
	look := p.differences
	if p.Verify {
		look = p.audit
	}
	for round := 0; ; round++ {
		c, err := look(ctx)
		if err != nil {
			return p.out, err
		}
		if round == 0 {
			p.out.Unchanged = len(p.files) - len(c.put)
		}
		if c.none() {
			break
		}
		if round == rounds {
			return p.out, fmt.Errorf("publishing %s: after %d repairs %d documents still differ from what was written", p.Repository, rounds, len(c.put)+len(c.gone))
		}
		if err := p.begin(ctx); err != nil {
			return p.out, err
		}
		if err := p.apply(ctx, c); err != nil {
			return p.out, err
		}
		if !p.Verify {
			break
		}
	}
	head := Head{Repository: p.Repository, Commit: p.Commit, Edition: p.Edition, Files: len(p.files), Terms: p.Statistics.Terms}
	for _, f := range p.files {
		head.Chunks += f.Chunks
	}
	counted := true
	if p.Verify {
		if counted, err = p.counted(ctx); err != nil {
			return p.out, err
		}
	}
	if counted && !p.begun && before.Commit == p.Commit && before.Publishing == "" && before.Files == head.Files && before.Chunks == head.Chunks && before.Terms == head.Terms {
		p.out.Head = before
		return p.out, nil
	}
	if err := p.begin(ctx); err != nil {
		return p.out, err
	}
	if err := p.try(ctx, "counting the words of "+p.Repository, func() error { return p.w.Count(ctx, p.Statistics.DF) }); err != nil {
		return p.out, err
	}
	if err := p.try(ctx, "ending the publication of "+p.Repository, func() error { return p.w.Finish(ctx, head) }); err != nil {
		return p.out, err
	}
	p.out.Head, err = p.head(ctx)
	return p.out, err
}

// head returns what is known of the repository in this edition, the zero Head where
// nothing is.
func (p *publication) head(ctx context.Context) (Head, error) {
	var found Head
	err := p.try(ctx, "reading what is published", func() error {
		heads, err := p.b.Heads(ctx)
		if i := slices.IndexFunc(heads, func(h Head) bool { return h.Repository == p.Repository && h.Edition == p.Edition }); i >= 0 {
			found = heads[i]
		}
		return err
	})
	return found, err
}

// begin notes the commit before the first change.
func (p *publication) begin(ctx context.Context) error {
	if p.begun {
		return nil
	}
	err := p.try(ctx, "beginning to publish "+p.Repository, func() error { return p.w.Begin(ctx, p.Commit) })
	p.begun = err == nil
	return err
}

// manifest reads what documents are stored.
func (p *publication) manifest(ctx context.Context) (map[string]Entry, error) {
	var stored map[string]Entry
	err := p.try(ctx, "reading what is published of "+p.Repository, func() error {
		stored = make(map[string]Entry, len(p.files))
		return p.b.Manifest(ctx, p.Repository, func(e Entry) error {
			stored[e.Path] = e
			return nil
		})
	})
	return stored, err
}

// differences compares the manifests.
func (p *publication) differences(ctx context.Context) (*changes, error) {
	stored, err := p.manifest(ctx)
	if err != nil {
		return nil, err
	}
	return p.compare(stored, nil), nil
}

// compare says what differs; bad are stored documents that are to be written again.
func (p *publication) compare(stored map[string]Entry, bad map[string]bool) *changes {
	c := &changes{}
	for path, want := range p.files {
		if have, ok := stored[path]; !ok || have.Hash != want.Hash || have.Chunks != want.Chunks || bad[path] {
			c.put = append(c.put, want)
		}
	}
	for path := range stored {
		if _, wanted := p.files[path]; !wanted {
			c.gone = append(c.gone, path)
		}
	}
	slices.SortFunc(c.put, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(c.gone)
	return c
}

// apply writes the changes, several at a time.
func (p *publication) apply(ctx context.Context, c *changes) error {
	p.total = len(c.put) + len(c.gone) + len(c.sweep)
	p.done.Store(0)
	p.progress(0)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(putters, len(c.put)) {
		wg.Go(func() {
			if err := p.put(ctx, c.put, &next); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	for paths := range slices.Chunk(c.gone, deletedAtOnce) {
		if ctx.Err() != nil {
			break
		}
		err := p.try(ctx, "removing files from "+p.Repository, func() error { return p.w.Delete(ctx, paths) })
		if err != nil {
			cancel(err)
			break
		}
		p.out.Deleted += len(paths)
		p.progress(len(paths))
	}
	if sweeper, ok := p.w.(Sweeper); ok {
		for path, ordinals := range c.sweep {
			if ctx.Err() != nil {
				break
			}
			err := p.try(ctx, "removing postings of "+path, func() error { return sweeper.Sweep(ctx, path, ordinals) })
			if err != nil {
				cancel(err)
				break
			}
			p.out.Swept += len(ordinals)
			p.progress(1)
		}
	}
	return context.Cause(ctx)
}

// put writes the entries that next counts to, in batches.
func (p *publication) put(ctx context.Context, entries []Entry, next *atomic.Int64) error {
	for ctx.Err() == nil {
		to := int(next.Add(putDocuments))
		from := to - putDocuments
		if from >= len(entries) {
			return nil
		}
		want := map[string]Entry{}
		var paths []string
		for _, e := range entries[from:min(to, len(entries))] {
			want[e.Path], paths = e, append(paths, e.Path)
		}
		documents, err := p.Documents(ctx, paths)
		if err != nil {
			return err
		}
		for i := range documents {
			d := &documents[i]
			if e, ok := want[d.Record.Path]; !ok || d.Record.Hash != e.Hash || len(d.Record.File.Chunks) != e.Chunks {
				return fmt.Errorf("publishing %s: it changed meanwhile: publish again", d.Record.Path)
			}
			delete(want, d.Record.Path)
			d.Commit = p.Commit
		}
		for path := range want {
			return fmt.Errorf("publishing %s: it is gone meanwhile: publish again", path)
		}
		for len(documents) > 0 {
			n, size := 0, 0
			for n < len(documents) && (n == 0 || size+documentBytes(&documents[n]) <= putBytes) {
				size += documentBytes(&documents[n])
				n++
			}
			batch := documents[:n]
			err := p.try(ctx, fmt.Sprintf("publishing %s and %d more files", batch[0].Record.Path, n-1), func() error { return p.w.Put(ctx, batch) })
			if err != nil {
				return err
			}
			documents = documents[n:]
			p.wrote.Add(int64(n))
			p.progress(n)
		}
	}
	return nil
}

// documentBytes is about how much memory a document takes.
func documentBytes(d *Document) int {
	n := len(d.Text)
	for _, row := range d.Rows {
		n += 5 * len(row) // and its int8 values
	}
	for _, words := range d.Words {
		for _, field := range words {
			n += 16 * len(field)
		}
	}
	return n
}

// progress tells that n more changes are done.
func (p *publication) progress(n int) {
	done := int(p.done.Add(int64(n)))
	if p.Progress != nil {
		p.Progress(min(done, p.total), p.total)
	}
}

// try does something until the index was not reachable for as long as the
// patience lasts. Whatever else goes wrong ends it.
func (p *publication) try(ctx context.Context, what string, do func() error) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := do()
		if err == nil {
			p.alive.Store(int64(time.Since(p.began)))
			return nil
		}
		silent := time.Since(p.began) - time.Duration(p.alive.Load())
		if ctx.Err() != nil || !errors.Is(err, ErrUnreachable) || silent+pause > p.Patience {
			return fmt.Errorf("%s: %w", what, cmp.Or(context.Cause(ctx), err))
		}
		if p.Waiting != nil {
			p.Waiting(err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
}
