#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: test; cost: 15 s
# Several processes at one race, from the command line: who begins where, what they say, what a report says meanwhile, what is refused.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
root=$PWD
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/lib.sh
cd "$dir" || exit 1
race() { "$POSENC" race "$@"; }
tiny="-e none,rope --layers 1 --width 16 --heads 2 --train-length 16 --test 1x,2x --batch 2 --test-tokens 64 --threads 1"
small="$tiny --steps 40 --seeds 2"
# What a race measured, without its tenth column: seconds.
table() { tr -d '\r' <"$1/results.csv" | cut -d, -f1-9,11-; }
same() { diff <(table one) <(table "$1"); }
json() { python3 -c "import json, sys; r = json.load(open(sys.argv[1])); print($2)" "$1"; }

expect 0 "report: one/report.html" race $small --out one

# ---- three at once, who begin where they are told
for i in 1 2 3; do race $small --out three --shard $i/3 >stdout-$i 2>stderr-$i & done
wait
check "the result of one process" same three
check "each training is taken once" test "$(cat stderr-? | grep -c '^takes ')" = 4
check "whoever ends last writes the report" grep -qx "report: three/report.html" stderr-1 stderr-2 stderr-3
check "no lock is left" test -z "$(find three -name 'lock-*' -o -name '*.tmp')"
expect 0 "report: three/report.html" race $small --out three --shard 2/3 # it came back, and finds all done
touch -d '1 hour ago' three/results.csv.99999999-0.tmp # of one that was killed in its report
touch three/report.html.99999999-0.tmp                 # of one that may be writing it, elsewhere
expect 0 "trained at 16" race --resume three --shard 1/9
check "what a report left goes when it is old" test "$(ls three | grep tmp)" = report.html.99999999-0.tmp
expect 0 "trained at 16" race --resume three

# ---- one alone does what the others should have done
expect 0 "takes rope, seed 2; 3 of 4 trainings are done; nobody else is at work" race $small --out alone --shard 1/4
check "the same result" same alone
expect 0 '"trainings": 4, "trainings_done": 0, "others": ""' race $small --out told --shard 1/4 --progress json

# ---- which share: by who started it
clear="env -u SLURM_ARRAY_TASK_ID -u OMPI_COMM_WORLD_RANK -u PMI_RANK -u JOB_COMPLETION_INDEX"
by() { # by WORDS VARIABLE=VALUE...: the first note, and the first training, none of them done
  local words=$1; shift
  rm -rf auto
  $clear "$@" "$POSENC" race $small --out auto --shard auto >stdout 2>stderr || bad "$*: $(cat stderr)"
  check "$*: $words" test "$(grep -m1 -oE 'share .*' stderr); $(grep -m1 -oE '^takes [^;]*' stderr)" = "$words"
}
by "share 3 by SLURM_ARRAY_TASK_ID=3; takes none, seed 2" SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=4
by "share 2 by SLURM_ARRAY_TASK_ID=20; takes rope, seed 1" SLURM_ARRAY_TASK_ID=20 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=10 SLURM_ARRAY_TASK_COUNT=4
by "share 2 by SLURM_ARRAY_TASK_ID=9; takes rope, seed 1" SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_COUNT=3 # 2, 5 and 9
by "share 2 by OMPI_COMM_WORLD_RANK=1; takes rope, seed 1" OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3
by "share 4 by PMI_RANK=3; takes rope, seed 2" PMI_RANK=3 PMI_SIZE=4
by "share 2 by JOB_COMPLETION_INDEX=1; takes rope, seed 1" JOB_COMPLETION_INDEX=1
expect 2 "none of SLURM_ARRAY_TASK_ID, OMPI_COMM_WORLD_RANK, PMI_RANK and JOB_COMPLETION_INDEX is set" $clear "$POSENC" race $small --out no --shard auto
expect 2 "PMI_RANK is -1; needs a whole number" $clear PMI_RANK=-1 "$POSENC" race $small --out no --shard auto
for bad in 0/2 3/2 1 1/ /2 1/2x -1/2 a/b; do expect 2 "--shard is $bad; needs I/N" race $small --out no --shard=$bad; done
expect 2 "--shard needs --out FOLDER or --resume FOLDER" race $small --shard 1/2
expect 2 "--silence needs --shard" race $small --out no --silence 5
expect 2 "--silence is 0" race $small --out no --shard 1/2 --silence 0
check "nothing was begun" test ! -e no

# ---- another race in the same folder
expect 2 'race.json has "steps": 40 where this process was asked for "steps": 41' race $tiny --steps 41 --seeds 2 --out three --shard 1/2
expect 2 'race.json has "name": "rope" where this process was asked for "name": "alibi"' race ${small/rope/alibi} --out three --shard 1/2
expect 2 "three has another race" race $tiny --steps 40 --out three --shard 1/2
expect 4 "nowhere/race.json" race --resume nowhere --shard 1/2

# ---- minutes: one calibration, whoever makes it
for i in 1 2 3; do race $tiny --minutes 0.05 --out timed --shard $i/3 >stdout-$i 2>stderr-$i & done
wait
check "one calibration" test "$(cat stderr-? | grep -c '^calibration: ')" = 1
steps=$(sed -n 's/^ *"steps": \([0-9]*\),/\1/p' timed/race.json)
check "the same $steps steps for all" test "$(grep -h '"line": "run"' timed/*/log.jsonl | grep -c "\"steps\": $steps,")" = 2

# ---- while one works
long="$tiny --steps 100000 --checkpoint-every 20"
env --default-signal=INT "$POSENC" race $long --out live --shard 1/2 >stdout-1 2>stderr-1 &
job=$!
await $job has_lines live/none-1/log.jsonl 20
"$POSENC" report live >report 2>stderr; code=$?
check "a report is made" test $code = 0
check "it says what is missing" grep -q "2 of 2 trainings are missing" report
check "who works at it" grep -qE "none +1 +running +[1-9][0-9]* of 100000 +0 of 2 +process $job on" report
check "and what is not begun" grep -qE "rope +1 +not started +0 of 100000 +0 of 2" report
"$POSENC" report live --json >report.json 2>stderr
check "the same for programs" grep -q '"state": "running"' report.json
expect 4 "is held by process $job on" race --resume live # who is alone
env --default-signal=INT "$POSENC" race $long --out live --shard 1/2 >stdout-2 2>stderr-2 &
other=$!
await $other has_lines live/rope-1/log.jsonl 20
check "the same share twice: the second takes another training, and says who works at the first" \
  grep -qE "^takes rope, seed 1; 0 of 2 trainings are done; others at work: none, seed 1: process $job on " stderr-2
kill -INT $job $other
wait $job; check "Ctrl-C: exit code 5" test $? = 5
wait $other
check "and how to go on" grep -q "posenc race --resume live --shard 1/2" stderr-1
"$POSENC" report live >report 2>stderr
check "then they are stopped" grep -qE "rope +1 +stopped +[1-9][0-9]* " report

# ---- the lock of a process on a machine that is gone
race $small --out gone --shard 1/1 >stdout 2>stderr
table gone >whole
rm -f gone/rope-2/log.jsonl gone/rope-2/step-* gone/results.*
echo "held 1 on gone since 2031-01-01T00:00:00Z machine gone silence 0.5 beat 0000000003" >gone/rope-2/lock-1
expect 0 "waiting to see whether" race --resume gone --shard 1/1
check "it is taken over, with the same result" diff whole <(table gone)
echo "held 1 on gone since 2031-01-01T00:00:00Z machine gone silence 0.5 beat 0000000003" >gone/lock-1
expect 0 "waiting for process 1 on gone" race --resume gone

# ---- a loss that is not finite costs the others nothing
expect_failure() { race "$@" >stdout 2>stderr; check "$*: exit code 3" test $? = 3; }
expect_failure $small --rate 1e30 --out broken --shard 1/2
check "the others are tried" test "$(cat broken/*/log.jsonl | grep -c '"line": "failure"')" = 4
check "the message names one of them" grep -qE "^posenc race: none, seed 1, step [0-9]+: .* not finite" stderr
"$POSENC" report broken >report 2>stderr
check "the report says which failed" test "$(grep -cE "(none|rope) +[12] +failed +" report)" = 4
expect_failure --resume broken --shard 1/2
check "they would fail again: none is tried" eval '! grep -q ^takes stderr'

# ---- examples
for file in "$root"/examples/race/*.sh; do check "${file##*/} is a shell script" bash -n "$file"; done
export PATH=${POSENC%/*}:$PATH FOLDER=slurm
ln -s "$POSENC" posenc 2>/dev/null; PATH=$dir:$PATH
for i in 0 1 2; do SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=3 SLURM_CPUS_PER_TASK=1 bash "$root/examples/race/slurm.sh" $small >stdout-$i 2>stderr-$i & done
wait
check "slurm.sh, as Slurm starts it" same slurm
# python/tests/test_engines.py checks job.yaml by Kubernetes's schema.
# shellcheck disable=SC2046 # words
JOB_COMPLETION_INDEX=1 $(sed -nE 's/^ *command: \[(.*)\]/\1/p' "$root/examples/race/job.yaml" | tr -d '",' | sed "s|/shared/race|$dir/kubernetes|") $small >stdout 2>stderr
check "the command of job.yaml, in a pod" same kubernetes

finish
