#!/usr/bin/env bash
# Makes all that a release has, in dist/, of the commit that is checked out: make release.
# Nothing is published, and two runs for one commit make the same bytes: test.sh compares them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

export GOFLAGS="-trimpath -buildvcs=false" LC_ALL=C TZ=UTC
umask 022

# A tag v1.2.3 is a release. What isn't tagged has a version below all of them.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
tag=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null || true)
RELEASE_VERSION=${tag#v}
: "${RELEASE_VERSION:=0.0.0-g$(git rev-parse --short=10 HEAD)}"
export SOURCE_DATE_EPOCH RELEASE_VERSION

# Who installs ralph-fleet with Go gets the ralph-lsp that fleet/go.mod asks for.
asked=$(awk '$1 == "github.com/ralph-lsp/ralph-lsp" { print $2 }' fleet/go.mod)
if [ -n "$tag" ] && [ "$asked" != "$tag" ]; then echo "fleet/go.mod asks for ralph-lsp $asked, and this is $tag (docs/RELEASING.md)" >&2; exit 1; fi

# What packages have beside the programs.
made=.cache/release
rm -rf $made dist
for from in cmd/ralph-lsp fleet/cmd/ralph-fleet; do
  program=${from##*/}
  mkdir -p $made/$program/{man,completions}
  MAN_PAGES=$PWD/$made/$program/man go test -count=1 -run '^TestManPages$' ./$from >/dev/null
  gzip -9n $made/$program/man/*
  go build -trimpath -o $made/$program/program ./$from
  for shell in bash zsh fish; do $made/$program/program completion $shell >$made/$program/completions/$program.$shell; done
  $made/$program/program completion powershell >$made/$program/completions/$program.ps1
done
mkdir -p $made/units
for unit in fleet/deploy/systemd/*.service; do
  sed 's|/usr/local/bin/|/usr/bin/|; s|Install as /etc/systemd/system/.*\.service|Enable it with systemctl enable --now '"${unit##*/}"'|' "$unit" >"$made/units/${unit##*/}"
done

"$GORELEASER" release --config tools/release/goreleaser.yaml --snapshot --clean --skip=publish,announce,sign,before,validate >$made/goreleaser.log 2>&1 ||
  { cat $made/goreleaser.log >&2; exit 1; }

# What each program is made of.
for program in dist/ralph-*_*/ralph-*; do
  platform=${program%/*} name=dist/$(basename "${program%/*}" | sed -E "s/^(ralph-[a-z]+)_([a-z]+)_([a-z0-9]+)_.*/\1_${RELEASE_VERSION}_\2_\3/").cdx.json
  "$CYCLONEDX" bin -json -noserial -std -version "v$RELEASE_VERSION" -output "$name" "$program" 2>$made/sbom.log || { cat $made/sbom.log >&2; exit 1; }
  sed -i -E 's/"timestamp": "[^"]*"/"timestamp": "'"$(date -d @"$SOURCE_DATE_EPOCH" +%FT%TZ)"'"/' "$name"
done

tools/release/npm.mjs
tools/release/editors.sh

rm -rf dist/{config.yaml,artifacts.json,metadata.json} dist/ralph-*_v[0-9]*/ # goreleaser's own notes and the bare programs
(cd dist && find . -maxdepth 1 -type f ! -name checksums.txt -printf '%P\n' | sort | xargs sha256sum >checksums.txt)
echo "dist/ has $RELEASE_VERSION: $(wc -l <dist/checksums.txt) files"
