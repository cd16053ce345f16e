package engine

import (
	"testing"

	"coderag-ls/engine/config"
	"coderag-ls/engine/host"
	"coderag-ls/engine/index"
)

func TestEmbeddingOnBattery(t *testing.T) {
	full, half, low := host.Power{Percent: 10}, host.Power{OnBattery: true, Percent: 50}, host.Power{OnBattery: true, Percent: 19}
	for _, c := range []struct {
		policy     string
		power      host.Power
		foreground bool
		want       index.Embedding
	}{
		{"slow", full, false, index.EmbedFreely},
		{"slow", half, false, index.EmbedSlowly},
		{"slow", low, false, index.EmbedNever},
		{"slow", low, true, index.EmbedFreely}, // someone waits for it
		{"pause", half, false, index.EmbedNever},
		{"pause", full, false, index.EmbedFreely},
		{"full", low, false, index.EmbedFreely},
	} {
		if got := embedding(c.policy, c.power, c.foreground); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestSettingsThatNeedNoOtherIndex(t *testing.T) {
	a := config.Default()
	b := a
	b.Index.MemoryLimit, b.Index.Yield, b.Embed.OnBattery = 7, !a.Index.Yield, "full"
	if !sameIndex(a, b) {
		t.Error("memory, yielding and battery open the index anew")
	}
	for name, change := range map[string]func(*config.Settings){
		"priority": func(s *config.Settings) { s.Index.LowPriority = !s.Index.LowPriority },
		"exclude":  func(s *config.Settings) { s.Index.Exclude = []string{"x"} },
		"chunks":   func(s *config.Settings) { s.Chunk.MaxChars++ },
		"model":    func(s *config.Settings) { s.Embed.Threads++ },
	} {
		c := a
		change(&c)
		if sameIndex(a, c) {
			t.Errorf("%s: the index is not opened anew", name)
		}
	}
}
