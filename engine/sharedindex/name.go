package sharedindex

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// maxName bounds a repository's name, in bytes.
const maxName = 512

// CheckName refuses what cannot be the name of a repository: names stand in
// citations, paths and filters.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the repository has no name")
	case len(name) > maxName:
		return fmt.Errorf("the repository's name has %d bytes, the most is %d", len(name), maxName)
	case strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune(`@:\*?"<>|`, r)
	}):
		return fmt.Errorf("%q cannot name a repository: no spaces and none of @ : \\ * ? \" < > |, as in github.com/spf13/cobra", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("%q cannot name a repository: it is no path such as github.com/spf13/cobra", name)
		}
	}
	return nil
}

// scp is git's short form of SSH URLs: user@host:path.
var scp = regexp.MustCompile(`^(?:[^@/]+@)?([^:/]+):(.+)$`)

// NameOfURL is the name of the repository that a git URL leads to: host and path,
// without user, port, or what follows the name. ok is false where it has no host, as a
// folder's.
func NameOfURL(remote string) (name string, ok bool) {
	remote = strings.TrimSpace(remote)
	var host, path string
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil || u.Scheme == "file" {
			return "", false
		}
		host, path = u.Hostname(), u.Path
	} else if m := scp.FindStringSubmatch(remote); m != nil && len(m[1]) > 1 { // one letter is a drive
		host, path = m[1], m[2]
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if host == "" || path == "" {
		return "", false
	}
	name = strings.ToLower(host) + "/" + path
	return name, CheckName(name) == nil
}
