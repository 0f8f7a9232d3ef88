#!/usr/bin/env bash
# Puts a program of another Debian suite into a private folder, on Debian and its
# derivatives. Nothing on the system changes.
#
#   get-debian.sh SUITE PROGRAM PACKAGE...     such as: trixie usr/bin/nvim neovim
#
# The last line of stdout is the path of the program; all else goes to stderr.
#
# apt runs with its own lists, state and cache, and only downloads. The packages,
# libc among them, are unpacked into $RALPH_EDITORS_CACHE/NAME/SUITE, with NAME that
# of the program, and patchelf (of the same suite) points the program at that libc,
# so that the programs which it starts still use the system's own.
#
# With RALPH_DEBIAN_ALONE set, the packages are taken alone and as they are: they run on the
# system's own libraries.
#
# Needs apt-get, dpkg-deb, flock, and a Debian mirror in the system's apt sources.
# RALPH_EDITORS_CACHE is ~/.cache/ralph-editors by default.
set -euo pipefail

[ $# -ge 3 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
suite=$1 program=$2; shift 2
name=$(basename "$program")
say()  { printf 'get-debian: %s\n' "$*" >&2; }
die()  { printf 'get-debian: ERROR: %s\n' "$*" >&2; exit 1; }

cache=${RALPH_EDITORS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ralph-editors}
prefix=$cache/$name/$suite
for tool in apt-get dpkg-deb flock; do
  command -v "$tool" >/dev/null || die "$tool is missing; this script needs Debian or a derivative"
done
mkdir -p "$cache/$name"
exec 9>"$prefix.lock"
flock -w 300 9 || die "another get-debian.sh for $name of $suite has run for 5 minutes"

check() { # does the program run?
  "$prefix/$program" --version >/dev/null 2>&1 9>&- || "$prefix/$program" -V >/dev/null 2>&1 9>&- || return 1
  say "$name of $suite at $prefix ($(du -sm "$prefix" | cut -f1) MB)"
}
if [ -f "$prefix/.complete" ] && check; then echo "$prefix/$program"; exit 0; fi

arch=$(dpkg --print-architecture)
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -v security | head -1) || true
[ -n "$mirror" ] || die "no Debian mirror found in the system's apt sources"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r $keyring ] || die "$keyring is missing (package debian-archive-keyring)"

apt=$prefix.apt tmp=$prefix.tmp
rm -rf "$apt" "$tmp" "$prefix"
mkdir -p "$apt"/{lists/partial,archives/partial,state,etc} "$tmp"
trap 'rm -rf "$tmp" "$apt"' EXIT
: > "$apt/status"      # nothing installed: apt then picks every dependency, libc included
echo "deb [signed-by=$keyring] $mirror $suite main" > "$apt/sources.list"
cat > "$apt/apt.conf" <<CONF
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "$apt/etc";
Dir::Etc::preferencesparts "$apt/etc";
Dir::State "$apt/state";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/archives";
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
APT::Keep-Downloaded-Packages "true";
APT::Update::Post-Invoke "";
DPkg::Post-Invoke "";
Acquire::Retries "3";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-hidpi::DefaultEnabled "false";
CONF
# Some images clear the archive folder after every download; -o comes last and wins.
papt() { APT_CONFIG=$apt/apt.conf apt-get -q -o APT::Keep-Downloaded-Packages=true "$@"; }

say "reading the package list of Debian $suite from the Debian mirror"
papt update >"$apt/update.log" 2>&1 || { sed 's#[a-z]*://[^ ]*#<mirror>#g' "$apt/update.log" >&2; die "apt-get update failed for Debian $suite (network? mirror has no such suite?)"; }
say "downloading $name and its dependencies"
if [ -n "${RALPH_DEBIAN_ALONE:-}" ]; then
  (cd "$apt/archives" && papt download "$@")
else
  papt install -y --download-only --no-install-recommends "$@" patchelf
fi >"$apt/install.log" 2>&1 ||
  { sed 's#[a-z]*://[^ ]*#<mirror>#g' "$apt/install.log" >&2; die "could not download $name from Debian $suite"; }
ls "$apt"/archives/*.deb >/dev/null 2>&1 || die "apt downloaded no packages"
say "unpacking $(ls "$apt"/archives/*.deb | wc -l) packages ($(du -cm "$apt"/archives/*.deb | tail -1 | cut -f1) MB)"
for deb in "$apt"/archives/*.deb; do dpkg-deb -x "$deb" "$tmp"; done
rm -rf "$tmp"/usr/share/{doc,locale,man,lintian,bash-completion,icons,applications}

if [ -z "${RALPH_DEBIAN_ALONE:-}" ]; then
# usr-merge: a package may still use /lib; find things wherever they are.
libdir=$(dirname "$(find "$tmp" -name libc.so.6 | head -1)")
loader=$(find "$tmp" -name 'ld-linux*.so.*' -type f | head -1)
[ -n "$loader" ] && [ -f "$libdir/libc.so.6" ] || die "no libc among the downloaded packages"
final() { printf '%s' "$prefix${1#"$tmp"}"; }
say "pointing $name at its own libc"
"$loader" --library-path "$libdir" "$tmp/usr/bin/patchelf" \
  --set-interpreter "$(final "$loader")" --force-rpath --set-rpath "$(final "$libdir"):$(final "$tmp/lib${libdir##*/lib}"):$(final "$tmp/usr/lib${libdir##*/lib}")" "$(realpath "$tmp/$program")"
fi
ls "$apt/archives" | grep '\.deb$' > "$tmp/packages.txt"
mv "$tmp" "$prefix"
check || die "the unpacked $name does not start"
touch "$prefix/.complete"
echo "$prefix/$program"
