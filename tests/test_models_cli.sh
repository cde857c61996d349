#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 2 s
# Trained models as files: from a race's folder by posenc report --models, and back by eval, explain and extend.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
root=$PWD
dir=$(mktemp -d)
. tests/lib.sh
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
# expect CODE WORDS VERB OPTIONS...: the exit code, and WORDS in what it prints.
expect() {
  local code=$1 words=$2 got; shift 2
  "$POSENC" "$@" >stdout 2>stderr; got=$?
  if [ $got != "$code" ]; then bad "$* : exit code $got, not $code: $(head -c 300 stderr)"; return; fi
  if ! grep -qF -- "$words" stdout stderr; then bad "$* : '$words' is not in: $(cat stdout stderr | head -c 400)"; return; fi
  ok
}
tiny="--layers 1 --width 16 --heads 2 --train-length 32 --test 1x --batch 2 --test-tokens 64 --threads 1 --steps 3"
for word in $(seq 400); do echo "the dog number $word bites the man"; done >text.txt

expect 0 rope race -e learned,rope,rope:scaling=ntk --seeds 2 $tiny --out run
expect 0 "wrote models/rope-2.safetensors: rope" report run --models models
check "a file for each training: scaling= is not trained" test "$(ls models | xargs)" = "learned-1.safetensors learned-2.safetensors rope-1.safetensors rope-2.safetensors"
expect 0 "wrote floats/rope-1" report run --models floats --bits 32
check "8 bits take less than half of so small a model" test $((2 * $(wc -c <models/rope-1.safetensors))) -lt "$(wc -c <floats/rope-1.safetensors)"
cp -r models before; expect 0 wrote report run --models models
check "written again, the same bytes" diff -r before models

perplexity() { tr -d '\n ' <"$1" | sed -n 's/.*"perplexity":{"mean":\([0-9.]*\).*/\1/p'; }
expect 0 perplexity eval floats/rope-1.safetensors --text text.txt --lengths 1x --extend none --json; cp stdout whole
expect 0 perplexity eval models/rope-1.safetensors --text text.txt --lengths 1x --extend none --json; cp stdout rounded
check "rounding changes perplexity by less than 1 %: $(perplexity whole), $(perplexity rounded)" \
  awk -v a="$(perplexity whole)" -v b="$(perplexity rounded)" 'BEGIN { exit !(a > 1 && a != b && (a - b) ^ 2 < (a / 100) ^ 2) }'
expect 0 "ntk" eval models/rope-1.safetensors --text text.txt --lengths 2x --extend none,ntk
expect 0 "the dog" eval models/rope-1.safetensors --generate 5 --prompt "the dog"
check "a prompt of 7 bytes and 5 more" test "$(wc -c <stdout)" = 12
expect 0 "the dog" eval models/rope-1.safetensors --generate 20 --prompt "the dog" --temperature 2; cp stdout drawn
expect 0 "the dog" eval models/rope-1.safetensors --generate 20 --prompt "the dog" --temperature 2 --seed 1
check "a seed draws the same text" cmp drawn stdout
expect 0 "the dog" eval models/rope-1.safetensors --generate 20 --prompt "the dog" --temperature 2 --seed 2
check "another seed draws another" bash -c '! cmp -s drawn stdout'
expect 0 "learned" explain models/learned-1.safetensors
expect 0 "32 positions" explain models/rope-1.safetensors
expect 0 "ntk" extend models/rope-1.safetensors --to 64

expect 0 "position 32 is row 32" eval models/learned-1.safetensors --text text.txt --lengths 64 --extend none
expect 2 "--tokenizer is for other models" eval models/rope-1.safetensors --generate 1 --tokenizer text.txt
expect 2 "--temperature is hot" eval models/rope-1.safetensors --generate 1 --temperature hot
expect 2 "--temperature and --seed are for --generate" eval models/rope-1.safetensors --text text.txt --temperature 1
expect 3 "cannot be overridden" eval models/rope-1.safetensors --text text.txt --theta 100
expect 2 "--bits is for the files of --models" report run --bits 32
head -c 3000 models/rope-1.safetensors >cut.safetensors
expect 3 "cut.safetensors" eval cut.safetensors --text text.txt
cp -r run early; rm early/rope-2/step-*
expect 3 "early/rope-2 has no checkpoint of step 3; finish the race with posenc race --resume early" report early --models other
"$POSENC" race -e rope --masked $tiny --out masked >/dev/null 2>&1
expect 0 "wrote" report masked --models masked
expect 3 "was trained to fill in masked bytes" eval masked/rope-1.safetensors --text text.txt
finish
