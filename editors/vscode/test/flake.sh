#!/usr/bin/env bash
# Runs the tests in the editor again and again while all processors are busy.
#
#   FLAKE_RUNS=20 test/flake.sh BUILD EDITOR VSIX
set -euo pipefail
here="$(dirname "${BASH_SOURCE[0]}")"
load=()
trap '[ ${#load[@]} -eq 0 ] || kill "${load[@]}" 2>/dev/null' EXIT
for _ in $(seq "$(nproc)"); do
  (while :; do :; done) &
  load+=("$!")
done
for run in $(seq "${FLAKE_RUNS:-20}"); do
  echo "run $run"
  CODERAG_ARTIFACTS="$1/artifacts/run-$run" "$here/run.sh" "$@"
done
