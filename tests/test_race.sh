#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: test; cost: 15 s
# A race end to end, tiny: who trains and who shares, the same bits for any threads and after any interruption, what is refused.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
. tests/lib.sh
root=$PWD
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
tiny="--layers 1 --width 16 --heads 2 --train-length 32 --test 1x,2x --batch 2 --test-tokens 128 --quiet"
race() { "$POSENC" race "$@"; }
# expect CODE WORDS OPTIONS...: the exit code, and WORDS in what it prints.
expect() {
  local code=$1 words=$2 got; shift 2
  race "$@" >stdout 2>stderr; got=$?
  if [ $got != "$code" ]; then bad "race $* : exit code $got, not $code: $(head -c 300 stderr)"; return; fi
  if ! grep -qF -- "$words" stdout stderr; then bad "race $* : '$words' is not in: $(cat stdout stderr | head -c 400)"; return; fi
  ok
}
# The tensors of the newest checkpoint of a training: the file from the end of its header on, without seconds and sizes.
weights() {
  local file size; file=$(ls "$1"/step-*.safetensors | tail -1)
  size=$(od -An -tu8 -N8 "$file"); tail -c +$((size + 9)) "$file" | cksum
}
# The log without what depends on the clock.
lines() { sed -E 's/"(seconds|tokens_per_second)": *[-+.e0-9]+,? *//g' "$1"/log.jsonl; }
same() { [ "$(weights "$1")" = "$(weights "$2")" ] && [ "$(lines "$1")" = "$(lines "$2")" ]; }

# ---- one race
expect 0 "rope" -e none,rope,learned $tiny --steps 6 --out a
check "one folder for each training" test "$(ls -d a/*-1 | paste -sd' ')" = "a/learned-1 a/none-1 a/rope-1"
check "a line for each step, one for the run, one for each test" test "$(wc -l <a/rope-1/log.jsonl)" = 9
check "a learned table past its end cannot" grep -q "cannot" stdout
check "and the log says why" grep -q '"cannot": *"learned' a/learned-1/log.jsonl
check "without a number" grep -q '"bits": *null, *"last_quarter": *null, *"by_position": *.null' a/learned-1/log.jsonl
check "the checkpoint of the last step" test -s "$(ls a/none-1/step-*6.safetensors)"
check "the command is kept" grep -q "posenc race --encodings none,rope,learned" a/race.json
expect 2 "has a race already" -e none $tiny --steps 6 --out a
expect 0 "" -e none $tiny --steps 1 --out "it's \$x"
check "and quoted" grep -qFe "--out 'it'\\\\''s \$x'" "it's \$x/race.json"
expect 0 "rope" --resume a --quiet
check "nothing is done again" test "$(wc -l <a/rope-1/log.jsonl)" = 9

# ---- progress for a program
loud=${tiny% --quiet}
expect 0 "rope" -e none,rope $loud --steps 6 --out told --progress json
number='[0-9.e+-]+'
first="^\{\"part\": $number, \"seconds_left\": $number, \"name\": \"none\", \"seed\": 1, \"doing\": \"train\", \"length\": 32, \"done\": 1, \"of\": 6, \"bits\": $number, \"tokens_per_second\": $number\}\$"
check "the first step is told at once, with all that a display needs" grep -qE "$first" <(grep -m1 '^{' stderr)
expect 0 "report: told/report.html" --resume told --progress json
expect 2 "needs one of auto|json" -e none $loud --steps 1 --out no --progress bar
expect 0 "" -e none $tiny --steps 1 --out hush --progress json
check "--quiet is quiet all the same" test ! -s stderr

# ---- a loss that is no number
expect 3 "not finite" -e none,rope $tiny --steps 6 --rate 1e30 --out broken
check "the log says where it stopped" grep -q '"line": *"failure", *"step": *2, *"why": *"none, seed 1, step 2' broken/none-1/log.jsonl
check "and the page" grep -q 'Stopped: none, seed 1, step 2: the gradient' broken/report.html
check "and --json" grep -q '"failed": *"none, seed 1, step 2' <("$POSENC" report broken --json 2>stderr)
check "and the data" grep -q '"line": *"failure", *"entry": *"none"' broken/results.jsonl

# ---- the same bits
expect 0 "" -e rope $tiny --steps 6 --out one --threads 1
expect 0 "" -e rope $tiny --steps 6 --out two --threads 2 --checkpoint-every 1
check "1 and 2 threads, other checkpoints: the same weights and log" same one/rope-1 two/rope-1
check "others in the race change nothing" same one/rope-1 a/rope-1
check "the last two checkpoints are kept" test "$(ls two/rope-1/step-*.safetensors | wc -l)" = 2

# ---- stopped and resumed: Ctrl-C once, at whatever step
many="-e rope,alibi $tiny --steps 600 --batch 8"
expect 0 "" $many --out straight
for at in rope-1:20 alibi-1:40; do # the log is written with each checkpoint
  rm -rf cut
  env --default-signal=INT "$POSENC" race $many --checkpoint-every 20 --out cut >stdout 2>stderr &
  job=$!
  check "$at is reached" await $job has_lines "cut/${at%:*}/log.jsonl" "${at#*:}"
  kill -INT $job; wait $job; code=$?
  check "Ctrl-C: exit code 5, not $code" test $code = 5
  check "and how to go on" grep -q "posenc race --resume cut" stderr
  expect 0 "alibi" --resume cut --quiet
  check "stopped after $at and resumed: the same weights and log" same straight/rope-1 cut/rope-1
  check "stopped after $at and resumed: the same of the second" same straight/alibi-1 cut/alibi-1
done

# ---- killed in the first training and in the second
rm -rf cut
for at in rope-1:10 rope-1:100 rope-1:300 alibi-1:10 alibi-1:200; do
  if [ -e cut/race.json ]; then set -- --resume cut; else set -- $many --out cut; fi
  "$POSENC" race "$@" --checkpoint-every 10 --quiet >/dev/null 2>stderr &
  job=$!
  check "$at is reached" await $job has_lines "cut/${at%:*}/log.jsonl" "${at#*:}"
  kill -KILL $job; wait $job 2>/dev/null
done
if [ -e cut/race.json ]; then set -- --resume cut; else set -- $many --out cut; fi
expect 0 "alibi" "$@" --quiet
check "killed 5 times: the same weights and log" same straight/rope-1 cut/rope-1
check "killed 5 times: the same of the second" same straight/alibi-1 cut/alibi-1

# ---- two at once, a full disk
rm -rf cut
env --default-signal=INT "$POSENC" race $many --checkpoint-every 100 --out cut >/dev/null 2>stderr &
job=$!
saved() { [ -n "$(ls cut/rope-1/step-* 2>/dev/null)" ]; }
await $job saved
expect 4 "process" --resume cut --quiet
kill -INT $job; wait $job
full() { (ulimit -f 2; "$POSENC" race --resume cut --quiet >stdout 2>stderr); }
before=$(ls cut/rope-1/step-*)
full; check "a full disk is exit code 4" test $? = 4
check "what was saved stays, and nothing half" test "$(ls cut/rope-1/step-*)" = "$before"
expect 0 "alibi" --resume cut --quiet
check "after the full disk: the same weights and log" same straight/rope-1 cut/rope-1
rm -f cut/alibi-1/log.jsonl cut/alibi-1/step-*
expect 0 "alibi" --resume cut --quiet
check "a training that lost its files is done again" same straight/alibi-1 cut/alibi-1

# ---- the second Ctrl-C stops at once, within a step that takes long; what is there can be resumed
slow="-e none --train-length 2k --batch 4 --width 256 --layers 8 --steps 3 --test 64 --test-tokens 64 --quiet"
for try in 1 2 3 4 5; do # where the first one came between two steps, it has stopped (5) before the second
  rm -rf slow
  env --default-signal=INT "$POSENC" race $slow --out slow >/dev/null 2>stderr &
  job=$!
  await $job test -e slow/none-1/log.jsonl
  await $job worked $job $((50 * try))
  kill -INT $job; await $job took_signal $job; kill -INT $job 2>/dev/null; wait $job; code=$?
  [ $code = 5 ] || break
done
check "the second Ctrl-C ends it by the signal, code 130, not $code" test $code = 130
check "without a report" test ! -e slow/report.html

# ---- entries
expect 0 "scaling=yarn" -e rope:theta=10000,scaling=yarn,rope:theta=10000,scaling=ntk,alibi $tiny --steps 2 --out lists
check "three entries, two trainings" test "$(ls -d lists/*-1 | wc -l)" = 2
check "the shared log has the tests of both" test "$(grep -c '"length"' lists/rope-theta-10000-scaling-yarn-1/log.jsonl)" = 4
expect 0 "hierarchical" -e hierarchical $tiny --steps 2 --out hier
check "hierarchical serves what learned cannot" test "$(grep -c cannot stdout)" = 0
cat >sweep.txt <<'S'
# a comment
plain = rope
rope:theta=500   # another
S
expect 0 "plain" --sweep sweep.txt $tiny --steps 2 --out sweep
check "named and unnamed" test "$(ls -d sweep/*-1 | paste -sd' ')" = "sweep/plain-1 sweep/rope-theta-500-1"
expect 0 "" --sweep "$root/docs/results/books.txt" $tiny --width 64 --drop rope --show-data # every line is an encoding
expect 0 "" -e rope $tiny --steps 2 --seeds 2 --out seeds
expect 0 "" -e rope $tiny --steps 2 --first-seed 2 --out second
check "the same bits of a seed, whichever was the first" same seeds/rope-2 second/rope-2
check "a training for each seed" test "$(ls -d seeds/rope-* | paste -sd' ')" = "seeds/rope-1 seeds/rope-2"
for data in copy recall grid; do expect 0 "rope" -e rope $tiny --steps 2 --data $data --out "of-$data"; done
expect 0 "deberta" -e deberta $tiny --steps 2 --masked --out masked
for ((i = 0; i < 400; i++)); do echo "line $i of a text that is long enough to be split and tested on"; done >t.txt
expect 0 "rope" -e rope $tiny --steps 2 --text t.txt --out text
cp t.txt "a, b.txt"
expect 0 "rope" -e rope $tiny --steps 2 --text "a, b.txt" --out comma
expect 2 "both trained and tested on" -e rope $tiny --steps 2 --text t.txt --test-text ./t.txt --out no
expect 0 "grid has not every length: trained at 81, tested at 81, 121" -e rope ${tiny/--quiet/} --steps 2 --data grid --train-length 99 --test 1x,128 --out squares
expect 0 "window" -e none,window $tiny --steps 2 --data grid --train-length 64 --test 1x --out window
check "a window is as large as the grid it is trained on" grep -q '"window:window=8/8"' window/race.json
all=$("$POSENC" list --as csv | sed -n 's/^"\([a-z0-9-]*\)",.*/\1/p' | paste -sd,)
expect 0 "fire" -e "$all,kerple:form=power" $tiny --steps 2 --data grid --train-length 64 --test 1x --out all

# ---- how position parameters are trained
# cut_to COPY FOLDER TRAINING STEP: a copy of the folder as a kill soon after the checkpoint of this step leaves it.
cut_to() {
  rm -rf "$1"; cp -r "$2" "$1"
  for ((i = $4 + 1; i <= 99; i++)); do rm -f "$1/$3/step-$(printf %08d $i).safetensors"; done
  head -$(($4 + 1)) "$2/$3/log.jsonl" >"$1/$3/log.jsonl"
}
rates() { grep -A99 '"entries"' "$1/race.json" | grep -E '"(rate|decay)"' | tr -dc '0-9.\n' | paste -sd' '; }
expect 0 "t5" -e rope,t5,fire $tiny --steps 4 --position-rate 2,table=5 --position-decay table=0.5 --out asked
check "as asked: table, then the six of fire" test "$(rates asked)" = "5 0.5 2 0 2 0 2 0 2 0 2 0 2 0"
check "the report has them" grep -q '>0.01 (5 × the weights' asked/report.html
check "--json has them" grep -q '"rate": 5' <("$POSENC" report asked --json)
own=$("$POSENC" list t5 --json | grep -E '"(rate|decay)"' | tr -dc '0-9.\n' | paste -sd' ')
expect 0 "t5" -e t5 $tiny --steps 4 --out own
check "as the row says, unless asked" test "$(rates own)" = "$own"
expect 0 "t5" -e t5 $tiny --steps 4 --position-rate "${own% *}" --out same-rate
check "which is no other training" same own/t5-1 same-rate/t5-1
expect 0 "t5" -e t5 $tiny --steps 4 --position-rate 0 --out still
check "another rate is another" test "$(weights own/t5-1)" != "$(weights still/t5-1)"
expect 0 "t5" -e t5 $tiny --steps 4 --position-rate 3 --checkpoint-every 1 --keep 9 --out at3
cut_to cut3 at3 t5-1 2
expect 0 "t5" --resume cut3 --quiet
check "resumed with the folder's rates: the same weights and log" same at3/t5-1 cut3/t5-1
sed -i 's/"rate": 3/"rate": 4/' cut3/race.json
rm -f cut3/t5-1/log.jsonl
expect 0 "of a run with other settings" --resume cut3 --quiet
sed -i 's/"rate": 4/"rate": -4/' cut3/race.json
expect 3 "rate and decay of the tensor table" --resume cut3 --quiet
sed -i 's/"rate": -4/"rate": 4/; s/"name": "table"/"name": "tabel"/' cut3/race.json
expect 3 "race.json has a tensor tabel" --resume cut3 --quiet
for bad in x 1, -1 =3 table= 1e9 nan; do expect 2 "--position-rate is $bad; needs" -e t5 $tiny --steps 4 --position-rate=$bad --out no; done
expect 2 "no encoding of this race has a learned tensor u" -e t5 $tiny --steps 4 --position-decay u=1 --out no

# The rows have the factors that are bold in docs/lab.md: "SPEC FACTOR" for each row of its table.
bold() {
  awk -F' *[|] *' '/^[|] factor of the rate/ { split($0, factor) } /^$/ { split("", factor) } factor[3] && /[*][*]/ {
    for (i = 3; i <= NF; i++) if ($i ~ /^[*][*]/) { split($0, word, "`"); print word[2], factor[i] } }' "$root/docs/lab.md"
}
check "lab.md has a factor for every encoding that was swept" test "$(bold | wc -l)" = 14
while read -r spec factor; do
  rm -rf said
  race -e "$spec" $tiny --data grid --train-length 64 --test 1x --steps 1 --out said >stdout 2>stderr
  check "$spec has the rate $factor, as docs/lab.md says" grep -q "\"rate\": $factor,\$" said/race.json
done < <(bold)

# ---- the sweep that finds the rates
sweep() { ENCODINGS=t5,learned FACTORS="1 10" POSENC=$POSENC "$root/scripts/rates.sh" rates $tiny --steps 4 >stdout 2>stderr; }
check "a race for each factor" sweep
check "a row for each encoding" grep -qE '^\| `t5` \| [0-9.]+ [0-9.]+ \| [0-9.]+ [0-9.]+ \|$' stdout
check "which may not go further" grep -qE '^\| `learned` \| [0-9.]+ cannot \| [0-9.]+ cannot \|$' stdout
check "with that factor" test "$(rates rates/10)" = "10 0 10 0"
before=$(cat stdout)
check "and again" sweep
check "from what is there" test "$(cat stdout)" = "$before"

# ---- an encoding that is dropped after training (DroPE)
drop="-e none,rope,learned,t5 $tiny --steps 20 --drop rope,learned,t5 --drop-steps 30"
expect 0 "rope dropped" $drop --checkpoint-every 1 --keep 99 --out drop
expect 0 "rope" -e rope $tiny --steps 20 --out undropped
check "the training before it is that of any race" same undropped/rope-1 drop/rope-1
check "a training of its own, a line for each step, one for the run, one for each test" test "$(wc -l <drop/rope-dropped-1/log.jsonl)" = 33
check "learned goes past its table now" test "$(grep -c '"cannot": ""' drop/learned-dropped-1/log.jsonl)" = 2
check "and has no table any more" test -z "$(grep -ao 'position.table' drop/learned-dropped-1/step-00000030.safetensors)"
check "the page says so" grep -q '>rope, then 30 steps without it<' drop/report.html
for at in 1 17; do # cut before the first step that was saved, and later
  cut_to cut drop t5-dropped-1 $((at - 1))
  expect 0 "t5 dropped" --resume cut --quiet
  check "resumed from step $((at - 1)): the same weights and log" same drop/t5-dropped-1 cut/t5-dropped-1
done
rm -rf cut; cp -r drop cut; rm -rf cut/rope-dropped-1 cut/rope-1/step-*20.safetensors
expect 3 "cut/rope-1 has no checkpoint of step 20, which rope dropped goes on from" --resume cut --quiet
expect 0 "rope dropped" -e rope $tiny --steps 21 --drop rope --out tenth
check "a tenth of the steps, rounded up" grep -q '"dropped": 3' tenth/race.json
expect 0 "rope dropped" -e rope $tiny --minutes 0.05 --drop rope --out timed
check "of minutes too" test "$(sed -n 's/.*"dropped": \([1-9]\)/\1/p' timed/race.json | tail -1)"
expect 2 "--drop has alibi, which is not in the race" -e rope $tiny --steps 2 --drop alibi --out no
expect 2 "--drop has none, which has no encoding to drop" -e none $tiny --steps 2 --drop none --out no
expect 2 "whose weights (rope) are there already" -e rope,rope:scaling=yarn $tiny --steps 2 --drop rope,rope:scaling=yarn --out no
expect 2 "joined to the embedding" -e sinusoidal:join=concat,width=8 $tiny --steps 2 --drop sinusoidal:join=concat,width=8 --out no
expect 2 "--drop-steps needs --drop" -e rope $tiny --steps 2 --drop-steps 3 --out no

# ---- minutes become steps
expect 0 "" -e none $tiny --minutes 0.05 --out minutes --json
check "the calibration is recorded" grep -q '"calibration": *"0.05 minutes' minutes/race.json

# ---- without a BLAS, which it looks for by dlopen unless it is told
told=${POSENC_BLAS-}
unset POSENC_BLAS
if echo 'void *dlopen(const char *f, int m) { (void)f, (void)m; return 0; }' | ${CC:-cc} -shared -fPIC -x c - -o none.so &&
  LD_PRELOAD=$PWD/none.so "$POSENC" --version >/dev/null 2>&1; then
  LD_PRELOAD=$PWD/none.so expect 0 "OpenBLAS is missing" -e none $tiny --steps 2 --out slow-one
  check "and how to install it" grep -q "scripts/setup.sh run, or the package libopenblas0-pthread" stderr
elif [ -z "${ASAN_OPTIONS:-}" ]; then # sanitizers do not share a preloaded library; the release build holds this
  skip "without a BLAS: no compiler"
fi
[ -z "$told" ] || export POSENC_BLAS=$told
POSENC_BLAS=none expect 0 "" -e none $tiny --steps 2 --out slow-two
check "who wants none is not told so" test ! -s stderr

# ---- as data
expect 0 " " --data copy --show-data
expect 0 '"finding"' -e none $tiny --steps 2 --out json --json
if command -v python3 >/dev/null; then check "JSON that others read" python3 -m json.tool stdout >/dev/null; fi
expect 0 '"window": "' --data copy --show-data --json

# ---- what is refused, before anything starts
expect 2 "did you mean 'rope'?" -e none,rop $tiny --steps 2 --out no
expect 2 "is there twice" -e rope,rope $tiny --steps 2 --out no
expect 2 "is empty" -e rope,,alibi $tiny --steps 2 --out no
expect 2 "--test has 2y" -e rope $tiny --test 2y --out no
expect 2 "give one of them" -e rope $tiny --steps 2 --minutes 1 --out no
expect 2 "--rate is fast" -e rope $tiny --steps 2 --rate fast --out no
expect 2 "multiple of the heads" -e rope $tiny --heads 3 --steps 2 --out no
expect 2 "coordinates" -e rope:axes=2,split=axial $tiny --steps 2 --out no
expect 2 "--steps cannot be given" --resume a --steps 3
printf '%s\n' '-rf = rope' >option.txt
expect 2 "option.txt: line 1: -rf starts with -" --sweep option.txt $tiny --steps 2 --out no
printf 'rope\nrope\n' >twice.txt
expect 2 "line 2" --sweep twice.txt $tiny --steps 2 --out no
printf '# none\nfine = rope\nbad = rope:scaling=longrope\n' >bad.txt
expect 2 "bad.txt: line 3: bad: rope" --sweep bad.txt $tiny --steps 2 --out no
expect 2 "rope:scaling=longrope: rope" -e none,rope:scaling=longrope $tiny --steps 2 --out no
expect 2 "learned:rows=16: learned" -e none,learned:rows=16 $tiny --steps 2 --out no
expect 2 "query at 0, 0 and key at 0, 4" -e none,window:window=4/4 $tiny --data grid --steps 2 --out no
expect 2 "storys" -e rope $tiny --steps 2 --data storys --out no
expect 4 "nowhere" --resume nowhere
sed -i 's|"slug": "none"|"slug": "../none"|' json/race.json
expect 3 "slug is ../none" --resume json
sed -i 's|"slug": "../none"|"slug": "none"|; s|"heads": 2|"heads": 0|' json/race.json
expect 3 "heads is 0" --resume json
expect 2 "too few" -e rope $tiny --minutes 0.0001 --out few
check "and what is enough" grep -q "needs 0.0[4-9] minutes\|needs 0.[1-9]" stderr
check "nothing was begun" test ! -e no

# ---- a loss that is no number
expect 3 "layer" -e none,rope $tiny --steps 9 --rate 1e10 --warmup 3 --checkpoint-every 1 --out nan
check "the message names run and step" grep -q "none, seed 1, step" stderr
check "and not to resume it" grep -q "a --rate below 1e+10" stderr
check "the last checkpoint stays" test -n "$(ls nan/none-1/step-*.safetensors)"

finish
