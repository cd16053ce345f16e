package main

import (
	"flag"
	"strconv"
	"strings"
	"testing"
	"time"

	"coderag-ls/lsp/lsptest"
)

var (
	walkSteps  = flag.Int("walk.steps", 300, "commands of each random session")
	walkEvery  = flag.Int("walk.every", 100, "commands between two comparisons with an index made from nothing")
	walkSeeds  = flag.String("walk.seeds", "1,2", "seeds of the random sessions, parted by commas")
	walkShrink = flag.Duration("walk.shrink", time.Minute, "time to spend on making the script of a failure short")
)

// TestWalk plays random sessions: edits, saves, moves, deletions, branches,
// restarts and questions. A seed decides on the mode, too.
func TestWalk(t *testing.T) {
	modes := lsptest.Modes()
	for word := range strings.SplitSeq(*walkSeeds, ",") {
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatalf("-walk.seeds: %v", err)
		}
		t.Run(word, func(t *testing.T) {
			host := sessionHost(t)
			host.Walk(t, lsptest.Walk{Seed: seed, Steps: *walkSteps, Every: *walkEvery, Mode: modes[seed%uint64(len(modes))], Shrinking: *walkShrink})
		})
	}
}
