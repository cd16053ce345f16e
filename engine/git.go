package engine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"coderag-ls/engine/sharedindex"
)

// gitPatience is how long git may take to tell what a repository is called.
const gitPatience = 3 * time.Second

// RepositoryName is the name of a folder's repository by the URL of its remote
// origin, such as github.com/spf13/cobra; "" where the folder is not the top of a git
// repository, or that has no such remote.
func RepositoryName(ctx context.Context, dir string) string {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return ""
	}
	exe, err := exec.LookPath("git")
	if err != nil {
		return "" // also where it was found in the folder itself
	}
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, "-C", dir, "config", "--get", "remote.origin.url")
	cmd.WaitDelay = time.Second
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); !strings.HasPrefix(strings.ToUpper(name), "GIT_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	out, err := cmd.Output()
	if err != nil {
		return "" // there is none
	}
	name, _ := sharedindex.NameOfURL(string(out))
	return name
}
