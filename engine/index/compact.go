package index

import (
	"math/bits"
	"slices"

	"coderag-ls/engine/lexical"
)

const (
	// smallPart is how many live documents make a part worth merging, and
	// maxSmall how many such parts are left alone: every part costs each
	// search a dictionary look-up per word.
	smallPart = 1024
	maxSmall  = 8
)

// compact merges small and mostly dead parts into one. It runs beside searches
// and other workers; one at a time.
func (ix *Index) compact() {
	if !ix.compacting.TryLock() {
		return
	}
	defer ix.compacting.Unlock()
	snap := ix.Snapshot()
	// A part belongs to one root, since its postings are kept there.
	byRoot := map[string][]int{}
	for i, p := range snap.parts {
		live := liveDocs(snap.live[i])
		if p.files[0].file.Provisional {
			continue // it is replaced soon
		}
		if live < smallPart || live*2 < len(p.docs) {
			dir := p.files[0].file.Root.Dir
			byRoot[dir] = append(byRoot[dir], i)
		}
	}
	for _, small := range byRoot {
		if len(small) > maxSmall {
			ix.merge(snap, small)
		}
	}
}

func liveDocs(live []uint64) int {
	n := 0
	for _, w := range live {
		n += bits.OnesCount64(w)
	}
	return n
}

// merge replaces the chosen parts of snap by one.
func (ix *Index) merge(snap *Snapshot, chosen []int) {
	var inputs []lexical.Part
	var docs []Doc
	var files []place
	lists := make([]*listBuilder, len(ix.models))
	for i, m := range ix.models {
		lists[i] = newListBuilder(m, 0)
	}
	for _, i := range chosen {
		p := snap.parts[i]
		inputs = append(inputs, lexical.Part{Segment: p.lex, Live: snap.live[i]})
		for _, at := range p.files {
			if now, ok := snap.files.get(at.file.Path); !ok || now.file != at.file {
				continue
			}
			files = append(files, place{file: at.file, first: int32(len(docs)), count: at.count})
			for d := at.first; d < at.first+at.count; d++ {
				for l, m := range ix.models {
					lists[l].copy(int32(len(docs)), d, listOf(snap.lists[i], m.Fingerprint))
				}
				docs = append(docs, p.docs[d])
			}
		}
	}
	seg, _ := lexical.Merge(inputs)
	if seg.Len() != len(docs) {
		ix.log.Error("merging parts", "documents", len(docs), "postings", seg.Len())
		return
	}
	merged := newPart(docs, files, seg)
	var built []List
	for _, l := range lists {
		if len(l.docs) > 0 {
			built = append(built, l.list(len(docs)))
		}
	}
	old := make([]*part, len(chosen))
	for i, c := range chosen {
		old[i] = snap.parts[c]
	}
	ix.publish.Lock()
	defer ix.publish.Unlock()
	next := ix.Snapshot().swap(old, merged, built)
	next.Seq = ix.seq.Add(1)
	ix.snapshot.Store(next)
}

// copy appends the row of another list's document, if it has one.
func (l *listBuilder) copy(doc, from int32, list *List) {
	if list == nil {
		return
	}
	if r, ok := list.row(from); ok {
		scale, values := list.Matrix.Row(r)
		if l.rows.Append(scale, values) == nil {
			l.docs, l.norms = append(l.docs, doc), append(l.norms, list.Norms[r])
			if r < len(list.Paths) {
				l.addPath(list.Paths[r])
			}
		}
	}
}

// swap returns a snapshot with merged in place of the old parts, which hold
// the same files; files that were replaced since are dead in it.
func (s *Snapshot) swap(old []*part, merged *part, lists []List) *Snapshot {
	next := &Snapshot{sealed: s.sealed, files: s.files, words: s.words}
	for i, p := range s.parts {
		if !slices.Contains(old, p) {
			next.parts = append(next.parts, p)
			next.live = append(next.live, s.live[i])
			next.lists = append(next.lists, s.lists[i])
			next.docs += liveDocs(s.live[i])
		}
	}
	live := make([]uint64, (len(merged.docs)+63)/64)
	var moved []place
	for _, at := range merged.files {
		if now, ok := s.files.get(at.file.Path); !ok || now.file != at.file {
			continue
		}
		for d := at.first; d < at.first+at.count; d++ {
			live[d>>6] |= 1 << (d & 63)
		}
		next.docs += int(at.count)
		moved = append(moved, place{file: at.file, part: merged, first: at.first, count: at.count})
	}
	next.parts = append(next.parts, merged)
	next.live = append(next.live, live)
	next.lists = append(next.lists, lists)
	next.files = s.files.with(moved, nil)
	next.dropDead()
	return finish(next)
}
