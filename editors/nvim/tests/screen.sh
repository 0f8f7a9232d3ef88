#!/usr/bin/env bash
# Drives a Neovim with the plugin in a real terminal (tmux) and reads its screen:
#
#   screen.sh NVIM OUTDIR
#
# The screens stay in OUTDIR. The environment has RALPH_BIN and RALPH_AGENTS, as
# for run.lua.
set -euo pipefail
nvim=$1 out=$2
plugin=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
mkdir -p "$out" "$work/app" "$work/home"
T() { tmux -S "$work/tmux" -f /dev/null "$@"; }
cleanup() { T kill-server 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

screen() { T capture-pane -p -t s; }

fail() { echo "screen.sh: $1; the screen was:" >&2; screen >&2; exit 1; }

# wait_for NAME REGEX: until the screen matches, at most a minute; it is kept as NAME.
wait_for() {
  local i
  for ((i = 0; i < 1200; i++)); do
    screen >"$out/$1.txt" || true
    if grep -Eq -- "$2" "$out/$1.txt"; then return 0; fi
    sleep 0.05
  done
  fail "no /$2/"
}

keys() { T send-keys -t s "$@"; }

cat >"$work/vimrc.lua" <<LUA
vim.g.ralph = { cmd = { '$RALPH_BIN', '--stdio' }, flags = { '--backend=pi' } }
vim.o.laststatus = 3
vim.o.statusline = " %t %m%=%{v:lua.require'ralph'.statusline()} "
vim.o.confirm = true
LUA
cat >"$work/app/PROMPT.md" <<'TEXT'
Mend the tests, one at a time.

agent: tour 3
TEXT

env -i HOME="$work/home" LANG=C.UTF-8 TERM=xterm-256color PATH="$RALPH_AGENTS:/usr/local/bin:/usr/bin:/bin" \
  tmux -S "$work/tmux" -f /dev/null new-session -d -s s -x 120 -y 36 -c "$work/app" \
  "$nvim" --clean -n --cmd "set runtimepath^=$plugin" --cmd "luafile $work/vimrc.lua" PROMPT.md

wait_for 1-start 'one at a time'
keys ':Ralph start --max-iterations=8 --completion-promise=DONE' Enter
wait_for 2-running 'Ralph [12]/8 · \$0\.[0-9]+ · bash go test \./\.\.\. · [0-9]+s'
keys ':Ralph output' Enter
wait_for 3-output '● bash  go test'
keys ':qa' Enter
wait_for 4-leaving 'Ralph loop running in app'
keys 'c'
wait_for 5-stayed 'Ralph [123]/8 · \$0'
keys ':wqa' Enter
wait_for 4-leaving 'interrupts it\)\. Leave\?'
keys 's'
wait_for 5-stayed 'Ralph [123]/8 · \$0'
wait_for 6-folded 'iteration 1 of 8 · ok · \$0\.[0-9]+ · [0-9]+ turns · [0-9]+ tool calls'
wait_for 6-folded 'Ralph 2/8 · \$0\.[0-9]+ · bash go test'
wait_for 7-done '■ done: DONE after 3 iterations'
wait_for 7-done 'Ralph done · \$1'
keys ':checkhealth ralph' Enter
wait_for 8-health 'OK pi 0\.0\.1'
keys ':qa!' Enter
for _ in $(seq 1200); do T has-session -t s 2>/dev/null || break; sleep 0.05; done
if T has-session -t s 2>/dev/null; then fail 'nvim did not end'; fi
if grep -l 'is deprecated' "$out"/*.txt; then echo 'screen.sh: something is deprecated' >&2; exit 1; fi
