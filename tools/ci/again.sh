#!/usr/bin/env bash
# Runs what fell in an editor again, alone, and says in the list of what fell how often that was: what Go's tests are told
# by internal/test/results.
#   again.sh FILE
# FILE is what RALPH_TEST_FELL has named. Its lines "    alone: COMMAND" are exchanged.
set -euo pipefail
readonly file=$1 runs=20 seconds=90 tests=3 # at most, of each test and of tests
[ -s "$file" ] || exit 0
unset RALPH_TEST_FELL

# count COMMAND: how often it fell. A run that hangs is ended.
count() {
  local ran=0 fell=0 end=$((SECONDS + seconds))
  while ((ran < runs && (ran == 0 || SECONDS < end))); do
    ran=$((ran + 1))
    timeout 600 bash -c "$1" >/dev/null 2>&1 </dev/null || fell=$((fell + 1))
  done
  echo "it fell $fell of $ran times alone"
}

declare -A said=()
while IFS= read -r line; do
  command=${line#    alone: }
  case $command in
    "$line") ;;
    make\ * | editors/*)
      [ -n "${said[$command]-}" ] || ((${#said[@]} >= tests)) || said[$command]=$(count "$command")
      line="    ${said[$command]-alone}: $command"
      ;;
  esac
  printf '%s\n' "$line"
done <"$file" >"$file.again"
mv "$file.again" "$file"
