#!/usr/bin/env bash
# Fetches what the tests of the plugin need: both versions of Neovim, tmux, luacheck
# and stylua. Quiet on success.
set -euo pipefail
cd "$(dirname "$0")/../../.."
export RALPH_EDITORS_CACHE=${RALPH_EDITORS_CACHE:-$PWD/.cache/editors}
out=$RALPH_EDITORS_CACHE/nvim-test

need() { # PROGRAM PACKAGE
  command -v "$1" >/dev/null && return
  if [ "$(id -u)" != 0 ]; then echo "nvim-test: $1 is missing: install the package $2" >&2; exit 1; fi
  { apt-get update && apt-get install -y --no-install-recommends "$2"; } >"$out/apt.log" 2>&1 ||
    { echo "nvim-test: $2 can't be installed:" >&2; tail -5 "$out/apt.log" >&2; exit 1; }
}

mkdir -p "$out"
need tmux tmux
tools/editors/lib/nvim-lint.sh --fetch
for version in 0.10 0.12; do
  tools/editors/get-nvim.sh "$version" >/dev/null 2>"$out/get-nvim.log" || { cat "$out/get-nvim.log" >&2; exit 1; }
done
