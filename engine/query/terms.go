package query

import (
	"slices"
	"strings"

	"coderag-ls/engine/lexical"
)

// Weights of terms that the analysis adds to what the question says. They
// share their word's group, so that they raise a document that has not the
// word and hardly one that has.
const (
	synonymWeight = 0.3  // another word for the same thing
	acronymWeight = 0.7  // the short or the long form of the word itself
	joinedWeight  = 0.6  // "work tree" as worktree
	splitWeight   = 0.5  // "websocket" as web socket
	exactWeight   = 0.35 // a plain word as a whole identifier
)

// synonym is what a stem also stands for.
type synonym struct {
	word, stem string
	weight     float64
}

// synonymGroup are words for the same thing: forms of one word (acronyms and
// short forms), then words near in meaning.
type synonymGroup struct{ forms, near string }

var synonymGroups = []synonymGroup{
	{"auth authentication authenticate authorization authorize", "login credential"},
	{"db database", "sql storage"},
	{"config configuration configure cfg conf", "settings options preferences"},
	{"req request", ""},
	{"res resp response", ""},
	{"err error", "exception fail"},
	{"exception", "error raise throw"},
	{"msg message", ""},
	{"param parameter", "argument"},
	{"arg argument", "parameter"},
	{"env environment", ""},
	{"dir directory", "folder"},
	{"folder", "directory dir"},
	{"doc document documentation", ""},
	{"ctx context", ""},
	{"conn connection connect", ""},
	{"cmd command", ""},
	{"util utility utilities", "helper"},
	{"helper", "util"},
	{"init initialize initialization initialise", "setup start"},
	{"startup start", "init boot"},
	{"shutdown close", "stop teardown cleanup"},
	{"sync synchronize synchronization", ""},
	{"async asynchronous asynchronously", ""},
	{"impl implementation implement", ""},
	{"attr attribute", "property"},
	{"prop property", "attribute field"},
	{"val validate validation validator", "check verify"},
	{"ser serialize serialization serializer", "encode marshal dump"},
	{"deserialize deserialization deserializer", "decode unmarshal parse load"},
	{"encode encoding encoder", "serialize marshal"},
	{"decode decoding decoder", "deserialize unmarshal parse"},
	{"fmt format formatter formatting", ""},
	{"regex regexp", "pattern"},
	{"repo repository", ""},
	{"dep dependency dependencies", ""},
	{"pkg package", ""},
	{"lib library", ""},
	{"fn func function", ""},
	{"str string", ""},
	{"num number", ""},
	{"len length", "size"},
	{"size", "length"},
	{"max maximum", "limit"},
	{"min minimum", ""},
	{"addr address", ""},
	{"buf buffer", ""},
	{"ptr pointer", ""},
	{"ref reference", ""},
	{"src source", ""},
	{"dst dest destination", ""},
	{"tmp temp temporary", ""},
	{"info information", ""},
	{"spec specification", ""},
	{"id identifier", ""},
	{"url uri", ""},
	{"i18n internationalization localization locale", "translation"},
	{"ws websocket", ""},
	{"tls ssl", "certificate"},
	{"cert certificate", "tls"},
	{"route routing router", "dispatch endpoint url"},
	{"endpoint", "route handler"},
	{"login", "auth signin session"},
	{"user", "account"},
	{"password passwd pwd", "credential"},
	{"credential credentials", "password auth"},
	{"permission permissions", "access role"},
	{"cache caching", "memoize store"},
	{"log logging logger", ""},
	{"delete deletion", "remove destroy"},
	{"remove removal", "delete"},
	{"create creation", "new make build"},
	{"build builder", "create compile"},
	{"fetch", "get load download"},
	{"retrieve retrieval", "get fetch"},
	{"obtain", "get"},
	{"save", "store write persist"},
	{"persist persistence", "save store"},
	{"parse parser parsing", "read decode"},
	{"convert conversion converter", "transform cast to"},
	{"transform transformation", "convert map"},
	{"retry", "attempt backoff"},
	{"timeout", "deadline expire"},
	{"expire expiry expiration", "ttl timeout"},
	{"cancel cancellation", "abort"},
	{"abort", "cancel"},
	{"thread threading", "worker concurrent"},
	{"concurrent concurrency", "parallel thread"},
	{"parallel", "concurrent"},
	{"event", "signal hook"},
	{"listener", "handler subscriber observer"},
	{"callback", "hook handler"},
	{"hook", "callback"},
	{"middleware", "interceptor"},
	{"interceptor", "middleware"},
	{"plugin", "extension"},
	{"template templating", "render"},
	{"render rendering", "template"},
	{"compress compression", "gzip deflate"},
	{"encrypt encryption", "cipher crypto"},
	{"hash hashing", "digest"},
	{"redirect redirection", ""},
	{"upload", "multipart file"},
	{"test testing", "spec"},
	{"mock", "stub fake"},
	{"schema", "model"},
	{"query", ""},
	{"sort sorting", "order"},
	{"compare comparison", "diff equal"},
	{"equality equals", "equal"},
	{"throttle throttling", "rate limit"},
	{"queue", "buffer"},
	{"permit", "semaphore"},
	{"lock locking", "mutex"},
	{"mutex", "lock"},
	{"autocomplete autocompletion", "completion"},
	{"complete completion", ""},
	{"documentation", "doc help"},
	{"cli", "command"},
	{"subcommand", "command"},
	{"flag", "option"},
	{"http", ""},
}

// addGroup puts a group into the synonym map, by stem.
func (an *Analyzer) addGroup(g synonymGroup) {
	forms, near := strings.Fields(g.forms), strings.Fields(g.near)
	for _, from := range forms {
		stem := an.tok.Stem(from)
		for _, to := range forms {
			an.addSynonym(stem, to, acronymWeight)
		}
		for _, to := range near {
			an.addSynonym(stem, to, synonymWeight)
		}
	}
}

func (an *Analyzer) addSynonym(stem, word string, weight float64) {
	to := an.tok.Stem(word)
	if to == stem || slices.ContainsFunc(an.synonyms[stem], func(s synonym) bool { return s.stem == to }) {
		return
	}
	an.synonyms[stem] = append(an.synonyms[stem], synonym{word: word, stem: to, weight: weight})
}

// terms makes the lexical terms and the stems.
func (an *Analyzer) terms(a *Analysis, vocab Vocabulary) {
	a.Terms = an.tok.Query(a.Query)
	have := make(map[string]bool, 2*len(a.Terms))
	for _, t := range a.Terms {
		have[t.Text] = true
	}
	own := len(a.Terms)
	add := func(text string, weight float64, group int, shown string) {
		if have[text] || vocab.DF(text) == 0 {
			return
		}
		have[text] = true
		a.Terms = append(a.Terms, lexical.Term{Text: text, Weight: weight, Group: group})
		if shown != "" {
			a.Expanded = append(a.Expanded, shown)
		}
	}
	for i, t := range a.Terms[:own] {
		if strings.HasPrefix(t.Text, "=") {
			continue
		}
		a.Stems = appendNew(a.Stems, t.Text)
		if an.off.Expansion {
			continue
		}
		for _, s := range an.synonyms[t.Text] {
			add(s.stem, s.weight*t.Weight, t.Group, s.word)
		}
		if t.Weight == 1 {
			an.split(t, vocab, add)
		}
		if i+1 < own && a.Terms[i+1].Group == t.Group+1 && !strings.HasPrefix(a.Terms[i+1].Text, "=") {
			joined := an.tok.Stem(t.Text + a.Terms[i+1].Text)
			add(joined, joinedWeight, t.Group, joined)
		}
	}
	an.plainNames(a, add)
}

// minPart is the least length of a part that a word is split into.
const minPart = 3

// split looks for a word that the code writes as two: "websocket" as
// WebSocket. Only where the word itself is rarer than both parts.
func (an *Analyzer) split(t lexical.Term, vocab Vocabulary, add func(string, float64, int, string)) {
	w := t.Text
	if len(w) < 2*minPart || len(w) > 24 {
		return
	}
	df := vocab.DF(w)
	best, at := df, 0
	for i := minPart; i <= len(w)-minPart; i++ {
		left := vocab.DF(an.tok.Stem(w[:i]))
		if left <= best {
			continue
		}
		if right := vocab.DF(an.tok.Stem(w[i:])); min(left, right) > best {
			best, at = min(left, right), i
		}
	}
	// A frequent word of its own needs no parts, and neither does one whose
	// parts are everywhere.
	if at == 0 || df > 3 {
		return
	}
	add(an.tok.Stem(w[:at]), splitWeight, t.Group, w[:at])
	add(an.tok.Stem(w[at:]), splitWeight, t.Group, w[at:])
}

// plainNames looks for the plain words as whole identifiers: "settle" names
// the function settle more than a text that says settle.
func (an *Analyzer) plainNames(a *Analysis, add func(string, float64, int, string)) {
	groups := map[string]int{}
	for _, t := range a.Terms {
		groups[t.Text] = t.Group
	}
	for _, tk := range an.tok.Tokens(a.Query) {
		if len(tk.Stems) != 1 || tk.Exact == "" || tk.End-tk.Start < minPart {
			continue
		}
		if g, ok := groups[tk.Stems[0]]; ok && !lexical.Keyword(strings.ToLower(a.Query[tk.Start:tk.End])) {
			add(tk.Exact, exactWeight, g, "")
		}
	}
}
