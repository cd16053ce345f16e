package index

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/store"
)

// The postings of sealed parts are kept beside the store, so that a start need
// not read and tokenise every file again. They are derived and disposable:
// what does not agree with the store is left out and made again.
//
// <index>/postings/<number>.part, higher numbers newer:
//
//	"CRPP" u8(version)
//	uvarint(files), per file: uvarint(len) path, 32 bytes hash, uvarint(documents)
//	u32le(CRC-32C of all before)
//	the lexical segment in its own format
const (
	postingsDir     = "postings"
	postingsMagic   = "CRPP\x01"
	postingsSuffix  = ".part"
	maxPostingFiles = 1 << 24
)

var errPostings = errors.New("damaged postings file")

// savedFile is one line of a postings file's table.
type savedFile struct {
	path string
	hash file.Hash
	docs int
}

func encodePostings(w io.Writer, files []savedFile, seg *lexical.Segment) error {
	head := []byte(postingsMagic)
	head = binary.AppendUvarint(head, uint64(len(files)))
	for _, f := range files {
		head = binary.AppendUvarint(head, uint64(len(f.path)))
		head = append(head, f.path...)
		head = append(head, f.hash[:]...)
		head = binary.AppendUvarint(head, uint64(f.docs))
	}
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, crc32.MakeTable(crc32.Castagnoli)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := seg.WriteTo(w)
	return err
}

func decodePostings(data []byte) ([]savedFile, *lexical.Segment, error) {
	rest, ok := bytes.CutPrefix(data, []byte(postingsMagic))
	if !ok {
		return nil, nil, errPostings
	}
	uvarint := func(limit uint64) (int, bool) {
		v, n := binary.Uvarint(rest)
		if n <= 0 || v > limit {
			return 0, false
		}
		rest = rest[n:]
		return int(v), true
	}
	n, ok := uvarint(maxPostingFiles)
	if !ok {
		return nil, nil, errPostings
	}
	var files []savedFile
	for range n {
		length, ok := uvarint(uint64(len(rest)))
		if !ok || length+32 > len(rest) {
			return nil, nil, errPostings
		}
		f := savedFile{path: string(rest[:length])}
		copy(f.hash[:], rest[length:])
		rest = rest[length+32:]
		if f.docs, ok = uvarint(1 << 24); !ok {
			return nil, nil, errPostings
		}
		files = append(files, f)
	}
	head := data[:len(data)-len(rest)]
	if len(rest) < 4 || binary.LittleEndian.Uint32(rest) != crc32.Checksum(head, crc32.MakeTable(crc32.Castagnoli)) {
		return nil, nil, errPostings
	}
	seg, err := lexical.ReadSegment(rest[4:])
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errPostings, err)
	}
	return files, seg, nil
}

// load publishes what the stores and the kept postings hold.
func (ix *Index) load(ctx context.Context) error {
	for _, r := range ix.roots {
		if err := ix.loadRoot(ctx, r); err != nil {
			return fmt.Errorf("loading the index of %s: %w", r.Dir, err)
		}
	}
	return nil
}

func (ix *Index) loadRoot(ctx context.Context, r *root) error {
	version := ix.chunkVersion()
	records := map[string]*store.FileRecord{}
	err := r.store.Files(ctx, func(rec store.FileRecord) error {
		k := knownOf(&rec)
		if k.covered() && ix.opts.Covered == nil {
			k.chunkVersion = "" // there is no shared index any more: it is looked at again
		}
		if rec.Skip == "" {
			k.chunkVersion = "" // until its postings are found
			records[rec.Path] = &rec
		}
		r.known.put(rec.Path, k)
		return nil
	})
	switch {
	case ctx.Err() != nil, errors.Is(err, store.ErrClosed):
		return err
	case err != nil:
		ix.tell("open "+r.Dir, fmt.Sprintf("cannot read the index of %s: %v (its files are indexed again)", r.Dir, err))
	}
	if n := r.store.Info().Damaged; n > 0 {
		ix.tell("damaged "+r.Dir, fmt.Sprintf("%d records of the index of %s (%s) were damaged and left out: what they held is indexed again", n, r.Dir, r.dir))
	}
	var added []*part
	var lists [][]List
	for _, name := range slices.Backward(ix.postingsFiles(r)) { // newest first
		data, err := os.ReadFile(name)
		if err != nil {
			ix.log.Warn("reading postings", "file", name, "error", err)
			continue
		}
		files, seg, err := decodePostings(data)
		if err != nil {
			ix.log.Warn("postings are made again", "file", name, "error", err)
			continue
		}
		p, l, err := ix.restore(ctx, r, files, seg, records, version)
		if err != nil {
			return err
		}
		if p != nil {
			p.saved = filepath.Base(name)
			added, lists = append(added, p), append(lists, l)
		}
	}
	if p := ix.blank(ctx, r, records, version); p != nil {
		added, lists = append(added, p), append(lists, nil)
	}
	if len(added) > 0 {
		for _, p := range added {
			ix.worked.Add(int64(len(p.files)))
		}
		ix.replace(added, lists, nil, false)
		ix.wakeSaver()
	}
	return nil
}

// postingsFiles returns the root's postings files, oldest first.
func (ix *Index) postingsFiles(r *root) []string {
	dir := filepath.Join(r.dir, postingsDir)
	entries, err := os.ReadDir(dir) // in the order of their names
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !r.memory {
		ix.log.Warn("postings are made again", "folder", dir, "error", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), postingsSuffix) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}

// blank makes a part of the files that have no chunks and so no postings; nil
// where there is none. What is used is taken out of records.
func (ix *Index) blank(ctx context.Context, r *root, records map[string]*store.FileRecord, version string) *part {
	b := newBuilder(ix.tok, nil)
	for rel, rec := range records {
		if len(rec.File.Chunks) == 0 && rec.ChunkVersion == version {
			b.files = append(b.files, place{file: ix.newFile(ctx, r, rec)})
			ix.restored(r, rel, records, version)
		}
	}
	if len(b.files) == 0 {
		return nil
	}
	p, _ := b.build()
	return p
}

// restored notes that a file is searchable as the store has it.
func (ix *Index) restored(r *root, rel string, records map[string]*store.FileRecord, version string) {
	k, _ := r.known.get(rel)
	k.chunkVersion = version
	r.known.put(rel, k)
	delete(records, rel)
}

// restore makes a part of kept postings. Files that the store knows otherwise
// stay dead in it. What is used is taken out of records.
func (ix *Index) restore(ctx context.Context, r *root, files []savedFile, seg *lexical.Segment, records map[string]*store.FileRecord, version string) (*part, []List, error) {
	total := 0
	for _, f := range files {
		total += f.docs
	}
	if total != seg.Len() {
		return nil, nil, nil
	}
	docs := make([]Doc, total)
	var places []place
	var keys []store.VectorKey
	var rows []int32
	first := int32(0)
	for _, s := range files {
		rec := records[s.path]
		if rec != nil && rec.Hash == s.hash && rec.ChunkVersion == version && len(rec.File.Chunks) == s.docs {
			f := ix.newFile(ctx, r, rec)
			for i := range rec.File.Chunks {
				docs[int(first)+i] = Doc{Chunk: rec.File.Chunks[i], File: f}
				keys, rows = append(keys, vectorKey(&rec.File.Chunks[i])), append(rows, first+int32(i))
			}
			places = append(places, place{file: f, first: first, count: int32(s.docs)})
			ix.restored(r, s.path, records, version)
		}
		first += int32(s.docs)
	}
	if len(places) == 0 {
		return nil, nil, nil
	}
	var lists []List
	for _, m := range ix.inlineModels() {
		l, err := ix.restoreList(ctx, r, m, docs, keys, rows)
		if err != nil {
			return nil, nil, err
		}
		lists = append(lists, l)
	}
	if ix.opts.Behind != nil {
		l, err := ix.restoreBehind(ctx, r, docs, keys, rows)
		if err != nil {
			return nil, nil, err
		}
		lists = append(lists, l)
	}
	return newPart(docs, places, seg), lists, nil
}

// restoreBehind makes the slow model's list of what is stored; the vectorizer
// fills in the rest.
func (ix *Index) restoreBehind(ctx context.Context, r *root, docs []Doc, keys []store.VectorKey, rows []int32) (List, error) {
	m := ix.models[len(ix.models)-1]
	stored, err := ix.storedVectors(ctx, r, m, keys)
	if err != nil {
		return List{}, err
	}
	list := newListBuilder(m, len(stored))
	if len(stored) == 0 {
		return list.list(len(docs)), nil
	}
	paths := map[*File]store.VectorKey{}
	var pathKeys []store.VectorKey
	for _, d := range rows {
		if f := docs[d].File; paths[f] == (store.VectorKey{}) {
			paths[f] = pathKey(f.Rel)
			pathKeys = append(pathKeys, paths[f])
		}
	}
	storedPaths, err := ix.storedVectors(ctx, r, m, pathKeys)
	if err != nil {
		return List{}, err
	}
	for i, d := range rows {
		v, ok := stored[keys[i]]
		path, okPath := storedPaths[paths[docs[d].File]]
		if ok && okPath {
			list.addBehind(d, v, path)
		}
	}
	return list.list(len(docs)), nil
}

// restoreList makes the inline model's list from stored vectors; a file with a
// missing one is looked at again.
func (ix *Index) restoreList(ctx context.Context, r *root, m embed.Model, docs []Doc, keys []store.VectorKey, rows []int32) (List, error) {
	stored, err := ix.storedVectors(ctx, r, m, keys)
	if err != nil {
		return List{}, err
	}
	list := newListBuilder(m, len(rows))
	for i, d := range rows {
		v, ok := stored[keys[i]]
		if !ok {
			ix.queue.push(&item{root: r, rel: docs[d].File.Rel, prio: prioScan, recent: docs[d].File.ModTime, force: true})
			continue
		}
		list.add(d, v, docs[d].File.PathVectors[m.Fingerprint])
	}
	return list.list(len(docs)), nil
}

// savePostings writes the parts that are not on disk yet and removes files that
// no part needs.
func (ix *Index) savePostings() error {
	ix.saving.Lock()
	defer ix.saving.Unlock()
	snap := ix.Snapshot()
	var errs []error
	for _, r := range ix.roots {
		if !r.memory {
			errs = append(errs, ix.saveRoot(r, snap))
		}
	}
	return errors.Join(errs...)
}

func (ix *Index) saveRoot(r *root, snap *Snapshot) error {
	dir := filepath.Join(r.dir, postingsDir)
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		if err := os.Remove(dir); err != nil { // it is in the way
			return fmt.Errorf("making room for %s: %w", dir, err)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("creating %s: %w", dir, err)
	}
	keep := map[string]bool{}
	for _, p := range snap.parts {
		if len(p.files) == 0 || p.files[0].file.Root.Dir != r.Dir || p.files[0].file.Provisional {
			continue
		}
		if p.saved == "" {
			name := fmt.Sprintf("%016x%s", ix.nextSaved(dir), postingsSuffix)
			if err := writePart(filepath.Join(dir, name), p); err != nil {
				return fmt.Errorf("writing postings %s: %w", name, err)
			}
			p.saved = name
		}
		keep[p.saved] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading %s: %w", dir, err)
	}
	for _, e := range entries {
		if !keep[e.Name()] {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("removing old postings: %w", err)
			}
		}
	}
	return nil
}

// nextSaved is a number higher than every file's in dir.
func (ix *Index) nextSaved(dir string) uint64 {
	var last uint64
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		var n uint64
		if name, ok := strings.CutSuffix(e.Name(), postingsSuffix); ok {
			if _, err := fmt.Sscanf(name, "%x", &n); err == nil {
				last = max(last, n)
			}
		}
	}
	return last + 1
}

// writePart writes a part whole or not at all.
func writePart(path string, p *part) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	w := bufio.NewWriterSize(tmp, 1<<20)
	err = encodePostings(w, p.table(), p.lex)
	if err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// table lists all files of a part in document order, with the gaps that dead
// placeholders leave.
func (p *part) table() []savedFile {
	var files []savedFile
	next := int32(0)
	gap := func(to int32) {
		if to > next {
			files = append(files, savedFile{docs: int(to - next)})
		}
	}
	for _, at := range p.files {
		gap(at.first)
		files = append(files, savedFile{path: at.file.Rel, hash: at.file.Hash, docs: int(at.count)})
		next = at.first + at.count
	}
	gap(int32(len(p.docs)))
	return files
}
