// Command run starts a cluster of the shared index's engine in a network of
// its own, runs a command in there, and ends with its exit status:
//
//	CODERAG_SHARED_ENGINE=.cache/weaviate/weaviate-server go run ./internal/sharedcluster/run go test ./engine/store/weaviate
//
// The command finds the cluster in CODERAG_SHARED_ENDPOINTS, CODERAG_SHARED_API_KEY
// and CODERAG_SHARED_READER_KEY. It reaches nothing but the cluster.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	nodes := flag.Int("nodes", 3, "how many `nodes`")
	memory := flag.Int("memory", 512, "GOMEMLIMIT of each node, in `MiB`")
	keep := flag.String("dir", "", "`folder` for data and logs, kept; a temporary one by default")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "run [flags] COMMAND [ARGUMENT...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	code, err := run(*nodes, *memory, *keep, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
	}
	os.Exit(code)
}
