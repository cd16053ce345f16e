package file

import (
	"fmt"
	"path"
	"strings"
)

// Classify says what kind of file a text is, from its slash-separated path and
// the text, which is UTF-8. Where the text is not worth indexing it returns the
// reason and what shows it. It looks at the first 16 KiB and at the length of
// the lines.
func Classify(p, content string) (Class, SkipReason, string) {
	base := path.Base(p)
	head := content[:min(len(content), headBytes)]
	l := linguist()
	c := Class{Language: l.detect(base, head)}
	c.SourceType = sourceType(l.byName[c.Language])
	c.Generated = generatedName(base) || generatedText(head)
	place(&c, p, base)
	if strings.TrimSpace(content) == "" {
		return c, SkipEmpty, "nothing but white space"
	}
	switch c.Language {
	case "svg":
		return c, SkipUnsupported, "image"
	case "public key":
		return c, SkipUnsupported, "a key"
	case "jupyter notebook":
		return c, "", "" // images are long lines of base64
	}
	if detail := minified(content, c.SourceType); detail != "" {
		return c, SkipMinified, detail
	}
	return c, "", ""
}

// headBytes is how much of a text is looked at for its language and for marks
// of a generator.
const headBytes = 16 << 10

// sourceType says which chunker fits a language.
func sourceType(l language) SourceType {
	switch l.name {
	case "markdown", "mdx", "rmarkdown", "mdsvex":
		return Markdown
	case "sql", "plsql", "plpgsql", "sqlpl", "tsql", "graphql", "protocol buffer", "prisma", "webidl", "avro idl", "smithy", "asn.1", "ebnf", "abnf", "bnf",
		"gradle", "gn", "flatbuffers", "sparql", "kusto", "rbs", "lark", "webassembly interface type", "yang", "ros interface",
		"type language", "cloud firestore security rules":
		return Code // data to Linguist, definitions to whoever works with them
	case "tex", "bibtex", "roff", "roff manpage", "rich text format", "postscript", "jupyter notebook", "gettext catalog", "pod", "pod 6", "texinfo", "creole", "mediawiki", "rdoc", "scribe", "bikeshed":
		return Text
	}
	switch l.kind {
	case "programming", "markup":
		return Code
	}
	return Text
}

// Bounds of minified: no one writes nine tenths of a program in lines that long, but
// paragraphs and records are often one line.
const (
	minifiedLeast    = 2 << 10 // bytes of a text that is never called minified
	minifiedCodeLine = 1000    // bytes
	minifiedTextLine = 5000    // bytes
)

// minified says what shows that nearly all of a text is in lines that no one reads,
// "" where it is not.
func minified(content string, kind SourceType) string {
	if len(content) < minifiedLeast {
		return ""
	}
	limit := minifiedTextLine
	if kind == Code {
		limit = minifiedCodeLine
	}
	long, longest := 0, 0
	for rest := content; rest != ""; {
		n := strings.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		if n > limit {
			long += n
			longest = max(longest, n)
		}
		rest = rest[n:]
	}
	if long*10 <= len(content)*9 {
		return ""
	}
	return fmt.Sprintf("%d %% of it is in lines of over %d bytes, the longest has %d", long*100/len(content), limit, longest)
}
