package snippet

import (
	"math"
	"strings"

	"coderag-ls/engine/text"
)

const (
	// maxAligned and maxReach bound what Instead compares: cited lines, and
	// lines before and behind the place that was cited.
	maxAligned = 400
	maxReach   = 2000
	// skipCost is what leaving out one line costs in an alignment, blankCost what
	// a blank line of the document costs: it parts what belongs together from
	// what does not. A line that is found nowhere else in the reach is worth 1.
	skipCost  = 0.05
	blankCost = 0.25
)

// Instead returns the lines that stand where cited lines stood before they were
// changed: the part of the document that is most like them, by local alignment
// of lines (Smith and Waterman 1981), with as many of the lines around it as
// were cited around what is alike. was are the cited lines as they were, nil
// where they are not known: then it is the cited range, as far as the document
// has it. ok is false for an empty document.
func Instead(d *text.Document, was []string, startLine, endLine int) (start, end int, ok bool) {
	count := d.LineCount()
	if count == 0 {
		return 0, 0, false
	}
	end = max(1, min(endLine, count))
	start = max(1, min(startLine, end-min(endLine-startLine, end-1)))
	if len(was) == 0 || len(was) > maxAligned {
		return start, end, true
	}
	first := max(1, start-maxReach)
	last := min(count, end+maxReach)
	lines := make([]string, 0, last-first+1)
	for n := first; n <= last; n++ {
		lines = append(lines, strings.TrimSpace(d.Line(n)))
	}
	a, found := align(was, lines, endLine-first)
	if !found {
		return start, end, true
	}
	// What was cited before and behind the part that is alike was changed, and
	// stands in front of it and behind it still, unless a blank line parts them.
	start, end = a.lineFirst, a.lineLast
	for i := a.wasFirst - 1; i >= 0 && start > 0 && (lines[start-1] == "") == (strings.TrimSpace(was[i]) == ""); i-- {
		start--
	}
	for i := a.wasLast + 1; i < len(was) && end+1 < len(lines) && (lines[end+1] == "") == (strings.TrimSpace(was[i]) == ""); i++ {
		end++
	}
	return first + start, first + end, true
}

// alignment says which part of two lists of lines is alike; indexes from 0,
// inclusive.
type alignment struct{ wasFirst, wasLast, lineFirst, lineLast int }

// The steps of an alignment.
const (
	stepNone = iota
	stepBoth
	stepWas
	stepLine
)

// align finds the best local alignment; of equally good ones the one that ends
// nearest to near. lines are without white space at their ends.
func align(was, lines []string, near int) (alignment, bool) {
	counts := map[string]int{}
	for _, line := range lines {
		counts[line]++
	}
	width := len(lines) + 1
	steps := make([]uint8, (len(was)+1)*width)
	before, now := make([]float64, width), make([]float64, width)
	best, bestI, bestJ := 0.0, 0, 0
	for i := 1; i <= len(was); i++ {
		line := strings.TrimSpace(was[i-1])
		worth := lineWorth(line, counts[line])
		for j := 1; j <= len(lines); j++ {
			score, step := 0.0, uint8(stepNone)
			if worth > 0 && lines[j-1] == line {
				score, step = before[j-1]+worth, stepBoth
			}
			if s := before[j] - skipCost; s > score {
				score, step = s, stepWas
			}
			cost := skipCost
			if lines[j-1] == "" {
				cost = blankCost
			}
			if s := now[j-1] - cost; s > score {
				score, step = s, stepLine
			}
			now[j], steps[i*width+j] = score, step
			if step == stepBoth && (score > best+1e-9 || score > best-1e-9 && abs(j-1-near) < abs(bestJ-1-near)) {
				best, bestI, bestJ = score, i, j
			}
		}
		before, now = now, before
	}
	if best < 0.3 {
		return alignment{}, false // a bracket is like any other
	}
	a := alignment{wasLast: bestI - 1, lineLast: bestJ - 1}
	for i, j := bestI, bestJ; ; {
		switch steps[i*width+j] {
		case stepBoth:
			i, j = i-1, j-1
			a.wasFirst, a.lineFirst = i, j
		case stepWas:
			i--
		case stepLine:
			j--
		default:
			return a, true
		}
	}
}

// lineWorth is what it says that a line is found: the more, the rarer and
// longer it is.
func lineWorth(line string, count int) float64 {
	switch {
	case count == 0:
		return 0
	case line == "":
		return 0.01
	}
	worth := 1 / (1 + math.Log2(float64(count)))
	if len(line) < 4 {
		worth /= 4
	}
	return worth
}
