package attach

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"coderag-ls/engine/file"
)

// recordFile is the file in an index directory that says who owns it.
const recordFile = "OWNER"

// maxRecord is more than any record has, in bytes.
const maxRecord = 1 << 20

func recordPath(dir string) string { return filepath.Join(dir, recordFile) }

// Record is what an owner writes about itself. One that was killed leaves its
// record behind: only the lock tells whether it lives.
type Record struct {
	version
	// Address is where it listens.
	Address string    `json:"address"`
	Roots   []folder  `json:"roots"`
	Since   time.Time `json:"since"`
}

// Who returns the record in an index directory; ok is false where there is
// none that can be read.
func Who(dir string) (r Record, ok bool) {
	f, err := os.Open(recordPath(dir))
	if err != nil {
		return r, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil || json.Unmarshal(data, &r) != nil || r.Address == "" || r.PID <= 0 {
		return Record{}, false
	}
	return r, true
}

// String says who it is, for people.
func (r Record) String() string {
	var dirs []string
	for _, f := range r.Roots {
		dirs = append(dirs, f.Dir)
	}
	return fmt.Sprintf("pid %d, coderag-ls %s, since %s, for %s", r.PID, r.Program, r.Since.Local().Format(time.DateTime), strings.Join(dirs, ", "))
}

// write puts the record into an index directory; a reader sees the former one
// or this one.
func (r Record) write(dir string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	path := recordPath(dir)
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return fmt.Errorf("recording the owner of index %s: %w", dir, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("recording the owner of index %s: %w", dir, err)
	}
	return nil
}

// foldersOf are roots as they are compared: in any order. The name of a single
// folder is no part of its paths.
func foldersOf(roots []file.Root) []folder {
	var all []folder
	for _, r := range roots {
		f := folder{Name: r.Name, Dir: filepath.Clean(r.Dir)}
		if len(roots) == 1 {
			f.Name = ""
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b folder) int { return strings.Compare(a.Dir, b.Dir) })
	return all
}
