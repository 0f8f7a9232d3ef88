#!/usr/bin/env bash
# go mod tidy of this module; tidy.sh -diff only looks. The ralph-lsp that go.mod asks for may not be released yet, so
# it is this checkout meanwhile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp go.mod go.sum "$tmp"
go mod edit -replace github.com/ralph-lsp/ralph-lsp="$(dirname "$PWD")" "$tmp/go.mod"
GOWORK=off go mod tidy -modfile="$tmp/go.mod" "$@"
go mod edit -dropreplace github.com/ralph-lsp/ralph-lsp "$tmp/go.mod"
for file in go.mod go.sum; do cmp -s "$tmp/$file" $file || cp "$tmp/$file" $file; done
