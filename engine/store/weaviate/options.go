// Package weaviate keeps a shared index, and stores of single workspaces, in a
// Weaviate cluster. It speaks the engine's REST and GraphQL interfaces.
//
// [Open] gives a sharedindex.Backend, [OpenStore] a store.Store.
//
// # What lies where
//
// Every collection is multi-tenant: a tenant is a shard of its own, so that no
// query reaches another one's objects.
//
//	CoderagHead            heads of repositories
//	CoderagState           leases and manifests; stores' records
//	CoderagVector          stores' vectors
//	CoderagDocument_<e>    one object per file: all of it, packed. Read by id only.
//	CoderagPosting_<e>     one object per chunk: its words by field, and a vector.
//
// where <e> names an edition. A collection's description says by which schema it
// was made.
//
// Ids are version 5 UUIDs of names, so that whoever writes an object again
// writes the same one, and nothing is ever deleted by a predicate: the replicas' matches
// of one are united, so that a replica that lags would have fresh objects
// deleted.
//
// # What is read how
//
// Where an outdated answer would do harm (heads, leases, manifests) objects are
// read by id with a quorum of the replicas, which sees every acknowledged write
// whichever replica lags. Documents are read by their ids several at a time, each compared with
// another replica's, and by id as well where these differ or one is missing. Searches ask one
// replica: what they find are candidates, which are judged by their documents.
package weaviate

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"coderag-ls/engine/sharedindex"
)

// Level is how many replicas have to answer.
type Level string

// The consistency levels.
const (
	One    Level = "ONE"
	Quorum Level = "QUORUM"
	All    Level = "ALL"
)

// Levels are the consistency levels by operation; "" means the default.
// Read and Write together must overlap (Quorum and Quorum, or One and All) for
// what is acknowledged to be seen.
type Levels struct {
	// Write of any object; Quorum.
	Write Level
	// Read of documents, heads, leases and manifests, all by id; Quorum.
	Read Level
	// Search of postings; One.
	Search Level
}

// The indexes of vectors, for Options.VectorIndex.
const (
	// Dynamic scans a tenant's vectors until there are ten thousand of
	// them and builds an HNSW graph then.
	Dynamic = "dynamic"
	// HNSW is a graph from the first vector on.
	HNSW = "hnsw"
	// Flat scans all vectors.
	Flat = "flat"
)

// The quantisations of vectors in memory, for Options.Quantization. Vectors on
// disk stay as they are, and the best of what is found is scored anew by them.
const (
	// Rotational takes a byte for a value, needs no training.
	Rotational = "rq"
	// Scalar takes a byte for a value, is trained on the first vectors.
	Scalar = "sq"
	// Binary takes a bit for a value.
	Binary = "bq"
	// Unquantized takes four bytes for a value.
	Unquantized = "none"
)

// Options say where the engine is and how it is used.
type Options struct {
	// Endpoints are the base URLs of the cluster's nodes, such as
	// https://weaviate-0.example.org; one at least.
	Endpoints []string
	// APIKey is sent as a bearer token; "" for none.
	APIKey string
	// CAFile is a PEM file of certificates that are trusted beside the system's.
	CAFile string
	// TLS are the client's settings, such as a certificate of its own; nil for
	// the default ones. CAFile is added to a copy.
	TLS *tls.Config
	// Dial connects; nil for the net package's dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Tenant is whose repositories are read and written: up to 64 letters, digits, '-' and
	// '_'; "" for "default".
	Tenant string
	// Edition of the documents; of no matter to OpenStore.
	Edition sharedindex.Edition
	// Replication is how many nodes keep each object, in collections that have
	// yet to be made; 0 for as many as there are, three at most.
	Replication int
	// Timeout bounds each request that reads; 0 for 10 s. Requests that write get
	// a second more for each MiB.
	Timeout time.Duration
	// Levels are the consistency levels.
	Levels Levels
	// VectorIndex and Quantization choose the vectors' index in collections
	// that have yet to be made; "" for HNSW and Rotational.
	VectorIndex, Quantization string
	// Lease is how long a publisher that is not heard of keeps its repository,
	// as measured by whoever waits for it; it renews its lease ten
	// times as often. 0 for 15 s. All publishers should have the same.
	Lease time.Duration
	// Owner says for people who publishes; "" for "pid <n> on <host> since <time>".
	Owner string
	// Prefix begins the names of the collections; "" for "Coderag".
	Prefix string
}

var (
	tenantName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	prefixName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,40}$`)
)

// complete checks the options and fills in the defaults.
func (o Options) complete() (Options, error) {
	if len(o.Endpoints) == 0 {
		return o, errors.New("no endpoint of the shared index is given (shared.endpoints)")
	}
	endpoints := make([]string, 0, len(o.Endpoints))
	seen := map[string]bool{}
	for _, e := range o.Endpoints {
		e = strings.TrimRight(strings.TrimSpace(e), "/")
		u, err := url.Parse(e)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return o, fmt.Errorf("endpoint %q of the shared index (shared.endpoints) is no URL such as https://weaviate-0.example.org", e)
		}
		if !seen[e] {
			seen[e] = true
			endpoints = append(endpoints, e)
		}
	}
	o.Endpoints = endpoints
	if o.Tenant == "" {
		o.Tenant = "default"
	}
	if !tenantName.MatchString(o.Tenant) {
		return o, fmt.Errorf("tenant %q of the shared index (shared.tenant): up to 64 letters, digits, '-' and '_' make a name", o.Tenant)
	}
	if o.Prefix == "" {
		o.Prefix = "Coderag"
	}
	if !prefixName.MatchString(o.Prefix) {
		return o, fmt.Errorf("prefix %q of the shared index's collections: a capital letter and up to 40 letters and digits make one", o.Prefix)
	}
	if strings.ContainsAny(o.APIKey, "\r\n") {
		return o, errors.New("the API key of the shared index has a line break in it")
	}
	if o.Replication < 0 {
		return o, fmt.Errorf("replication %d of the shared index (shared.replication) is negative", o.Replication)
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Lease <= 0 {
		o.Lease = 15 * time.Second
	}
	for _, l := range []struct {
		at    *Level
		value Level
	}{{&o.Levels.Write, Quorum}, {&o.Levels.Read, Quorum}, {&o.Levels.Search, One}} {
		switch *l.at {
		case "":
			*l.at = l.value
		case One, Quorum, All:
		default:
			return o, fmt.Errorf("consistency level %q is none of %s, %s and %s", *l.at, One, Quorum, All)
		}
	}
	if o.VectorIndex == "" {
		o.VectorIndex = HNSW
	}
	if o.Quantization == "" {
		o.Quantization = Rotational
	}
	switch o.VectorIndex {
	case HNSW, Flat, Dynamic:
	default:
		return o, fmt.Errorf("vector index %q is none of %s, %s and %s", o.VectorIndex, HNSW, Flat, Dynamic)
	}
	switch o.Quantization {
	case Rotational, Scalar, Binary, Unquantized:
	default:
		return o, fmt.Errorf("quantisation %q is none of %s, %s, %s and %s", o.Quantization, Rotational, Scalar, Binary, Unquantized)
	}
	if o.Owner == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "a host without name"
		}
		o.Owner = fmt.Sprintf("pid %d on %s since %s", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	}
	return o, nil
}

// transport is how endpoints are spoken to.
func (o *Options) transport() (*http.Transport, error) {
	conf := o.TLS.Clone()
	if conf == nil {
		conf = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("reading the certificates of the shared index (shared.caFile): %w", err)
		}
		roots := conf.RootCAs
		if roots == nil {
			if roots, err = x509.SystemCertPool(); err != nil {
				roots = x509.NewCertPool()
			}
		} else {
			roots = roots.Clone()
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading the certificates of the shared index (shared.caFile): %s holds no certificate in PEM form", o.CAFile)
		}
		conf.RootCAs = roots
	}
	dial := o.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dial,
		TLSClientConfig:     conf,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConns:        4 * parallel * len(o.Endpoints),
		MaxIdleConnsPerHost: 4 * parallel,
		IdleConnTimeout:     time.Minute,
	}, nil
}

// editionName is what an edition's collections are called after.
func editionName(e sharedindex.Edition) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%q %d %q", e.ChunkVersion, e.Tokenizer, e.Model.Fingerprint))
	return hex.EncodeToString(h[:6])
}
