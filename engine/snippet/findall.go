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

// maxHashed is how many bytes are hashed at most to find the blocks of one
// document that are known by their hash only: a tenth of a second or two.
// Beyond that only the lines near the cited ones are looked at.
const maxHashed = 64 << 20

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
	for _, i := range which {
		b := blocks[i]
		at, ok := starts[b.Text]
		if !ok {
			at = occurrences(flat, b.Text)
			starts[b.Text] = at
		}
		found[i] = nearest(at, b.StartLine)
	}
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
	bySHA8 map[string][]int // indexes of blocks
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
		n := blocks[i].EndLine - blocks[i].StartLine + 1
		at, ok := slices.BinarySearchFunc(lengths, n, func(l length, n int) int { return l.lines - n })
		if !ok {
			lengths = slices.Insert(lengths, at, length{n, map[string][]int{}})
		}
		lengths[at].bySHA8[blocks[i].SHA8] = append(lengths[at].bySHA8[blocks[i].SHA8], i)
	}
	// The longest ones are what costs: they are looked for nearby only where
	// all of it would take too long.
	count := h.LineCount()
	perLine := len(h.data)/count + 1
	whole := len(lengths)
	for whole > 0 && perLine*lengths[whole-1].lines*(count-lengths[whole-1].lines+1) > maxHashed {
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
		reach := max(1, maxHashed/count/(perLine*l.lines)/2)
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
func (h *hashing) sumOf(start, end int) string {
	h.hash.Reset()
	h.hash.Write(h.data[h.LineStart(start):h.LineEnd(end)])
	return h.sum8()
}

// sum8 are the first digits of what was hashed.
func (h *hashing) sum8() string {
	return hex.EncodeToString(h.hash.Sum(h.sum[:0])[:digits/2])
}

func abs(n int) int { return max(n, -n) }
