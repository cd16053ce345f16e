#!/usr/bin/env bash
# Installs the shared index's engine, weaviate-server, from source with Go's own
# tools: scripts/shared-engine.sh [DIR]. DIR is .cache/weaviate by default. Some
# eight minutes on two cores, once; nothing where DIR has it in the right
# version. Prints the program's path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=v1.35.2
go="${GO:-go}"
dir="${1:-.cache/weaviate}"
mkdir -p "$dir"
dir="$(cd "$dir" && pwd)"
program="$dir/weaviate-server"
right() { "$go" version -m "$1" 2>/dev/null | grep -q "^[[:space:]]*mod[[:space:]]*github.com/weaviate/weaviate[[:space:]]*$version[[:space:]]"; }
if ! right "$program"; then
	echo "shared-engine: weaviate-server $version comes from the Go module proxy and is built in $dir (some minutes)" >&2
	# Built beside its place and moved, so that a broken build is no engine.
	work="$(mktemp -d "$dir/build.XXXXXX")"
	trap 'rm -rf "$work"' EXIT
	if ! GOBIN="$work" nice -n 10 "$go" install -trimpath "github.com/weaviate/weaviate/cmd/weaviate-server@$version"; then
		echo "shared-engine: weaviate-server $version cannot be built: it needs a C compiler, 6 GB of disk, and the Go module proxy ($("$go" env GOPROXY)) or a module cache that has it" >&2
		exit 1
	fi
	if ! right "$work/weaviate-server"; then
		echo "shared-engine: what was built is not weaviate-server $version: $("$go" version -m "$work/weaviate-server" | sed -n 3p)" >&2
		exit 1
	fi
	mv "$work/weaviate-server" "$program"
fi
echo "$program"
