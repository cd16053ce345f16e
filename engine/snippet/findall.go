package snippet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"strings"

	"coderag-ls/engine/text"
)

// Block is a run of cited lines that is looked for.
type Block struct {
	StartLine, EndLine int // where it was cited, 1-based and inclusive
	SHA8               string
	// Text are the cited lines where they are known, "" where only their hash
	// is.
	Text string
}

const (
	// maxHashed is how many bytes are hashed at most to find the blocks of one
	// document that are known by their hash only: some tenths of a second.
	// Beyond that only the lines near the cited ones are looked at.
	maxHashed = 256 << 20
	// sumCost is what taking a sum costs, in bytes that are hashed meanwhile.
	sumCost = 128
	// fewTexts are found by searching for each; more, by a table of the lines.
	fewTexts = 8
)

// FindAll finds blocks in a document as it stands. The result has the line at
// which each starts, nearest to where it was cited and of two equally near ones
// the lower, 0 where it stands nowhere. It is Find for many blocks: those that
// stand where they were cost a hash each, and all others share one pass over
// the document.
func FindAll(ctx context.Context, d *text.Document, blocks []Block) ([]int, error) {
	found := make([]int, len(blocks))
	var known, hashed []int // blocks that are not where they were
	places := map[[2]int]string{}
	for i, b := range blocks {
		at := [2]int{b.StartLine, b.EndLine}
		sha, ok := places[at]
		if !ok {
			if lines, is := d.Lines(b.StartLine, b.EndLine); is {
				sha = text.HexHash(lines)[:digits]
			}
			places[at] = sha
		}
		switch {
		case sha != "" && sha == b.SHA8:
			found[i] = b.StartLine
		case b.StartLine < 1 || b.EndLine < b.StartLine || b.EndLine-b.StartLine >= d.LineCount():
		case b.Text != "":
			known = append(known, i)
		default:
			hashed = append(hashed, i)
		}
	}
	if len(known)+len(hashed) == 0 {
		return found, nil
	}
	flat := d
	if content, ok := d.Lines(1, d.LineCount()); ok && content != d.Content() {
		flat = text.New(content)
	}
	findTexts(flat, blocks, known, found)
	if len(hashed) == 0 {
		return found, nil
	}
	return found, (&hashing{Document: flat, data: []byte(flat.Content()), hash: sha256.New()}).find(ctx, blocks, hashed, found)
}

// findTexts finds blocks whose text is known, in a document whose lines end
// with "\n".
func findTexts(flat *text.Document, blocks []Block, which []int, found []int) {
	starts := map[string][]int{} // by text
	var table lineTable
	if len(which) > fewTexts {
		table = newLineTable(flat)
	}
	for _, i := range which {
		b := blocks[i]
		at, ok := starts[b.Text]
		switch {
		case ok:
		case table != nil:
			at = table.occurrences(flat, b.Text)
		default:
			at = occurrences(flat, b.Text)
		}
		starts[b.Text] = at
		found[i] = nearest(at, b.StartLine)
	}
}

// lineTable says on which lines of a document, in order, each line's text
// stands.
type lineTable map[string][]int

func newLineTable(d *text.Document) lineTable {
	t := make(lineTable, d.LineCount())
	for n := 1; n <= d.LineCount(); n++ {
		t[d.Line(n)] = append(t[d.Line(n)], n)
	}
	return t
}

// occurrences returns the lines at which a text of whole lines stands, found by
// the rarest of them.
func (t lineTable) occurrences(d *text.Document, lines string) []int {
	var rarest []int
	offset, n := 0, 0
	for line := range strings.SplitSeq(lines, "\n") {
		at := t[line]
		if len(at) == 0 {
			return nil
		}
		if rarest == nil || len(at) < len(rarest) {
			rarest, offset = at, n
		}
		n++
	}
	var at []int
	for _, line := range rarest {
		if got, ok := d.Lines(line-offset, line-offset+n-1); ok && got == lines {
			at = append(at, line-offset)
		}
	}
	return at
}

// occurrences returns the lines, in order, at which a text of whole lines
// stands in a document whose lines end with "\n".
func occurrences(d *text.Document, lines string) []int {
	var at []int
	content := d.Content()
	for from := 0; from <= len(content); {
		i := strings.Index(content[from:], lines)
		if i < 0 {
			break
		}
		i += from
		end := i + len(lines)
		if (i == 0 || content[i-1] == '\n') && (end == len(content) || content[end] == '\n') {
			at = append(at, d.LineAt(i))
		}
		next := strings.IndexByte(content[i:], '\n')
		if next < 0 {
			break
		}
		from = i + next + 1
	}
	return at
}

// nearest returns the element of an ascending list that is nearest to line, the
// larger of two, 0 for none.
func nearest(list []int, line int) int {
	i, _ := slices.BinarySearch(list, line)
	switch {
	case len(list) == 0:
		return 0
	case i == len(list):
		return list[i-1]
	case i > 0 && line-list[i-1] < list[i]-line:
		return list[i-1]
	}
	return list[i]
}

// length is the blocks of one number of lines that are looked for by hash.
type length struct {
	lines  int
	bySHA8 map[[digits / 2]byte][]int // indexes of blocks
}

// hashing looks for blocks by their hash, in a document whose lines end with
// "\n".
type hashing struct {
	*text.Document
	data []byte // the document's
	hash hash.Hash
	sum  [sha256.Size]byte
}

// find hashes the lines from every line on and looks at the hash after each
// number of lines that is wanted.
func (h *hashing) find(ctx context.Context, blocks []Block, which []int, found []int) error {
	var lengths []length
	for _, i := range which {
		var sha8 [digits / 2]byte
		if n, err := hex.Decode(sha8[:], []byte(blocks[i].SHA8)); err != nil || n != len(sha8) {
			continue // no hash, so nothing has it
		}
		n := blocks[i].EndLine - blocks[i].StartLine + 1
		at, ok := slices.BinarySearchFunc(lengths, n, func(l length, n int) int { return l.lines - n })
		if !ok {
			lengths = slices.Insert(lengths, at, length{n, map[[digits / 2]byte][]int{}})
		}
		lengths[at].bySHA8[sha8] = append(lengths[at].bySHA8[sha8], i)
	}
	// The longest ones are what costs: they are looked for nearby only where
	// all of it would take too long.
	count := h.LineCount()
	perLine := len(h.data)/count + 1
	whole := len(lengths)
	for whole > 0 && count*(perLine*lengths[whole-1].lines+sumCost*whole) > maxHashed {
		whole--
	}
	if err := h.findNearby(ctx, blocks, lengths[whole:], perLine, found); err != nil || whole == 0 {
		return err
	}
	lengths = lengths[:whole]
	for start := 1; start+lengths[0].lines-1 <= count; start++ {
		if start%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		h.hash.Reset()
		from := h.LineStart(start)
		for _, l := range lengths {
			if start+l.lines-1 > count {
				break
			}
			to := h.LineEnd(start + l.lines - 1)
			h.hash.Write(h.data[from:to])
			from = to
			for _, i := range l.bySHA8[h.sum8()] {
				if b := blocks[i].StartLine; found[i] == 0 || abs(start-b) <= abs(found[i]-b) {
					found[i] = start // of two equally near ones the lower comes later
				}
			}
		}
	}
	return nil
}

// findNearby looks for blocks around where they were, as far as maxHashed
// allows.
func (h *hashing) findNearby(ctx context.Context, blocks []Block, lengths []length, perLine int, found []int) error {
	count := 0
	for _, l := range lengths {
		for _, all := range l.bySHA8 {
			count += len(all)
		}
	}
	for _, l := range lengths {
		reach := maxHashed / count / (perLine*l.lines + sumCost) / 2
		for sha8, all := range l.bySHA8 {
			for _, i := range all {
				for distance := 1; distance <= reach && found[i] == 0; distance++ {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					for _, start := range [2]int{blocks[i].StartLine + distance, blocks[i].StartLine - distance} {
						if found[i] == 0 && start >= 1 && start+l.lines-1 <= h.LineCount() && h.sumOf(start, start+l.lines-1) == sha8 {
							found[i] = start
						}
					}
				}
			}
		}
	}
	return nil
}

// sumOf is the hash of lines.
func (h *hashing) sumOf(start, end int) [digits / 2]byte {
	h.hash.Reset()
	h.hash.Write(h.data[h.LineStart(start):h.LineEnd(end)])
	return h.sum8()
}

// sum8 are the first bytes of what was hashed.
func (h *hashing) sum8() [digits / 2]byte {
	return [digits / 2]byte(h.hash.Sum(h.sum[:0]))
}

func abs(n int) int { return max(n, -n) }
