package text

import (
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
)

// PathFromURI returns the absolute path that a file URI (RFC 8089) names, in
// the operating system's form: "file:///a%20b" is "/a b", and on Windows
// "file:///c%3A/x" is `C:\x` and "file://server/share" is `\\server\share`.
// Any other scheme ("untitled:", "git:"), a remote host elsewhere than on
// Windows, and a broken escape are errors. A query and a fragment are dropped.
func PathFromURI(uri string) (string, error) {
	return pathFromURI(uri, runtime.GOOS == "windows")
}

// URIFromPath returns the file URI of an absolute path. Every byte but
// letters, digits and "-._~/" is escaped (and a drive's colon is not), so that
// PathFromURI gives the path back whatever its name holds.
func URIFromPath(path string) string {
	return uriFromPath(path, runtime.GOOS == "windows")
}

func pathFromURI(uri string, windows bool) (string, error) {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || strings.ContainsAny(scheme, "/\\?#% ") {
		return "", fmt.Errorf("%q is not a URI", uri)
	}
	if !strings.EqualFold(scheme, "file") {
		return "", fmt.Errorf("the scheme of %q is %q: only file URIs have a path", uri, scheme)
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	host := ""
	if strings.HasPrefix(rest, "//") {
		host, rest = rest[2:], ""
		if i := strings.IndexByte(host, '/'); i >= 0 {
			host, rest = host[:i], host[i:]
		}
	}
	host, err := url.PathUnescape(host)
	if err != nil {
		return "", fmt.Errorf("decoding the host of %q: %w", uri, err)
	}
	path, err := url.PathUnescape(rest)
	if err != nil {
		return "", fmt.Errorf("decoding %q: %w", uri, err)
	}
	if err := checkPath(host, path, windows); err != nil {
		return "", fmt.Errorf("the file URI %q %w", uri, err)
	}
	if !windows {
		return path, nil
	}
	if len(path) > 2 && isDrive(path[1:]) {
		path = strings.ToUpper(path[1:2]) + path[2:]
		if len(path) == 2 {
			path += "/" // "C:" alone is the drive's current directory
		}
	}
	if local(host) {
		host = ""
	} else {
		host = "//" + host
	}
	return strings.ReplaceAll(host+path, "/", `\`), nil
}

func checkPath(host, path string, windows bool) error {
	switch {
	case !strings.HasPrefix(path, "/"):
		return errors.New("has no absolute path")
	case strings.IndexByte(host+path, 0) >= 0:
		return errors.New("holds a NUL byte")
	case !windows && !local(host):
		return fmt.Errorf("is on the host %q: only local files are indexed", host)
	}
	return nil
}

func local(host string) bool { return host == "" || strings.EqualFold(host, "localhost") }

func uriFromPath(path string, windows bool) string {
	host := ""
	if windows {
		path = strings.ReplaceAll(path, `\`, "/")
		path = strings.TrimPrefix(path, "//?/")
		if strings.HasPrefix(path, "UNC/") {
			path = "//" + path[len("UNC/"):]
		}
		if strings.HasPrefix(path, "//") {
			host, path = path[2:], "/"
			if i := strings.IndexByte(host, '/'); i >= 0 {
				host, path = host[:i], host[i:]
			}
		}
	}
	var b strings.Builder
	b.Grow(len("file:///") + len(host) + len(path) + 8)
	b.WriteString("file://")
	escape(&b, host)
	switch {
	case windows && isDrive(path):
		b.WriteString("/" + strings.ToUpper(path[:1]) + ":")
		path = path[2:]
	case !strings.HasPrefix(path, "/"):
		b.WriteByte('/')
	}
	escape(&b, path)
	return b.String()
}

// isDrive reports whether a path starts with a Windows drive.
func isDrive(path string) bool {
	if len(path) < 2 || path[1] != ':' || (len(path) > 2 && path[2] != '/') {
		return false
	}
	c := path[0] | 0x20
	return 'a' <= c && c <= 'z'
}

func escape(b *strings.Builder, s string) {
	const hexDigits = "0123456789ABCDEF"
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '-', c == '.', c == '_', c == '~', c == '/':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
}
