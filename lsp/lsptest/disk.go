package lsptest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// put writes a file of the workspace.
func (s *session) put(name string, data []byte) error {
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return inapplicable("%v", err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return inapplicable("%v", err)
	}
	return nil
}

// saving makes room for a file that the editor is about to write.
func (s *session) saving(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return inapplicable("%v", err)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return inapplicable("%s is a folder", path)
	}
	return nil
}

// onDisk changes the disk behind the editor's back; the client tells of it where
// the server does not watch.
func (s *session) onDisk(c command) (done error) {
	path := s.path(c.args[0])
	s.note(path)
	var events []FileEvent
	var err error
	switch c.verb {
	case "write", "fill", "swap":
		events, err = s.writes(c, path)
	case "mkdir":
		events, err = []FileEvent{{URI(path), FileCreated}}, os.MkdirAll(path, 0o755)
	case "rm":
		if _, missing := os.Lstat(path); missing != nil {
			return inapplicable("%v", missing)
		}
		events, err = []FileEvent{{URI(path), FileDeleted}}, os.RemoveAll(path)
	case "mv":
		to := s.path(c.args[1])
		events = []FileEvent{{URI(path), FileDeleted}, {URI(to), FileCreated}}
		if err = os.MkdirAll(filepath.Dir(to), 0o755); err == nil {
			err = os.Rename(path, to)
		}
		s.note(to)
	case "ln":
		at := s.path(c.args[1])
		events = []FileEvent{{URI(at), FileCreated}}
		if err = os.MkdirAll(filepath.Dir(at), 0o755); err == nil {
			err = os.Symlink(c.args[0], at)
		}
	case "git":
		var failed error
		if events, failed, err = s.git(c.args); failed != nil {
			defer func() { done = inapplicable("%v", failed) }() // it may have done half of it
		}
	}
	if err != nil {
		return inapplicable("%v", err)
	}
	s.note(path)
	if s.mode.ServerWatches {
		s.untold = true
	} else if len(events) > 0 {
		s.e.Watched(events...)
	}
	return nil
}

// writes writes a file.
func (s *session) writes(c command, path string) ([]FileEvent, error) {
	kind := FileChanged
	if _, err := os.Lstat(path); err != nil {
		kind = FileCreated
	}
	data := c.args[1]
	if c.verb == "fill" {
		n, err := strconv.Atoi(c.args[2])
		if err != nil {
			return nil, err
		}
		data = strings.Repeat(data, n)
	}
	if c.verb != "swap" {
		return []FileEvent{{URI(path), kind}}, s.put(c.args[0], []byte(data))
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder", path)
	}
	if err := s.put(c.args[0]+".swp~", []byte(data)); err != nil {
		return nil, err
	}
	return []FileEvent{{URI(path), kind}}, os.Rename(path+".swp~", path)
}

// git runs git in the workspace, as nobody in particular, and returns what it
// changed as a client would see it. failed is git's own failure.
func (s *session) git(args []string) (events []FileEvent, failed, err error) {
	before, err := stamps(s.dir)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	if out, err := cmd.CombinedOutput(); err != nil {
		failed = fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	after, err := stamps(s.dir)
	if err != nil {
		return nil, failed, err
	}
	for path, stamp := range after {
		switch was, there := before[path]; {
		case !there:
			events = append(events, FileEvent{URI(path), FileCreated})
		case was != stamp:
			events = append(events, FileEvent{URI(path), FileChanged})
		}
	}
	for path := range before {
		if _, there := after[path]; !there {
			events = append(events, FileEvent{URI(path), FileDeleted})
		}
	}
	return events, failed, nil
}

// stamps tells the states of a workspace's files apart; git's own are left out,
// as clients do.
func stamps(dir string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = fmt.Sprint(info.Size(), info.ModTime().UnixNano(), info.Mode())
		return nil
	})
	return all, err
}
