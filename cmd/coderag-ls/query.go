package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"coderag-ls/engine/wire"
)

// maxStdin bounds a question read from standard input, in bytes; the engine
// has a lower limit of its own and says so.
const maxStdin = 1 << 20

// question returns the words of the arguments, or with "-" what standard input
// holds.
func (a *app) question(args []string) (string, error) {
	text := strings.Join(args, " ")
	if len(args) == 1 && args[0] == "-" {
		data, err := io.ReadAll(io.LimitReader(a.stdin, maxStdin))
		if err != nil {
			return "", fmt.Errorf("reading the question from standard input: %w", err)
		}
		text = string(data)
	}
	if strings.TrimSpace(text) == "" {
		return "", usagef("there is no question: give it as arguments, or on standard input with -")
	}
	return text, nil
}

// queryFlags are the flags of commands that search.
type queryFlags struct {
	filters wire.Filters
	topK    int
}

func (q *queryFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(&q.topK, "top-k", "k", 0, "how many hits to look at (default: setting search.topK)")
	f.StringSliceVar(&q.filters.Repositories, "repository", nil, "only these `repositories` of the shared index, by name or the end of it; glob patterns, too")
	f.StringSliceVarP(&q.filters.Languages, "lang", "l", nil, "only files in these `languages`")
	f.StringSliceVarP(&q.filters.SourceTypes, "type", "t", nil, "only these source `types`: code, markdown, text")
	f.StringArrayVarP(&q.filters.FilePatterns, "file", "f", nil, "only files that match the glob `pattern`, repeatable")
	f.StringArrayVarP(&q.filters.Folders, "folder", "d", nil, "prefer files in this `folder`, repeatable")
	f.StringSliceVar(&q.filters.Symbols, "symbol", nil, "only chunks with these `names`")
	f.StringSliceVar(&q.filters.Layers, "layer", nil, "only these `layers`: api, domain, infrastructure, ui, test, config, cli")
	f.StringSliceVar(&q.filters.Imports, "import", nil, "only chunks of files with these `imports`")
	f.StringSliceVar(&q.filters.ChunkTypes, "kind", nil, "only these `kinds` of chunk: function, method, class, ...")
}

// searchParams are the request of the arguments and flags. --top-k is checked here: the wire takes
// 0 for the default, a person who writes 0 means something else.
func (a *app) searchParams(cmd *cobra.Command, q *queryFlags, args []string) (wire.SearchParams, error) {
	query, err := a.question(args)
	if err != nil {
		return wire.SearchParams{}, err
	}
	if cmd.Flags().Changed("top-k") && q.topK < 1 {
		return wire.SearchParams{}, usagef("--top-k %d is less than 1", q.topK)
	}
	return wire.SearchParams{Query: query, Filters: q.filters, TopK: q.topK}, nil
}
