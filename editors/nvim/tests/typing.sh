#!/usr/bin/env bash
# Types in a real terminal while messages come and a loop ends at its limit: none of them
# takes a key, asks for a Return or is longer than its line, in a large window and in a small one.
#
#   typing.sh NVIM OUTDIR
set -euo pipefail
nvim=$1 out=$2
. "$(dirname "$0")/terminal.sh"

# type_on COLUMNS LINES: a loop ends, and changes the very file, in the middle of a word.
type_on() {
  local typed='' n
  rm -rf "$work/app" && mkdir "$work/app"
  touch "$work/app/hold" "$work/app/work.txt"
  begin "$1" "$2" work.txt
  wait_for "typing-$1" 'work\.txt'
  keys ":Ralph start --completion-promise=DONE --max-iterations=1 'agent: promise 2'" Enter
  wait_for "typing-$1" 'Ralph 1/1'
  keys i
  wait_for "typing-$1" '-- INSERT --'
  for n in 1 2 3; do keys "w$n "; typed+="w$n "; done
  rm "$work/app/hold"
  while ! shows "typing-$1" 'stopped: iteration'; do
    n=$((n + 1)); keys "w$n "; typed+="w$n "
    if grep -Eq 'Press ENTER|-- More --' "$out/typing-$1.txt"; then fail 'a message asks for a key'; fi
    [ "$n" -lt 5000 ] || fail 'the loop does not end'
  done
  keys 'over.'
  wait_for "typing-$1" '-- INSERT --'
  keys Escape
  wait_for "typing-$1" '^Ralph: work' # cut in a small window
  if grep -q 'Press ENTER' "$out/typing-$1.txt"; then fail 'a message asks for a key'; fi
  keys yyp2x2 Enter # what can be done about the end has numbers
  wait_for "typing-$1" ':Ralph answer goes here'
  keys uu ":Ralph answer" Enter
  wait_for "typing-$1" '1 +Raise to 2'
  keys q
  keys ":w! $work/app/typed" Enter
  wait_until test -s "$work/app/typed" || fail 'nothing was written'
  [ "$(cat "$work/app/typed")" = "${typed}over." ] || fail "typed '${typed}over.', got '$(cat "$work/app/typed")'"
  leave
}

type_on 80 24
type_on 44 9
