#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: all; cost: 15 s
# kill -9 of a race at 100 random moments, wherever they fall (nothing is claimed of when): --resume always goes on, and weights and logs come to be those of
# a race that nothing stopped.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
kills=100
tiny="-e rope,learned --layers 1 --width 16 --heads 2 --train-length 16 --test 1x,2x --batch 2 --test-tokens 64 --steps 150"
tiny="$tiny --drop learned --drop-steps 40 --checkpoint-every 7 --threads 1 --quiet"

# The tensors of the last checkpoint: the file from the end of its header on.
weights() {
  local file size; file=$(ls "$1"/step-*.safetensors | tail -1)
  size=$(od -An -tu8 -N8 "$file"); tail -c +$((size + 9)) "$file" | cksum
}
# The log without what depends on the clock.
lines() { sed -E 's/"(seconds|tokens_per_second)": *[-+.e0-9]+,? *//g' "$1/log.jsonl"; }
state() { for run in rope-1 learned-1 learned-dropped-1; do echo "$(basename "$(ls "$1/$run"/step-* | tail -1)") $(weights "$1/$run")"; lines "$1/$run"; done; }
fail() { printf 'FAILED: %s\n%s\n' "$*" "${races:-0} passed, 1 failed, 0 skipped"; exit 1; }

"$POSENC" race $tiny --out straight >/dev/null 2>stderr || fail "the race: $(cat stderr)"
straight=$(state straight)
RANDOM=1 killed=0 races=0
while [ $killed -lt $kills ] || [ -e cut ]; do
  begun="--out cut"
  [ ! -e cut/race.json ] || begun="--resume cut"
  case $begun in --out*) options=$tiny ;; *) options=--quiet ;; esac
  "$POSENC" race $options $begun >stdout 2>stderr &
  job=$!
  if [ $killed -lt $kills ]; then
    sleep "0.$(printf %03d $((RANDOM % 90)))"
    kill -9 $job 2>/dev/null
  fi
  wait $job 2>/dev/null
  case $? in
  137) killed=$((killed + 1)) ;;
  0)
    [ "$(state cut)" = "$straight" ] || fail "after $killed kills: weights or logs differ: $(diff <(state cut) <(echo "$straight") | head -5)"
    left=$(find cut -name '*.tmp' -o -name 'lock-*')
    [ -z "$left" ] || fail "left behind: $left"
    races=$((races + 1))
    rm -rf cut
    ;;
  *) fail "after $killed kills: $(cat stderr)" ;;
  esac
done
echo "$killed kills in $races races: the same weights and logs"
echo "$races passed, 0 failed, 0 skipped"
