#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fuzz.sh: the long run. Builds every fuzz/fuzz_NAME.c with clang (libFuzzer, AddressSanitizer, UndefinedBehaviorSanitizer)
# in build-fuzz/ and runs each for RUNS executions; leaves a log per worker, build-fuzz/summary.md, and what it found in
# build-fuzz/findings/. Exit code 1: there is a finding. By the environment:
#   RUNS=20000000   executions of each target, shared by its workers
#   TARGET="a b"    these only; all unless told
#   JOBS=N          processes at a time, all of one target: as many as there are CPUs unless told
#   BUILD_ONLY=1    build, and run nothing
#   RUN_ONLY=1      run what was built, here or elsewhere: needs build-fuzz/fuzz_*, fuzz/ and scripts/, no compiler
# A finding is tried again with: build-fuzz/fuzz_NAME build-fuzz/findings/FILE
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:-20000000} jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)} out=build-fuzz
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 # the harness has its own count of what is not freed
export UBSAN_OPTIONS=print_stacktrace=1
export POSENC_TEST_CLOCK=1 # the bounds of time are held to

build() {
  scripts/setup.sh fuzz
  cmake -S . -B $out --log-level=WARNING -DCMAKE_C_COMPILER=clang -DPOSENC_FUZZ=ON -DPOSENC_TESTS=OFF -DPOSENC_INSTALL=OFF \
    -DPOSENC_SANITIZE=address,undefined,float-cast-overflow,fuzzer-no-link -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$PWD/$out" >/dev/null
  MAKEFLAGS=--no-print-directory cmake --build $out --parallel "$jobs" --target $(targets | sed 's/^/fuzz_/')
}
targets() {
  local file name
  for file in fuzz/fuzz_*.c; do
    name=${file#fuzz/fuzz_} name=${name%.c}
    [ "${RUN_ONLY:-}" != 1 ] || [ -x "$out/fuzz_$name" ] || continue
    case " ${TARGET:-$name} " in *" $name "*) echo "$name" ;; esac
  done
}

# The last number after a word in libFuzzer's log; 0 where there is none.
last() { { grep -oaE "$1[ :]*[0-9]+" "$2" || echo "$1 0"; } | tail -n 1 | grep -oE '[0-9]+$'; }
executed() { # of all logs of a target so far
  local log n total=0
  for log in $out/logs/"$1"-*.log; do
    n=$(last stat::number_of_executed_units "$log")
    [ "$n" != 0 ] || n=$(last '^#' "$log")
    total=$((total + n))
  done
  echo $total
}
most() { for log in $out/logs/"$1"-*.log; do last "$2" "$log"; done | sort -n | tail -n 1; }

worker() { # worker NAME NUMBER
  local dict=() length
  length=$(sed -n 's/^ \* max_len: \([0-9]*\).*/\1/p' "fuzz/fuzz_$1.c")
  [ ! -e "fuzz/dict/$1.dict" ] || dict=(-dict="fuzz/dict/$1.dict")
  exec $out/"fuzz_$1" -runs=$(((runs + jobs - 1) / jobs)) -seed=$((RANDOM * 32768 + RANDOM + $2 + 1)) -max_len="${length:-4096}" -timeout=20 \
    -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$PWD/$out/findings/$1-" "${dict[@]}" \
    "$PWD/$out/corpus/$1" "$PWD/fuzz/corpus/$1" >"$out/logs/$1-$2.log" 2>&1
}

run() { # run NAME: all workers, a line of progress now and then, a row of the summary
  local name=$1 pids=() started=$SECONDS found=0 took beat=0
  mkdir -p $out/corpus/"$name" $out/findings $out/logs "fuzz/corpus/$name"
  rm -f $out/logs/"$name"-*.log
  local before
  before=$(find $out/findings -name "$name-*" | wc -l)
  for ((i = 0; i < jobs; i++)); do (worker "$name" $i) & pids+=($!); done
  while [ -n "$(jobs -pr)" ]; do
    sleep 1
    beat=$((beat + 1))
    [ $((beat % 30)) != 0 ] || printf '%-12s %12d executions, %s edges, %d s\n' "$name" "$(executed "$name")" "$(most "$name" cov:)" $((SECONDS - started))
  done
  for pid in "${pids[@]}"; do wait "$pid" || found=$((found + 1)); done
  took=$((SECONDS - started)) files=$(($(find $out/findings -name "$name-*" | wc -l) - before))
  [ "$files" -le $found ] || found=$files
  [ $found = 0 ] || failed=yes
  printf '| %s | %d | %d | %d | %d | %d s |\n' "$name" "$(executed "$name")" $(($(executed "$name") / (took > 0 ? took : 1))) \
    "$(most "$name" cov:)" $found $took | tee -a $out/summary.md
  [ $found = 0 ] || grep -haE -m 3 '^(HARNESS|SUMMARY|==[0-9]+==ERROR)' $out/logs/"$name"-*.log || true
}

[ "${RUN_ONLY:-}" = 1 ] || build
[ "${BUILD_ONLY:-}" = 1 ] && exit 0
failed=no
{
  echo "| target | executions | exec/s | edges | findings | wall time |"
  echo "|---|---|---|---|---|---|"
} >$out/summary.md
names=$(targets)
[ -n "$names" ] || { echo "no target to run: ${TARGET:-nothing is built in $out/}" >&2; exit 2; }
for name in $names; do run "$name"; done
printf '\n%s: %d workers of each target, %s\n' "$out/summary.md" "$jobs" "AddressSanitizer and UndefinedBehaviorSanitizer"
cat $out/summary.md
[ $failed = no ] || { echo "there are findings: $out/findings/" >&2; exit 1; }
