#!/usr/bin/env bash
# Drives a Neovim with the plugin in a real terminal (tmux) and reads its screen:
#
#   screen.sh NVIM OUTDIR
#
# The screens stay in OUTDIR. The environment has RALPH_BIN and RALPH_AGENTS, as
# for run.lua.
set -euo pipefail
nvim=$1 out=$2
. "$(dirname "$0")/terminal.sh"

cat >"$work/app/PROMPT.md" <<'TEXT'
Mend the tests, one at a time.

agent: tour 4
TEXT

begin 120 36 PROMPT.md
wait_for 1-start 'one at a time'
keys ':Ralph start --max-iterations=8 --completion-promise=DONE' Enter
wait_for 2-running 'Ralph [12]/8 · \$0\.[0-9]+ · bash go test \./\.\.\. · [0-9]+s'
keys ':Ralph output' Enter
wait_for 3-output '● bash  go test'
keys ':qa' Enter
wait_for 4-leaving 'Ralph loop running in app'
keys 'c'
wait_for 5-stayed 'Ralph [1-4]/8 · \$[0-9]'
keys ':wqa' Enter
wait_for 4-leaving 'interrupts it\)\. Leave\?'
keys 's'
wait_for 5-stayed 'Ralph [1-4]/8 · \$[0-9]'
wait_for 6-folded 'iteration 1 of 8 · ok · \$1\.[0-9]+ · [0-9]+ turns · [0-9]+ tool calls'
wait_for 6-folded 'Ralph [234]/8 · \$[0-9]\.[0-9]+ · bash go test'
wait_for 7-done '■ done: DONE after 4 iterations'
wait_for 7-done 'Ralph done · \$6'
keys ':checkhealth ralph' Enter
wait_for 8-health 'OK pi 0\.80'
leave
if grep -l 'is deprecated' "$out"/*.txt; then echo 'screen.sh: something is deprecated' >&2; exit 1; fi
