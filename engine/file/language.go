package file

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// linguistData is the table of go-enry (GitHub Linguist) as text: importing the
// library itself costs every start of the program 8 to 24 ms of map and regexp
// initialisation. A line is name, type, extensions, file names, interpreters;
// "|" separates, "#n" is the rank among languages that share a key.
//
//go:embed linguist.txt
var linguistData string

type language struct {
	name string
	kind string // "programming", "markup", "data", "prose" or "unknown"
}

// languages are the known languages by what tells them.
type languages struct {
	byName        map[string]language
	byExtension   map[string][]string // lower-case, with the dot
	byFilename    map[string][]string
	byInterpreter map[string][]string
}

var linguist = sync.OnceValue(parseLinguist)

func parseLinguist() *languages {
	l := &languages{
		byName: map[string]language{}, byExtension: map[string][]string{},
		byFilename: map[string][]string{}, byInterpreter: map[string][]string{},
	}
	for line := range strings.Lines(linguistData) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 5 {
			continue // the heading
		}
		name := fields[0]
		l.byName[name] = language{name: name, kind: fields[1]}
		for i, table := range [...]map[string][]string{l.byExtension, l.byFilename, l.byInterpreter} {
			if fields[2+i] == "" {
				continue
			}
			for _, key := range strings.Split(fields[2+i], "|") {
				key, rank, shared := strings.Cut(key, "#")
				if !shared || key == "" {
					table[key] = []string{name}
					continue
				}
				at, err := strconv.Atoi(rank)
				if err != nil {
					continue
				}
				for len(table[key]) <= at {
					table[key] = append(table[key], "")
				}
				table[key][at] = name
			}
		}
	}
	return l
}

// detect returns the name of a file's language, "" where nothing tells it. head
// is the start of its text.
func (l *languages) detect(base, head string) string {
	if strings.HasSuffix(base, ".gradle.kts") {
		return "kotlin" // Linguist's "gradle kotlin dsl" is no language of its own
	}
	if names := l.byFilename[base]; len(names) > 0 {
		return names[0]
	}
	if n := conventional(base); n != "" {
		return n
	}
	lower := strings.ToLower(base)
	var shared []string
	for i := range len(lower) {
		if lower[i] != '.' {
			continue
		}
		names := l.byExtension[lower[i:]]
		if len(names) == 1 {
			return names[0]
		}
		if len(names) > 1 {
			if n := resolve(lower[i:], head); n != "" {
				return n
			}
			shared = names
			break
		}
	}
	if n := l.interpreter(head); n != "" && (shared == nil || contains(shared, n)) {
		return n
	}
	if n := l.modeline(head); n != "" && (shared == nil || contains(shared, n)) {
		return n
	}
	if len(shared) > 0 {
		return shared[0]
	}
	if strings.HasPrefix(head, "<?xml") {
		return "xml"
	}
	return ""
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// conventional knows families of file names that no table lists.
func conventional(base string) string {
	switch {
	case strings.HasPrefix(base, "Dockerfile."), strings.HasPrefix(base, "Containerfile."):
		return "dockerfile"
	case strings.HasPrefix(base, "Makefile."), strings.HasPrefix(base, "GNUmakefile."):
		return "makefile"
	case strings.HasPrefix(base, "Jenkinsfile."):
		return "groovy"
	case base == ".coderagignore", base == ".ignore":
		return "ignore list"
	}
	return ""
}

// interpreter returns the language of a script by its first line
// ("#!/usr/bin/env -S python3.12 -u").
func (l *languages) interpreter(head string) string {
	line, ok := strings.CutPrefix(head, "#!")
	if !ok {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	for i, w := range words {
		w = w[strings.LastIndexByte(w, '/')+1:]
		if i == 0 && w != "env" {
			return l.interpreterName(w)
		}
		if i == 0 || strings.HasPrefix(w, "-") || strings.Contains(w, "=") {
			continue
		}
		return l.interpreterName(w)
	}
	return ""
}

func (l *languages) interpreterName(w string) string {
	for {
		if names := l.byInterpreter[w]; len(names) > 0 {
			return names[0]
		}
		short := strings.TrimRight(w, "0123456789.-")
		if short == w {
			return ""
		}
		w = short
	}
}

// modeline returns the language that an Emacs line ("-*- C++ -*-") among the
// first two names.
func (l *languages) modeline(head string) string {
	for range 2 {
		var line string
		line, head, _ = strings.Cut(head, "\n")
		_, rest, ok := strings.Cut(line, "-*-")
		if !ok {
			continue
		}
		mode, _, ok := strings.Cut(rest, "-*-")
		if !ok {
			continue
		}
		mode = strings.ToLower(mode)
		if _, after, ok := strings.Cut(mode, "mode:"); ok {
			mode, _, _ = strings.Cut(after, ";")
		}
		if known, ok := l.byName[strings.TrimSpace(mode)]; ok {
			return known.name
		}
	}
	return ""
}
