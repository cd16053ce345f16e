#!/usr/bin/env bash
# Tests the shared index on a cluster of three real nodes, each with a network of
# its own in a network namespace: scripts/shared-test.sh CACHE PROGRAM [PATTERN].
# The last line is "N passed, N failed"; a test that was skipped has not passed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cache="$1" program="$2" pattern="${3:-.}"
go="${GO:-go}"
CODERAG_SHARED_ENGINE="$(scripts/shared-engine.sh "$cache/weaviate")"
scripts/eval-corpora.sh "$cache/eval" >&2
CODERAG_TEST_EVAL="$(cd "$cache/eval" && pwd)"
CODERAG_TEST_PROGRAM="$(cd "$(dirname "$program")" && pwd)/$(basename "$program")"
export CODERAG_SHARED_ENGINE CODERAG_TEST_EVAL CODERAG_TEST_PROGRAM CODERAG_SHARED_REQUIRED=1
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
status=0
# What a test is called, how it went and what it measured is shown as it comes.
show() { tee -a "$work/log" | grep -E --line-buffered '^ *(=== RUN|--- |panic:|FAIL|ok )|^ +[a-z_]+\.go:[0-9]+: ' || true; }
"$go" test -count=1 -p 1 -timeout 20m -v -run "$pattern" ./internal/sharedcluster ./internal/e2e/shared 2>&1 | show || status=1
"$go" build -o "$work/run" ./internal/sharedcluster/run
"$work/run" "$go" test -count=1 -timeout 15m -v -run "$pattern" ./engine/store/weaviate 2>&1 | show || status=1
# Each test without parts of its own, and each part, is one.
passed="$(grep -cE '^ *--- PASS: ' "$work/log" || true)"
failed="$(grep -cE '^ *--- (FAIL|SKIP): ' "$work/log" || true)"
# A package that ended before its tests did failed.
broken="$(grep -cE '^FAIL[[:space:]]+coderag-ls.*(build failed|setup failed)|^panic: ' "$work/log" || true)"
failed=$((failed + broken))
if [ "$failed" != 0 ] || [ "$status" != 0 ]; then
	cp "$work/log" "$cache/shared-test.log"
	echo "test-shared: everything that was said is in $cache/shared-test.log" >&2
	[ "$failed" != 0 ] || failed=1
fi
[ "$passed" != 0 ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
