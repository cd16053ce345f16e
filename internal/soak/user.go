package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// user works in one editor: types, asks, saves, opens and closes.
type user struct {
	name   string
	editor *lsptest.Editor
	w      *workspace
	log    *journal
	disk   *disk
	rng    *rand.Rand
	files  []string // its own to work on
	open   []string
	typed  int
}

// disk knows what files on disk held lately, for citations of a moment ago.
type disk struct {
	sync.RWMutex // held for writing while a branch is switched
	mu           sync.Mutex
	former       map[string][]string // by path; the last few texts, guarded by mu
}

func (d *disk) note(path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	texts := append(d.former[path], string(data))
	d.former[path] = texts[max(0, len(texts)-4):]
}

func (d *disk) texts(path string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.former[path]
}

// work goes on until ctx ends.
func (u *user) work(ctx context.Context) {
	for ctx.Err() == nil {
		if len(u.open) < 6 || u.rng.IntN(40) == 0 {
			u.openAnother()
		}
		path := u.open[u.rng.IntN(len(u.open))]
		u.typeAndSearch(ctx, path)
		u.ask()
		if u.rng.IntN(8) == 0 {
			u.save(path)
		}
		if len(u.open) > 12 {
			u.close(u.open[0])
		}
	}
}

func (u *user) abs(rel string) string { return filepath.Join(u.w.dir, filepath.FromSlash(rel)) }

func (u *user) openAnother() {
	rel := u.files[u.rng.IntN(len(u.files))]
	for _, is := range u.open {
		if is == rel {
			return
		}
	}
	u.editor.OpenFile(u.abs(rel))
	u.open = append(u.open, rel)
}

// close closes a file, having taken back what was typed into it.
func (u *user) close(rel string) {
	u.editor.Close(u.abs(rel))
	for i, is := range u.open {
		if is == rel {
			u.open = append(u.open[:i:i], u.open[i+1:]...)
			return
		}
	}
}

func (u *user) save(rel string) {
	path := u.abs(rel)
	u.disk.note(path)
	u.editor.Save(path)
	u.disk.note(path)
	u.log.count("saves")
}

// typeAndSearch types a line of code with a new name, a character at a time,
// and looks for it.
func (u *user) typeAndSearch(ctx context.Context, rel string) {
	path := u.abs(rel)
	content := u.editor.Text(path)
	u.typed++
	name := fmt.Sprintf("soak%s%d", u.name, u.typed)
	at := strings.Index(content, "\nfunc ")
	if at < 0 {
		at = len(content)
	}
	line := fmt.Sprintf("\n// %s was typed at %d.\nfunc %s() {}\n", name, u.typed, name)
	if i := strings.Index(content, "\n// soak"); i >= 0 && strings.Count(content, "\n// soak") > 5 {
		// What was typed long ago goes: files do not grow without end.
		end := i + len("\n") + strings.Index(content[i+1:], "{}\n") + len("{}\n")
		u.editor.Edit(path, i, end, "")
		content = u.editor.Text(path)
		if at = strings.Index(content, "\nfunc "); at < 0 {
			at = len(content)
		}
	}
	key := time.NewTicker(8 * time.Millisecond) // someone who types very fast
	defer key.Stop()
	for i, r := range line {
		select {
		case <-key.C:
		case <-ctx.Done():
		}
		u.editor.Edit(path, at+i, at+i, string(r))
	}
	u.log.add("keystrokes", len(line))
	began := time.Now()
	u.editor.Sync(wire.SyncParams{})
	hits := u.search(name)
	u.log.took("edit to searchable", time.Since(began))
	for _, h := range hits {
		if strings.HasSuffix(h.Path, rel) && strings.Contains(h.Text, "func "+name) {
			return
		}
	}
	u.log.wrong("%s was typed into %s and is not found", name, rel)
}

func (u *user) search(query string) []wire.Hit {
	u.disk.RLock()
	defer u.disk.RUnlock()
	var r wire.SearchResult
	if err := u.editor.Call(lsp.MethodSearch, wire.SearchParams{Query: query}, &r); err != nil {
		u.log.wrong("searching %q: %v", query, err)
		return nil
	}
	u.log.count("searches")
	for _, h := range r.Hits {
		u.check(h.URI, h.StartLine, h.EndLine, h.Text)
	}
	return r.Hits
}

// ask asks about something and reads every citation again.
func (u *user) ask() {
	questions := []string{
		"how does %s work?", "where is %s used?", "what does %s return?", "%s",
	}
	words := []string{
		"http client timeout", "json decoder", "goroutine scheduler", "file watcher", "sha256 checksum", "url parsing", "template escaping", "sorting",
		"tls handshake", "garbage collector", "regular expression", "tar header", "retry with backoff", "context cancellation", "utf8 decoding",
	}
	q := fmt.Sprintf(questions[u.rng.IntN(len(questions))], words[u.rng.IntN(len(words))])
	if u.rng.IntN(4) == 0 {
		q = fmt.Sprintf("where is onBranch%d?", u.rng.IntN(max(1, len(u.w.switched))))
	}
	u.disk.RLock()
	defer u.disk.RUnlock()
	began := time.Now()
	var r wire.AskResult
	if err := u.editor.Call(lsp.MethodAsk, wire.SearchParams{Query: q}, &r); err != nil {
		u.log.wrong("asking %q: %v", q, err)
		return
	}
	u.log.took("ask", time.Since(began))
	for _, c := range r.Citations {
		sum := sha256.Sum256([]byte(c.Text))
		if hex.EncodeToString(sum[:]) != c.SHA256 {
			u.log.wrong("%s has the wrong hash", c.ID)
		}
		u.check(c.URI, c.StartLine, c.EndLine, c.Text)
	}
	u.log.add("citations", len(r.Citations))
}

// check reads lines again: in the editor, else on disk as it stands or, where
// another user saves just now, as it stood.
func (u *user) check(uri string, first, last int, lines string) {
	at, err := url.Parse(uri)
	if err != nil || at.Scheme != "file" {
		u.log.wrong("%s is no file", uri)
		return
	}
	path := at.Path
	var texts []string
	if rel, err := filepath.Rel(u.w.dir, path); err == nil && u.isOpen(filepath.ToSlash(rel)) {
		texts = append(texts, u.editor.Text(path))
	} else if data, err := os.ReadFile(path); err == nil {
		texts = append(append(texts, u.disk.texts(path)...), string(data))
	}
	for _, text := range texts {
		all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
		if first >= 1 && last <= len(all) && strings.Join(all[first-1:last], "\n") == lines {
			return
		}
	}
	u.log.wrong("%s:%d-%d does not say %.300q", path, first, last, lines)
}

func (u *user) isOpen(rel string) bool {
	for _, is := range u.open {
		if is == rel {
			return true
		}
	}
	return false
}
