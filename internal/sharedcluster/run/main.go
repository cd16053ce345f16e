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
	flags := flag.NewFlagSet("run", flag.ExitOnError)
	nodes := flags.Int("nodes", 3, "how many `nodes`")
	memory := flags.Int("memory", 512, "GOMEMLIMIT of each node, in `MiB`")
	keep := flags.String("dir", "", "`folder` for data and logs, kept; a temporary one by default")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "run [flags] COMMAND [ARGUMENT...]")
		flags.PrintDefaults()
	}
	_ = flags.Parse(os.Args[1:]) // it exits where it fails
	if flags.NArg() == 0 {
		flags.Usage()
		os.Exit(2)
	}
	code, err := run(*nodes, *memory, *keep, flags.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
	}
	os.Exit(code)
}
