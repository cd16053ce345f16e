#!/usr/bin/env bash
# Tests the language model client with a real server: llama-cpp-python's (llama.cpp)
# with a model of random weights that is made here. pip installs it, which builds
# it with cmake: some ten minutes, once: llm-server.sh VENV
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv="$1"
version=0.3.36
if ! "$venv/bin/python" -c "import importlib.metadata as m, gguf; assert m.version('llama-cpp-python') == '$version'" 2>/dev/null; then
	echo "test-llm-server: llama-cpp-python $version comes from the Python package index and is built here"
	options="-DLLAVA_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF"
	if ! { python3 -m venv --clear "$venv" && CMAKE_ARGS="$options" "$venv/bin/pip" install --quiet --disable-pip-version-check "llama-cpp-python[server]==$version" gguf==0.19.0; }; then
		echo "test-llm-server: SKIPPED: python3 with venv, a C++ compiler or the package index is not to be had" >&2
		exit "${CODERAG_TEST_LLM_REQUIRED:-0}"
	fi
fi
work="$(mktemp -d)"
server=
finish() {
	if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
	rm -rf "$work"
}
trap finish EXIT
"$venv/bin/python" engine/llm/openai/testdata/tinymodel.py "$work/tiny.gguf"
port="$("$venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
export CODERAG_TEST_LLM_BASE_URL="http://127.0.0.1:$port/v1" CODERAG_TEST_LLM_KEY=key-of-the-test
"$venv/bin/python" -m llama_cpp.server --model "$work/tiny.gguf" --model_alias tiny --n_ctx 16384 --api_key "$CODERAG_TEST_LLM_KEY" --host 127.0.0.1 --port "$port" --interrupt_requests false --verbose false >"$work/log" 2>&1 &
server=$!
for _ in $(seq 600); do
	if "$venv/bin/python" -c "import socket; socket.create_connection(('127.0.0.1', $port), 1).close()" 2>/dev/null; then break; fi
	if ! kill -0 "$server" 2>/dev/null; then break; fi
	sleep 0.2
done
status=0
"${GO:-go}" test -count=1 -timeout 10m -v -run '^TestServer$' ./engine/llm/openai ./assist >"$work/tests" 2>&1 || status=$?
grep -v '^=== ' "$work/tests" || true
# Each subtest is one; a test without any did not run.
passed="$(grep -c '^    --- PASS' "$work/tests" || true)"
failed="$(grep -c '^    --- FAIL' "$work/tests" || true)"
if [ "$status" != 0 ] || [ "$passed" = 0 ]; then tail -n 40 "$work/log"; fi
if [ "$passed" = 0 ] && [ "$failed" = 0 ]; then failed=1; fi
echo "test-llm-server: $passed passed, $failed failed"
[ "$status" = 0 ] && [ "$failed" = 0 ]
