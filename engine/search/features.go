package search

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/query"
)

// Features are what a file's score is made of, one number each, most of them
// from 0 to 1. The score is their product with the weights.
type Features [numFeatures]float64

// The features.
const (
	fLexMax    = iota // best chunk's BM25F score over the best of all
	fLexTop           // 1, .5, .25 of the best three chunks', over the best of all
	fLexRank          // 1/rank of the file in the lexical list
	fLexCover         // the best chunk's share of the question's words
	fLexRaw           // best chunk's score over the highest that the question can have
	fFileCover        // the share of all its chunks together
	fLexHits          // how many of its chunks are among the first thirty, a fifth each
	fVecMax           // best cosine over the best of all
	fVecTop           // 1, .5, .25 of the best three
	fVecRank          // 1/rank of the file
	fVecRaw           // best cosine
	fVecMean          // mean of the best three cosines
	fVecPath          // cosine to the path's words
	fVecFirst         // cosine to the file's first chunk
	fVecHits          // how many of its chunks are among the first thirty, a fifth each
	fSlowMax          // the same for the second model (MiniLM)
	fSlowTop
	fSlowRank
	fSlowRaw
	fSlowMean
	fSlowPath
	fRRF        // best fused score over the best of all
	fBaseQ      // share of the question's stems in the base name
	fBaseCover  // share of the base name's stems in the question
	fBasePrefix // share of the question's stems that begin like one of the base name's
	fDirQ       // share of the question's stems in the directories' names
	fDefExact   // an identifier of the question is defined here
	fDefRare    // the same, over the square root of how many files define it
	fDefBest    // how much of a definition it is, against the name's best
	fDefCapital // share of capitalised words of the question defined here
	fDefWord    // share of plain words of the question that are names defined here
	fDefOverlap // best m*m/len over names of len stems that share m
	fDefMain    // a name of the question is the file's base name and defined here
	fPathNamed  // the question names the file
	fTest
	fLegacy
	fTooling // it builds, checks or releases the project
	fReexport
	fExample
	fDocs
	fGenerated
	fVendored
	fMarkdown
	fChangelog
	fData // no code and no prose: configuration, data
	fLanguage
	fKind
	fWanted // a test, documentation, an example that the question asks for
	fLogChunks
	fLexLong      // fLexTop for long questions
	fVecLong      // fVecTop for long questions
	fContentMax   // best cosine to a chunk without the path's words
	fContentMean  // mean of the best three
	fContentFirst // that of the file's first chunk
	fContentWhole // that of all chunks together
	fLexTopZ      // how far fLexTop stands out among the candidates (standardise)
	fContentMeanZ
	fContentWholeZ
	// The same for the second model (MiniLM).
	fSlowContentMax
	fSlowContentMean
	fSlowContentFirst
	fSlowContentWhole
	fSlowContentMeanZ
	fSlowContentWholeZ
	fSlowMeanZ // of fSlowMean
	fTitleTopZ // fLexTop of the title of a longer text, standardised; 0 where it is the whole text
	fScope     // share of the stems of the part of the project that the text begins with in the path
	fScopeNear // the same in the names of the file and its directory
	fAside     // a change is asked for, and the file says of the program what it does elsewhere
	numFeatures
)

// featureNames name the features in tables.
var featureNames = [numFeatures]string{"lexMax", "lexTop", "lexRank", "lexCover", "lexRaw", "fileCover", "lexHits", "vecMax", "vecTop", "vecRank", "vecRaw", "vecMean", "vecPath", "vecFirst", "vecHits",
	"slowMax", "slowTop", "slowRank", "slowRaw", "slowMean", "slowPath", "rrf", "baseQ", "baseCover", "basePrefix", "dirQ", "defExact", "defRare", "defBest", "defCapital", "defWord", "defOverlap",
	"defMain", "pathNamed", "test", "legacy", "tooling", "reexport", "example", "docs", "generated", "vendored", "markdown", "changelog", "data", "language", "kind", "wanted", "logChunks", "lexLong", "vecLong",
	"contentMax", "contentMean", "contentFirst", "contentWhole", "lexTopZ", "contentMeanZ", "contentWholeZ",
	"slowContentMax", "slowContentMean", "slowContentFirst", "slowContentWhole", "slowContentMeanZ", "slowContentWholeZ", "slowMeanZ", "titleTopZ", "scope", "scopeNear", "aside"}

// FeatureNames returns the names of the features, in order.
func FeatureNames() []string { return featureNames[:] }

func (f *Features) score(w *Features) float64 {
	var s float64
	for i, x := range f {
		s += x * w[i]
	}
	return s
}

// questionTerms is the question prepared for comparing names with it.
type questionTerms struct {
	stems    map[string]bool // of content words
	list     []string
	capitals []string // capitalised words but the first, and identifiers
	words    []string // plain content words, lower case
}

func newQuestionTerms(tok *lexical.Tokenizer, a *query.Analysis) questionTerms {
	t := questionTerms{stems: make(map[string]bool, len(a.Stems))}
	for _, term := range a.Terms {
		if slices.Contains(a.Stems, term.Text) && !t.stems[term.Text] {
			t.stems[term.Text] = true
			t.list = append(t.list, term.Text)
		}
	}
	if len(t.list) == 0 {
		for _, s := range a.Stems {
			t.stems[s] = true
			t.list = append(t.list, s)
		}
	}
	for i, tk := range tok.Tokens(a.Query) {
		w := a.Query[tk.Start:tk.End]
		low := lower(w)
		if tk.Exact == "" || len(w) < 2 || lexical.QueryStopWord(low) {
			continue
		}
		if c := []rune(w)[0]; unicode.IsUpper(c) && (i > 0 || len(tk.Stems) > 1) {
			t.capitals = append(t.capitals, w)
		}
		if len(tk.Stems) == 1 && !lexical.Keyword(low) {
			t.words = append(t.words, low)
		}
	}
	return t
}

func lower(s string) string { return strings.ToLower(s) }

func trimSlash(s string) string { return strings.Trim(s, "/") }

// features fills the candidates' features.
func (r *ranking) features() {
	var lexBest, lexTopBest, rrfBest float64
	var nearBest, nearTopBest [2]float64
	capitals := r.definers(r.terms.capitals, false)
	words := r.definers(r.terms.words, true)
	exact := r.definers(r.an.Names, false)
	lexRank, nearRank := r.fileRanks()
	r.each(func(w *worker, _ int, c *candidate) {
		for n, l := range r.near {
			r.contentFeatures(c, l, [2]int{fContentMax, fSlowContentMax}[n])
		}
		r.nameFeatures(c, w)
	})
	for _, c := range r.cands {
		f := &c.features
		lex := best(c.passages, func(p *passage) float64 { return p.words })
		f[fLexMax], f[fLexTop] = lex[0], lex[0]+lex[1]/2+lex[2]/4
		f[fLexRaw] = lex[0] / max(r.ideal, 1e-9)
		f[fLexRank] = lexRank[c.file]
		var groups uint32
		for i := range c.passages {
			p := &c.passages[i]
			f[fLexCover] = max(f[fLexCover], p.cover)
			f[fRRF] = max(f[fRRF], r.fused[p.ref])
			groups |= p.group
			if p.rank > 0 && p.rank <= nearTop {
				f[fLexHits] += 0.2
			}
			if p.nearRank[0] > 0 && p.nearRank[0] <= nearTop {
				f[fVecHits] += 0.2
			}
		}
		f[fFileCover] = r.stats.Coverage(lexical.Hit{Groups: groups})
		f[fLexHits], f[fVecHits] = min(1, f[fLexHits]), min(1, f[fVecHits])
		for n, l := range r.near {
			near := best(c.passages, func(p *passage) float64 { return p.near[n] })
			top, mean := near[0]+near[1]/2+near[2]/4, (near[0]+near[1]+near[2])/3
			if k := len(c.passages); k < 3 {
				mean = (near[0] + near[1]) / float64(k)
			}
			nearBest[n], nearTopBest[n] = max(nearBest[n], near[0]), max(nearTopBest[n], top)
			if n == 0 {
				f[fVecMax], f[fVecTop], f[fVecRaw], f[fVecMean] = near[0], top, near[0], mean
				f[fVecRank], f[fVecPath] = nearRank[n][c.file], r.pathCosine(l, c)
				f[fVecFirst] = c.passages[0].near[n]
			} else {
				f[fSlowMax], f[fSlowTop], f[fSlowRaw], f[fSlowMean] = near[0], top, near[0], mean
				f[fSlowRank], f[fSlowPath] = nearRank[n][c.file], r.pathCosine(l, c)
			}
		}
		lexBest, lexTopBest, rrfBest = max(lexBest, lex[0]), max(lexTopBest, f[fLexTop]), max(rrfBest, f[fRRF])
		for name, files := range exact {
			if strength := files[c.file]; strength > 0 {
				f[fDefExact] = 1
				f[fDefBest] = max(f[fDefBest], strength)
				f[fDefRare] = max(f[fDefRare], 1/math.Sqrt(float64(len(files))))
				if strings.EqualFold(name, stem(c.file.Path)) {
					f[fDefMain] = 1
				}
			}
		}
		f[fDefCapital] = share(capitals, c.file, len(r.terms.capitals))
		f[fDefWord] = share(words, c.file, len(r.terms.words))
		r.kindFeatures(c)
	}
	long := r.long()
	for _, c := range r.cands {
		f := &c.features
		f[fLexMax] /= max(lexBest, 1e-9)
		f[fLexTop] /= max(lexTopBest, 1e-9)
		f[fRRF] /= max(rrfBest, 1e-9)
		f[fVecMax] /= max(nearBest[0], 1e-9)
		f[fVecTop] /= max(nearTopBest[0], 1e-9)
		f[fSlowMax] /= max(nearBest[1], 1e-9)
		f[fSlowTop] /= max(nearTopBest[1], 1e-9)
		f[fLexLong], f[fVecLong] = long*f[fLexTop], long*f[fVecTop]
	}
	r.standardise(fLexTop, fLexTopZ)
	r.standardise(fContentMean, fContentMeanZ)
	r.standardise(fContentWhole, fContentWholeZ)
	r.titleFeatures()
	if len(r.near) > 1 {
		r.standardise(fSlowContentMean, fSlowContentMeanZ)
		r.standardise(fSlowContentWhole, fSlowContentWholeZ)
		r.standardise(fSlowMean, fSlowMeanZ)
	}
}

// contentFeatures compares the question with a file's content alone: the path's
// words are in all rows of a file, and say nothing where names mean nothing.
// first is fContentMax or fSlowContentMax, which the others follow.
func (r *ranking) contentFeatures(c *candidate, l *list, first int) {
	scores, whole, ok := r.in.Snapshot.ContentScores(l.model.Fingerprint, l.query, c.file, c.refs)
	if !ok {
		return
	}
	if l == r.near[0] {
		for i, x := range scores {
			c.passages[i].content = x
		}
	}
	f := c.features[first : first+4] // best, mean, first, whole
	f[2], f[3] = scores[0], whole
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	f[0] = scores[0]
	k := min(3, len(scores))
	for _, x := range scores[:k] {
		f[1] += x / float64(k)
	}
}

// leastSpread keeps differences that are nothing from standing out where all
// candidates are alike.
const leastSpread = 0.05

// standardise says how far a feature stands out among the candidates, in units
// of four standard deviations.
func (r *ranking) standardise(of, to int) {
	var sum, squares float64
	n := float64(len(r.cands))
	for _, c := range r.cands {
		sum += c.features[of]
		squares += c.features[of] * c.features[of]
	}
	mean := sum / n
	deviation := math.Sqrt(max(0, squares/n-mean*mean))
	for _, c := range r.cands {
		c.features[to] = (c.features[of] - mean) / (4*deviation + leastSpread)
	}
}

// best returns the three highest values of a file's passages, in order.
func best(ps []passage, value func(*passage) float64) (top [3]float64) {
	for i := range ps {
		v := value(&ps[i])
		switch {
		case v > top[0]:
			top[2], top[1], top[0] = top[1], top[0], v
		case v > top[1]:
			top[2], top[1] = top[1], v
		case v > top[2]:
			top[2] = v
		}
	}
	return top
}

// fileRanks are the reciprocal ranks of files by their first chunk.
func (r *ranking) fileRanks() (words map[*index.File]float64, near [2]map[*index.File]float64) {
	ranks := func(l *list) map[*index.File]float64 {
		m := make(map[*index.File]float64, len(r.cands))
		rank, last := 0, float32(0)
		for _, h := range l.hits {
			f := r.in.Snapshot.Doc(h.Ref).File
			if _, seen := m[f]; seen {
				continue
			}
			if rank == 0 || h.Score != last { // equals share a rank
				rank, last = len(m)+1, h.Score
			}
			m[f] = 1 / float64(rank)
		}
		return m
	}
	for n, l := range r.near {
		near[n] = ranks(l)
	}
	return ranks(r.words), near
}

// nearTop is how many hits of a list count as near the top.
const nearTop = 30

// definers maps names to the files that define them, with how much of a
// definition it is: 1 for the strongest of the name.
func (r *ranking) definers(names []string, fold bool) map[string]map[*index.File]float64 {
	out := map[string]map[*index.File]float64{}
	for _, name := range names {
		var defs []index.Definition
		if !fold {
			defs = r.in.Snapshot.Definitions(name)
		}
		if len(defs) == 0 {
			defs = r.in.Snapshot.DefinitionsFold(lower(name))
		}
		if len(defs) == 0 {
			continue
		}
		files := make(map[*index.File]float64, len(defs))
		var most float64
		for _, d := range defs {
			s := r.strength(d)
			files[d.File] = max(files[d.File], s)
			most = max(most, s)
		}
		for f := range files {
			files[f] /= most
		}
		out[name] = files
	}
	return out
}

// strength tells the definition that a name is known by from stubs, aliases,
// doubles in tests and namesakes inside of other things.
func (r *ranking) strength(d index.Definition) float64 {
	s := 1 + 0.25*math.Log1p(float64(d.Symbol.EndLine-d.Symbol.StartLine))
	if d.Symbol.Kind == chunk.Variable {
		s *= 0.6
	}
	if d.Symbol.Parent != "" && !slices.ContainsFunc(r.an.Names, func(n string) bool {
		return n == d.Symbol.Parent || strings.HasSuffix(d.Symbol.Parent, "."+n)
	}) {
		s *= 0.8
	}
	if !d.Symbol.Exported {
		s *= 0.9
	}
	c := d.File.Class
	if c.Test && !r.an.Wants.Tests || c.Vendored || c.Example && !r.an.Wants.Examples {
		s *= 0.4
	}
	if legacy(d.File.Path) || strings.HasSuffix(d.File.Path, ".d.ts") || strings.HasSuffix(d.File.Path, ".pyi") {
		s *= 0.6
	}
	return s
}

// legacy reports whether a path says that what it holds is superseded.
func legacy(p string) bool {
	dir, base := path.Split(lower(p))
	for seg := range strings.SplitSeq(dir, "/") {
		switch seg {
		case "legacy", "deprecated", "obsolete", "old", "compat", "_compat", "attic", "v1", "archive", "archived":
			return true
		}
	}
	return strings.Contains(base, "deprecated") || strings.Contains(base, "legacy") || strings.Contains(base, "obsolete")
}

// tooling reports whether a path is of what builds, checks or releases the
// project: such files have words of all of it.
func tooling(p string) bool {
	dir, base := path.Split(lower(p))
	for seg := range strings.SplitSeq(dir, "/") {
		switch seg {
		case ".github", ".circleci", "ci", "script", "scripts", "tool", "tools", "tooling", "build", "hack", "contrib", "packaging",
			"bench", "benches", "benchmark", "benchmarks", "benchsuite", "fuzz", "sandbox", "playground":
			return true
		}
	}
	switch base {
	case "makefile", "cmakelists.txt", "setup.py", "build.rs", "build.gradle", "build.xml", "build.sbt", "dockerfile", "conftest.py", "noxfile.py", "rakefile", "gemfile":
		return true
	}
	switch ext := path.Ext(base); ext {
	case ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts":
		name := strings.TrimSuffix(base, ext)
		if strings.HasSuffix(name, ".config") || strings.HasSuffix(name, ".conf") {
			return true
		}
		for _, tool := range [...]string{"gulpfile", "gruntfile", "webpack", "rollup", "karma", "jest"} {
			if strings.HasPrefix(name, tool) {
				return true
			}
		}
	}
	return false
}

// declares reports whether a file only declares the types of what another one does.
func declares(p string) bool {
	for _, ext := range [...]string{".d.ts", ".d.cts", ".d.mts", ".pyi", ".rbi"} {
		if strings.HasSuffix(lower(p), ext) {
			return true
		}
	}
	return false
}

// asksTypes reports whether the question has a word of declaring types.
func (r *ranking) asksTypes() bool {
	return r.asksAny("type", "typescript", "declar", "definit", "stub", "signatur", "annot")
}

// asksTooling reports whether the question has a word of building, checking or
// releasing.
func (r *ranking) asksTooling() bool {
	return r.asksAny("build", "script", "bundl", "releas", "packag", "publish", "lint", "ci", "workflow", "compil", "instal", "benchmark", "bench", "fuzz", "tool", "sandbox", "playground", "makefil", "docker")
}

// asksAny reports whether the question has one of the stems.
func (r *ranking) asksAny(stems ...string) bool {
	return slices.ContainsFunc(stems, func(s string) bool { return r.terms.stems[s] })
}

// changelog reports whether a file tells a project's history: it has a word of
// everything and explains nothing.
func changelog(p string) bool {
	base := lower(stem(p))
	for _, name := range [...]string{"changelog", "changes", "news", "history", "release-notes", "release_notes", "releasenotes", "releases", "whatsnew", "authors", "contributors"} {
		if base == name {
			return true
		}
	}
	return false
}

// share is the part of n names that a file defines.
func share(defs map[string]map[*index.File]float64, f *index.File, n int) float64 {
	if n == 0 {
		return 0
	}
	k := 0
	for _, files := range defs {
		if files[f] > 0 {
			k++
		}
	}
	return float64(k) / float64(n)
}

// stem is the base name without its extensions' last.
func stem(p string) string {
	b := path.Base(p)
	if e := path.Ext(b); e != "" && e != b {
		return strings.TrimSuffix(b, e)
	}
	return b
}

// indexName reports whether a base name says nothing but that the file stands
// for its directory.
func indexName(base string) bool {
	switch lower(base) {
	case "index", "__init__", "mod", "init", "lib", "main", "__main__":
		return true
	}
	return false
}

// nameMatch is how a name compares with the question.
type nameMatch struct {
	shared, stems, prefixed int
}

// match compares a name's stems with the question's.
func (r *ranking) match(name string, w *worker) nameMatch {
	if m, ok := w.matches[name]; ok {
		return m
	}
	var m nameMatch
	for _, s := range w.stemsOf(name) {
		m.stems++
		if r.terms.stems[s] {
			m.shared++
			continue
		}
		for _, q := range r.terms.list {
			if len(q) >= 3 && len(s) >= 3 && (strings.HasPrefix(s, q) || strings.HasPrefix(q, s)) {
				m.prefixed++
				break
			}
		}
	}
	w.matches[name] = m
	return m
}

// nameFeatures compares the question with the names of the file, its
// directories and its definitions.
func (r *ranking) nameFeatures(c *candidate, w *worker) {
	f := &c.features
	n := float64(max(1, len(r.terms.list)))
	base := stem(c.file.Rel)
	dir := path.Dir(c.file.Rel)
	if indexName(base) {
		// The directory's name is what such a file is known by.
		if dir != "." {
			base, dir = path.Base(dir), path.Dir(dir)
		}
	}
	m := r.match(base, w)
	f[fBaseQ] = float64(m.shared) / n
	f[fBasePrefix] = float64(m.shared+m.prefixed) / n
	if m.stems > 0 {
		f[fBaseCover] = float64(m.shared) / float64(m.stems)
	}
	if dir != "." {
		f[fDirQ] = float64(r.match(dir, w).shared) / n
	}
	for i := range c.passages {
		p := &c.passages[i]
		if p.rank == 0 && p.nearRank == [2]int{} {
			continue
		}
		for _, name := range p.doc.Symbols {
			if m := r.match(name, w); m.shared > 0 {
				f[fDefOverlap] = max(f[fDefOverlap], float64(m.shared*m.shared)/float64(m.stems)/n)
			}
		}
	}
	if c.path != "" {
		f[fPathNamed] = 1
	}
}

// kindFeatures tell what kind of file it is, where the question does not ask
// for that kind.
func (r *ranking) kindFeatures(c *candidate) {
	f, class, w := &c.features, c.file.Class, r.an.Wants
	set := func(i int, is, wanted bool) {
		if is && !wanted {
			f[i] = 1
		}
	}
	set(fTest, class.Test, w.Tests)
	set(fExample, class.Example, w.Examples)
	set(fDocs, class.Docs && class.SourceType == file.Code, w.Docs)
	set(fGenerated, class.Generated, w.Generated)
	set(fVendored, class.Vendored, w.Vendored)
	set(fMarkdown, class.SourceType == file.Markdown || class.Docs && class.SourceType != file.Code, w.Docs)
	if f[fMarkdown] == 1 && r.an.HowTo {
		f[fMarkdown] = 0.5
	}
	set(fChangelog, changelog(c.file.Rel), r.terms.stems["changelog"] || r.terms.stems["releas"] || r.terms.stems["version"] || r.terms.stems["chang"] && w.Docs)
	set(fData, class.SourceType == file.Text && !class.Docs, w.Config || w.Docs)
	set(fLegacy, legacy(c.file.Rel), r.terms.stems["legaci"] || r.terms.stems["deprec"] || r.terms.stems["compat"] || r.terms.stems["v1"])
	set(fTooling, tooling(c.file.Rel), w.Config || r.asksTooling())
	set(fReexport, indexName(stem(c.file.Rel)), false)
	if r.an.Change && (f[fExample]+f[fDocs]+f[fMarkdown]+f[fChangelog]+f[fData]+f[fLegacy] > 0 || declares(c.file.Rel) && !r.asksTypes()) {
		f[fAside] = 1
	}
	docs := class.SourceType == file.Markdown || class.Docs
	if so := r.an.Sought; so.Tests && class.Test || so.Docs && docs || so.Examples && class.Example || w.Config && class.SourceType == file.Text && !docs || w.Generated && class.Generated || w.Vendored && class.Vendored {
		f[fWanted] = 1
	}
	if slices.Contains(r.an.Languages, class.Language) {
		f[fLanguage] = 1
	}
	if len(r.an.Kinds) > 0 && slices.ContainsFunc(c.passages, func(p passage) bool {
		return p.rank > 0 && p.rank <= 50 && slices.Contains(r.an.Kinds, p.doc.Kind)
	}) {
		f[fKind] = 1
	}
	f[fLogChunks] = math.Log1p(float64(len(c.passages))) / 5
}
