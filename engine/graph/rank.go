package graph

// Of PageRank (Page, Brin, Motwani and Winograd, 1999): how much of a file's
// weight goes along its imports, and how often it is passed on. The order of
// files settles long before.
const (
	damping    = 0.85
	iterations = 20
)

// Centrality is how central a file is among all: the PageRank of what imports
// what, over the mean of all files. It is 1 for a file like any other, more for
// what much else rests on, and 0 for an unknown file.
func (g *Graph) Centrality(file string) float64 {
	i, ok := g.t.ids[file]
	if !ok {
		return 0
	}
	return g.rank()[i]
}

// InDegree is how many files import a file or its package.
func (g *Graph) InDegree(file string) int {
	i, ok := g.t.ids[file]
	if !ok {
		return 0
	}
	return len(g.importers(i))
}

// pageRank computes the ranks of all files, with a mean of 1. A package's
// share is divided among its files.
func (g *Graph) pageRank() []float64 {
	n := len(g.t.files)
	rank, next := make([]float64, n), make([]float64, n)
	for i := range rank {
		rank[i] = 1
	}
	for range iterations {
		lost := 0.0
		clear(next)
		for i := range rank {
			links := g.infos[i].links
			if len(links) == 0 {
				lost += rank[i]
				continue
			}
			share := rank[i] / float64(len(links))
			for _, l := range links {
				members := g.members(l.to)
				for _, m := range members {
					next[m] += share / float64(len(members))
				}
			}
		}
		for i := range next {
			next[i] = (1 - damping) + damping*(next[i]+lost/float64(n))
		}
		rank, next = next, rank
	}
	return rank
}
