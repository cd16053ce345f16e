package treesitter

import "testing"

// TestRules reads every language's table: a node type that the grammar does not
// have is an error.
func TestRules(t *testing.T) {
	g := NewGrammars()
	if len(g.Languages()) == 0 {
		t.Fatal("tree-sitter is not linked in")
	}
	for _, name := range g.Languages() {
		if _, err := g.get(name); err != nil {
			t.Error(err)
		}
	}
}
