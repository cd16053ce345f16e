// Package config declares every setting once: its dotted name, environment
// variable, type, default, range, scope and documentation are the tags of one
// struct field. The CLI's flags, the LSP configuration, the VS Code schema,
// the Neovim docs and the README's table are all made from Table.
//
// It imports no other package of the project.
package config

// Settings are all settings. The tag "setting" is the dotted name, "env" the
// environment variable's name (CODERAG_ + upper snake case of the name where
// absent), "min" and "max" its bounds, "scope" is "machine" for settings that
// run a program, load a library or say where text is sent: those are taken
// from the environment, the user's file, flags and initializationOptions only.
// "seed" names the document that the default comes from. "alias" lists former
// values of an enum and what they mean now.
type Settings struct {
	Index   Index
	Chunk   Chunk
	Embed   Embed
	Shared  Shared
	Search  Search
	Answer  Answer
	LLM     LLM
	LSP     LSP
	MCP     MCP
	Log     Log
	Metrics Metrics
}

// Index are the settings of discovery and indexing.
type Index struct {
	MaxFileBytes int      `setting:"index.maxFileBytes" default:"1048576" min:"1024" max:"67108864" doc:"Files larger than this many bytes are not indexed."`
	Exclude      []string `setting:"index.exclude" default:"" doc:"Glob patterns of paths that are not indexed, beside the ignore files and the built-in excludes."`
	Include      []string `setting:"index.include" default:"" doc:"Glob patterns of paths that are indexed although an ignore file, a built-in exclude or the secret-file rule would skip them."`
	CacheDir     string   `setting:"index.cacheDir" default:"" scope:"machine" doc:"Directory that holds the indexes; empty for the user's cache directory."`
	Workers      int      `setting:"index.workers" default:"0" min:"0" max:"64" doc:"Files chunked at the same time; 0 for the number of processors."`
	Watch        string   `setting:"index.watch" default:"auto" enum:"auto,server,client,poll,off" alias:"true=auto,false=off" doc:"Who sees changes on disk. auto: the server, by the system's notifications, and the editor beside it where these are not to be had, as on network folders; server: the server only; client: the editor, where it offers to; poll: the server, by looking every index.pollInterval; off: only what is edited and saved in the editor, or what it tells by itself."`
	PollInterval int      `setting:"index.pollInterval" default:"2000" min:"500" max:"600000" doc:"Milliseconds between looks at directories that cannot be watched."`
	MaxWatches   int      `setting:"index.maxWatches" default:"0" min:"0" max:"10000000" doc:"Most directories watched at once, the rest are polled; 0 for three quarters of what the system grants."`
	MemoryLimit  int      `setting:"index.memoryLimit" default:"0" min:"0" max:"1048576" doc:"MiB of memory that the program keeps under: nearing it, caches, background embedding and at last indexing stop. 0 for a quarter of the machine's memory, 1 to 8 GiB, or three quarters of what the container grants."`
	Yield        bool     `setting:"index.yield" default:"true" doc:"Background work waits, for a bounded time, while a question is answered."`
	LowPriority  bool     `setting:"index.lowPriority" default:"true" doc:"Background threads ask the system for less processor and disk time than others."`
	GitRecency   bool     `setting:"index.gitRecency" default:"true" doc:"Ask git, where it is installed, which files were edited last; they are indexed first."`
}

// Chunk are the settings of chunking.
type Chunk struct {
	MaxChars           int      `setting:"chunk.maxChars" default:"1500" min:"200" max:"20000" doc:"Most characters of a code chunk."`
	ParseDeadline      int      `setting:"chunk.parseDeadline" default:"2000" min:"10" max:"60000" doc:"Milliseconds of processor time that parsing one file may take before it is cut by lines."`
	MarkdownMaxTokens  int      `setting:"chunk.markdownMaxTokens" default:"1000" min:"100" max:"10000" seed:"OYA" doc:"Markdown sections over this many tokens are split."`
	MarkdownPartTokens int      `setting:"chunk.markdownPartTokens" default:"500" min:"50" max:"10000" seed:"OYA" doc:"Tokens of each part of a split Markdown section."`
	MarkdownOverlap    int      `setting:"chunk.markdownOverlap" default:"100" min:"0" max:"5000" seed:"OYA" doc:"Tokens that neighbouring parts of a split Markdown section share."`
	CodeBlockTokens    int      `setting:"chunk.codeBlockTokens" default:"500" min:"50" max:"10000" seed:"OYA" doc:"Tokens of a Markdown code block that are searched by meaning; all of it is shown and cited."`
	Layers             []string `setting:"chunk.layers" default:"" seed:"PRD" doc:"Rules LAYER=GLOB, such as api=services/**/http/**, that say which architectural layer a path belongs to; the first that fits counts, then the built-in ones."`
	TextWords          int      `setting:"chunk.textWords" default:"512" min:"32" max:"10000" seed:"SYN" doc:"Words of a prose chunk."`
	TextOverlap        int      `setting:"chunk.textOverlap" default:"50" min:"0" max:"5000" seed:"SYN" doc:"Words that neighbouring prose chunks share."`
}

// Embed are the settings of the embedding models.
type Embed struct {
	Provider    string  `setting:"embed.provider" default:"auto" enum:"auto,static,onnx,none" doc:"The models that run on this machine. auto: the embedded code model, and MiniLM beside it where it is installed; static: the embedded model only; onnx: MiniLM only; none: none, words only. The server of embed.baseUrl takes MiniLM's place."`
	ModelDir    string  `setting:"embed.modelDir" default:"" scope:"machine" doc:"Directory of the MiniLM model; empty for the user's data directory."`
	LibraryPath string  `setting:"embed.libraryPath" default:"" scope:"machine" doc:"Path of the onnxruntime library; empty for the model directory and the system's."`
	Threads     int     `setting:"embed.threads" default:"0" min:"0" max:"64" doc:"Texts embedded by MiniLM at the same time; 0 for half of the processors."`
	BatchSize   int     `setting:"embed.batchSize" default:"32" min:"1" max:"512" seed:"PRD" doc:"Chunks handed to MiniLM or the server and committed together."`
	OnBattery   string  `setting:"embed.onBattery" default:"slow" enum:"slow,pause,full" doc:"MiniLM in the background while the machine runs on battery: slow embeds one text at a time and stops below 20 %, pause stops, full goes on as ever."`
	CacheBytes  int     `setting:"embed.cacheBytes" default:"536870912" min:"0" max:"1099511627776" doc:"Most bytes on disk for vectors that worktrees, branches and moved folders share; 0 shares none."`
	PathWeight  float64 `setting:"embed.pathWeight" default:"-1" min:"-1" max:"100" doc:"Weight of the path's words in a chunk's vector; -1 for the model's own."`
	// The server's settings are the machine's: a repository does not decide where
	// its text is sent.
	BaseURL         string `setting:"embed.baseUrl" default:"" scope:"machine" doc:"Base URL of an OpenAI-compatible server that makes embeddings, such as http://localhost:11434/v1 (Ollama). Where this and embed.model are set, the text of the whole workspace, with secrets replaced and without what llm.neverSend names, and every question are sent there, and its vectors are searched in MiniLM's place."`
	Model           string `setting:"embed.model" default:"" scope:"machine" doc:"Name of the model at embed.baseUrl."`
	APIKeyFile      string `setting:"embed.apiKeyFile" default:"" scope:"machine" doc:"File that holds the key for embed.baseUrl on its first line; nobody but you may be able to read it. The variable CODERAG_EMBED_API_KEY goes before it."`
	Dimensions      int    `setting:"embed.dimensions" default:"0" min:"0" max:"8192" scope:"machine" doc:"Values of a vector to ask embed.baseUrl for, where its model can shorten them; 0 for the model's own."`
	Timeout         int    `setting:"embed.timeout" default:"30000" min:"100" max:"600000" scope:"machine" doc:"Milliseconds that embed.baseUrl may take for a batch of the workspace's text."`
	QuestionTimeout int    `setting:"embed.questionTimeout" default:"1500" min:"50" max:"60000" scope:"machine" doc:"Milliseconds that embed.baseUrl may take for a question; then it is answered without, and says so."`
	TextPrefix      string `setting:"embed.textPrefix" default:"" scope:"machine" doc:"Put before each text for embed.baseUrl, where its model wants that, such as 'search_document: '."`
	QuestionPrefix  string `setting:"embed.questionPrefix" default:"" scope:"machine" doc:"Put before each question for embed.baseUrl, such as 'search_query: '."`
}

// Shared are the settings of the shared index. All are the machine's: a
// repository neither decides where questions are sent, nor what of others is shown.
type Shared struct {
	Endpoints    []string `setting:"shared.endpoints" default:"" scope:"machine" doc:"Base URLs of the nodes of a Weaviate cluster that holds a shared index, such as https://weaviate-0.example.org; where one does not answer the next one is asked. The words and vectors of questions are sent there; empty for no shared index. The key comes from CODERAG_SHARED_API_KEY or shared.apiKeyFile."`
	Tenant       string   `setting:"shared.tenant" default:"default" scope:"machine" doc:"Tenant whose repositories are published and read: tenants never see each other's."`
	APIKeyFile   string   `setting:"shared.apiKeyFile" default:"" scope:"machine" doc:"File that holds the key for shared.endpoints on its first line; nobody but you may be able to read it. The variable CODERAG_SHARED_API_KEY goes before it."`
	CAFile       string   `setting:"shared.caFile" default:"" scope:"machine" doc:"File of certificates (PEM) that are trusted beside the system's for shared.endpoints."`
	Repository   string   `setting:"shared.repository" default:"auto" scope:"machine" doc:"Name of the workspace's own repository in the shared index, such as github.com/spf13/cobra: files that are there as they stand here are found through it and not indexed here. auto: the name in the URL of git's remote origin, by folder; none: everything is indexed here."`
	Repositories []string `setting:"shared.repositories" default:"" scope:"machine" doc:"Glob patterns of the names of other repositories that are searched, too, such as github.com/acme/**; ** for all."`
	Timeout      int      `setting:"shared.timeout" default:"1000" min:"20" max:"60000" scope:"machine" doc:"Milliseconds that the shared index may take for a question; then it is answered from what is indexed here, and says so."`
	CacheBytes   int      `setting:"shared.cacheBytes" default:"67108864" min:"1048576" max:"17179869184" scope:"machine" doc:"Most bytes of memory for files of the shared index that were read last."`
	CopyBytes    int      `setting:"shared.copyBytes" default:"268435456" min:"1048576" max:"1099511627776" scope:"machine" doc:"Most bytes on disk for read-only copies of cited files of other repositories, which editors open."`
	Checkouts    []string `setting:"shared.checkouts" default:"" scope:"machine" doc:"Local checkouts REPOSITORY=FOLDER, such as github.com/spf13/cobra=/home/me/cobra: a cited file of that repository is opened there where it has the cited text."`
	WebLink      string   `setting:"shared.webLink" default:"" scope:"machine" doc:"Template of the web link of a citation of another repository, such as https://{repository}/blob/{commit}/{path}#L{start}-L{end}."`
	Replication  int      `setting:"shared.replication" default:"0" min:"0" max:"9" scope:"machine" doc:"Nodes that keep each object, where publish makes the collections; 0 for as many as there are endpoints, three at most."`
}

// Search are the settings of retrieval.
type Search struct {
	Hybrid        bool    `setting:"search.hybrid" env:"CODERAG_ENABLE_HYBRID" default:"true" seed:"SYN" doc:"Search vectors beside words; false searches words only."`
	TopK          int     `setting:"search.topK" env:"CODERAG_TOP_K" default:"20" min:"10" max:"50" seed:"SYN" doc:"Hits returned."`
	RRFK          int     `setting:"search.rrfK" env:"CODERAG_RRF_K" default:"60" min:"10" max:"100" seed:"PRD" doc:"The constant k of reciprocal rank fusion."`
	VectorK       int     `setting:"search.vectorK" env:"CODERAG_VECTOR_K" default:"50" min:"20" max:"100" seed:"SYN" doc:"Candidates taken from each vector list."`
	BM25K         int     `setting:"search.bm25K" env:"CODERAG_BM25_K" default:"50" min:"20" max:"100" seed:"SYN" doc:"Candidates taken from the lexical list."`
	BM25Weight    float64 `setting:"search.bm25Weight" default:"1" min:"0" max:"10" seed:"SYN" doc:"Weight of the lexical list in the fusion (PRD: 0.4)."`
	VectorWeight  float64 `setting:"search.vectorWeight" default:"1" min:"0" max:"10" seed:"PRD" doc:"Weight of the embedded model's list in the fusion."`
	MiniLMWeight  float64 `setting:"search.miniLMWeight" default:"1" min:"0" max:"10" doc:"Weight of MiniLM's list in the fusion."`
	MissingRank   int     `setting:"search.missingRank" default:"1000" min:"1" max:"100000" seed:"OYA" doc:"Rank given to a candidate that a list does not hold."`
	FastPath      bool    `setting:"search.fastPath" default:"true" seed:"PRD" doc:"A question that is nothing but an identifier, a file name or a hexadecimal code is looked up as such."`
	Expansion     bool    `setting:"search.expansion" default:"true" seed:"OYA" doc:"Search for synonyms, acronyms and words written together or apart, too."`
	Spelling      bool    `setting:"search.spelling" default:"true" doc:"Read a name that nothing has as the defined name that it is a misspelling of."`
	Fallback      bool    `setting:"search.filterFallback" default:"true" seed:"PRD" doc:"Where nothing passes the filters, drop them one after the other and say so; false finds nothing then."`
	AdaptiveTopK  bool    `setting:"search.adaptiveTopK" default:"true" seed:"PRD" doc:"Return half as many hits for a question that is nothing but a name, half as many again for a broad one, where the request does not say how many."`
	Proximity     float64 `setting:"search.proximity" default:"1" min:"0" max:"10" doc:"How much files near the document that is looked at and near other open ones are raised; 0 for not at all."`
	Recency       float64 `setting:"search.recency" default:"1" min:"0" max:"10" doc:"How much files that were edited in the last days are raised where an editor asks; 0 for not at all."`
	Centrality    float64 `setting:"search.centrality" default:"0" min:"0" max:"10" doc:"How much files that many others import are raised, by doublings of their centrality; 0 for not at all."`
	SymbolBoost   float64 `setting:"search.symbolBoost" default:"1" min:"1" max:"2" seed:"SYN" doc:"Most that the lexical score of a chunk is multiplied by for the symbols that it defines, a tenth for each; 1 for nothing."`
	FolderBoost   float64 `setting:"search.folderBoost" default:"1.3" min:"1" max:"10" seed:"PRD" doc:"Factor for hits in a folder that the request names."`
	BM25K1        float64 `setting:"search.bm25K1" default:"1.2" min:"0" max:"5" doc:"BM25's k1: how soon more occurrences stop counting."`
	BM25B         float64 `setting:"search.bm25B" default:"0.75" min:"0" max:"1" doc:"BM25's b: how much long chunks are held back."`
	SummaryWeight float64 `setting:"search.summaryWeight" default:"2" min:"0" max:"20" seed:"PRD" doc:"Weight of a word in a doc summary or header."`
	NameWeight    float64 `setting:"search.nameWeight" default:"3" min:"0" max:"20" doc:"Weight of a word in the file's base name (PRD: 1.5)."`
	PathWeight    float64 `setting:"search.pathWeight" default:"1" min:"0" max:"20" doc:"Weight of a word in the directories' names."`
	SymbolWeight  float64 `setting:"search.symbolWeight" default:"3" min:"0" max:"20" doc:"Weight of a word in a name that the chunk defines."`
	CommentWeight float64 `setting:"search.commentWeight" default:"0.5" min:"0" max:"20" seed:"PRD" doc:"Weight of a word in a comment."`
	MinRelevance  float64 `setting:"search.minRelevance" default:"0.3" min:"0" max:"1" doc:"Hits under this calibrated relevance are not shown; if none is left the answer is that nothing relevant was found."`
	CacheSize     int     `setting:"search.cacheSize" default:"256" min:"0" max:"10000" doc:"Results of searches that are kept for the same question over an unchanged index; 0 for none. The lines are read anew each time."`
	CacheTTL      int     `setting:"search.cacheTTL" default:"3600" min:"1" max:"604800" seed:"SYN" doc:"Seconds that such a result is kept."`
	SemanticCache bool    `setting:"search.semanticCache" default:"false" seed:"PRD" doc:"Answer a question with what was found for another one that names the same things and whose vector has a cosine above 0.95 to its own."`
}

// Metrics are the settings of the metrics endpoint.
type Metrics struct {
	Listen string `setting:"metrics.listen" default:"" scope:"machine" doc:"Loopback address, 127.0.0.1:PORT, at which serve offers its metrics to Prometheus under /metrics; empty for nowhere. They hold no question and no path, and anybody on this machine can read them."`
}

// Answer are the settings of answers.
type Answer struct {
	TokenBudget    int `setting:"answer.tokenBudget" default:"8000" min:"0" max:"1000000" seed:"TS" doc:"Tokens of the context; 0 for the model's window."`
	ReservedTokens int `setting:"answer.reservedTokens" default:"2000" min:"0" max:"100000" seed:"TS" doc:"Tokens kept free for the answer."`
	MaxCitations   int `setting:"answer.maxCitations" default:"8" min:"1" max:"50" doc:"Citations of an answer without a language model."`
	// Shares of the context's budget; what is left of 1 is for the graph.
	PrimaryShare float64 `setting:"answer.primaryShare" default:"0.6" min:"0.1" max:"1" seed:"TS" doc:"Share of the context's tokens for what was found."`
	RelatedShare float64 `setting:"answer.relatedShare" default:"0.3" min:"0" max:"0.9" seed:"TS" doc:"Share of the context's tokens for related files; the rest is for how files hang together."`
	MaxRelated   int     `setting:"answer.maxRelated" default:"10" min:"0" max:"50" seed:"TS" doc:"Related files of an answer or a context."`
	GraphDepth   int     `setting:"answer.graphDepth" default:"2" min:"1" max:"2" seed:"TS" doc:"Steps from what was found to related files."`
	MaxSiblings  int     `setting:"answer.maxSiblings" default:"3" min:"0" max:"50" seed:"PRD" doc:"Methods of the same class named beside a method in a context."`
	MaxImports   int     `setting:"answer.maxImports" default:"5" min:"0" max:"50" seed:"PRD" doc:"Import statements named beside a chunk in a context."`
	MaxChildren  int     `setting:"answer.maxChildren" default:"10" min:"0" max:"100" seed:"PRD" doc:"Sections below it named beside a section in a context."`
	EnoughChunks int     `setting:"answer.enoughChunks" default:"10" min:"1" max:"200" seed:"SYN" doc:"A context with so many chunks takes no more where the last one's relevance is above answer.enoughRelevance."`
	Enough       float64 `setting:"answer.enoughRelevance" default:"0.9" min:"0" max:"1" seed:"SYN" doc:"Relevance from which on answer.enoughChunks chunks are enough; 1 for never."`
}

// LLM are the settings of the language model. All are the machine's: a
// repository neither decides where its text is sent nor what is spent on it.
type LLM struct {
	Provider          string   `setting:"llm.provider" default:"auto" enum:"auto,openai,client,none" scope:"machine" doc:"Who writes answers. auto: the server at llm.baseUrl where that and llm.model are set, else the editor's own model where it offers one, else nobody; openai: that server only; client: the editor only; none: answers are extracted from the code without a language model."`
	BaseURL           string   `setting:"llm.baseUrl" default:"" scope:"machine" doc:"Base URL of an OpenAI-compatible server: https://api.openai.com/v1, http://localhost:11434/v1 (Ollama), http://localhost:8080/v1 (llama.cpp), http://localhost:8000/v1 (vLLM), http://localhost:1234/v1 (LM Studio). The code that answers a question is sent there. The key comes from CODERAG_LLM_API_KEY, llm.apiKeyFile or the editor's secret store."`
	Model             string   `setting:"llm.model" default:"" scope:"machine" doc:"Name of the model at llm.baseUrl."`
	APIKeyFile        string   `setting:"llm.apiKeyFile" default:"" scope:"machine" doc:"File that holds the key for llm.baseUrl on its first line; nobody but you may be able to read it."`
	CAFile            string   `setting:"llm.caFile" default:"" scope:"machine" doc:"File of certificates (PEM) that are trusted beside the system's for llm.baseUrl and embed.baseUrl."`
	Timeout           int      `setting:"llm.timeout" default:"120000" min:"100" max:"3600000" scope:"machine" doc:"Milliseconds that all calls for one question may take; then what was found without a language model is shown."`
	FirstTokenTimeout int      `setting:"llm.firstTokenTimeout" default:"20000" min:"50" max:"3600000" scope:"machine" doc:"Milliseconds until a call's first text."`
	Retries           int      `setting:"llm.retries" default:"2" min:"0" max:"10" scope:"machine" doc:"How often a call is made again where the server cannot be reached, fails or asks to come later."`
	MaxTokens         int      `setting:"llm.maxTokens" default:"4096" min:"64" max:"1000000" seed:"PRD" scope:"machine" doc:"Most tokens of an answer."`
	Temperature       float64  `setting:"llm.temperature" default:"0.3" min:"0" max:"2" seed:"PRD" scope:"machine" doc:"Temperature that answers are written at; models that take none ignore it."`
	Window            int      `setting:"llm.window" default:"16384" min:"1024" max:"10000000" scope:"machine" doc:"Tokens that the model takes, question and answer together. It bounds the context, and is all of it where answer.tokenBudget is 0."`
	MaxCalls          int      `setting:"llm.maxCalls" default:"24" min:"1" max:"1000" scope:"machine" doc:"Most calls for one question, all steps together."`
	QuestionTokens    int      `setting:"llm.questionTokens" default:"100000" min:"1000" max:"100000000" scope:"machine" doc:"Most tokens, sent and received, for one question, all steps together."`
	Router            string   `setting:"llm.router" default:"auto" enum:"auto,always,off" scope:"machine" doc:"Let the model split a question into searches. auto: where it asks for several things; off: never, rules do."`
	RouterModel       string   `setting:"llm.routerModel" default:"" scope:"machine" doc:"Name of the model at llm.baseUrl that routes, evaluates, ranks and expands; empty for llm.model."`
	Evaluate          bool     `setting:"llm.evaluate" default:"false" scope:"machine" doc:"Let the model judge what was found before it answers, and search again where something is missing, twice at most."`
	Rerank            bool     `setting:"llm.rerank" default:"false" scope:"machine" doc:"Let the model rate the best passages, one call for each."`
	RerankTopN        int      `setting:"llm.rerankTopN" default:"8" min:"2" max:"50" scope:"machine" doc:"How many passages are rated."`
	Expand            bool     `setting:"llm.expand" default:"false" scope:"machine" doc:"Let the model add words that code may use for what the question asks."`
	NeverSend         []string `setting:"llm.neverSend" default:"" scope:"machine" doc:"Folders and glob patterns of files whose text is never sent to a language model or an embeddings server, nor given to clients of the MCP server, such as secrets/ or **/*.pem."`
	AuditLog          string   `setting:"llm.auditLog" default:"" scope:"machine" doc:"File to which all that is sent to a language model or an embeddings server is appended, one JSON object a line; empty for none. Only you can read it."`
}

// LSP are the settings of the language server's features.
type LSP struct {
	Hover         bool `setting:"lsp.hover" default:"true" doc:"Explain the symbol under the pointer."`
	CodeLens      bool `setting:"lsp.codeLens" default:"false" doc:"Show above each definition how often it is used."`
	CodeActions   bool `setting:"lsp.codeActions" default:"true" doc:"Offer to insert cited snippets."`
	DocumentLinks bool `setting:"lsp.documentLinks" default:"true" doc:"Make citations in documents clickable."`
	CitationDrift bool `setting:"lsp.citationDrift" default:"true" doc:"Tell where inserted citations no longer hold, and offer to mend them."`
}

// MCP are the settings of the MCP server over HTTP.
type MCP struct {
	TokenFile string   `setting:"mcp.tokenFile" default:"" scope:"machine" doc:"File that holds the token which clients of mcp --http must send; nobody but you may be able to read it. It is made where it does not exist; empty for mcp-token beside the user's settings file. The variable CODERAG_MCP_TOKEN goes before it."`
	Hosts     []string `setting:"mcp.hosts" default:"" scope:"machine" doc:"Names, beside localhost, under which mcp --http is reached; without any it listens on loopback addresses only. Put a proxy that speaks TLS in front of it."`
}

// Log are the settings of logging.
type Log struct {
	Level string `setting:"log.level" default:"info" enum:"debug,info,warn,error" doc:"Least severe messages that are logged."`
	File  string `setting:"log.file" default:"" scope:"machine" doc:"File that messages are written to; empty for standard error."`
}
