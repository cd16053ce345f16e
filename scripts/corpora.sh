#!/bin/sh
# Gets the real repositories that the end-to-end tests ask about, as source
# packages: scripts/corpora.sh [DIR]. DIR is .cache/corpora by default. Where
# pip is missing or the packages cannot be had, the tests do with Go modules and
# this project itself. scripts/corpora.sh --print [DIR] prints DIR's absolute
# path if all are there, else nothing.
set -eu

cd "$(dirname "$0")/.."
packages="flask-3.1.2 requests-2.32.5 pydantic-2.12.4"
if [ "${1:-}" = --print ]; then
  dir=${2:-.cache/corpora}
  for package in $packages; do [ -d "$dir/$package" ] || exit 0; done
  cd "$dir" && pwd
  exit 0
fi
dir=${1:-.cache/corpora}
mkdir -p "$dir"

for candidate in "python3 -m pip" "python -m pip" pip3 pip; do
  if $candidate --version >/dev/null 2>&1; then pip=$candidate; break; fi
done
if [ -z "${pip:-}" ]; then
  echo "corpora: there is no pip; flask, requests and pydantic are left out of the end-to-end tests"
  exit 0
fi

for package in $packages; do
  [ -d "$dir/$package" ] && continue
  echo "corpora: downloading $package with pip"
  if ! $pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest "$dir" "${package%-*}==${package##*-}"; then
    echo "corpora: $package cannot be had; it is left out of the end-to-end tests"
    exit 0
  fi
  # Unpacked beside its place and moved, so that a broken unpacking is no corpus.
  rm -rf "$dir/unpack" && mkdir "$dir/unpack"
  tar -xzf "$dir/$package.tar.gz" -C "$dir/unpack"
  mv "$dir/unpack/$package" "$dir/$package"
  rmdir "$dir/unpack"
done
