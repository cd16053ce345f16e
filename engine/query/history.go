package query

import (
	"regexp"
	"strings"

	"coderag-ls/engine/wire"
)

var (
	rePronoun = regexp.MustCompile(`(?i)\b(it|its|this|that|these|those|they|them|their|the (?:same|former|latter|above|function|method|class|file|module))\b`)
	reGoesOn  = regexp.MustCompile(`(?i)^(?:and|also|what about|how about|but|then|what else|anything else|more|why)\b`)
	reCode    = regexp.MustCompile("`([^`\n]{2,120})`")
)

// FollowUp analyses a question that may refer to earlier turns ("where is it
// called?"): what the last turn named is put in the place of the reference.
// history is in the order of the conversation.
func (an *Analyzer) FollowUp(q string, history []wire.Turn, vocab Vocabulary) Analysis {
	a := an.Analyze(q, vocab)
	if len(history) == 0 || !refers(&a) {
		return a
	}
	subject := an.subject(history, vocab)
	if subject == "" || strings.Contains(strings.ToLower(q), strings.ToLower(subject)) {
		return a
	}
	resolved := q
	if at := rePronoun.FindStringIndex(q); at != nil {
		resolved = q[:at[0]] + subject + q[at[1]:]
	} else {
		resolved = strings.TrimRight(q, " ?!.") + " " + subject
	}
	a = an.Analyze(resolved, vocab)
	a.FollowUp = true
	return a
}

// refers reports whether a question cannot be understood alone: it has a
// pronoun and names nothing itself, or goes on from another.
func refers(a *Analysis) bool {
	for _, e := range a.Entities {
		if e.Kind != Quoted && e.Kind != Error {
			return false
		}
	}
	if reGoesOn.MatchString(a.Query) && len(a.Stems) <= 3 {
		return true
	}
	return rePronoun.MatchString(a.Query) && len(a.Stems) <= 4
}

// maxSubject is how many words of an earlier question are taken where it named
// nothing.
const maxSubject = 6

// subject is what the newest turn that names something is about.
func (an *Analyzer) subject(history []wire.Turn, vocab Vocabulary) string {
	words := ""
	for i := len(history) - 1; i >= 0; i-- {
		turn := an.Analyze(history[i].Query, vocab)
		if len(turn.Names) > 0 {
			last := ""
			for _, e := range turn.Entities {
				switch e.Kind {
				case Pascal, Camel, Snake, Dotted:
					last = e.Text
				case Identifier:
					// A word alone ("thanks") is a name where it is one here.
					if vocab != nil && vocab.Defined(e.Text) {
						last = e.Text
					}
				}
			}
			if last != "" {
				return last
			}
		}
		if paths := turn.Paths(); len(paths) > 0 {
			return paths[len(paths)-1].Text
		}
		// The answer's first name: "The redirects are followed by `resolve`".
		for _, m := range reCode.FindAllStringSubmatch(clip(history[i].Answer, maxQuery), 4) {
			if name := reName.FindString(m[1]); name == m[1] && len(names(an.entities("`"+name+"`", vocab))) > 0 {
				return strings.TrimSuffix(name, "()")
			}
		}
		if words == "" && !refers(&turn) {
			fields := strings.Fields(turn.Cleaned)
			words = strings.Join(fields[:min(len(fields), maxSubject)], " ")
		}
	}
	return words
}
