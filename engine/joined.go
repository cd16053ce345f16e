package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/query"
	"coderag-ls/engine/search"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// joined is what the shared index adds to one request.
type joined struct {
	sh *sharedIndex
	// reads are the files of other repositories, by the paths that results show.
	reads    map[string]*sharedindex.Read
	degraded string // what did not take part and why, "" where all did
	partial  bool   // another time it may
}

// maxTermsAsked bounds the terms of a question to the shared index; leastWeight leaves out
// those that stand far from what was asked: the vectors find what they would.
const (
	maxTermsAsked = 48
	leastWeight   = 0.5
)

// join puts what the shared index has for a question in front of the request's
// snapshot. Nothing of it fails: what did not take part is told.
func (v *View) join(ctx context.Context, st *state, q sharedindex.Query, filters wire.Filters) error {
	if st.shared == nil {
		return nil
	}
	sh := st.shared.sh
	q.Languages = filters.Languages
	if len(filters.Repositories) > 0 {
		keep, err := search.Repositories(filters.Repositories)
		if err != nil {
			return &QueryError{Reason: err.Error()}
		}
		q.Repositories = func(name string, own bool) bool {
			return keep(name) || own && keep(search.LocalRepository(sh.own[name].Name))
		}
	}
	got := sh.reader.Candidates(ctx, q)
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &joined{sh: sh, reads: map[string]*sharedindex.Read{}, degraded: got.Degraded, partial: got.Partial}
	var outside []*index.Outside
	for _, r := range got.Files {
		o := r.Prepared.(*index.Outside)
		shown := o.File().Path
		if r.Own {
			if hash, ok := st.ix.Covers(shown); !ok || hash != r.Record.Hash {
				continue // it is indexed here, or gone
			}
		} else {
			j.reads[shown] = r
		}
		outside = append(outside, o)
	}
	if got.Partial {
		if c := st.ix.Coverage(st.snap); c.Shared > 0 {
			j.degraded += fmt.Sprintf("; of the workspace's %d files only the %d that are indexed here were searched", c.Indexed, c.Indexed-c.Shared)
		}
	}
	st.snap, st.shared = st.snap.Beside(outside, got.Background), j
	return nil
}

// sends reports whether the words of a file (absolute) may be searched for elsewhere.
func (j *joined) sends(ix *index.Index, abs string) bool {
	if j == nil {
		return false
	}
	path, ok := ix.WorkspacePath(filepath.Clean(abs))
	_, rel, _ := strings.Cut(path, "/")
	return ok && !j.sh.never.Match(path) && (rel == "" || !j.sh.never.Match(rel))
}

// knows refuses a filter that no repository passes.
func (v *View) knows(st *state, filter []string) error {
	filter = slices.DeleteFunc(slices.Clone(filter), func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(filter) == 0 {
		return nil
	}
	keep, err := search.Repositories(filter)
	if err != nil {
		return &QueryError{Reason: err.Error()}
	}
	var names []string
	v.e.mu.Lock()
	roots := v.e.roots
	v.e.mu.Unlock()
	for _, r := range roots {
		if keep(search.LocalRepository(r.Name)) {
			return nil
		}
		names = append(names, r.Name)
	}
	if st.shared != nil {
		for name := range st.shared.sh.own {
			if keep(name) {
				return nil
			}
		}
		k := st.shared.sh.reader.State()
		if k.Loaded.IsZero() {
			return nil // it may well be there
		}
		for _, h := range k.Heads {
			if keep(h.Repository) {
				return nil
			}
			names = append(names, h.Repository)
		}
	}
	if len(names) > maxNames {
		names = append(names[:maxNames:maxNames], fmt.Sprintf("%d more", len(names)-maxNames))
	}
	return &QueryError{Reason: fmt.Sprintf("no repository that is searched is called %s; there are %s", strings.Join(filter, " or "), strings.Join(names, ", "))}
}

// maxNames is how many repositories an error names.
const maxNames = 10

// joinQuestion is join for what a question says: it is analysed once with what is known here, to know
// what to ask for, and again later with what was found.
func (v *View) joinQuestion(ctx context.Context, f *found, text string, history []wire.Turn, in *search.Input) error {
	if f.shared == nil || strings.TrimSpace(text) == "" {
		return nil
	}
	at := time.Now()
	var q sharedindex.Query
	tok := f.ix.Tokenizer()
	have := map[string]bool{}
	// A name that is not defined here is no misspelling: the shared index may have it.
	an := query.NewWithout(tok, query.Off{FastPath: !f.settings.Search.FastPath, Expansion: !f.settings.Search.Expansion, Spelling: true})
	whole := an.FollowUp(text, history, generous{search.NewVocabulary(f.snap)})
	analyses := []query.Analysis{whole}
	if len(whole.Plan.Requests) > 1 {
		for _, r := range whole.Plan.Requests {
			analyses = append(analyses, an.Analyze(r.Query, generous{search.NewVocabulary(f.snap)}))
		}
	}
	for i := range analyses {
		a := &analyses[i]
		for _, t := range a.Terms {
			switch {
			case have[t.Text]:
				continue
			case t.Weight >= leastWeight && len(q.Terms) < maxTermsAsked:
				q.Terms = append(q.Terms, t)
			case len(q.Counted) < maxTermsAsked: // the ranking weighs it all the same
				q.Counted = append(q.Counted, t.Text)
			}
			have[t.Text] = true
		}
		for _, e := range a.Paths() {
			q.Paths = append(q.Paths, e.Text)
		}
		if v := f.vectorOf(ctx, a.Query, in); v != nil {
			q.Vectors = append(q.Vectors, v)
		}
	}
	err := v.join(ctx, &f.state, q, in.Filters)
	in.Snapshot = f.snap
	f.stage("shared", at)
	return err
}

// local is a filter on repositories by which the workspace's folders go by the names of their
// repositories, too.
func (sh *sharedIndex) local(filter []string) []string {
	keep, err := search.Repositories(filter)
	if err != nil {
		return filter // the search tells
	}
	all := slices.Clone(filter)
	for name, root := range sh.own {
		if keep(name) {
			all = append(all, search.LocalRepository(root.Name))
		}
	}
	slices.Sort(all)
	return all
}

// vectorOf embeds a question with the model of the shared index, nil where that does
// not take part.
func (f *found) vectorOf(ctx context.Context, question string, in *search.Input) []float32 {
	if !in.Settings.Hybrid {
		return nil
	}
	for _, e := range in.Embedders {
		if e.Model().Fingerprint != f.shared.sh.edition.Model.Fingerprint {
			continue
		}
		vectors, err := e.Embed(ctx, []string{question})
		if err != nil || embed.Normalize(vectors[0]) == 0 {
			return nil
		}
		return vectors[0]
	}
	return nil
}

// generous is a vocabulary that knows every word: what the shared index has is not known yet.
type generous struct{ *search.Vocabulary }

// DF implements query.Vocabulary.
func (g generous) DF(term string) int { return max(1, g.Vocabulary.DF(term)) }

// joinName is join for the definitions and uses of a symbol.
func (v *View) joinName(ctx context.Context, st *state, name string) error {
	if st.shared == nil {
		return nil
	}
	terms := []lexical.Term{{Text: lexical.Exact(name), Weight: 1}}
	for i, stem := range st.ix.Tokenizer().Stems(name) {
		terms = append(terms, lexical.Term{Text: stem, Weight: leastWeight, Group: min(i+1, lexical.MaxGroups-1)})
	}
	return v.join(ctx, st, sharedindex.Query{Terms: terms}, wire.Filters{})
}

// read returns a file's text as the request has it: of another repository what was
// read, else the buffer's or the disk's.
func (st *state) read(ctx context.Context, f *index.File) (string, bool) {
	if r := st.other(f.Path); r != nil && f.Outside {
		return r.Text, true
	}
	return st.view.Read(ctx, f.Abs())
}

// other is the file of another repository that a path names, nil where it does not.
func (st *state) other(path string) *sharedindex.Read {
	if st.shared == nil {
		return nil
	}
	return st.shared.reads[path]
}

// present makes a citation of another repository one that can be opened.
func (st *state) present(c *wire.Citation) {
	c.URI, c.WebLink = st.opened(c.Path, c.URI, c.StartLine, c.EndLine)
}

func (st *state) presentAll(lists ...[]wire.Citation) {
	for _, list := range lists {
		for i := range list {
			st.present(&list[i])
		}
	}
}

// opened returns where a path's lines are opened: what is given for those of the
// workspace.
func (st *state) opened(path, uri string, start, end int) (file, web string) {
	r := st.other(path)
	if r == nil {
		return uri, ""
	}
	at, err := st.shared.sh.copies.open(r)
	if err != nil {
		st.shared.sh.log.Warn("a citation of another repository cannot be opened", "error", err)
	}
	return text.URIFromPath(at), st.shared.sh.copies.webLink(r, start, end)
}

// status fills in what is known of the shared index.
func (sh *sharedIndex) status(ix *index.Index, c wire.Coverage) *wire.SharedStatus {
	k := sh.reader.State()
	st := &wire.SharedStatus{
		Endpoints: sh.set.Endpoints, Tenant: sh.set.Tenant, Reachable: k.Err == nil && !k.Loaded.IsZero(),
		Covered: c.Shared, Published: k.Covered, Repositories: []wire.SharedRepository{},
	}
	if k.Err != nil {
		st.Degraded, st.Since = k.Err.Error(), k.Since.UTC().Format(time.RFC3339)
	}
	if k.Loaded.IsZero() {
		if k.Err == nil {
			st.Degraded = "what is published was not read yet"
		}
		return st
	}
	names := make([]string, 0, len(sh.own))
	for name := range sh.own {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, h := range k.Heads {
		r := repositoryOf(h, sh.edition)
		r.Folder = sh.own[h.Repository].Dir
		st.Repositories = append(st.Repositories, r)
		if h.Edition != sh.edition && r.Folder != "" {
			st.Notices = append(st.Notices, fmt.Sprintf("%s was published with another model or version than this program's: it is indexed here", h.Repository))
		} else if h.Edition != sh.edition {
			st.Notices = append(st.Notices, fmt.Sprintf("%s was published with another model or version than this program's: only its words are searched", h.Repository))
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == h.Repository })
	}
	for _, name := range names {
		why := "it is not published"
		switch i := slices.IndexFunc(k.All, func(h sharedindex.Head) bool { return h.Repository == name }); {
		case !sh.covers:
			why = "this workspace's settings of chunks or models are others than those that files are published with"
		case i >= 0:
			why = "its first publication is not complete"
		}
		st.Notices = append(st.Notices, fmt.Sprintf("%s is indexed here: %s", name, why))
	}
	return st
}

// repositoryOf describes a published repository.
func repositoryOf(h sharedindex.Head, current sharedindex.Edition) wire.SharedRepository {
	r := wire.SharedRepository{
		Repository: h.Repository, Commit: h.Commit, Publishing: h.Publishing, Generation: h.Generation, Files: h.Files, Chunks: h.Chunks,
		Model: h.Edition.Model.Name, Edition: strings.Join([]string{h.Edition.ChunkVersion, fmt.Sprint(h.Edition.Tokenizer), h.Edition.Model.Fingerprint}, "."),
		Current: h.Edition == current, State: wire.SharedComplete,
	}
	if !h.Published.IsZero() {
		r.Published = h.Published.UTC().Format(time.RFC3339)
	}
	switch {
	case !h.Complete():
		r.State = wire.SharedFirst
	case h.Publishing != "":
		r.State = wire.SharedPublishing
	}
	return r
}
