// Package sharedindex is one index for many repositories and many editors,
// kept by a distributed engine that others run: what is published into it
// ([Publish]) and how it is read ([Reader]). An engine is a [Backend];
// store/weaviate is one. sharedindextest is the conformance suite of all.
//
// The unit of truth is the [Document]: a whole file with its text, its chunks
// and their vectors, written and replaced as one. Beside it stand postings, one
// per chunk (words and a vector), by which documents are found. Whoever
// searches asks for two lists of postings, one by words and one by vector,
// reads the documents that they name, and ranks these with what is local by
// the ranking of engine/search. So a posting that is left over from an older text
// finds a document that is then judged by what it holds now: it can neither be cited nor
// counted twice. What a reader is shown is whole files only.
//
// Everything is written and deleted by id, never by a predicate: the replicas'
// matches of a predicate are united, so that one that lags would have fresh
// objects deleted.
package sharedindex

import (
	"context"
	"errors"
	"time"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/store"
)

// The errors that callers tell apart with errors.Is.
var (
	// ErrUnreachable: no endpoint answered in time, or too few replicas did. It may pass.
	ErrUnreachable = errors.New("shared index is not reachable")
	// ErrDenied: the key is missing, wrong, or not good for what was asked.
	ErrDenied = errors.New("shared index denies access")
	// ErrSchema: what is stored was written by another version of the program
	// and cannot be read or written by this one.
	ErrSchema = errors.New("shared index has another schema")
	// ErrPublishing: another process publishes the repository now.
	ErrPublishing = errors.New("repository is being published by another process")
	// ErrNoRepository: nothing was published under the name.
	ErrNoRepository = errors.New("no such repository in the shared index")
)

// Edition names what documents of one kind have in common: they were made by
// the same chunker, tokenizer and model, so that their words and vectors can be
// compared. Editions stand side by side, so that a new model can be published
// while the old one is read.
type Edition struct {
	// ChunkVersion is store.FileRecord.ChunkVersion of the default settings.
	ChunkVersion string
	// Tokenizer is lexical.TokenizerVersion.
	Tokenizer int
	// Model is the model of the vectors.
	Model embed.Model
}

// Document is a file as it is published.
type Document struct {
	// Record is what is known of the file; its Path is relative to the
	// repository, its ModTime 0.
	Record store.FileRecord
	// Text is the file's whole text, UTF-8; its SHA-256 is Record.Hash.
	Text string
	// Commit is one at which the repository holds the file with this text: that of the
	// publication that wrote it.
	Commit string
	// Vectors are the content vectors of Record.File.Chunks, in order, one per chunk, without
	// the path's (as a store keeps them); Values is nil where a chunk has none.
	Vectors []store.Vector
	// Rows are what is searched for: per chunk, in order, the unit vector of content and path.
	// [chunks][dim]float32; nil where a chunk has none.
	Rows [][]float32
	// Words are, per chunk, the distinct terms of the tokenizer by field.
	Words []Words
}

// Words are the terms of one chunk as the tokenizer makes them, exact ones
// included, by field, repeated as often as they occur.
type Words [lexical.NumFields][]string

// ID names a document.
type ID struct{ Repository, Path string }

// Entry is a document in a manifest.
type Entry struct {
	Path   string
	Hash   file.Hash
	Chunks int
}

// Head is what is known of a published repository.
type Head struct {
	// Repository is the name that it was published under, such as
	// "github.com/spf13/cobra".
	Repository string
	// Commit is the commit that Complete is about: the last one that was
	// published wholly. "" where none was.
	Commit string
	// Publishing is the commit that is being written, "" where none is. Documents
	// are then of either commit, each whole.
	Publishing string
	// Generation grows with every publication that began or ended. Readers tell by it
	// whether what they remember still holds; no clock is asked.
	Generation uint64
	// Edition of the documents.
	Edition Edition
	// Files and Chunks are counted at the end of a publication; Terms are the terms of
	// all chunks by field, for BM25F's mean lengths.
	Files, Chunks int
	Terms         [lexical.NumFields]uint64
	// Published is when, for people.
	Published time.Time
}

// Statistics are those of a repository's words, by which rare ones are told from frequent ones.
type Statistics struct {
	// Terms are the lengths of all chunks by field, added up (Head.Terms).
	Terms [lexical.NumFields]uint64
	// DF is in how many chunks each term occurs that occurs in one, by its text.
	DF map[string]int
}

// Complete reports whether a commit was published wholly.
func (h *Head) Complete() bool { return h.Commit != "" }

// Found is a posting that a search found: a chunk of a document, by its number in the file.
type Found struct {
	ID
	Ordinal int
	Score   float64
}

// Scope says where to search.
type Scope struct {
	// Repositories by name; not empty.
	Repositories []string
	// Languages keep to documents in one of them, where there are any.
	Languages []string
}

// Backend is one tenant's and one edition's part of a distributed engine. It is safe for concurrent
// use. Errors are those of this package, wrapped with what was being done.
type Backend interface {
	// Heads tells the repositories of every edition, by name. One that is being
	// published for the first time is there, without a commit.
	Heads(ctx context.Context) ([]Head, error)
	// Manifest calls fn with every document of a repository, in no particular
	// order.
	Manifest(ctx context.Context, repository string, fn func(Entry) error) error
	// Documents reads documents, without Rows and Words; those that are not there are absent.
	Documents(ctx context.Context, ids []ID) (map[ID]Document, error)
	// Words returns the k postings that answer best by BM25 over the terms'
	// texts, best first. It may weigh fields as it can: the order is the ranking's to decide.
	Words(ctx context.Context, in Scope, terms []lexical.Term, k int) ([]Found, error)
	// Nearest returns the k postings nearest to a unit vector by cosine, best
	// first.
	Nearest(ctx context.Context, in Scope, query []float32, k int) ([]Found, error)
	// Frequencies returns in how many chunks of a repository terms occur, by their texts, as
	// Writer.Count told it last; those that occur in none are absent.
	Frequencies(ctx context.Context, repository string, terms []string) (map[string]int, error)
	// Write begins a publication. ErrPublishing where somebody else writes the repository.
	Write(ctx context.Context, repository string) (Writer, error)
	// Remove removes a repository wholly, of this edition.
	Remove(ctx context.Context, repository string) error
	// Close gives connections up.
	Close() error
}

// Auditor is a Backend that can tell what postings are stored, whatever its
// documents say. [Publish] asks it where everything is to be verified.
type Auditor interface {
	// Postings calls fn with every stored posting of a repository, in no particular order.
	Postings(ctx context.Context, repository string, fn func(path string, ordinal int) error) error
}

// Sweeper is a Writer that removes postings that no document accounts for, by id.
type Sweeper interface {
	Sweep(ctx context.Context, path string, ordinals []int) error
}

// Writer writes one repository. It holds the repository's lease until Close. It
// is safe for concurrent use. Every method may be called again after an error,
// with the same arguments: what was written is written over.
type Writer interface {
	// Begin notes the commit that is going to be written.
	Begin(ctx context.Context, commit string) error
	// Put replaces documents, each as a whole.
	Put(ctx context.Context, documents []Document) error
	// Delete removes documents by path, with their postings.
	Delete(ctx context.Context, paths []string) error
	// Count replaces what Frequencies tells of the repository: in how many chunks each term
	// occurs, all of them.
	Count(ctx context.Context, df map[string]int) error
	// Finish says that all of the head's commit is written. Head.Generation and Published are set by it.
	Finish(ctx context.Context, head Head) error
	// Close gives the lease up. A publication that was not finished stays
	// readable; the next one goes on with it.
	Close() error
}
