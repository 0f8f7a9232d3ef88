#!/usr/bin/env bash
# Checks the Neovim plugin's Lua: luacheck, and the format that stylua gives.
#
#   nvim-lint.sh            checks, quiet on success
#   nvim-lint.sh --write    formats the files
#   nvim-lint.sh --fetch    only installs what it needs
#
# stylua (its WebAssembly build, from npm) goes into $RALPH_EDITORS_CACHE/stylua;
# luacheck comes from Debian's lua-check, which root installs when it is missing.
set -euo pipefail
stylua=2.5.2

here=$(cd "$(dirname "$0")" && pwd)
plugin=$here/../../../editors/nvim
cache=${RALPH_EDITORS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ralph-editors}/stylua/$stylua
die() { echo "nvim-lint: $*" >&2; exit 1; }

if ! command -v luacheck >/dev/null; then
  [ "$(id -u)" = 0 ] || die "luacheck is missing: install the package lua-check"
  { apt-get update && apt-get install -y --no-install-recommends lua-check; } >"${TMPDIR:-/tmp}/lua-check.log" 2>&1 ||
    die "lua-check can't be installed, see ${TMPDIR:-/tmp}/lua-check.log"
fi
if [ ! -f "$cache/.complete" ]; then
  mkdir -p "$cache"
  npm install --prefix "$cache" --no-audit --no-fund --no-package-lock --ignore-scripts --silent "@johnnymorganz/stylua@$stylua" ||
    die "stylua can't be installed from npm"
  touch "$cache/.complete"
fi

[ "${1-}" != --fetch ] || exit 0

mapfile -t files < <(cd "$plugin" && find . -name '*.lua' | sort)
[ "${#files[@]}" -gt 0 ] || die "no Lua files in $plugin"
cd "$plugin"
NODE_PATH=$cache/node_modules node "$here/nvim-stylua.cjs" "$@" "${files[@]}"
luacheck --quiet --no-color . >"$cache/luacheck.out" || { cat "$cache/luacheck.out" >&2; exit 1; }
