package main

// questions are asked of Go's standard library: phrases, identifiers and
// whole sentences.
func questions() []string {
	return []string{
		"how are http redirects followed", "ListenAndServe", "where is the garbage collector's write barrier",
		"parse a duration string", "read a tar header", "TLS handshake client hello", "json decoder unknown fields",
		"sort.Slice", "how does the scheduler steal work", "copy a file tree", "regular expression backtracking limit",
		"verify an RSA signature", "url query escape", "format a time with a layout", "mutex starvation mode",
		"compress with deflate", "walk a directory", "escape html in templates", "reflect call a method by name",
		"cancel a context when the parent is done", "parse go source comments", "type check generic functions",
		"linker relocation for amd64", "unmarshal xml attributes", "DNS resolver retry", "multipart form upload limit",
		"base64 padding", "big integer exponentiation", "runtime stack growth", "pool of temporary objects",
		"where is syscall.Errno turned into text", "test coverage profile merge", "zip file central directory",
		"websocket", "http2 flow control window", "what does bufio.Scanner do with long lines", "random number seed",
		"find executable in PATH", "signal notify channel", "escape analysis of closures",
	}
}
