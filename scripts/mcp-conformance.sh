#!/usr/bin/env bash
# Tests `coderag-ls mcp` with the official Python SDK, which pip installs into a
# virtual environment: mcp-conformance.sh PROGRAM VENV
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
program="$(realpath "$1")"
venv="$2"
sdk=2.3.0
if ! "$venv/bin/python" -c "import importlib.metadata as m; assert m.version('mcp') == '$sdk'" 2>/dev/null; then
	echo "test-mcp: mcp $sdk comes from the Python package index"
	if ! { python3 -m venv --clear "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check "mcp==$sdk"; }; then
		echo "test-mcp: SKIPPED: python3 with venv (3.10 or newer) or the package index is not to be had" >&2
		exit "${CODERAG_TEST_MCP_REQUIRED:-0}"
	fi
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/shop/cart" "$work/shop/ship" "$work/home"
cp "$here/internal/e2e/testdata/mcp/shop/cart.go.txt" "$work/shop/cart/cart.go"
cp "$here/internal/e2e/testdata/mcp/shop/retry.go.txt" "$work/shop/ship/retry.go"
printf '# Shop\n\nA shop.\n' >"$work/shop/README.md"
printf 'PASSWORD=hunter2\n' >"$work/shop/.env"
printf 'outside\n' >"$work/outside.txt"
export HOME="$work/home" XDG_CONFIG_HOME="$work/home/config" CODERAG_INDEX_CACHE_DIR="$work/cache" CODERAG_EMBED_PROVIDER=static
"$venv/bin/python" "$here/internal/e2e/testdata/mcp/conformance.py" "$program" "$work/shop"
