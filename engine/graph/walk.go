package graph

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"coderag-ls/engine/chunk"
)

// Source answers what the graph does not keep from the workspace as a request
// sees it. Its methods are safe for concurrent use.
type Source interface {
	// Definitions returns where a name is defined, in path and line order.
	Definitions(name string) []Definition
	// Mentions returns at most n chunks whose text has the identifier as a
	// whole, in path and line order.
	Mentions(name string, n int) []Mention
	// Symbols returns what a file defines.
	Symbols(path string) []chunk.Symbol
	// Text returns a file's text; ok is false where it cannot be read.
	Text(ctx context.Context, path string) (content string, ok bool)
}

// Definition is a symbol and the file that defines it.
type Definition struct {
	Path   string
	Symbol *chunk.Symbol
}

// Mention is a chunk that names something.
type Mention struct {
	Path               string
	StartLine, EndLine int // 1-based, inclusive
}

// Place is a primary result: lines of a file.
type Place struct {
	Path               string
	StartLine, EndLine int
	// Uses are the import targets that the lines use; nil where that is not
	// known.
	Uses []string
}

// Related is a file connected to the primary results.
type Related struct {
	Path string
	// From is the file that it is connected to: a primary one at distance 1,
	// else one between.
	From     string
	Kind     Kind // what From has to it, or it to From (see the kinds)
	Distance int  // 1 or 2
	// StartLine and EndLine are the lines that connect it: a called definition,
	// a caller. 0 where the whole file does.
	StartLine, EndLine int
	// Names are the names of it that From uses, or that it uses of From, where
	// that is known.
	Names []string
	// Also is a second relation between the two: what is imported is called too.
	Also Kind
}

// Edges are the edges of the graph that the relation goes along.
func (r *Related) Edges() []Edge {
	edges := []Edge{r.edge(r.Kind)}
	if r.Also != "" {
		edges = append(edges, r.edge(r.Also))
	}
	return edges
}

func (r *Related) edge(k Kind) Edge {
	switch k {
	case ImportedBy:
		return Edge{r.Path, r.From, Imports}
	case TestFor:
		return Edge{r.Path, r.From, TestFor}
	case TestedBy:
		return Edge{r.From, r.Path, TestFor}
	case InterfaceOf:
		return Edge{r.From, r.Path, Implements}
	case ImplementedBy:
		return Edge{r.Path, r.From, Implements}
	case CalledBy:
		return Edge{r.Path, r.From, Calls}
	case ReferencedBy:
		return Edge{r.Path, r.From, References}
	}
	return Edge{r.From, r.Path, k}
}

// Bounds of the walk. The counts are of files per walk.
const (
	// MaxRelated is how many related files are told (TS: 10).
	MaxRelated = 10
	maxSeeds   = 3 // primary files that are walked from
	maxHops    = 2 // TS: 2
)

// limit is how many files of a kind are told, so that no kind takes the room of
// the others.
func limit(k Kind) int {
	switch k {
	case Imports:
		return 4
	case Calls, ImportedBy, CalledBy:
		return 3
	case TestFor, TestedBy, ImplementedBy, References, ReferencedBy, InterfaceOf:
		return 2
	}
	return 2
}

// kindOrder is the order of the kinds at one distance: what the lines rest on
// first, then what rests on them.
func kindOrder(k Kind) int {
	return slices.Index([]Kind{InterfaceOf, ImplementedBy, Calls, Imports, TestedBy, TestFor, CalledBy, ImportedBy, References, ReferencedBy, Sibling}, k)
}

// step is a candidate of the walk.
type step struct {
	Related
	seed   int     // which primary file it was reached from
	weight float64 // how sure, how close: more is better
	id     int32
}

// Around walks from the primary results along the graph's edges, two steps at
// most, and returns the files found, without the primary ones: nearest first,
// then by kind, primary result, weight and path; at most MaxRelated, of each kind
// only a few. The walk from a file follows one direction: what is imported by
// what imports a file has nothing to do with it.
func (g *Graph) Around(ctx context.Context, src Source, primary []Place) []Related {
	return g.AroundWithin(ctx, src, primary, Limits{Related: MaxRelated, Depth: maxHops})
}

// Limits bound a walk.
type Limits struct {
	Related int // files, 0 for none
	Depth   int // steps, 1 or 2
}

// AroundWithin is Around with other bounds.
func (g *Graph) AroundWithin(ctx context.Context, src Source, primary []Place, lim Limits) []Related {
	w := &walk{lim: lim, g: g, src: src, ctx: ctx, best: map[string]step{}, primary: map[string]bool{}, texts: map[string]string{}}
	for _, p := range primary {
		w.primary[p.Path] = true
	}
	seeds := firstOfEach(primary)
	for i, p := range seeds[:min(maxSeeds, len(seeds))] {
		w.seed = i
		w.calls(p)
		w.inheritance(p)
		w.kept(p.Path, p.Uses, 1, "")
	}
	if len(seeds) > 0 && lim.Depth > 1 {
		w.siblings(seeds[0].Path)
	}
	out := w.chosen()
	if len(out) < lim.Related && lim.Depth > 1 {
		// The second step goes on from what the first one leads to.
		for _, s := range out {
			if s.Distance == 1 {
				w.seed = s.seed
				w.kept(s.Path, nil, maxHops, s.Kind)
			}
		}
		out = w.chosen()
	}
	related := make([]Related, len(out))
	for i := range out {
		related[i] = out[i].Related
	}
	return related
}

// firstOfEach merges the places of one file: lines of the first, uses of all.
func firstOfEach(places []Place) []Place {
	var out []Place
	for _, p := range places {
		i := slices.IndexFunc(out, func(o Place) bool { return o.Path == p.Path })
		if i < 0 {
			p.Uses = slices.Clone(p.Uses)
			out = append(out, p)
			continue
		}
		out[i].Uses = append(out[i].Uses, p.Uses...)
	}
	return out
}

// walk is one walk.
type walk struct {
	lim     Limits
	g       *Graph
	src     Source
	ctx     context.Context
	primary map[string]bool
	best    map[string]step // by path
	seed    int
	texts   map[string]string // read so far
}

// text reads a file once. A walk reads a bounded number of files.
func (w *walk) text(file string) (string, bool) {
	content, ok := w.texts[file]
	if !ok {
		if content, ok = w.src.Text(w.ctx, file); ok {
			w.texts[file] = content
		}
	}
	return content, ok
}

// offer takes a candidate; of two ways to a file the better one counts. A call
// gives the import that it goes through its lines.
func (w *walk) offer(s step) {
	if w.primary[s.Path] || s.Path == s.From {
		return
	}
	s.seed = w.seed
	if id, ok := w.g.t.ids[s.Path]; ok {
		s.id = id
	}
	had, ok := w.best[s.Path]
	if ok && s.From == had.From && s.Distance == had.Distance {
		switch {
		case s.Kind == Imports && had.Kind == Calls, s.Kind == ImportedBy && had.Kind == CalledBy:
			s.Also, s.weight = had.Kind, s.weight+had.weight
			s.StartLine, s.EndLine, s.Names = had.StartLine, had.EndLine, had.Names
			w.best[s.Path] = s
			return
		case had.Also == s.Kind:
			return
		case had.Also == "" && had.Kind != s.Kind:
			if s.Also = had.Kind; compareSteps(had, s) < 0 {
				had.Also = s.Kind
				s = had
			}
			w.best[s.Path] = s
			return
		}
	}
	if !ok || compareSteps(s, had) < 0 {
		w.best[s.Path] = s
	}
}

// compareSteps is a total order for steps to different files.
func compareSteps(a, b step) int {
	return cmp.Or(a.Distance-b.Distance, kindOrder(a.Kind)-kindOrder(b.Kind), a.seed-b.seed, cmp.Compare(b.weight, a.weight), cmp.Compare(a.Path, b.Path), cmp.Compare(a.From, b.From), a.StartLine-b.StartLine)
}

// chosen are the best candidates within the limits, in order.
func (w *walk) chosen() []step {
	all := make([]step, 0, len(w.best))
	for _, s := range w.best {
		all = append(all, s)
	}
	slices.SortFunc(all, compareSteps)
	counts := map[Kind]int{}
	var out []step
	for _, s := range all {
		if len(out) < w.lim.Related && counts[s.Kind] < limit(s.Kind) {
			counts[s.Kind]++
			out = append(out, s)
		}
	}
	return out
}

// kept offers what the kept edges of a file lead to. uses are the import
// targets that matter. At distance 2 only what goes on in the direction of the
// relation by which the file was reached.
func (w *walk) kept(file string, uses []string, distance int, via Kind) {
	id, ok := w.g.t.ids[file]
	if !ok {
		return
	}
	goes := func(k Kind) bool {
		if distance == 1 {
			return true
		}
		switch via {
		case Imports, Calls, InterfaceOf, TestedBy:
			return k == Imports || k == InterfaceOf
		case ImportedBy, CalledBy, ImplementedBy:
			return k == ImportedBy || k == TestFor
		}
		return false
	}
	base := step{Related: Related{From: file, Distance: distance}}
	put := func(k Kind, to int32, weight float64, names []string) {
		if goes(k) {
			s := base
			s.Path, s.Kind, s.weight, s.Names = w.g.t.files[to].Path, k, weight, names
			w.offer(s)
		}
	}
	f := &w.g.t.files[id]
	info := &w.g.infos[id]
	for n, l := range info.links {
		weight := 1 / float64(2+n) // in the order of the imports
		var names []string
		if l.by >= 0 {
			im := &f.Imports[l.by]
			names = im.Names
			if slices.Contains(uses, im.Target) {
				weight++
			}
		}
		for _, m := range w.g.speakers(id, l.to) {
			put(Imports, m, weight, names)
			weight *= 0.9
		}
	}
	for n, to := range info.tests {
		put(TestedBy, to, 1/float64(1+n), nil)
	}
	for n, to := range info.refs {
		put(References, to, 1/float64(1+n), nil)
	}
	named := w.g.tests.of(id)
	for _, by := range named {
		put(TestFor, by, 2+w.g.closeness(file, by), nil)
	}
	for _, by := range w.g.importers(id) {
		switch {
		case !w.g.t.files[by].Test:
			put(ImportedBy, by, w.g.closeness(file, by), nil)
		case !f.Test && len(named) == 0:
			put(TestFor, by, w.g.closeness(file, by), nil)
		}
	}
	for _, by := range w.g.refs.of(id) {
		put(ReferencedBy, by, w.g.closeness(file, by), nil)
	}
}

// maxSpeakers is how many files of a package are told for it.
const maxSpeakers = 2

// speakers are the files that stand for an import's target: itself, or those of
// a package that it is known by: of its name, else its most central ones.
func (g *Graph) speakers(from int32, to node) []int32 {
	members := g.members(to)
	if len(members) == 1 {
		return members
	}
	name := lastName(g.nodeName(to))
	type scored struct {
		id    int32
		score int
	}
	var all []scored
	for _, m := range members {
		f := &g.t.files[m]
		if m == from || f.Test && !g.t.files[from].Test {
			continue
		}
		s := min(len(f.Symbols), 40)
		if plainName(stem(f.Path)) == name {
			s += 100
		}
		all = append(all, scored{m, s})
	}
	slices.SortStableFunc(all, func(a, b scored) int { return b.score - a.score })
	var out []int32
	for _, s := range all[:min(maxSpeakers, len(all))] {
		out = append(out, s.id)
	}
	return out
}

// lastName is the last part of a group's name.
func lastName(name string) string {
	start := 0
	for i := range len(name) - 1 {
		if c := name[i]; c == '/' || c == '.' || c == ' ' {
			start = i + 1
		}
	}
	return plainName(name[start : len(name)-1])
}

// closeness is from 0 to 1 by how many directories two files have in common;
// less for examples and, among tests, for what only helps them.
func (g *Graph) closeness(file string, other int32) float64 {
	o := &g.t.files[other]
	n := common(file, o.Path)
	c := float64(n) / float64(n+2)
	if o.Minor || o.Test && !strings.Contains(strings.ToLower(path.Base(o.Path)), "test") && !strings.Contains(path.Base(o.Path), "spec") {
		c /= 4
	}
	return c
}

// siblings offers the files beside one.
func (w *walk) siblings(file string) {
	id, ok := w.g.t.ids[file]
	if !ok {
		return
	}
	f := &w.g.t.files[id]
	if !code(f.Language) {
		return
	}
	for _, o := range w.g.t.dirs[parent(file)].files {
		other := &w.g.t.files[o]
		if o != id && other.Language == f.Language && other.Test == f.Test {
			// A directory's way is through the directory: two steps.
			w.offer(step{Related: Related{Path: other.Path, From: file, Kind: Sibling, Distance: maxHops}, weight: min(1, w.g.rank()[o]/8)})
		}
	}
}
