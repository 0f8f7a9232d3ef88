#!/usr/bin/env bash
# Puts a real Neovim of a chosen version into a private folder, on Debian and
# its derivatives. Nothing on the system changes.
#
#   get-nvim.sh 0.10              the Neovim of Debian trixie
#   get-nvim.sh 0.12              the Neovim of Debian forky
#   get-nvim.sh --suite NAME      whatever a suite holds
#   get-nvim.sh --print 0.10      only the path that it would have
#
# The last line of stdout is the path of nvim; all else goes to stderr.
# get-debian.sh says how, and what is needed.
set -euo pipefail

die()  { printf 'get-nvim: ERROR: %s\n' "$*" >&2; exit 1; }
usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "$0" >&2; exit 2; }

suite='' want='' print_only=0
while [ $# -gt 0 ]; do
  case $1 in
    --suite) [ $# -ge 2 ] || usage; suite=$2; shift 2 ;;
    --print) print_only=1; shift ;;
    -h|--help) usage ;;
    0.10|0.10.*) want=$1; suite=${suite:-trixie}; shift ;;
    0.12|0.12.*) want=$1; suite=${suite:-forky}; shift ;;
    trixie|forky|sid) suite=$1; shift ;;
    *) die "no Debian suite is known to hold Neovim '$1' (0.10 and 0.12 are; or use --suite NAME)" ;;
  esac
done
[ -n "$suite" ] || usage

if [ $print_only = 1 ]; then
  echo "${RALPH_EDITORS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ralph-editors}/nvim/$suite/usr/bin/nvim"
  exit 0
fi
nvim=$("$(dirname "$0")/get-debian.sh" "$suite" usr/bin/nvim neovim | tail -1)
got=$("$nvim" --version 2>&1 | sed -n '1s/^NVIM v//p')
case $got in
  "${want:-$got}"|"${want:-$got}".*|"${want:-$got}"-*) ;;
  *) die "Debian $suite now holds Neovim $got, but $want was asked for; change the suite or the version in get-nvim.sh" ;;
esac
echo "$nvim"
