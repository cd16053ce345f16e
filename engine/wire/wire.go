// Package wire declares the requests and results that every door speaks: the
// language server's coderag/* methods, the CLI's --json and the MCP tools. It
// is the one contract; docs/wire.md is generated from it.
//
// Paths are slash-separated and relative to their workspace folder; with
// several folders they are prefixed with the folder's name. startLine and
// endLine are 1-based and inclusive. range is {startLine-1, 0}..{endLine, 0},
// which is valid in every position encoding. Times are milliseconds.
package wire

// Position is an LSP position (0-based).
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is an LSP range; End is exclusive.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Document names a text document and, optionally, a range in it.
type Document struct {
	URI   string `json:"uri"`
	Range *Range `json:"range,omitempty"`
}

// Filters limit what is searched. All given are hard except Folders, which
// raises matching paths (PRD, metadata filter).
type Filters struct {
	// Omit are folders and glob patterns of files whose text is in no result, as the
	// setting llm.neverSend names them. Unlike the others it is never given up.
	Omit []string `json:"omit,omitempty"`

	// Repositories are names, ends of names or glob patterns of repositories of the shared
	// index; the workspace's own count by that name or by their folder's. It is never given up, either.
	Repositories []string `json:"repositories,omitempty"`

	SourceTypes  []string `json:"sourceTypes,omitempty"`
	Folders      []string `json:"folders,omitempty"`
	FilePatterns []string `json:"filePatterns,omitempty"`
	Languages    []string `json:"languages,omitempty"`
	Layers       []string `json:"layers,omitempty"`
	Symbols      []string `json:"symbols,omitempty"`
	Imports      []string `json:"imports,omitempty"`
	ChunkTypes   []string `json:"chunkTypes,omitempty"`
}

// Turn is one earlier question and its answer.
type Turn struct {
	Query  string `json:"query"`
	Answer string `json:"answer"`
}

// SearchParams are those of coderag/search.
type SearchParams struct {
	Query    string    `json:"query"`
	Document *Document `json:"document,omitempty"`
	Filters  Filters   `json:"filters"`
	// TopK is the number of hits, 0 for the setting search.topK.
	TopK int `json:"topK,omitempty"`
}

// AskParams are those of coderag/ask and coderag/context. The tokens
// partialResultToken and workDoneToken are the LSP door's own.
type AskParams struct {
	SearchParams
	// TokenBudget is the context's size in tokens, 0 for the model's window.
	TokenBudget int    `json:"tokenBudget,omitempty"`
	History     []Turn `json:"history,omitempty"`
	// LLM is "none" where this question is to be answered without a language
	// model whatever is set, else "".
	LLM string `json:"llm,omitempty"`
}

// LLMNone is the value of AskParams.LLM that does without a language model.
const LLMNone = "none"

// RangeParams are those of coderag/similar and coderag/explain.
type RangeParams struct {
	Document Document `json:"document"`
	TopK     int      `json:"topK,omitempty"`
}

// ReindexParams are those of coderag/reindex; no paths means everything.
type ReindexParams struct {
	Paths []string `json:"paths,omitempty"`
}

// SyncParams are those of coderag/sync, which answers when every change
// received before it is lexically searchable.
type SyncParams struct {
	// Scan compares the disk with the index first.
	Scan bool `json:"scan,omitempty"`
	// Vectors waits for the vectors too.
	Vectors bool `json:"vectors,omitempty"`
}

// The values of Citation.Verified.
const (
	VerifiedExact = "exact" // the lines stand where they were indexed
	VerifiedMoved = "moved" // the same lines were found elsewhere in the file
)

// Citation is a range of lines with the proof: Text is exactly the lines as
// they stood when the answer was emitted, joined by "\n" without a final
// newline, and SHA256 is the hex digest of its UTF-8.
//
// Of a file of another repository (setting shared.repositories) Root is
// repository@commit, Path repository@commit:path, and URI a read-only copy.
type Citation struct {
	ID        string   `json:"id"` // path:startLine-endLine
	URI       string   `json:"uri"`
	Path      string   `json:"path"`
	Root      string   `json:"root"`
	Range     Range    `json:"range"`
	StartLine int      `json:"startLine"`
	EndLine   int      `json:"endLine"`
	Text      string   `json:"text"`
	SHA256    string   `json:"sha256"`
	Symbol    string   `json:"symbol,omitempty"`
	Kind      string   `json:"kind,omitempty"`
	Language  string   `json:"language,omitempty"`
	Score     float64  `json:"score"`
	Why       []string `json:"why"`
	Verified  string   `json:"verified"`
	// WebLink leads to the lines of another repository, where shared.webLink is set.
	WebLink string `json:"webLink,omitempty"`
}

// Related is a place connected to the primary results.
type Related struct {
	Path      string `json:"path"`
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	// Relation is what the primary result has to the place (imports, calls,
	// implemented_by, imported_by, called_by, references, referenced_by,
	// sibling_file) or the place to it (test_for, tested_by, interface_of).
	Relation string `json:"relation"`
	Distance int    `json:"distance"`
}

// Graph is an excerpt of the dependency graph: files, and how they hang
// together.
type Graph struct {
	Nodes []string `json:"nodes"`
	Edges []Edge   `json:"edges"`
}

// Edge is one connection of a Graph.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"` // imports, calls, test_for, implements, references, sibling_file
}

// Request is one retrieval request of a plan.
type Request struct {
	Query        string   `json:"query"`
	SourceTypes  []string `json:"sourceTypes,omitempty"`
	Folders      []string `json:"folders,omitempty"`
	FilePatterns []string `json:"filePatterns,omitempty"`
	Reasoning    string   `json:"reasoning"`
	TopK         int      `json:"topK,omitempty"`
}

// Plan tells how a question was understood.
type Plan struct {
	Route        string    `json:"route"`  // fast_path, rules, llm
	Intent       string    `json:"intent"` // find_definition, find_usage, understand_module, find_similar, general
	CleanedQuery string    `json:"cleanedQuery"`
	Requests     []Request `json:"requests"`
	// Fallback names the filter relaxation that was needed, "" if none.
	Fallback string `json:"fallback,omitempty"`
	// Notes tell what a language model did to the plan, one sentence for each
	// step, and why a step had no effect.
	Notes []string `json:"notes,omitempty"`
	// Entities are what the question names; Languages and ChunkTypes what its
	// words hint at, which raises what fits and excludes nothing.
	Entities   []Entity `json:"entities,omitempty"`
	Languages  []string `json:"languages,omitempty"`
	ChunkTypes []string `json:"chunkTypes,omitempty"`
	// Expanded are the words that were searched for beside the question's own.
	Expanded []string `json:"expanded,omitempty"`
	// Repaired are names that nothing has, and what was searched for instead.
	Repaired []Repair `json:"repaired,omitempty"`
}

// Entity is something that a question names.
type Entity struct {
	Kind string `json:"kind"` // path, pascal, camel, snake, dotted, identifier, hex, quoted, error
	Text string `json:"text"`
	Line int    `json:"line,omitempty"` // of a path, 1-based
}

// Repair is a misspelt name and the defined one that it was read as.
type Repair struct {
	Asked string `json:"asked"`
	Name  string `json:"name"`
}

// Coverage says how complete and fresh the index was.
type Coverage struct {
	Indexed int `json:"indexed"` // files searchable
	Total   int `json:"total"`   // files to be indexed
	Pending int `json:"pending"` // files not yet lexically searchable
	// Shared counts those of Indexed and Total that are found through the shared index and
	// not indexed here.
	Shared int `json:"shared,omitempty"`
	// Skipped counts files and directories by skip reason.
	Skipped      map[string]int `json:"skipped"`
	VectorsReady float64        `json:"vectorsReady"` // 0-1, the slowest list's share
	Stale        bool           `json:"stale"`        // changes are known that are not searchable yet
	Seq          uint64         `json:"seq"`          // the snapshot's number
}

// Candidates counts the candidates per stage.
type Candidates struct {
	Lexical int `json:"lexical"`
	Vector  int `json:"vector"`
	Fused   int `json:"fused"`
}

// Metrics are those of one query.
type Metrics struct {
	Timings    map[string]float64 `json:"timings"` // ms per stage: analysis, search, rank, verify, total
	Candidates Candidates         `json:"candidates"`
	CacheHit   bool               `json:"cacheHit"` // the hits are those of an earlier search; their lines were read anew
	TokensUsed int                `json:"tokensUsed"`
	TopScore   float64            `json:"topScore"`
	MeanScore  float64            `json:"meanScore"`
	LLM        *LLMUsage          `json:"llm,omitempty"` // where a language model was asked
}

// LLMUsage is what a language model was asked for one question.
type LLMUsage struct {
	Calls int `json:"calls"`
	// InputTokens and OutputTokens are the provider's count where it tells, else
	// a quarter of the bytes.
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"`
	// FirstToken is the time in ms from the call that wrote the answer to its
	// first text, 0 where none came.
	FirstToken float64 `json:"firstToken"`
}

// ModelInfo names the models an answer used.
type ModelInfo struct {
	Embedder string  `json:"embedder"` // "code-256", "code-256 + all-MiniLM-L6-v2", "none (lexical only)"
	LLM      *string `json:"llm"`      // null when none was used
}

// AskResult is the answer to coderag/ask.
type AskResult struct {
	Answer    string     `json:"answer"` // Markdown, citations as [path:start-end]
	Citations []Citation `json:"citations"`
	Dropped   int        `json:"dropped"` // citations that no longer held
	Related   []Related  `json:"related"`
	Graph     Graph      `json:"graph"`
	Plan      Plan       `json:"plan"`
	Coverage  Coverage   `json:"coverage"`
	Metrics   Metrics    `json:"metrics"`
	Model     ModelInfo  `json:"model"`
	Truncated bool       `json:"truncated"`
	FollowUps []string   `json:"followUps"`
	NoAnswer  bool       `json:"noAnswer"` // nothing relevant was found
	// Degraded says what did not take part in the search and why, "" where all
	// did. It is part of Answer, too.
	Degraded string `json:"degraded,omitempty"`
	// Unsupported are the sentences of a language model that are marked
	// UnsupportedMark in the answer: they cite nothing, or name what does not
	// stand in the lines that they cite.
	Unsupported []string `json:"unsupported,omitempty"`
	// Notice says in one sentence why a language model that is set did not write
	// the answer, or not all of it. It is part of Answer, too.
	Notice string `json:"notice,omitempty"`
}

// UnsupportedMark stands behind each sentence of a language model that its
// citations do not support.
const UnsupportedMark = "*(unsupported)*"

// Hit is one ranked chunk.
type Hit struct {
	URI        string   `json:"uri"`
	Path       string   `json:"path"`
	Root       string   `json:"root"`
	StartLine  int      `json:"startLine"`
	EndLine    int      `json:"endLine"`
	Symbol     string   `json:"symbol,omitempty"`
	Kind       string   `json:"kind"`
	SourceType string   `json:"sourceType"`
	Language   string   `json:"language,omitempty"`
	Score      float64  `json:"score"`
	Why        []string `json:"why"`
	Text       string   `json:"text"`
	// WebLink leads to the lines of another repository, where shared.webLink is set.
	WebLink string `json:"webLink,omitempty"`
}

// SearchResult is the answer to coderag/search and coderag/similar.
type SearchResult struct {
	Hits     []Hit     `json:"hits"`
	Plan     Plan      `json:"plan"`
	Coverage Coverage  `json:"coverage"`
	Metrics  Metrics   `json:"metrics"`
	Model    ModelInfo `json:"model"`
	// Degraded says what did not take part in the search and why, "" where all
	// did.
	Degraded string `json:"degraded,omitempty"`
}

// ContextResult is the answer to coderag/context: budgeted Markdown.
type ContextResult struct {
	Content    string     `json:"content"`
	Primary    []Citation `json:"primary"`
	Related    []Related  `json:"related"`
	TokenCount int        `json:"tokenCount"`
	Truncated  bool       `json:"truncated"`
	Plan       Plan       `json:"plan"`
	Coverage   Coverage   `json:"coverage"`
	Metrics    Metrics    `json:"metrics"`
	// Degraded says what did not take part in the search and why, "" where all
	// did.
	Degraded string `json:"degraded,omitempty"`
}

// ExplainResult is the answer to coderag/explain: a symbol's cited
// explanation. Found is false where no symbol stands at the position.
type ExplainResult struct {
	Found       bool       `json:"found"`
	Symbol      string     `json:"symbol"`
	Kind        string     `json:"kind"`
	Signature   string     `json:"signature"`
	Summary     string     `json:"summary"`
	Markdown    string     `json:"markdown"`
	Definitions []Citation `json:"definitions"`
	UsageCount  int        `json:"usageCount"` // lines outside the definitions that name it
	Usages      []Citation `json:"usages"`     // top callers
	Tests       []Citation `json:"tests"`
	Coverage    Coverage   `json:"coverage"`
}

// Counters count since the start.
type Counters struct {
	Batches        int64 `json:"batches"`
	Embedded       int64 `json:"embedded"`
	EmbedCacheHits int64 `json:"embedCacheHits"`
	Commits        int64 `json:"commits"`
	// Searches that were answered from the cache of results: of the same question,
	// of one with the same meaning (search.semanticCache), and that were not.
	SearchCacheHits         int64 `json:"searchCacheHits"`
	SearchCacheSemanticHits int64 `json:"searchCacheSemanticHits"`
	SearchCacheMisses       int64 `json:"searchCacheMisses"`
}

// Distribution is that of the last values of a figure, at most 256.
type Distribution struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50"` // median
	P95   float64 `json:"p95"` // 95th percentile, both by nearest rank
}

// Requests tells what was asked since the start, by all clients.
type Requests struct {
	Methods map[string]int64 `json:"methods"` // by ask, search, similar, context, explain
	Failed  int64            `json:"failed"`  // of them; a request that its client cancelled is none
	// Stages are milliseconds by stage (Metrics.Timings), Candidates those of
	// searches, Scores the top and mean score of results.
	Stages     map[string]Distribution `json:"stages"`
	Candidates map[string]Distribution `json:"candidates"`
	Scores     map[string]Distribution `json:"scores"`
}

// LastBatch is the newest batch of changes.
type LastBatch struct {
	Files int    `json:"files"`
	Cause string `json:"cause"`
}

// Queues are the lengths of the pipeline's queues, in files or chunks.
type Queues struct {
	Index int `json:"index"` // files to chunk
	Embed int `json:"embed"` // chunks to embed
}

// Rates are how fast background work went over the last seconds.
type Rates struct {
	Files  float64 `json:"files"`  // files indexed per second
	Chunks float64 `json:"chunks"` // chunks indexed per second
	Embeds float64 `json:"embeds"` // chunks embedded by the slow model per second
}

// The values of Status.State and RootStatus.State, most important first: of
// several that fit, the first is told.
const (
	StateError       = "error"       // something cannot be indexed: a folder is gone, a model stopped
	StatePaused      = "paused"      // coderag/pause
	StateMemoryLimit = "memoryLimit" // files wait until memory is free
	StateScanning    = "scanning"    // looking for files
	StateIndexing    = "indexing"    // files are not searchable as they stand
	StateEmbedding   = "embedding"   // all words are searchable, vectors are missing
	StateEmpty       = "empty"       // there is nothing to index
	StateReady       = "ready"       // everything is searchable
)

// LastError is the newest thing that went wrong, whether or not it still does.
type LastError struct {
	Message string `json:"message"`
	At      string `json:"at"` // RFC 3339
}

// PauseResult is the answer to coderag/pause and coderag/resume.
type PauseResult struct {
	Paused bool `json:"paused"`
}

// SkippedFile is a file that is not indexed, with the reason.
type SkippedFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// RootStatus is one workspace folder.
type RootStatus struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`
	Index string `json:"index"` // the index directory
	// Memory is true where nothing can be written there: the index is made
	// again at each start.
	Memory bool   `json:"memory,omitempty"`
	Error  string `json:"error,omitempty"`
	State  string `json:"state"` // one of the states above
	// Indexed of Total files are searchable; Pending wait for a worker.
	Indexed int `json:"indexed"`
	Total   int `json:"total"`
	Pending int `json:"pending"`
}

// Owner is the process that keeps the index; others attach to it.
type Owner struct {
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Clients int    `json:"clients"` // processes that are attached
}

// Status is the answer to coderag/status.
type Status struct {
	Version   string         `json:"version"`
	Roots     []RootStatus   `json:"roots"`
	Coverage  Coverage       `json:"coverage"`
	Chunks    int            `json:"chunks"`
	Symbols   int            `json:"symbols"`
	Languages map[string]int `json:"languages"` // files by language
	Counters  Counters       `json:"counters"`
	Requests  Requests       `json:"requests"`
	LastBatch LastBatch      `json:"lastBatch"`
	Watches   int            `json:"watches"`
	WatchCap  int            `json:"watchCap"`
	Queues    Queues         `json:"queues"`
	State     string         `json:"state"` // one of the states above
	Rates     Rates          `json:"rates"`
	// ETASeconds is how long the queues will take at these rates: 0 where
	// nothing waits, null where that is not known.
	ETASeconds *float64 `json:"etaSeconds"`
	Paused     bool     `json:"paused"`
	OnBattery  bool     `json:"onBattery"`
	RSSBytes   int64    `json:"rssBytes"`
	// MemoryLimitBytes is what RSSBytes is kept under, MemoryMeasures what is
	// being done for it now.
	MemoryLimitBytes int64     `json:"memoryLimitBytes"`
	MemoryMeasures   []string  `json:"memoryMeasures"`
	StoreBytes       int64     `json:"storeBytes"`
	Owner            bool      `json:"owner"` // this process owns the index
	OwnedBy          Owner     `json:"ownedBy"`
	Model            ModelInfo `json:"model"`
	// LastError is null where nothing went wrong yet.
	LastError *LastError `json:"lastError"`
	// Notices are messages for the user: a rebuilt store, polling instead of
	// watching, a model that did not load.
	Notices []string `json:"notices"`
	// SkippedFiles lists at most 1,000 skipped paths, in path order.
	SkippedFiles []SkippedFile `json:"skippedFiles"`
	// Shared is the shared index, null where none is set.
	Shared *SharedStatus `json:"shared,omitempty"`
}

// SharedStatus is the shared index as a workspace reads it.
type SharedStatus struct {
	Endpoints []string `json:"endpoints"`
	Tenant    string   `json:"tenant"`
	// Reachable is false where it does not take part; Degraded says why, Since since
	// when (RFC 3339).
	Reachable bool   `json:"reachable"`
	Degraded  string `json:"degraded,omitempty"`
	Since     string `json:"since,omitempty"`
	// Covered counts the workspace's files that are found through it, of those that are published.
	Covered   int `json:"covered"`
	Published int `json:"published"`
	// Repositories are those that are searched, the workspace's own with their folder.
	Repositories []SharedRepository `json:"repositories"`
	// Notices tell what is missing, such as an own repository that is not published.
	Notices []string `json:"notices,omitempty"`
}

// SharedRepository is a repository of the shared index in one edition: what one version of
// the chunker, the tokenizer and the model made.
type SharedRepository struct {
	Repository string `json:"repository"`
	// Folder is the workspace folder that is this repository, "" for others.
	Folder string `json:"folder,omitempty"`
	// Commit was published wholly last, "" where none was; Publishing is being written.
	Commit     string `json:"commit"`
	Publishing string `json:"publishing,omitempty"`
	Generation uint64 `json:"generation"`
	Files      int    `json:"files"`
	Chunks     int    `json:"chunks"`
	Published  string `json:"published,omitempty"` // RFC 3339
	Model      string `json:"model"`
	// Edition tells editions apart; Current is true where it is this program's.
	Edition string `json:"edition"`
	Current bool   `json:"current"`
	// State is complete, publishing (an older commit can be read meanwhile), first (nothing can be
	// read yet).
	State string `json:"state"`
}

// The values of SharedRepository.State.
const (
	SharedComplete   = "complete"
	SharedPublishing = "publishing"
	SharedFirst      = "first"
)

// Publication says what publishing a repository did.
type Publication struct {
	SharedRepository
	// Put and Deleted count files, Unchanged those that were there already; Swept counts
	// postings that were left over.
	Put       int `json:"put"`
	Deleted   int `json:"deleted"`
	Unchanged int `json:"unchanged"`
	Swept     int `json:"swept,omitempty"`
	// Verified is true where all was compared with what is stored, id by id.
	Verified bool `json:"verified"`
	// DryRun is true where nothing was written.
	DryRun bool `json:"dryRun,omitempty"`
	// Removed are the editions that were removed.
	Removed []SharedRepository `json:"removed,omitempty"`
}

// SyncResult is the answer to coderag/sync.
type SyncResult struct {
	Coverage Coverage `json:"coverage"`
}

// DryRun is what indexing would do.
type DryRun struct {
	Files        int            `json:"files"`
	Bytes        int64          `json:"bytes"`
	Chunks       int            `json:"chunks"`
	Languages    map[string]int `json:"languages"`
	Skipped      map[string]int `json:"skipped"`
	SkippedFiles []SkippedFile  `json:"skippedFiles"`
	// EstimatedMilliseconds is extrapolated from chunking a sample.
	EstimatedMilliseconds int64 `json:"estimatedMilliseconds"`
}

// Progress is a step of long work.
type Progress struct {
	Stage string `json:"stage"` // scan, index, embed, publish
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// The values of CheckedCitation.State.
const (
	CitationExact   = "exact"   // the lines stand where they were cited
	CitationMoved   = "moved"   // they stand elsewhere
	CitationChanged = "changed" // the file is there, the lines are nowhere
	CitationGone    = "gone"    // the file is not there, nor the lines elsewhere
	CitationUnknown = "unknown" // the path names no file that is indexed here: it was not read
)

// CitationsParams ask what became of the citation lines of a document.
type CitationsParams struct {
	// URI and Text are the document's. It need not be in the workspace.
	URI  string `json:"uri"`
	Text string `json:"text"`
	// Line is the only citation line that is looked at, 1-based; 0 for all.
	Line int `json:"line,omitempty"`
	// Instead also asks for the texts, and for the lines that stand in place of
	// changed ones.
	Instead bool `json:"instead,omitempty"`
}

// CheckedCitation is a citation line of a document, and what became of the
// lines that it cites.
type CheckedCitation struct {
	// Line is where it stands, 1-based.
	Line int `json:"line"`
	// Path, StartLine, EndLine and SHA8 are what it says.
	Path      string `json:"path"`
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	SHA8      string `json:"sha8"`
	State     string `json:"state"`
	// URI is the cited file's; "" where the path names none.
	URI string `json:"uri,omitempty"`
	// Now is where moved lines stand, or with CitationsParams.Instead what
	// stands in place of changed ones; Text is only set with that. It is null
	// for all others.
	Now *Citation `json:"now,omitempty"`
	// Was are the lines as they were cited, where they are known (with
	// CitationsParams.Instead).
	Was string `json:"was,omitempty"`
}

// CitationsResult holds a document's citation lines in order.
type CitationsResult struct {
	Citations []CheckedCitation `json:"citations"`
}

// CitationsReport is what `coderag-ls citations --json` prints.
type CitationsReport struct {
	Files []CitedDocument `json:"files"`
	// Scanned counts the files that were looked through, Checked the citations
	// in them, Drifted those that are not exact.
	Scanned int `json:"scanned"`
	Checked int `json:"checked"`
	Drifted int `json:"drifted"`
}

// CitedDocument is a file and those of its citations that are reported.
type CitedDocument struct {
	URI       string            `json:"uri"`
	Path      string            `json:"path"`
	Citations []CheckedCitation `json:"citations"`
}

// The roles of messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Message is one message to a language model.
type Message struct {
	Role    string `json:"role"` // system, user, assistant
	Content string `json:"content"`
}

// The purposes of a completion.
const (
	PurposeAnswer   = "answer"   // writes the answer
	PurposeRoute    = "route"    // makes retrieval requests of the question
	PurposeEvaluate = "evaluate" // judges what was found
	PurposeRerank   = "rerank"   // rates one passage
	PurposeExpand   = "expand"   // finds other words for the question
)

// CompleteParams are those of coderag/complete, which the server asks of a
// client that offers its own language model. What they hold was searched for
// secrets, and the user's rules on what is never sent were applied.
type CompleteParams struct {
	// PartialResultToken names the completion in $/progress notifications, by
	// which the client sends the text as it comes: {kind: "text", text}.
	PartialResultToken string    `json:"partialResultToken"`
	Purpose            string    `json:"purpose"`
	Messages           []Message `json:"messages"`
	// Temperature and MaxTokens are wishes; a client whose model takes neither
	// leaves them out.
	Temperature float64 `json:"temperature"`
	MaxTokens   int     `json:"maxTokens"`
	// Schema is a JSON schema that the text must fit; null for free text. A
	// client whose model cannot be held to one leaves it out: the messages ask
	// for the same.
	Schema any `json:"schema,omitempty"`
}

// CompleteResult is the answer to coderag/complete. A client that cannot
// complete answers with an error, whose message the user is shown.
type CompleteResult struct {
	// Text is the whole text, also where all of it was sent before.
	Text string `json:"text"`
	// Model names the model, for the user.
	Model string `json:"model"`
	// FinishReason is "stop", or "length" where the text was cut at a limit.
	FinishReason string `json:"finishReason,omitempty"`
	// InputTokens and OutputTokens are 0 where the client does not know.
	InputTokens  int `json:"inputTokens,omitempty"`
	OutputTokens int `json:"outputTokens,omitempty"`
}

// SecretLLM is the name of the key for a language model.
const SecretLLM = "llm.apiKey"

// SecretParams are those of coderag/secret, by which the server asks a client
// that has a secret store for a key. It is kept in memory, sent to BaseURL and
// nowhere else, and never logged.
type SecretParams struct {
	Name    string `json:"name"` // llm.apiKey
	BaseURL string `json:"baseUrl"`
}

// SecretResult is the answer to coderag/secret.
type SecretResult struct {
	Value string `json:"value"` // "" where there is none
}

// PromptResult is the answer to coderag/prompt: what coderag/ask with the same
// parameters would send to the language model first. Nothing is sent.
type PromptResult struct {
	Model    string    `json:"model"`    // "" where none is set
	Endpoint string    `json:"endpoint"` // where it would be sent to: a URL, "editor", or ""
	Messages []Message `json:"messages"`
	// Places are the lines of the workspace in it, as path:start-end.
	Places []string `json:"places"`
	// Withheld are the files that are never sent (setting llm.neverSend) and
	// would have been.
	Withheld []string `json:"withheld"`
	// Redacted counts the secrets that were replaced, by their kind.
	Redacted   map[string]int `json:"redacted"`
	TokenCount int            `json:"tokenCount"` // estimated: a quarter of the bytes
}

// TreeParams ask for the workspace's files as a tree.
type TreeParams struct {
	// Tokens is the most that the tree may take.
	Tokens int `json:"tokens"`
	// Omit are glob patterns of files and folders that are left out.
	Omit []string `json:"omit,omitempty"`
}

// TreeResult is the tree: a line for each folder and file, indented.
type TreeResult struct {
	Tree string `json:"tree"`
}
