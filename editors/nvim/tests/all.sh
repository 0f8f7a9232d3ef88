#!/usr/bin/env bash
# Tests the plugin in Neovim 0.10 and 0.12: the specs and two screens, several at the same
# time. Quiet on success. It builds and fetches what it needs; an argument is a pattern for
# the names of the specs' tests, or screen.sh or typing.sh. With RALPH_BENCH it prints figures.
set -euo pipefail
cd "$(dirname "$0")/../../.."

export RALPH_EDITORS_CACHE=${RALPH_EDITORS_CACHE:-$PWD/.cache/editors}
export out=$RALPH_EDITORS_CACHE/nvim-test
export GOBIN=$RALPH_EDITORS_CACHE/bin RALPH_AGENTS=$out/agents RALPH_REAL_AGENTS=$PWD/.cache/agents
export RALPH_BIN=$GOBIN/ralph-lsp RALPH_FLEET_BIN=$GOBIN/ralph-fleet RALPH_FAKE_MODEL=$GOBIN/serve

editors/nvim/tests/fetch.sh
tools/editors/lib/nvim-lint.sh
CGO_ENABLED=0 go install -trimpath -buildvcs=false -ldflags '-s -w' ./cmd/ralph-lsp ./fleet/cmd/ralph-fleet ./internal/test/fakemodel/serve
mkdir -p "$RALPH_AGENTS"
ln -sf "$PWD/editors/vscode/test/agent/pi" "$(command -v node)" "$RALPH_AGENTS/" # a stand-in, which needs node on PATH
go run ./internal/test/agents/install

# test_part VERSION PART: a screen, or the specs' tests of a pattern. What it says comes in one piece.
test_part() {
  local nvim log=$out/$1-${2//[^a-z]/}.log run=(--clean --headless -l editors/nvim/tests/run.lua "$2")
  nvim=$(tools/editors/get-nvim.sh --print "$1")
  case $2 in
    *.sh) "editors/nvim/tests/$2" "$nvim" "$out/screens-$1" ;;
    *) "$nvim" "${run[@]}" ;;
  esac >"$log" 2>&1 || { flock "$out" sed "1i nvim-test: Neovim $1 failed, $2" "$log" >&2; return 1; }
  [ -z "${RALPH_BENCH-}" ] || cat "$log"
}
export -f test_part

# The parts wait for more than they compute, so there are more of them at once than processors;
# what takes longest is first.
parts=(screen.sh typing.sh '^flood: ')
for spec in $(cd editors/nvim/tests && ls -S *_spec.lua); do
  [ "$spec" = flood_spec.lua ] || parts+=("^${spec%_spec.lua}: ")
done
[ -z "${1-}" ] || parts=("$1")
versions=(0.10 0.12)
[ -z "${RALPH_BENCH-}" ] || versions=(0.12) # alone
for part in "${parts[@]}"; do
  for version in "${versions[@]}"; do printf '%s\n' "$version" "$part"; done
done | xargs -d '\n' -n 2 -P 8 bash -euo pipefail -c 'test_part "$@"' test_part
