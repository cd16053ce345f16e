package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
)

const (
	// maxResults is the engine's QUERY_MAXIMUM_RESULTS, as it is where nobody set it.
	maxResults = 10_000
	// maxTerms is the most words of a question that are searched for; the weightiest
	// are.
	maxTerms = 256
)

// boosts are the fields' weights. The engine scores each field by itself and
// adds them up, where BM25F adds up the occurrences first: the weights are such that
// one occurrence in a field counts against one in the body as it does there,
// w/(w+k1). The engine reads whole numbers only, and anything else as 0.
func boosts() [lexical.NumFields]int {
	const body = 4
	p := lexical.DefaultParams()
	once := func(w float64) float64 { return w / (w + p.K1) }
	var out [lexical.NumFields]int
	for f, w := range p.Weights {
		out[f] = max(1, int(math.Round(body*once(w)/once(p.Weights[lexical.Body]))))
	}
	return out
}

// Words searches by BM25.
func (b *Backend) Words(ctx context.Context, in sharedindex.Scope, terms []lexical.Term, k int) ([]sharedindex.Found, error) {
	query := wordQuery(terms)
	if query == "" || k <= 0 || len(in.Repositories) == 0 {
		return nil, ctx.Err()
	}
	props := make([]string, 0, lexical.NumFields)
	for f, w := range boosts() {
		props = append(props, quote(fieldProps[f]+"^"+strconv.Itoa(w)))
	}
	return b.search(ctx, "searching words", in, k, "bm25:{query:"+quote(query)+" properties:["+strings.Join(props, ",")+"]}", "score")
}

// wordQuery is the terms as the engine splits them. It knows no weights but counts a
// word that comes twice twice: the least weight in use is a half.
func wordQuery(terms []lexical.Term) string {
	var words []string
	for _, t := range terms {
		word := joined([]string{t.Text})
		if word == "" || t.Weight <= 0 {
			continue
		}
		for range max(1, min(6, int(math.Round(2*t.Weight)))) {
			words = append(words, word)
		}
		if len(words) >= maxTerms {
			break
		}
	}
	return strings.Join(words, " ")
}

// Nearest searches by vector.
func (b *Backend) Nearest(ctx context.Context, in sharedindex.Scope, query []float32, k int) ([]sharedindex.Found, error) {
	if len(query) == 0 || k <= 0 || len(in.Repositories) == 0 {
		return nil, ctx.Err()
	}
	v, err := json.Marshal(query)
	if err != nil {
		return nil, fmt.Errorf("searching vectors: %w", err)
	}
	return b.search(ctx, "searching vectors", in, k, "nearVector:{vector:"+string(v)+"}", "distance")
}

// search asks for postings by one operator.
func (b *Backend) search(ctx context.Context, what string, in sharedindex.Scope, k int, by, score string) (found []sharedindex.Found, err error) {
	if there, err := b.present(ctx, b.postings); err != nil || !there {
		return nil, err
	}
	defer b.doubt(b.postings, &err)
	level := ""
	if b.options.Levels.Search != One {
		// Collections that are not replicated do not know the argument.
		level = "consistencyLevel:" + string(b.options.Levels.Search)
	}
	var q strings.Builder
	fmt.Fprintf(&q, "{Get{%s(tenant:%s %s limit:%d %s where:%s){%s %s %s _additional{%s}}}}",
		b.postings, quote(b.options.Tenant), level, min(k, maxResults), by, where(in),
		propRepository, propPath, propOrdinal, score)
	err = b.ask(ctx, what, q.String(), func(data json.RawMessage) (err error) {
		found, err = parseFound(data, b.postings)
		return err
	})
	return found, err
}

// where is the filter of a scope.
func where(in sharedindex.Scope) string {
	repositories := oneOf(propRepository, in.Repositories)
	if len(in.Languages) == 0 {
		return repositories
	}
	return "{operator:And operands:[" + repositories + "," + oneOf(propLanguage, in.Languages) + "]}"
}

func oneOf(property string, values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quote(v)
	}
	return "{path:[" + quote(property) + "] operator:ContainsAny valueText:[" + strings.Join(quoted, ",") + "]}"
}

// quote is a GraphQL string. What is no UTF-8 is replaced.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f || r == 0xfeff || r == 0x2028 || r == 0x2029:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// ask asks a GraphQL query; parse reads what is under "data".
func (b *engine) ask(ctx context.Context, what, query string, parse func(data json.RawMessage) error) error {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return b.client.do(ctx, request{
		what: what, method: http.MethodPost, path: graphQL, body: body,
		parse: func(_ int, body []byte) error {
			data, err := parseGraphQL(body)
			if err != nil {
				return err
			}
			return parse(data)
		},
	})
}

// parseGraphQL returns what is under "data", or what is under "errors" as an error.
func parseGraphQL(body []byte) (json.RawMessage, error) {
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []struct {
			Message string `json:"message"`
			Path    []any  `json:"path"`
		} `json:"errors"`
	}
	if err := decode(body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Errors) > 0 {
		m := answer.Errors[0].Message
		if len(m) > 400 {
			m = strings.ToValidUTF8(m[:400], "") + "…"
		}
		if answer.Errors[0].Path == nil {
			// The query does not fit the schema that the node has.
			return nil, &answerError{errors.New(m)}
		}
		return nil, &statusError{http.StatusInternalServerError, m}
	}
	if len(answer.Data) == 0 {
		return nil, &answerError{errors.New("neither data nor errors are in it")}
	}
	return answer.Data, nil
}

// parseFound reads the postings of a search.
func parseFound(data json.RawMessage, class string) ([]sharedindex.Found, error) {
	type row struct {
		Repository string   `json:"repository"`
		Path       string   `json:"path"`
		Ordinal    *float64 `json:"ordinal"`
		Additional struct {
			Score    string   `json:"score"`
			Distance *float64 `json:"distance"`
		} `json:"_additional"`
	}
	rows, err := rowsOf[row](data, class)
	if err != nil {
		return nil, err
	}
	out := make([]sharedindex.Found, 0, len(rows))
	for _, r := range rows {
		path, err := decodePath(r.Path)
		f := sharedindex.Found{ID: sharedindex.ID{Repository: r.Repository, Path: path}}
		if !wholeNumber(r.Ordinal) || path == "" || err != nil {
			return nil, &answerError{errors.New("a posting has no path or no number")}
		}
		f.Ordinal = int(*r.Ordinal)
		if r.Additional.Distance != nil {
			f.Score = 1 - *r.Additional.Distance
		} else {
			score, err := strconv.ParseFloat(r.Additional.Score, 64)
			if err != nil {
				return nil, &answerError{fmt.Errorf("a posting's score is %.40q", r.Additional.Score)}
			}
			f.Score = score
		}
		out = append(out, f)
	}
	return out, nil
}

// rowsOf reads what a query gives of a collection.
func rowsOf[T any](data json.RawMessage, class string) ([]T, error) {
	var answer struct {
		Get map[string][]T `json:"Get"`
	}
	if err := decode(data, &answer); err != nil {
		return nil, err
	}
	rows, ok := answer.Get[class]
	if !ok {
		return nil, &answerError{fmt.Errorf("no %s is in it", class)}
	}
	return rows, nil
}
