package query_test

import (
	"iter"
	"slices"
	"testing"
)

func TestNamesSpelledOut(t *testing.T) {
	for q, want := range map[string][]string{
		"what is a blueprint?":                {"Blueprint"},
		"the session interface":               {"SessionInterface"},
		"load user":                           {"load_user"},
		"how are blueprints nested in others": nil,
		"what is a walrus":                    nil,
	} {
		if got := analyzer().Analyze(q, defined{"Blueprint", "SessionInterface", "load_user"}).Names; !slices.Equal(got, want) {
			t.Errorf("%q names %v, want %v", q, got, want)
		}
	}
}

// defined is a vocabulary of symbols.
type defined []string

func (d defined) Defined(name string) bool { return slices.Contains(d, name) }
func (d defined) DF(string) int            { return 1 }
func (d defined) HasFile(string) bool      { return false }
func (d defined) Names() iter.Seq[string]  { return slices.Values(d) }
