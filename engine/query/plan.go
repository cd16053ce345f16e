package query

import (
	"fmt"

	"coderag-ls/engine/wire"
)

// plan makes the retrieval request. A question that is nothing but an
// identifier, a file name or a hexadecimal code takes the fast path (PRD, fast
// path router).
func (an *Analyzer) plan(a *Analysis) wire.Plan {
	p := wire.Plan{Route: RouteRules, Intent: string(a.Intent), CleanedQuery: a.Cleaned, Languages: a.Languages, Expanded: a.Expanded}
	for _, e := range a.Entities {
		p.Entities = append(p.Entities, wire.Entity{Kind: string(e.Kind), Text: e.Text, Line: e.Line})
	}
	for _, k := range a.Kinds {
		p.ChunkTypes = append(p.ChunkTypes, string(k))
	}
	for _, r := range a.Repaired {
		p.Repaired = append(p.Repaired, wire.Repair{Asked: r.Asked, Name: r.Name})
	}
	req := wire.Request{Query: a.Cleaned, Reasoning: reasoning(a)}
	if len(a.Entities) == 1 && !an.off.FastPath {
		e := a.Entities[0]
		name, alone := loneName(a.Query, a)
		switch {
		case alone:
			p.Route = RouteFast
			req.Reasoning = fmt.Sprintf("the question is the identifier %s", name)
		case e.Kind == Hex && a.Query == e.Text:
			p.Route = RouteFast
			req.Reasoning = fmt.Sprintf("the question is the code %s", e.Text)
		case e.Kind == Path && alonePath(a.Query, e):
			p.Route = RouteFast
			req.FilePatterns = []string{e.Text}
			req.Reasoning = fmt.Sprintf("the question is the file name %s", e.Text)
		}
	}
	p.Requests = []wire.Request{req}
	return p
}

func alonePath(q string, e Entity) bool {
	return e.Start == 0 && len(q)-len(e.Text) <= len(":1234567890") && reLine.ReplaceAllString(q, "") == q[:e.End]
}

func reasoning(a *Analysis) string {
	what := map[Intent]string{
		FindDefinition: "where it is defined", FindUsage: "where it is used", UnderstandModule: "how it works",
		FindSimilar: "what is like it", General: "what is about it",
	}[a.Intent]
	return fmt.Sprintf("find %s: %s", what, a.Cleaned)
}
