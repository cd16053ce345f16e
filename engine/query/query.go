// Package query understands a question without a language model: what is
// wanted (the intent), what it names (entities), what it hints at (languages,
// kinds of code, tests or documentation) and which terms to search for. The
// rules take well under a millisecond.
package query

import (
	"iter"
	"strings"
	"unicode/utf8"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/wire"
)

// Intent is what a question asks for (TS, stage 1).
type Intent string

// The intents.
const (
	FindDefinition   Intent = "find_definition"
	FindUsage        Intent = "find_usage"
	UnderstandModule Intent = "understand_module"
	FindSimilar      Intent = "find_similar"
	General          Intent = "general"
)

// The routes of a plan.
const (
	RouteFast  = "fast_path"
	RouteRules = "rules"
	RouteLLM   = "llm" // a language model made the plan (package assist)
)

// Vocabulary is what the analysis asks of the index.
type Vocabulary interface {
	// Defined reports whether a symbol of exactly this name is defined.
	Defined(name string) bool
	// DF is the number of chunks in which a term occurs, as the lexical index
	// holds it.
	DF(term string) int
	// HasFile reports whether an indexed file's workspace path is the slash
	// path or ends with "/" and it, without regard to case.
	HasFile(path string) bool
	// Names yields the names of the defined symbols, in no particular order and
	// some of them several times.
	Names() iter.Seq[string]
}

// Wants tells which kinds of file a question asks for by name, so that ranking
// must not hold them back.
type Wants struct {
	Tests, Docs, Examples, Config, Generated, Vendored bool
}

// Analysis is a question understood.
type Analysis struct {
	// Query is the question as it is searched: as asked, with references to
	// earlier turns put in.
	Query string
	// Title is what a longer text is about, its first sentence or line; Query
	// where that is all.
	Title string
	// Scope are the stems of the part of the project that the question begins
	// with, as in "net/http: ...".
	Scope []string
	// Cleaned is the question without the words of asking.
	Cleaned  string
	Intent   Intent
	Entities []Entity
	// Names are the identifiers to look up as symbols, in order of appearance,
	// as written; of a dotted name the last part stands before the others.
	Names []string
	// Soft hints: they raise what matches and exclude nothing.
	Languages []string
	Kinds     []chunk.Kind
	Wants     Wants
	// Sought is what of Wants is asked for, not only mentioned: "tests for the
	// parser" and not "how test files are found".
	Sought Wants
	// HowTo: the question is how to do something, which documentation may
	// answer as well as code.
	HowTo bool
	// Doing: the question is how or where something is done, which code that
	// does something answers and the declaration of a type does not.
	Doing bool
	// Change: a change of the program is asked for, which happens where it runs
	// and not where it is documented.
	Change bool
	// Terms are the lexical terms, expansions included.
	Terms []lexical.Term
	// Stems are the distinct stems of the question's content words, in order,
	// without expansions.
	Stems []string
	// Expanded tells which words were added, for explanations.
	Expanded []string
	// Repaired are the misspelt names of the question; Query has them right.
	Repaired []Repair
	Plan     wire.Plan
	// FollowUp is set where an earlier turn was needed to understand the
	// question.
	FollowUp bool
}

// Paths returns the entities that name a file.
func (a *Analysis) Paths() []Entity {
	var paths []Entity
	for _, e := range a.Entities {
		if e.Kind == Path {
			paths = append(paths, e)
		}
	}
	return paths
}

// Analyzer analyses questions. It is safe for concurrent use.
type Analyzer struct {
	tok *lexical.Tokenizer
	off Off
	// synonyms maps stems to what they also stand for.
	synonyms map[string][]synonym
}

// Off switches off what the analysis does by itself.
type Off struct {
	FastPath  bool // questions that are nothing but a name take the way of all others
	Expansion bool // synonyms, acronyms, words joined and split
	Spelling  bool // misspelt names
}

// New returns an analyzer that makes terms with tok, which must be of the kind
// that the index was made with.
func New(tok *lexical.Tokenizer) *Analyzer { return NewWithout(tok, Off{}) }

// NewWithout is New with parts switched off.
func NewWithout(tok *lexical.Tokenizer, off Off) *Analyzer {
	a := &Analyzer{tok: tok, off: off, synonyms: map[string][]synonym{}}
	for _, group := range synonymGroups {
		a.addGroup(group)
	}
	return a
}

// maxHinting is how many content words a question may have for its words to
// say where to look: a long text mentions tests and documentation in passing.
const maxHinting = 14

// maxQuery is how much of a question is analysed, in bytes: longer ones are
// pasted logs whose beginning says what matters.
const maxQuery = 8 << 10

// Analyze analyses a question. vocab may be nil. A name that nothing has, and
// that is a misspelling of a defined one, is read as that.
func (an *Analyzer) Analyze(q string, vocab Vocabulary) Analysis {
	q = strings.TrimSpace(clip(strings.ToValidUTF8(q, " "), maxQuery))
	if vocab == nil {
		vocab = noVocabulary{}
	}
	a := an.analyze(q, vocab)
	if an.off.Spelling {
		return a
	}
	if repairs := an.repairs(&a, vocab); len(repairs) > 0 {
		a = an.analyze(mended(q, a.Entities, repairs), vocab)
		a.Repaired = repairs
		a.Plan = an.plan(&a)
	}
	return a
}

// analyze is Analyze without repairs.
func (an *Analyzer) analyze(q string, vocab Vocabulary) Analysis {
	a := Analysis{Query: q}
	a.Entities = an.entities(q, vocab)
	a.Names = names(a.Entities)
	a.Intent = intentOf(q, &a)
	a.Title = title(q)
	for _, t := range an.tok.Query(scope(q)) {
		a.Scope = append(a.Scope, t.Text)
	}
	// What follows mentions tests and documentation in passing.
	a.Languages, a.Kinds, a.Wants, a.Sought = hints(heading(q))
	a.HowTo = reHowTo.MatchString(q)
	a.Doing = reDoing.MatchString(q)
	a.Change = asksForChange(heading(q), len(a.Scope) > 0)
	a.Cleaned = clean(q)
	if len(a.Names) == 0 {
		a.Names = spelledOut(a.Cleaned, vocab)
	}
	an.terms(&a, vocab)
	if len(a.Stems) > maxHinting {
		a.Wants, a.Sought = Wants{}, Wants{}
	}
	a.Plan = an.plan(&a)
	return a
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

type noVocabulary struct{}

func (noVocabulary) Defined(string) bool { return false }
func (noVocabulary) DF(string) int       { return 0 }
func (noVocabulary) HasFile(string) bool { return false }
func (noVocabulary) Names() iter.Seq[string] {
	return func(func(string) bool) {}
}
