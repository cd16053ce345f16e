package query

import (
	"regexp"
	"strings"

	"coderag-ls/engine/chunk"
)

// The patterns of intents, tried in this order: the wording of a usage question
// may hold that of a definition question ("where is X used").
var intents = []struct {
	intent Intent
	re     *regexp.Regexp
}{
	{FindUsage, regexp.MustCompile(`(?i)\b(?:` +
		`who (?:calls|uses|invokes|imports|references|extends|implements|instantiates)|` +
		`(?:what|which) (?:\w+ ){0,2}(?:calls?|uses?|invokes?|imports?|depends? on|references?|implements?|extends?)\b|` +
		`where (?:else )?(?:is|are|do we|does it|do)\b.*\b(?:used?|called?|calling|invoked?|referenced|imported|instantiated|consumed|implemented by|triggered)\b|` +
		`usages? of|uses of|usage examples? of|references? to|callers? (?:of|for)|call ?sites?|consumers? of|find (?:all )?(?:usages?|references?|callers?)|` +
		`how (?:is|are) \S+ (?:used|called))`)},
	{FindDefinition, regexp.MustCompile(`(?i)\b(?:` +
		`where (?:is|are|do|does|can i find|in the code)\b.*\b(?:defined|declared|definition|implemented|implementation|live|located|come from|created|set|stored|handled)\b|` +
		`definition of|definitions? for|declaration of|show (?:me )?(?:the )?(?:definition|declaration|source|code) (?:of|for)|` +
		`which (?:file|class|function|method|module|struct|package) (?:defines|declares|implements|contains|has|handles)|` +
		`what (?:is|are) (?:the )?\S+\??$|go to|jump to)`)},
	{FindSimilar, regexp.MustCompile(`(?i)\b(?:similar(?: code)? to|similar (?:functions?|code|classes|implementations?)|alternatives? to|related to|resembles?|code like|functions? like|duplicates? of|same as)\b`)},
	{UnderstandModule, regexp.MustCompile(`(?i)(?:^|\b)(?:` +
		`how (?:does|do|is|are|can|to|did|has|have|will|should|would|the|we|an?)\b|^how\b|explain|describe|overview|walk (?:me )?through|` +
		`what (?:does|do|happens|is|are|makes)\b|purpose of|architecture|design of|understand|why (?:does|do|is|are)\b|summari[sz]e|tell me about)`)},
}

// intentOf tells what is asked for. An identifier alone asks for its
// definition.
func intentOf(q string, a *Analysis) Intent {
	if name, ok := loneName(q, a); ok && name != "" {
		return FindDefinition
	}
	for _, p := range intents {
		if p.re.MatchString(q) {
			return p.intent
		}
	}
	return General
}

// loneName returns the identifier that the whole question consists of.
func loneName(q string, a *Analysis) (string, bool) {
	if len(a.Entities) != 1 {
		return "", false
	}
	e := a.Entities[0]
	rest := strings.Trim(q[:e.Start]+q[e.End:], " \t\n`'\"()?.")
	switch e.Kind {
	case Pascal, Camel, Snake, Dotted, Identifier:
		return e.Text, rest == ""
	}
	return "", false
}

// languageWords are names of languages as questions write them. Where the word
// is an English one too, strict asks for "in X" or "X code".
var languageWords = map[string]struct {
	language string
	strict   bool
}{
	"python": {"python", false}, "py": {"python", true}, "javascript": {"javascript", false}, "js": {"javascript", true}, "typescript": {"typescript", false},
	"golang": {"go", false}, "go": {"go", true}, "rust": {"rust", true}, "java": {"java", false}, "kotlin": {"kotlin", false}, "swift": {"swift", true},
	"ruby": {"ruby", false}, "php": {"php", false}, "scala": {"scala", false}, "haskell": {"haskell", false}, "lua": {"lua", true}, "zig": {"zig", true},
	"elixir": {"elixir", false}, "dart": {"dart", true}, "perl": {"perl", false}, "bash": {"shell", true}, "shell": {"shell", true}, "sql": {"sql", true},
	"html": {"html", true}, "css": {"css", true}, "c": {"c", true}, "c++": {"c++", false}, "cpp": {"c++", false}, "c#": {"c#", false}, "csharp": {"c#", false},
	"yaml": {"yaml", true}, "toml": {"toml", true}, "json": {"json", true}, "markdown": {"markdown", true}, "dockerfile": {"dockerfile", false},
}

// kindWords are names of kinds of chunk.
var kindWords = map[string]chunk.Kind{
	"function": chunk.Function, "functions": chunk.Function, "func": chunk.Function, "method": chunk.Method, "methods": chunk.Method,
	"class": chunk.Class, "classes": chunk.Class, "struct": chunk.Class, "structs": chunk.Class, "enum": chunk.Class, "record": chunk.Class,
	"interface": chunk.Interface, "interfaces": chunk.Interface, "trait": chunk.Interface, "protocol": chunk.Interface,
	"typedef": chunk.Type, "constant": chunk.Variable, "constants": chunk.Variable, "variable": chunk.Variable,
	"section": chunk.Section, "heading": chunk.Section,
}

var (
	reWantTests    = regexp.MustCompile(`(?i)\b(?:tests?|tested|unit ?tests?|test ?cases?|test suites?|specs?|fixtures?|mocks?|mocked|benchmarks?|covered)\b`)
	reWantDocs     = regexp.MustCompile(`(?i)\b(?:docs?|documentation|documented|readme|changelog|release notes|tutorials?|guides?|install|installation|installing|licen[sc]e|contribut(?:e|ing|ors?)|getting started|quick ?start|roadmap|migrat(?:e|ing|ion) (?:from|guide)|upgrade guide)\b`)
	reWantExamples = regexp.MustCompile(`(?i)\b(?:examples?|samples?|demos?|cookbook|recipes?|sample (?:code|app))\b`)
	reWantConfig   = regexp.MustCompile(`(?i)\b(?:(?:config|configuration|settings?|workflow|build|project|manifest) files?|ya?ml|toml|json file|ini file|dockerfile|docker|makefile|package\.json|pyproject|ci|github actions?|workflows?|pipelines?|linters?|lint|dependencies|build system|packaging)\b`)
	reWantMade     = regexp.MustCompile(`(?i)\b(?:generated|autogenerated|codegen|protobuf)\b`)
	reWantVendored = regexp.MustCompile(`(?i)\b(?:vendor(?:ed)?|third[- ]party|bundled)\b`)
	// Asked for, not only mentioned.
	reSeekTests    = regexp.MustCompile(`(?i)\btests? (?:for|of|covering|that|which|case for)\b|\b(?:which|what|any|the|show|find|list|where are)(?: \w+){0,2} tests?\b(?: (?:cover|check|exercise|verify|call|use|for|of)|\?|$)|\b(?:tested|covered by|test coverage)\b|\bunit tests?\b`)
	reSeekDocs     = regexp.MustCompile(`(?i)\b(?:documentation|docs|readme|changelog|release notes|tutorial|contributing guide|documented|getting started|licen[sc]e|how (?:do i|to) install|installation)\b`)
	reSeekExamples = regexp.MustCompile(`(?i)\bexamples? (?:of|for|that|showing|using)\b|\b(?:an?|any|show me) (?:\w+ )?(?:example|sample|demo)\b`)
	reDoing        = regexp.MustCompile(`(?i)\bhow\b|\bwhat (?:happens|makes|causes|triggers)\b|\b(?:where|when|which \w+)\b.+\b(?:\w{2,}ed|built|done|found|kept|made|put|read|run|sent|set|told|written)\b`)
	reHowTo        = regexp.MustCompile(`(?i)\bhow (?:do|can|could|should|would|might) (?:i|we|you|one|users?)\b|\bhow to\b`)
	reWord         = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*(?:\+\+|#)?`)
)

// hints finds the soft filters that the words suggest: w is what they mention,
// sought what they ask for.
func hints(q string) (languages []string, kinds []chunk.Kind, w, sought Wants) {
	w = Wants{
		Tests: reWantTests.MatchString(q), Docs: reWantDocs.MatchString(q), Examples: reWantExamples.MatchString(q),
		Config: reWantConfig.MatchString(q), Generated: reWantMade.MatchString(q), Vendored: reWantVendored.MatchString(q),
	}
	sought = Wants{Tests: reSeekTests.MatchString(q), Docs: reSeekDocs.MatchString(q), Examples: reSeekExamples.MatchString(q)}
	words := reWord.FindAllString(strings.ToLower(q), -1)
	for i, word := range words {
		if l, ok := languageWords[word]; ok && (!l.strict || aboutLanguage(words, i)) {
			languages = appendNew(languages, l.language)
		}
		if k, ok := kindWords[word]; ok {
			kinds = appendNew(kinds, k)
		}
	}
	return languages, kinds, w, sought
}

// aboutLanguage reports whether an English word that is a language's name too
// stands where it means the language.
func aboutLanguage(words []string, i int) bool {
	if i > 0 && (words[i-1] == "in" || words[i-1] == "the" && i > 1 && words[i-2] == "in" || words[i-1] == "using") {
		return true
	}
	if i+1 < len(words) {
		switch words[i+1] {
		case "code", "file", "files", "source", "implementation", "binding", "bindings", "script", "scripts", "function", "struct", "package", "class", "module":
			return true
		}
	}
	return false
}

func appendNew[T comparable](list []T, x T) []T {
	for _, y := range list {
		if x == y {
			return list
		}
	}
	return append(list, x)
}

// reAsking are the words of asking that begin a question.
var reAsking = regexp.MustCompile(`(?i)^(?:(?:please|hey|hi|hello|ok|so|and|but)[\s,]+|(?:can|could|would|will) you (?:please )?|` +
	`(?:show|tell|give) (?:me |us )?(?:about |how |where |what )?|(?:i (?:want|need|would like|'d like) to (?:know|see|find|understand) )|` +
	`(?:explain|describe|find|locate|search for|look for|list)(?: me| all)? |` +
	`(?:how|what|where|who|which|why|when) (?:does|do|did|is|are|was|were|can|could|should|would|will) |(?:how to|how|what|where|who|which|why|when) |(?:is|are) there |` +
	`(?:the|an?|any|some|it|we|i) )`)

// clean drops the words of asking and the question mark.
func clean(q string) string {
	s := strings.TrimSpace(q)
	for {
		at := reAsking.FindStringIndex(s)
		if at == nil || at[1] == len(s) {
			break
		}
		s = s[at[1]:]
	}
	s = strings.TrimRight(s, " \t\n?!.")
	if s == "" {
		return strings.TrimSpace(q)
	}
	return s
}
