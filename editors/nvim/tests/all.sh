#!/usr/bin/env bash
# Tests the plugin in Neovim 0.10 and 0.12: the specs and a screen, at the same
# time. Quiet on success. It builds and fetches what it needs; an argument is a
# pattern for the names of the specs' tests. With RALPH_BENCH it prints figures.
set -euo pipefail
cd "$(dirname "$0")/../../.."
pattern=${1:-}

export RALPH_EDITORS_CACHE=${RALPH_EDITORS_CACHE:-$PWD/.cache/editors}
out=$RALPH_EDITORS_CACHE/nvim-test
export RALPH_BIN=$out/bin/ralph-lsp RALPH_FLEET_BIN=$out/bin/ralph-fleet RALPH_AGENTS=$out/agents
export RALPH_FAKE_MODEL=$out/bin/fakemodel RALPH_REAL_AGENTS=$PWD/.cache/agents

editors/nvim/tests/fetch.sh
tools/editors/lib/nvim-lint.sh
CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$out/bin/" ./cmd/ralph-lsp ./cmd/ralph-fleet
mkdir -p "$RALPH_AGENTS"
ln -sf "$PWD/editors/vscode/test/agent/pi" "$(command -v node)" "$RALPH_AGENTS/" # a stand-in, which needs node on PATH
CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$RALPH_FAKE_MODEL" ./internal/test/fakemodel/serve
go run ./internal/test/agents/install

# test VERSION: all that it says goes into a log.
test_version() {
  local nvim
  nvim=$(tools/editors/get-nvim.sh "$1")
  "$nvim" --clean --headless -l editors/nvim/tests/run.lua "$pattern"
  [ -z "$pattern" ] || return 0
  for terminal in screen typing; do
    "editors/nvim/tests/$terminal.sh" "$nvim" "$out/screens-$1"
  done
}

declare -A jobs
versions="0.10 0.12"
[ -z "${RALPH_BENCH-}" ] || versions=0.12 # alone
for version in $versions; do
  test_version "$version" >"$out/$version.log" 2>&1 &
  jobs[$version]=$!
done
failed=0
for version in "${!jobs[@]}"; do
  if ! wait "${jobs[$version]}"; then
    failed=1
    echo "nvim-test: Neovim $version failed:" >&2
    cat "$out/$version.log" >&2
  elif [ -n "${RALPH_BENCH-}" ]; then
    cat "$out/$version.log"
  fi
done
exit "$failed"
