package lexical

// StopWord says whether a lower-case word is an English function word, which
// tells nothing of what a text is about. Words that carry a meaning in code are
// not among them: "all", "any", "each", "end", "go", "key", "new", "no", "not", "off",
// "on", "out", "set", "up".
func StopWord(w string) bool {
	switch w {
	case "a", "about", "after", "again", "am", "an", "and", "are", "as", "at",
		"be", "because", "been", "before", "being", "between", "both", "but", "by",
		"can", "could", "did", "do", "does", "doesn", "doing", "don",
		"else", "ever", "few", "for", "from", "further",
		"had", "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how",
		"i", "if", "in", "into", "is", "isn", "it", "its", "itself", "just",
		"may", "me", "might", "more", "most", "must", "my", "of", "once", "only", "or", "other",
		"our", "ours", "over", "own", "same", "shall", "she", "should", "so", "some", "such",
		"than", "that", "the", "their", "theirs", "them", "then", "there", "these", "they",
		"this", "those", "through", "to", "too", "under", "until", "us", "very",
		"was", "wasn", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "whose", "why",
		"will", "with", "won", "would", "you", "your", "yours":
		return true
	}
	return false
}

// QueryStopWord says whether a lower-case word of a question is about asking
// and not about what is asked for ("find", "explain", "please"). Documents keep them.
func QueryStopWord(w string) bool {
	switch w {
	case "please", "show", "tell", "explain", "describe", "find", "locate", "give",
		"want", "need", "know", "look", "looking", "exactly", "actually", "happen", "happens",
		"something", "anything", "someone", "let", "lets", "does", "responsible", "way", "ways":
		return true
	}
	return StopWord(w)
}

// Keyword says whether a lower-case word is a keyword of a programming language or a
// word for a piece of code: technical stop words, which weigh little in a
// question ("which function returns …") and are kept in documents.
func Keyword(w string) bool {
	switch w {
	case "abstract", "assert", "async", "await", "begin", "bool", "boolean", "break", "byte", "case", "catch", "char",
		"class", "classes", "code", "const", "constexpr", "continue", "def", "default", "defer", "del", "delete", "elif",
		"end", "enum", "except", "export", "extends", "extern", "false", "file", "files", "final", "finally", "float", "fn", "foreach",
		"func", "function", "functions", "goto", "implement", "implementation", "implemented", "implements", "import",
		"inline", "instanceof", "int", "interface", "lambda", "let", "logic", "long", "loop", "method", "methods", "mod", "module",
		"mut", "namespace", "new", "nil", "none", "null", "object", "override", "package", "pass", "private",
		"protected", "pub", "public", "raise", "return", "returns", "self", "short", "signed", "sizeof", "static", "string", "struct",
		"super", "switch", "template", "throw", "throws", "trait", "true", "try", "type", "typedef", "typeof", "undefined",
		"union", "unsafe", "unsigned", "use", "used", "uses", "using", "value", "var", "virtual", "void", "volatile", "yield",
		"defined", "defines", "definition", "declared", "handled", "handles", "work", "works":
		return true
	}
	return false
}
