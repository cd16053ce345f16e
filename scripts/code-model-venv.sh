#!/bin/sh
# Makes a Python environment for the recipe under model/ and prints its python:
#   scripts/code-model-venv.sh DIR [requirements.txt ...]
# It is made anew where the requirements changed. Without Python 3.11 or newer, or
# where pip cannot install the requirements, it says why and prints nothing.
set -eu

dir=$1
shift
without() { echo "code-model: $1" >&2; rm -rf "$dir"; exit 0; }

python=
for candidate in python3 python; do
  if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python=$candidate; break; fi
done
[ -n "$python" ] || without "no Python 3.11 or newer"

wanted=$(cat "$@")
if [ "$(cat "$dir/requirements" 2>/dev/null)" != "$wanted" ]; then
  rm -rf "$dir"
  # Without a pip of its own: installing one takes longer than all the rest.
  "$python" -m venv --without-pip "$dir" >&2 || without "Python cannot make an environment"
  set -- $(for file in "$@"; do printf ' -r %s' "$file"; done)
  "$python" -m pip --python "$dir/bin/python" install --quiet --disable-pip-version-check --only-binary=:all: "$@" >&2 || without "pip cannot install $*"
  printf '%s\n' "$wanted" >"$dir/requirements"
fi
(cd "$dir/bin" && printf '%s/python\n' "$(pwd)")
