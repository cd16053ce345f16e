package memory

import (
	"os"
	"path/filepath"
	"testing"
)

func TestControlGroups(t *testing.T) {
	mount := t.TempDir()
	put := func(path, content string) {
		t.Helper()
		file := filepath.Join(mount, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a/memory.max", "1000000\n")
	put("a/b/memory.max", "max\n")
	put("small/memory.max", "500\n")
	put("memory/v1/memory.limit_in_bytes", "700\n")
	put("memory/free/memory.limit_in_bytes", "9223372036854771712\n")
	put("memory.max", "2000000\n") // in a container the mount's root is its own
	for groups, want := range map[string]int64{
		"0::/a/b\n":                      1000000, // the parent's
		"0::/small\n":                    500,
		"0::/host/path/not/here\n":       2000000,
		"9:cpu,memory:/v1\n1:name=x:/\n": 700,
		"9:memory:/free\n":               0,
		"":                               0,
		"nonsense\n0::\n":                2000000,
		"3:cpuset:/v1\n":                 0,
	} {
		if got := grantedBy(groups, mount); got != want {
			t.Errorf("%q grants %d, want %d", groups, got, want)
		}
	}
	if machine() <= 0 {
		t.Error("this machine's memory is not known")
	}
}
