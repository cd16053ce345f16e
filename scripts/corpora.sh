#!/bin/sh
# Gets the real repositories that the end-to-end tests ask about, as source
# packages: scripts/corpora.sh [DIR]. DIR is .cache/corpora by default. Where
# pip is missing nothing is fetched: the tests then do with Go modules and this
# project itself.
set -eu

cd "$(dirname "$0")/.."
dir=${1:-.cache/corpora}
mkdir -p "$dir"

for candidate in "python3 -m pip" "python -m pip" pip3 pip; do
  if $candidate --version >/dev/null 2>&1; then pip=$candidate; break; fi
done
if [ -z "${pip:-}" ]; then
  echo "corpora: there is no pip; flask, requests and pydantic are left out of the end-to-end tests"
  exit 0
fi

get() {
  if [ -d "$dir/$1-$2" ]; then return; fi
  echo "corpora: downloading $1 $2"
  $pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest "$dir" "$1==$2"
  tar -xzf "$dir/$1-$2.tar.gz" -C "$dir"
}
get flask 3.1.2
get requests 2.32.5
get pydantic 2.12.4
