#!/bin/sh
# Gets the projects that the suites under eval/ ask about, as source packages of
# their registries at pinned versions: scripts/eval-corpora.sh [DIR]. DIR is
# .cache/eval by default. Each package is compared with its SHA-256 before it is
# unpacked. What cannot be had (no client, no network) is left out and said;
# `coderag-ls eval` leaves its questions out.
set -eu

cd "$(dirname "$0")/.."
dir=${1:-.cache/eval}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
work=$dir/unpack
trap 'rm -rf "$work"' EXIT

left_out() { echo "eval-corpora: $1 is left out: $2"; }

# same FILE SHA256
same() {
  if command -v sha256sum >/dev/null 2>&1; then sum=$(sha256sum <"$1"); else sum=$(shasum -a 256 <"$1"); fi
  [ "${sum%% *}" = "$2" ] || { echo "eval-corpora: $1 has SHA-256 ${sum%% *}, not $2" >&2; exit 1; }
}

# start NAME: false where NAME is there.
start() {
  [ ! -d "$dir/$1" ] || return 1
  rm -rf "$work" && mkdir "$work"
}

# keep FOLDER NAME: moved when whole, so that a broken unpacking is no corpus.
keep() { mv "$1" "$dir/$2" && echo "eval-corpora: $2"; }

pypi() { # NAME VERSION SHA256
  start "$1-$2" || return 0
  for pip in "python3 -m pip" "python -m pip" pip3 pip none; do
    [ "$pip" != none ] || { left_out "$1" "there is no pip"; return 0; }
    if $pip --version >/dev/null 2>&1; then break; fi
  done
  $pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest "$work" "$1==$2" ||
    { left_out "$1" "pip cannot get it"; return 0; }
  same "$work/$1-$2.tar.gz" "$3"
  tar -xzf "$work/$1-$2.tar.gz" -C "$work"
  keep "$work/$1-$2" "$1-$2"
}

npm_package() { # NAME VERSION SHA256
  start "$1-$2" || return 0
  command -v npm >/dev/null 2>&1 || { left_out "$1" "there is no npm"; return 0; }
  (cd "$work" && npm pack --silent "$1@$2" >/dev/null) || { left_out "$1" "npm cannot get it"; return 0; }
  same "$work/$1-$2.tgz" "$3"
  tar -xzf "$work/$1-$2.tgz" -C "$work"
  keep "$work/package" "$1-$2"
}

go_module() { # NAME MODULE VERSION SHA256, of the module's zip
  start "$1-$3" || return 0
  found=$(cd "$work" && GOFLAGS=-mod=mod GOWORK=off "${GO:-go}" mod download -json "$2@$3") || { left_out "$1" "go cannot get it"; return 0; }
  field() { printf '%s\n' "$found" | sed -n "s/^[[:space:]]*\"$1\": \"\(.*\)\",*\$/\1/p"; }
  same "$(field Zip)" "$4"
  cp -R "$(field Dir)" "$work/module"
  chmod -R u+w "$work/module"
  keep "$work/module" "$1-$3"
}

crate() { # NAME VERSION SHA256, of the .crate file
  start "$1-$2" || return 0
  command -v cargo >/dev/null 2>&1 || { left_out "$1" "there is no cargo"; return 0; }
  mkdir "$work/src" && : >"$work/src/lib.rs"
  printf '[package]\nname = "corpus"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s = { version = "=%s", default-features = false }\n' "$1" "$2" >"$work/Cargo.toml"
  (cd "$work" && cargo vendor --quiet >/dev/null) || { left_out "$1" "cargo cannot get it"; return 0; }
  # Cargo compares the package with the sum that it writes here.
  grep -q "\"package\":\"$3\"" "$work/vendor/$1/.cargo-checksum.json" ||
    { echo "eval-corpora: the crate $1 has another SHA-256 than $3" >&2; exit 1; }
  rm "$work/vendor/$1/.cargo-checksum.json"
  keep "$work/vendor/$1" "$1-$2"
}

pypi tenacity 9.0.0 807f37ca97d62aa361264d497b0e31e92b8027044942bfa756160d908320d73b
pypi structlog 24.4.0 b27bfecede327a6d2da5fbc96bd859f114ecc398a6389d664f62085ee7ae6fc4
npm_package fastify 4.28.1 df149dcab400c90ed4b703d77381d7c6a47dc394c76f2491ff3a8647d332854b
npm_package ajv 8.17.1 f09dae78b8cc984dbf178eba92a7b19bff9e5f7c990508f3af0bf8f118770308
npm_package ws 8.18.0 a08221f2851472c944ca0178d89a9888c7f43fbd9998afc8a7ec6fe417c4ca20
go_module raft github.com/hashicorp/raft v1.7.1 92e730b317663d60895ca43ff8d1c991b6df11dfc6b767f209a796540a00bf43
go_module websocket github.com/gorilla/websocket v1.5.3 dbbd31dd0f08548c5dc43e4c2f12bbba66abff5252b224b1cd06afbb72783a76
crate ureq 2.10.1 b74fc6b57825be3373f7054754755f03ac3a8f5d70015ccad699ba2029956f4a
crate crossbeam-channel 0.5.15 82b8f8f868b36967f9606790d1903570de9ceaf870a7bf9fbbd3016d636a2cb2
