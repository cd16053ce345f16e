package query

import "regexp"

// reChange matches a text that asks for a change of the program, as commit
// messages and tasks do: it begins with what to do, after the part of the project if
// that stands first. Verbs with which people also look for code that is there
// ("parse query parameters", "log requests") are not among them.
var reChange = regexp.MustCompile(`(?i)^(?:[\w./,()!\- ]{1,60}:\s+)?(?:please |can you |could you |let's |let us |(?:we|i|you) (?:should|must|need to|want to|have to) |need to )?` +
	`(?:add|allow|avoid|bump|change|clean|correct|deprecate|disable|disallow|do not|don't|drop|enable|ensure|expose|extend|fix(?:e[sd])?|guard|handle|harden|ignore|implement|improve|include|increase|introduce|` +
	`limit|make|merge|move|optimi[sz]e|preserve|prevent|reduce|refactor|reject|remove|rename|replace|respect|restore|revert|rework|rewrite|simplify|skip|speed up|stop|support|switch|treat|tweak|unify|update|use)\b`)

// asksForChange reports whether a question asks for a change: by how it begins,
// or as the subject of a commit that names the part of the project first.
func asksForChange(q string, scoped bool) bool {
	return reChange.MatchString(q) || scoped && !reQuestion.MatchString(q)
}

// reQuestion matches what asks rather than tells.
var reQuestion = regexp.MustCompile(`(?i)\?|\b(?:how|what|where|which|who|why|when|explain|find|show|list)\b`)
