package file

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-enry/go-enry/v2/data"
)

var update = flag.Bool("update", false, "write linguist.txt anew from go-enry's data")

// TestLinguistTableIsCurrent compares the embedded table with the library's
// data.
func TestLinguistTableIsCurrent(t *testing.T) {
	want := linguistTable()
	if *update {
		if err := os.WriteFile("linguist.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("linguist.txt")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("linguist.txt is stale: go test ./engine/file -run TestLinguistTableIsCurrent -update")
	}
}

func linguistTable() string {
	type row struct{ extensions, filenames, interpreters []string }
	rows := map[string]*row{}
	for name := range data.LanguagesType {
		rows[name] = &row{}
	}
	fill := func(table map[string][]string, add func(*row, string)) {
		for key, names := range table {
			for i, name := range names {
				r := rows[name]
				if r == nil {
					continue // "Other"
				}
				// Languages that share a key are in the order of the library's
				// preference.
				if len(names) > 1 {
					add(r, fmt.Sprintf("%s#%d", key, i))
				} else {
					add(r, key)
				}
			}
		}
	}
	fill(data.LanguagesByExtension, func(r *row, k string) { r.extensions = append(r.extensions, k) })
	fill(data.LanguagesByFilename, func(r *row, k string) { r.filenames = append(r.filenames, k) })
	fill(data.LanguagesByInterpreter, func(r *row, k string) { r.interpreters = append(r.interpreters, k) })
	var lines []string
	for name, r := range rows {
		if len(r.extensions)+len(r.filenames)+len(r.interpreters) == 0 {
			continue
		}
		slices.Sort(r.extensions)
		slices.Sort(r.filenames)
		slices.Sort(r.interpreters)
		lines = append(lines, strings.Join([]string{
			strings.ToLower(name), data.Type(data.LanguagesType[name]).String(),
			strings.Join(r.extensions, "|"), strings.Join(r.filenames, "|"), strings.Join(r.interpreters, "|"),
		}, "\t"))
	}
	slices.Sort(lines)
	return "# Generated from go-enry's data (GitHub Linguist); see linguist_test.go. DO NOT EDIT.\n" + strings.Join(lines, "\n") + "\n"
}
