package archtest

// module is the path of this module.
const module = "coderag-ls"

// layer is what a package may import.
type layer struct {
	pkg  string
	may  []string
	note string // why
}

// layers says which packages of ours a package may import; a name that ends in
// "/..." stands for everything below it too. The first rule whose name fits
// holds. Tests may import more.
var layers = []layer{
	// Leaves know nothing of us, so anything may use them.
	{"engine/text", nil, "columns and lines"},
	{"engine/lexical", nil, "words"},
	{"engine/vector", nil, "vectors"},
	{"engine/config", nil, "settings"},
	{"engine/wire", nil, "the contract"},
	{"engine/eval", nil, "measures whatever it is given"},
	{"engine/memory", nil, "the process's memory only"},
	{"engine/host", nil, "the machine only"},
	{"engine/recent", nil, "asks git, knows no index"},
	{"watcher", nil, "knows nothing of the index, nor of the language server"},
	{"engine/embed/onnx/bert", nil, ""},
	{"engine/embed/onnx/export", nil, ""},
	{"engine/embed/onnx/modeldir", nil, ""},
	{"engine/embed/onnx/safetensors", nil, ""},

	// The parts of the flow import what they need of it, in its direction.
	{"engine/embed/remote", []string{"engine/embed", "engine/llm", "engine/llm/audit", "engine/llm/redact"}, "what leaves the machine passes the same gate as for a language model"},
	{"engine/embed/...", []string{"engine/embed", "engine/embed/onnx/...", "engine/vector"}, ""},
	{"engine/file", []string{"engine/text"}, ""},
	{"engine/chunk/treesitter", nil, "knows trees, not chunks"},
	{"engine/chunk", []string{"engine/chunk/treesitter", "engine/file", "engine/text"}, ""},
	{"engine/snippet", []string{"engine/chunk", "engine/text", "engine/wire"}, ""},
	{"engine/store/weaviate", []string{"engine/chunk", "engine/embed", "engine/file", "engine/lexical", "engine/sharedindex", "engine/store", "engine/store/record"}, "a shared index's engine, and a store on it"},
	{"engine/store/...", []string{"engine/chunk", "engine/file", "engine/store", "engine/store/record"}, ""},
	{"engine/sharedindex", []string{"engine/chunk", "engine/embed", "engine/file", "engine/lexical", "engine/store", "engine/text"}, "what is published, whoever keeps it and whoever shows it"},
	{"engine/sharedindex/mem", []string{"engine/lexical", "engine/sharedindex"}, "what an engine does, in memory"},
	{"engine/sharedindex/sharedindextest", []string{"engine/..."}, "what every backend has to do, with real files"},
	{"engine/graph", []string{"engine/chunk"}, "symbols and imports; what else it asks for it is given"},
	{"engine/index", []string{"engine/chunk", "engine/embed", "engine/file", "engine/host", "engine/lexical", "engine/memory", "engine/recent", "engine/sharedindex", "engine/store", "engine/text", "engine/vector", "engine/wire"}, "not the settings: it is given what it needs"},
	{"engine/query", []string{"engine/chunk", "engine/lexical", "engine/wire"}, ""},
	{"engine/search", []string{"engine/chunk", "engine/config", "engine/embed", "engine/file", "engine/index", "engine/lexical", "engine/query", "engine/wire"}, ""},
	{"engine/search/cached", []string{"engine/file", "engine/index", "engine/query", "engine/search", "engine/wire"}, ""},
	{"engine/requests", []string{"engine/wire"}, "figures, whatever was asked"},
	{"engine/search/searchtest", []string{"engine/..."}, "workspaces for tests"},
	{"engine/answer", []string{"engine/chunk", "engine/config", "engine/file", "engine/index", "engine/lexical", "engine/query", "engine/search", "engine/text", "engine/wire"}, ""},
	{"engine/llm", []string{"engine/wire"}, "models, whatever they are asked"},
	{"engine/llm/redact", nil, "text"},
	{"engine/llm/...", []string{"engine/llm", "engine/wire"}, ""},
	{"engine/tree", nil, "paths"},
	{"engine/ground", []string{"engine/answer", "engine/text", "engine/wire"}, "what a model says, whichever it is"},
	{"engine/pack", []string{"engine/answer", "engine/chunk", "engine/config", "engine/file", "engine/graph", "engine/index", "engine/search", "engine/text", "engine/wire"}, "answer: only how citations and code are written"},
	{"engine", []string{"engine/..."}, "the facade joins its parts"},

	// Doors see the facade and the leaves, never the parts.
	{"lsp", []string{"assist", "engine/llm", "engine", "engine/chunk", "engine/config", "engine/file", "engine/snippet", "engine/text", "engine/wire", "internal/jsonrpc"}, "chunk: only the comment syntaxes that snippets are written with"},
	{"attach/socket", nil, "processes of one user, whatever they say"},
	{"attach", []string{"attach/socket", "engine", "engine/config", "engine/file", "engine/store", "engine/wire", "internal/jsonrpc"}, "store: only whose lock it is"},
	{"internal/jsonrpc", nil, "messages, whatever they are about"},
	{"assist", []string{"engine", "engine/answer", "engine/config", "engine/file", "engine/ground", "engine/llm", "engine/llm/...", "engine/query", "engine/text", "engine/wire"}, "on a view, wherever its index is; models and keys stay in the client's process"},
	{"metrics", []string{"engine/wire"}, "figures, whoever counts them"},
	{"lsp/lsptest", []string{"engine", "engine/config", "engine/file", "engine/snippet", "engine/text", "engine/wire", "lsp"}, ""},
	{"mcp", []string{"engine", "engine/config", "engine/file", "engine/llm/redact", "engine/text", "engine/wire"}, "redact: what clients get is read by models"},

	// The program joins everything; nothing imports it.
	{"cmd/coderag-ls/internal/terminal", nil, "knows terminals, not what is shown"},
	{"cmd/...", []string{"cmd/...", "assist", "attach", "engine", "engine/...", "lsp", "mcp", "metrics", "watcher"}, ""},
	{"internal/fitfiles", []string{"engine", "engine/...", "internal/fitindex"}, "asks the index without the engine"},
	{"internal/fitindex", []string{"engine/..."}, "an index without the engine"},
	{"internal/fitpassages", []string{"engine", "engine/...", "internal/fitindex"}, "asks the index without the engine"},
	{"internal/gen", []string{"engine/config"}, "reads the rest as source"},
	{"internal/bench", []string{"assist", "engine", "engine/...", "lsp", "lsp/lsptest"}, "measures, also what an editor sees"},
	{"internal/e2e", []string{"engine", "engine/..."}, "asks as a client does"},
	{"internal/sharedbench", []string{"engine/...", "internal/fitindex", "internal/sharedcluster"}, "publishes without the program, measures the engine's nodes"},
	{"internal/sharedcluster/...", []string{"internal/sharedcluster"}, "the engine's nodes, whatever they are asked"},
	{"internal/e2e/shared", nil, "tests only"},
	{"internal/soak", []string{"engine/wire", "lsp", "lsp/lsptest"}, "asks as a client does"},
	{"internal/archtest", nil, ""},
}

// owners names, for every module that we depend on, the one package that
// imports it. A second importer is a decision: it is added here with a reason.
var owners = map[string][]string{
	"github.com/Microsoft/go-winio":          {"attach/socket", "cmd/coderag-ls"}, // Windows only; the pipe of others, and the editor's
	"github.com/bmatcuk/doublestar/v4":       {"engine/file", "engine/search"},    // the patterns of settings and those of questions mean the same
	"github.com/fatih/color":                 {"cmd/coderag-ls/internal/terminal"},
	"github.com/fsnotify/fsnotify":           {"watcher"},
	"github.com/gofrs/flock":                 {"engine/store/bunt", "engine/store/vectorcache"}, // each locks files of its own
	"github.com/google/jsonschema-go":        {"mcp"},                                           // the schemas that the SDK takes
	"github.com/hashicorp/golang-lru/v2":     {"engine/search/cached", "engine/sharedindex"},    // answers here, files and lists of elsewhere there
	"github.com/kljensen/snowball":           {"engine/lexical"},
	"github.com/pelletier/go-toml/v2":        {"engine/config", "engine/graph"}, // settings, Cargo.toml
	"github.com/prometheus/client_golang":    {"metrics"},
	"github.com/rivo/uniseg":                 {"cmd/coderag-ls/internal/terminal"},
	"github.com/sashabaranov/go-openai":      {"engine/llm/openai"},
	"github.com/schollz/progressbar/v3":      {"cmd/coderag-ls/internal/terminal"},
	"github.com/smacker/go-tree-sitter":      {"engine/chunk/treesitter"},
	"github.com/spf13/cobra":                 {"cmd/coderag-ls"},
	"github.com/spf13/pflag":                 {"cmd/coderag-ls"}, // the flags of cobra
	"github.com/sugarme/tokenizer":           {"engine/embed/onnx/bert"},
	"github.com/tidwall/buntdb":              {"engine/store/bunt"},
	"github.com/yalue/onnxruntime_go":        {"engine/embed/onnx"},
	"github.com/yuin/goldmark":               {"engine/chunk"},
	"go.lsp.dev/jsonrpc2":                    {"internal/jsonrpc"},
	"go.lsp.dev/protocol":                    {"lsp"},
	"gonum.org/v1/plot":                      {"internal/bench"},
	"google.golang.org/protobuf":             {"engine/embed/onnx/export"},
	"gopkg.in/natefinch/lumberjack.v2":       {"cmd/coderag-ls"},
	"github.com/modelcontextprotocol/go-sdk": {"mcp"},
}

// shared are modules of the Go project, which any package may use.
var shared = []string{"golang.org/x/mod", "golang.org/x/sys", "golang.org/x/term", "golang.org/x/text", "golang.org/x/sync"}

// testOnly are modules that only tests and tools import.
var testOnly = []string{
	"github.com/go-enry/go-enry/v2", // the languages' table is compared with it
	"github.com/prometheus/client_model",
	"github.com/prometheus/common", // what a scrape gives is read as Prometheus does
	"go.uber.org/goleak",
	"golang.org/x/tools", // txtar in lsp/lsptest, go/packages here
	"honnef.co/go/tools", // staticcheck
}

// mutable are the package-level variables that change, with the reason why they
// may.
var mutable = map[string]string{
	"engine/chunk/treesitter.luaScanner": "a grammar's state is global in C",
	"engine/embed/onnx.loaded":           "onnxruntime can be loaded once in a process",
	"engine/search.lexicalWeights":       "a table, pointed to and only read",
	"engine/search.hybridWeights":        "a table, pointed to and only read",
}
