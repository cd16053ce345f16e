package llm_test

import (
	"strings"
	"testing"

	"coderag-ls/engine/llm"
)

// TestC11Meter: tokens are counted as the model's server counts them, once it has
// said so.
func TestC11Meter(t *testing.T) {
	text := strings.Repeat("x", 3000)
	for _, test := range []struct {
		name           string
		bytes, counted int
		want           int
	}{
		{"nothing was counted", 0, 0, 750},
		{"code", 30_000, 10_000, 1000},
		{"what the cache held was not counted", 30_000, 12, 750},
		{"more tokens than a text can have", 3_000, 30_000, 750},
		{"hardly a prompt", 40, 20, 750},
		{"a negative count", 30_000, -5, 750},
	} {
		var m llm.Meter
		m.Observe(test.bytes, test.counted)
		if got := m.Tokens(text); got != test.want {
			t.Errorf("%s: %d tokens, want %d", test.name, got, test.want)
		}
	}
	var m llm.Meter
	m.Observe(1<<20, 1<<18)
	for range 40 { // another model behind the same name
		m.Observe(1<<20, 1<<19)
	}
	if got := m.Tokens(text); got < 1490 || got > 1510 {
		t.Errorf("after the model changed %d tokens, want about 1500", got)
	}
}
