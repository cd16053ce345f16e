package file_test

import (
	"crypto/sha256"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"coderag-ls/engine/file"
)

func change(kind file.ChangeKind, path, text string) file.Change {
	return file.Change{Path: path, Kind: kind, Text: text}
}

func TestOverlay(t *testing.T) {
	var o file.Overlay
	one, changed := o.Apply([]file.Change{{Path: "/a", Kind: file.Opened, Text: "1", Version: 1, Language: "go"}, change(file.Touched, "/b", "")})
	if !slices.Equal(changed, []string{"/a"}) {
		t.Errorf("changed %q", changed)
	}
	two, changed := one.Apply([]file.Change{{Path: "/a", Kind: file.Edited, Text: "2", Version: 2}, change(file.Opened, "/c", "3")})
	if !slices.Equal(changed, []string{"/a", "/c"}) {
		t.Errorf("changed %q", changed)
	}
	if b, ok := two.Get("/a"); !ok || b.Text != "2" || b.Version != 2 || b.Language != "go" || b.Hash != sha256.Sum256([]byte("2")) {
		t.Errorf("buffer %+v", b)
	}
	if b, _ := one.Get("/a"); b.Text != "1" {
		t.Errorf("an older overlay changed: %+v", b)
	}
	if got := two.Paths(); !slices.Equal(got, []string{"/a", "/c"}) {
		t.Errorf("paths %q", got)
	}
	// The same text again is no change; nor is closing what is not open.
	if _, changed := two.Apply([]file.Change{change(file.Edited, "/a", "2"), change(file.Closed, "/z", "")}); len(changed) != 0 {
		t.Errorf("changed %q", changed)
	}
	three, changed := two.Apply([]file.Change{change(file.Closed, "/a", "")})
	if _, ok := three.Get("/a"); ok || !slices.Equal(changed, []string{"/a"}) {
		t.Errorf("after closing: %v, changed %q", ok, changed)
	}
}

func TestCoalesceTable(t *testing.T) {
	const p = "/p"
	opened, edited, closed, touched := change(file.Opened, p, "o"), change(file.Edited, p, "e"), change(file.Closed, p, ""), change(file.Touched, p, "")
	for _, c := range []struct {
		name     string
		in, want []file.Change
	}{
		{"nothing", nil, nil},
		{"touched twice", []file.Change{touched, touched}, []file.Change{touched}},
		{"opened, edited", []file.Change{opened, edited}, []file.Change{change(file.Opened, p, "e")}},
		{"opened, closed", []file.Change{opened, closed}, nil},
		{"opened, edited, closed", []file.Change{opened, edited, closed}, nil},
		{"edited, opened", []file.Change{edited, opened}, []file.Change{opened}},
		{"edited, edited", []file.Change{edited, change(file.Edited, p, "2")}, []file.Change{change(file.Edited, p, "2")}},
		{"edited, closed", []file.Change{edited, closed}, []file.Change{closed}},
		{"closed, opened", []file.Change{closed, opened}, []file.Change{opened}},
		{"closed, opened, edited", []file.Change{closed, opened, edited}, []file.Change{change(file.Opened, p, "e")}},
		{"closed, opened, closed", []file.Change{closed, opened, closed}, []file.Change{closed}},
		{"edited, closed, opened, closed", []file.Change{edited, closed, opened, closed}, []file.Change{closed}},
		{"opened, closed, opened", []file.Change{opened, closed, opened}, []file.Change{opened}},
		{"disk and buffer", []file.Change{edited, touched, change(file.Edited, p, "2"), touched}, []file.Change{touched, change(file.Edited, p, "2")}},
		{"touched, opened, closed", []file.Change{touched, opened, closed}, []file.Change{touched}},
		{"paths in order", []file.Change{change(file.Touched, "/b", ""), change(file.Touched, "/a", ""), change(file.Touched, "/b", "")},
			[]file.Change{change(file.Touched, "/b", ""), change(file.Touched, "/a", "")}},
	} {
		if got := file.Coalesce(c.in); len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestCoalesceKeepsTheState applies random sequences with and without.
func TestCoalesceKeepsTheState(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		// Sequences as an editor sends them: edits and closes of what is open.
		open := map[string]bool{"/a": true}
		start, _ := new(file.Overlay).Apply([]file.Change{change(file.Opened, "/a", "0")})
		var seq []file.Change
		for i := range r.IntN(12) {
			p := []string{"/a", "/b"}[r.IntN(2)]
			text := string(rune('A' + i))
			switch n := r.IntN(3); {
			case r.IntN(4) == 0:
				seq = append(seq, change(file.Touched, p, ""))
			case !open[p]:
				seq, open[p] = append(seq, change(file.Opened, p, text)), true
			case n == 0:
				seq, open[p] = append(seq, change(file.Closed, p, "")), false
			default:
				seq = append(seq, change(file.Edited, p, text))
			}
		}
		short := file.Coalesce(seq)
		if len(short) > 4 {
			t.Fatalf("%d changes of two paths: %+v", len(short), short)
		}
		want, changed := start.Apply(seq)
		got, changedShort := start.Apply(short)
		if !reflect.DeepEqual(got, want) || !slices.Equal(changed, changedShort) {
			t.Fatalf("%+v\ncoalesced to %+v\ngive %+v, %q and %+v, %q", seq, short, want, changed, got, changedShort)
		}
	}
}
