#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 1 s
# What files can do to a race: leftovers, links, logs that were lost, numbers that no race writes. It says so or goes on; nothing
# that is there is lost, and nothing is taken for what it is not.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
root=$PWD
dir=$(mktemp -d)
. tests/lib.sh
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
. "$root/tests/tiny_model.sh"
# expect CODE WORDS VERB OPTIONS...: the exit code, and WORDS in what it prints.
expect() {
  local code=$1 words=$2 got; shift 2
  "$POSENC" "$@" >stdout 2>stderr; got=$?
  if [ $got != "$code" ]; then bad "$* : exit code $got, not $code: $(head -c 300 stderr)"; return; fi
  if ! grep -qF -- "$words" stdout stderr; then bad "$* : '$words' is not in: $(cat stdout stderr | head -c 400)"; return; fi
  ok
}
# The log without what depends on the clock.
lines() { sed -E 's/"(seconds|tokens_per_second)": *[-+.e0-9]+,? *//g' "$1"/log.jsonl; }
tiny="--layers 1 --width 16 --heads 2 --test 1x --batch 2 --test-tokens 64 --threads 1"
small="-e rope --train-length 16 --steps 6 $tiny"

# ---- a race without its race.json
expect 0 "rope" race $small --checkpoint-every 2 --out a
lines a/rope-1 >log
cp -r a left; rm left/race.json
expect 4 "left/rope-1 is there, but no race.json" race $small --out left
check "which is not begun" test ! -e left/race.json

# ---- files that are not a race's: refused by name, and as they were
for name in report.html results.csv results.jsonl extrapolation.svg source.json lock-1; do
  rm -rf other && mkdir other && echo mine >other/$name
  expect 4 "other/$name" race $small --out other
  check "$name: refused before anything else is said" test "$(wc -l <stderr)" = 1
  check "$name is as it was, and alone" test "$(cat other/$name) $(ls other)" = "mine $name"
done
rm -rf other && mkdir other && ln -s nowhere other/report.html
expect 4 "other/report.html is there" race $small --out other
rm -rf other && mkdir other && cp a/source.json other/ # all that a kill just before race.json leaves
expect 0 "rope" race $small --out other
cp -r a b && echo mine >victim && ln victim b/lock-1
expect 4 "b/lock-1: is there, and no lock of posenc's" race --resume b
check "a hard link is not written through" test "$(cat victim)" = mine
rm -f b/lock-1 victim
rm -rf b

# ---- logs
cp -r a lost; rm lost/rope-1/log.jsonl
expect 0 "step-00000006.safetensors: lost/rope-1/log.jsonl: cannot be opened" race --resume lost
check "a lost log is written again" test "$(lines lost/rope-1)" = "$(cat log)"
cp -r a short; head -n 5 a/rope-1/log.jsonl >short/rope-1/log.jsonl
expect 0 "the checkpoint goes with its first" race --resume short
check "a log that lost its end is written again" test "$(lines short/rope-1)" = "$(cat log)"
cp -r a linked; rm linked/rope-1/*; ln -s ../../elsewhere linked/rope-1/log.jsonl
expect 4 "is a symbolic link" race --resume linked
check "what it leads to is not made" test ! -e elsewhere


# ---- --quiet is about progress, not about what was passed over
stopped() { cp -r a "$1"; sed -i '/"length"/d' "$1"/rope-1/log.jsonl; } # before its test
stopped damaged
for file in damaged/rope-1/step-*; do printf x | dd of="$file" bs=1 seek=900 conv=notrunc status=none; done
expect 0 "step-00000006.safetensors" race --resume damaged --quiet
check "says who, where and what comes of it" grep -qE '^posenc race: damaged/rope-1: .*; training starts again from step 0$' stderr
check "and comes to the same" test "$(lines damaged/rope-1)" = "$(cat log)"
expect 0 "rope" race --resume damaged --quiet
check "where nothing was passed over, nothing is said" test ! -s stderr
stopped half; printf x | dd of=half/rope-1/step-00000006.safetensors bs=1 seek=900 conv=notrunc status=none
expect 0 "; training continues from step 4" race --resume half --quiet
stopped edited; sed -i 's/"rate": 0.002/"rate": 0.003/' edited/race.json
expect 0 "step-00000006.safetensors" race --resume edited --quiet

expect 0 '"entries.0.name","rope",' race --resume a --as csv

# ---- race.json
edit() { rm -rf b; cp -r a b; sed -i "$1" b/race.json; }
edit 's/"batch": 2/"batch": 9223372036854775807/'
expect 3 "batch is 9223372036854775807; needs 1 to 65536" race --resume b
edit 's/"causal": true/"causal": false/'
expect 3 "is not what it was when this race began" race --resume b
edit 's/"vocab": 256/"vocab": 300/'
expect 3 "is not what it was when this race began" race --resume b
edit 's/"slug": /"cannot": "x", "slug": /'
expect 0 "" report b a -o united

# ---- an eval into a race's folder
tiny_model "$root/tests/story.txt"
evaluate="eval stories.bin --text story.txt --tokenizer tok.bin --lengths 16 --extend none"
cksum a/race.json a/report.html >before
expect 2 "a has a race, which would be lost" $evaluate --out a
check "the race is as it was" cmp -s before <(cksum a/race.json a/report.html)
expect 0 "" $evaluate --out e
expect 0 "" $evaluate --out e # over one of its own
mkdir other-e && echo mine >other-e/log.jsonl
expect 4 "other-e/log.jsonl is there" $evaluate --out other-e
mv other-e/log.jsonl other-e/report.html
expect 4 "other-e/report.html is there" $evaluate --out other-e
check "not replaced by an eval" test "$(cat other-e/report.html)" = mine

# ---- texts
printf 'rope\n\0\nalibi\n' >sweep.txt
expect 2 "sweep.txt: a byte of it is 0" race --sweep sweep.txt --train-length 16 --steps 2 $tiny --out no
check "nothing was begun" test ! -e no
for ((i = 0; i < 40; i++)); do echo "line $i of a text to test on"; done >long.txt
head -n 3 long.txt | tr a-z b-za >short.txt
expect 0 "rope" race -e rope --text short.txt --test-text long.txt --train-length 16 --steps 2 $tiny --test 256 --out texts
check "a test longer than the text to train on is made" test "$(grep -c '"cannot": ""' texts/rope-1/log.jsonl)" = 1

# ---- short windows of which nothing would be asked
expect 0 "rope" race -e rope --masked --train-length 16 --steps 60 $tiny --batch 1 --out masked
expect 0 "rope" race -e rope --data grid --train-length 16 --steps 60 $tiny --batch 1 --out grid

finish
