package pack

import (
	"context"
	"slices"

	"coderag-ls/engine/answer"
	"coderag-ls/engine/chunk"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/graph"
	"coderag-ls/engine/index"
	"coderag-ls/engine/wire"
)

// Graph is the dependency graph of a snapshot. It is immutable and serves any
// number of answers.
type Graph struct{ *graph.Graph }

// NewGraph makes the graph of a snapshot's files. Build files and documentation
// are read from the disk.
func NewGraph(s *index.Snapshot) *Graph { return (*Graph)(nil).Update(s, nil) }

// Update makes the graph of another snapshot; what has not changed is taken
// over. read, nil for the disk, returns texts by workspace path. g may be nil.
func (g *Graph) Update(s *index.Snapshot, read graph.Reader) *Graph {
	if read == nil {
		read = func(path string) (string, bool) {
			f := s.File(path)
			if f == nil {
				return "", false
			}
			c, err := file.Read(f.Abs(), file.DefaultMaxBytes)
			return c.Text, err == nil
		}
	}
	all := s.Files()
	files := make([]graph.File, len(all))
	for i, f := range all {
		files[i] = graph.File{
			Path: f.Path, Language: f.Class.Language, Test: f.Class.Test,
			Minor:   f.Class.Example || f.Class.Vendored || f.Class.Docs && f.Class.SourceType == file.Code,
			Symbols: f.Symbols, Imports: f.Imports, Identity: identity{f.Hash, f.Provisional},
		}
	}
	if g == nil {
		return &Graph{graph.New(files, read)}
	}
	next := g.Graph.Update(files, read)
	if next == g.Graph {
		return g
	}
	return &Graph{next}
}

// identity is what a file's symbols and imports follow from, beside its path.
type identity struct {
	hash        file.Hash
	provisional bool
}

// source answers the graph from a snapshot and the texts as they stand.
type source struct {
	snap  *index.Snapshot
	texts answer.Texts
}

// Definitions implements graph.Source.
func (s source) Definitions(name string) []graph.Definition {
	found := s.snap.Definitions(name)
	defs := make([]graph.Definition, len(found))
	for i, d := range found {
		defs[i] = graph.Definition{Path: d.File.Path, Symbol: d.Symbol}
	}
	return defs
}

// Mentions implements graph.Source.
func (s source) Mentions(name string, n int) []graph.Mention {
	refs := s.snap.Identifier(name, n)
	out := make([]graph.Mention, len(refs))
	for i, r := range refs {
		d := s.snap.Doc(r)
		out[i] = graph.Mention{Path: d.File.Path, StartLine: d.StartLine, EndLine: d.EndLine}
	}
	return out
}

// Symbols implements graph.Source.
func (s source) Symbols(path string) []chunk.Symbol {
	if f := s.snap.File(path); f != nil {
		return f.Symbols
	}
	return nil
}

// Text implements graph.Source.
func (s source) Text(ctx context.Context, path string) (string, bool) {
	doc, ok := s.texts.Text(ctx, path)
	if !ok {
		return "", false
	}
	return doc.Content(), true
}

// around walks from primary results, and leaves out files that the snapshot does
// not have.
func (g *Graph) around(ctx context.Context, s *index.Snapshot, texts answer.Texts, primary []graph.Place, set config.Answer) []graph.Related {
	for i := range primary {
		primary[i].Uses = uses(s, &primary[i])
	}
	limits := graph.Limits{Related: set.MaxRelated, Depth: set.GraphDepth}
	return slices.DeleteFunc(g.AroundWithin(ctx, source{s, texts}, primary, limits), func(r graph.Related) bool {
		return s.File(r.Path) == nil || s.File(r.From) == nil
	})
}

// uses are the import targets that the chunks of a place use.
func uses(s *index.Snapshot, p *graph.Place) []string {
	f := s.File(p.Path)
	if f == nil {
		return nil
	}
	var out []string
	for _, r := range s.DocsOf(f) {
		if d := s.Doc(r); d.StartLine <= p.EndLine && p.StartLine <= d.EndLine && d.Kind != chunk.Module {
			out = append(out, d.Imports...)
		}
	}
	return out
}

// Related returns the files around cited places, nearest first, with an excerpt
// of the graph. The graph may be of an earlier snapshot: files that are gone are
// left out. The ranges are of what connects the files: a called definition, a
// caller, what is imported, else the first definition.
func (g *Graph) Related(ctx context.Context, s *index.Snapshot, texts answer.Texts, cited []wire.Citation) ([]wire.Related, wire.Graph) {
	return g.RelatedWithin(ctx, s, texts, cited, config.Default().Answer)
}

// RelatedWithin is Related within the bounds that the settings give
// (answer.maxRelated, answer.graphDepth).
func (g *Graph) RelatedWithin(ctx context.Context, s *index.Snapshot, texts answer.Texts, cited []wire.Citation, set config.Answer) ([]wire.Related, wire.Graph) {
	places := make([]graph.Place, len(cited))
	for i, c := range cited {
		places[i] = graph.Place{Path: c.Path, StartLine: c.StartLine, EndLine: c.EndLine}
	}
	relations := g.around(ctx, s, texts, places, set)
	related := []wire.Related{}
	for i := range relations {
		r := &relations[i]
		ref, ok := connecting(s, r)
		if !ok {
			continue
		}
		d := s.Doc(ref)
		related = append(related, wire.Related{Path: r.Path, StartLine: d.StartLine, EndLine: d.EndLine, Relation: string(r.Kind), Distance: r.Distance})
	}
	return related, excerpt(relations)
}

// connecting is the chunk of a related file that connects it, else the one that
// defines what the other file uses, else its first definition.
func connecting(s *index.Snapshot, r *graph.Related) (index.Ref, bool) {
	f := s.File(r.Path)
	if f == nil {
		return index.Ref{}, false
	}
	refs := s.DocsOf(f)
	if len(refs) == 0 {
		return index.Ref{}, false
	}
	defines := func(d *index.Doc) bool {
		return slices.ContainsFunc(d.Symbols, func(n string) bool { return slices.Contains(r.Names, n) })
	}
	first := -1
	for i, ref := range refs {
		d := s.Doc(ref)
		switch {
		case r.StartLine > 0 && d.EndLine >= r.StartLine && d.StartLine <= r.EndLine:
			return ref, true
		case r.StartLine == 0 && defines(d):
			return ref, true
		case first < 0 && d.Name != "" && len(d.Symbols) > 0:
			first = i
		}
	}
	return refs[max(first, 0)], true
}

// excerpt is the graph of the relations.
func excerpt(relations []graph.Related) wire.Graph {
	g := wire.Graph{Nodes: []string{}, Edges: []wire.Edge{}}
	for i := range relations {
		for _, p := range [...]string{relations[i].From, relations[i].Path} {
			if !slices.Contains(g.Nodes, p) {
				g.Nodes = append(g.Nodes, p)
			}
		}
		for _, e := range relations[i].Edges() {
			g.Edges = append(g.Edges, wire.Edge{From: e.From, To: e.To, Kind: string(e.Kind)})
		}
	}
	return g
}
