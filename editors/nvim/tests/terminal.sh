# A Neovim with the plugin in a real terminal (tmux), to be sourced with $nvim and
# $out set. The screens stay in $out. The environment has RALPH_BIN and
# RALPH_AGENTS, as for run.lua.
plugin=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
mkdir -p "$out" "$work/app" "$work/home"
T() { tmux -S "$work/tmux" -f /dev/null "$@"; }
cleanup() { T kill-server 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

screen() { T capture-pane -p -t s; }

fail() {
  echo "$(basename "$0"): $1; the screen was:" >&2
  screen >&2 || true
  [ -z "${RALPH_TEST_FELL-}" ] || printf '*** FAILED: %s\n    %s\n    alone: editors/nvim/tests/all.sh %s\n' "$(basename "$0")" "$1" "$(basename "$0")" >>"$RALPH_TEST_FELL"
  exit 1
}

# wait_until COMMAND...: until it succeeds. Only what hangs takes five minutes.
wait_until() {
  local end=$((SECONDS + ${RALPH_PATIENCE:-300000} / 1000))
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.05
  done
}

shows() { screen >"$out/$1.txt" && grep -Eq -- "$2" "$out/$1.txt"; }

# wait_for NAME REGEX: until the screen matches; it is kept as NAME.
wait_for() { wait_until shows "$@" || fail "no /$2/"; }

keys() { T send-keys -t s "$@"; }

cat >"$work/vimrc.lua" <<LUA
vim.g.ralph = { cmd = { '$RALPH_BIN', '--stdio' }, flags = { '--backend=pi' } }
vim.o.laststatus = 3
vim.o.statusline = " %t %m%=%{v:lua.require'ralph'.statusline()} "
vim.o.confirm = true
LUA

# begin COLUMNS LINES ARGS...: Neovim with arguments, in $work/app.
begin() {
  env -i HOME="$work/home" LANG=C.UTF-8 TERM=xterm-256color PATH="$RALPH_AGENTS:/usr/local/bin:/usr/bin:/bin" \
    tmux -S "$work/tmux" -f /dev/null new-session -d -s s -x "$1" -y "$2" -c "$work/app" \
    "$nvim" --clean -n --cmd "set runtimepath^=$plugin" --cmd "luafile $work/vimrc.lua" "${@:3}"
}

is_over() { ! T has-session -t s 2>/dev/null; }

# leave: ends Neovim, which must have nothing to ask.
leave() {
  keys ':qa!' Enter
  wait_until is_over || fail 'nvim did not end'
}
