#!/usr/bin/env bash
# Says how the programs of Windows are run here: the path of wine64, and behind a tab a
# WINEPREFIX that is made for them. Nothing on the system changes.
#
#   wine.sh CACHE         with Debian's Wine in CACHE where the system has none
#   wine.sh --here CACHE  fails where neither the system nor CACHE has one
set -euo pipefail

here=
[ "$1" != --here ] || { here=1; shift; }
cache=$1
wine=$(command -v wine64 || ls "$cache"/wine64/bookworm/usr/lib/wine/wine64 2>/dev/null || true)
if [ -z "$wine" ]; then
  [ -z "$here" ] || exit 1
  RALPH_DEBIAN_ALONE=1 RALPH_EDITORS_CACHE=$cache "$(dirname "$0")/../editors/get-debian.sh" \
    bookworm usr/lib/wine/wine64 wine64 libwine libz-mingw-w64 >&2
  wine=$cache/wine64/bookworm/usr/lib/wine/wine64
fi
case $wine in "$cache"/*)
  root=${wine%/lib/wine/wine64}
  libraries=$root/lib/x86_64-linux-gnu/wine
  if [ -e "$libraries/i386-windows" ]; then
    ln -sf wineserver64 "$root/lib/wine/wineserver" # the script there looks in /usr
    strip --strip-debug "$libraries"/x86_64-windows/*.{dll,exe} 2>/dev/null || true # two thirds of it
    rm -rf "$libraries/i386-windows"
  fi
esac

prefix=$cache/wine64/prefix
if [ ! -e "$prefix/.complete" ]; then
  rm -rf "$prefix"
  system32=$prefix/drive_c/windows/system32
  mkdir -p "$system32"
  [ ! -e "${root:-}/x86_64-w64-mingw32/lib/zlib1.dll" ] || cp "$root/x86_64-w64-mingw32/lib/zlib1.dll" "$system32/"
  WINEPREFIX=$prefix WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' timeout 300 "$wine" wineboot --init >&2 || true # it has no 32 bits
  [ -e "$system32/kernel32.dll" ] || { echo "wine.sh: $wine makes no $prefix" >&2; exit 1; }
  touch "$prefix/.complete"
fi
printf '%s\t%s\n' "$wine" "$prefix"
