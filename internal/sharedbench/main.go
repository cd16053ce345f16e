// Command sharedbench measures what a shared index costs: it publishes real
// code of growing size into a cluster of three nodes on this machine, in a
// network of its own, and measures at each size how fast it went, what the
// nodes keep on disk and in memory, and how long searches take. It prints one
// line of JSON per size, which scripts/shared-sizing.py reads.
//
//	CODERAG_SHARED_ENGINE=$(scripts/shared-engine.sh) go run ./internal/sharedbench -corpus $(go env GOROOT)/src/cmd
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// options say what is measured.
type options struct {
	corpus              string
	sizes               []int
	index, quantization string
	memory, questions   int
	rest                time.Duration
}

func main() {
	var o options
	var sizes string
	flag.StringVar(&o.corpus, "corpus", "", "`folder` of code to publish, such as $(go env GOROOT)/src/cmd")
	flag.StringVar(&sizes, "sizes", "5000,20000,60000", "`numbers` of chunks at which is measured")
	flag.StringVar(&o.index, "index", "hnsw", "vector index: hnsw, flat or dynamic")
	flag.StringVar(&o.quantization, "quantization", "rq", "rq, sq, bq or none")
	flag.IntVar(&o.memory, "memory", 900, "GOMEMLIMIT of each node, in `MiB`")
	flag.IntVar(&o.questions, "questions", 200, "searches per measurement")
	flag.DurationVar(&o.rest, "rest", 20*time.Second, "how long the nodes rest before searches are measured again")
	flag.Parse()
	if o.corpus == "" {
		fmt.Fprintln(os.Stderr, "sharedbench: -corpus names no folder")
		os.Exit(2)
	}
	for _, s := range strings.Split(sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			fmt.Fprintf(os.Stderr, "sharedbench: -sizes: %q is no number of chunks\n", s)
			os.Exit(2)
		}
		o.sizes = append(o.sizes, n)
	}
	code, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sharedbench:", err)
	}
	os.Exit(code)
}
