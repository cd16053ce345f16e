package mcp

import (
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"coderag-ls/engine/wire"
)

// The bounds of parameters that the engine checks, for clients that look at the
// schema first.
const (
	maxTopK  = 200
	maxQuery = 64 << 10
)

// paramDocs describe the parameters for a model; the types say the rest.
func paramDocs() map[string]string {
	return map[string]string{
		"query":       "The question, in words or as a name: \"where are file events debounced?\", \"RetryPolicy\".",
		"document":    "The file that the question is asked from; it raises what is near.",
		"filters":     "Limits on what is searched.",
		"topK":        "Hits to look at; 0 for the setting search.topK.",
		"tokenBudget": "Size of the text in tokens; 0 for the setting answer.tokenBudget.",
		"history":     "Earlier questions with their answers, oldest first, for a question that refers to them.",

		"llm": "\"none\" answers without a language model even where the settings name one.",

		"document.uri":   "Its file URI.",
		"document.range": "Lines in it, counted from 0; end is exclusive.",

		"filters.omit":         "Leaves out files that one of these names: folders, base names or globs.",
		"filters.repositories": "Only these repositories of the shared index, by name (github.com/spf13/cobra), the end of it (cobra) or glob pattern.",
		"filters.sourceTypes":  "Only these: code, markdown, text.",
		"filters.folders":      "Raises what is below these folders.",
		"filters.filePatterns": "Only paths that match one of these globs, such as \"**/*_test.go\".",
		"filters.languages":    "Only these languages, such as \"go\".",
		"filters.layers":       "Only these: api, domain, infrastructure, ui, test, config, cli.",
		"filters.symbols":      "Only chunks that define one of these names.",
		"filters.imports":      "Only chunks of files that import one of these.",
		"filters.chunkTypes":   "Only these kinds of chunk: function, method, class, ...",

		"history.query":  "What was asked.",
		"history.answer": "What was answered.",
	}
}

// inputSchema derives the schema of parameters from their type: the named ones
// of its fields, of which the query is the only one that must be given.
func inputSchema[In any](names []string) (*jsonschema.Schema, error) {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, err
	}
	docs := paramDocs()
	s.Required = nil
	for name, field := range s.Properties {
		if !slices.Contains(names, name) {
			delete(s.Properties, name)
			continue
		}
		field.Description = docs[name]
		inner := field
		if field.Items != nil {
			inner = field.Items
		}
		for part, f := range inner.Properties {
			f.Description = docs[name+"."+part]
		}
		switch name {
		case "query":
			s.Required = []string{name}
			field.MinLength, field.MaxLength = pointer(1), pointer(maxQuery)
		case "llm":
			field.Enum = []any{"", wire.LLMNone}
		case "topK":
			field.Minimum, field.Maximum = pointer(0.0), pointer(float64(maxTopK))
		case "tokenBudget":
			field.Minimum = pointer(0.0)
		}
		if field.Type == "object" { // models write null for what they leave out
			field.Type, field.Types = "", []string{"null", "object"}
		}
	}
	s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(name string) bool { return s.Properties[name] == nil })
	return s, nil
}

// outputSchema derives the schema of a result from its type.
func outputSchema[Out any]() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[Out](nil)
	if err != nil {
		return nil, err
	}
	nullable(s)
	return s, nil
}

// nullable lets maps be null, as empty ones are written.
func nullable(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "object" && len(s.Properties) == 0 && s.AdditionalProperties != nil {
		s.Type, s.Types = "", []string{"null", "object"}
	}
	for _, p := range s.Properties {
		nullable(p)
	}
	nullable(s.Items)
	if len(s.Properties) == 0 {
		nullable(s.AdditionalProperties)
	}
}

func pointer[T any](v T) *T { return &v }
