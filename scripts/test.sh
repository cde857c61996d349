#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test.sh quick|test|all: what `make quick`, `make test` and `make test-all` do: set-up, builds, tests, and an account of
# what ran and what did not. A test's first lines say its tier. CI=true makes a skip inside core a failure.
#   quick  the release build, its quick tests
#   test   the release build and the sanitizers' (address, undefined), all tests but those of the tier all
#   all    every test there, and the flavours below: each is a build of its own, left out where its compiler is missing
# FLAVOURS="musl tsan": of all, these only. JOBS=N: processes at a time.
set -euo pipefail
cd "$(dirname "$0")/.."
unset MFLAGS MAKELEVEL
export MAKEFLAGS=--no-print-directory
tier=${1:-test}
case $tier in
  quick | test) scripts/setup.sh test ;;
  all) scripts/setup.sh test-all ;;
  *) sed -n 3,8p "$0"; exit 2 ;;
esac

labels="core data gpu python browser isa"
jobs=${JOBS:-2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=no suites=""

# suite FOLDER TITLE CTEST_ARGS -- CMAKE_ARGS: builds, runs, and leaves $work/TITLE: name, status, passed, failed, skipped.
suite() {
  local folder=$1 title=$2 ctest_args=() label
  shift 2
  while [ "$1" != -- ]; do ctest_args+=("$1"); shift; done
  shift
  suites="$suites $title"
  printf '\n== %s: build in %s\n' "$title" "$folder"
  : >"$work/$title" >"$work/$title.skips" >"$work/$title.notes"
  for label in $labels; do : >"$work/$title.$label"; done
  if ! cmake -S . -B "$folder" --log-level=WARNING -DPOSENC_WERROR=ON "$@" >/dev/null ||
    ! cmake --build "$folder" --parallel "$jobs"; then
    failed=yes
    echo "build failed 0 1 0" >"$work/$title"
    return
  fi
  printf '\n== %s: tests\n' "$title"
  rm -f "$folder/Testing/Temporary/LastTest.log"
  ctest --test-dir "$folder" -j "$jobs" --output-on-failure --no-tests=error "${ctest_args[@]}" || failed=yes
  results "$folder/Testing/Temporary/LastTest.log" "$title" >"$work/$title"
  for label in $labels; do
    { ctest --test-dir "$folder" -N -L "^$label\$" "${ctest_args[@]}" || true; } |
      sed -n 's/^ *Test *#[0-9]*: \([^ ]*\).*/\1/p' >"$work/$title.$label"
  done
}

# One row per test from ctest's log. The cases inside count: cmocka's lines, or the closing line "N passed, N failed, N
# skipped" of a program or script; a script without one has failed. Reasons ("SKIP: ...") go to $work/TITLE.skips, what is
# left to do ("note: docs/encodings.md lacks the row x: make docs") to $work/TITLE.notes.
results() {
  awk -v skips="$work/$2.skips" -v notes="$work/$2.notes" '
    /^[0-9]+\/[0-9]+ Test: /                           { name = $3; ok = bad = skip = script = 0; own = "" }
    /^Command: .*\/tests\/[a-z_\/]*\.sh"/              { script = 1 }
    /^\[       OK \] /                                 { ok++ }
    /^\[  FAILED  \] [A-Za-z_]/                        { failing[name, $4] = 1 }
    /^\[  SKIPPED \] [A-Za-z_]/                        { skipping[name, $4] = 1 }
    /^SKIP: /                                          { print name ": " substr($0, 7) >skips }
    /^note: /                                          { print substr($0, 7) >notes }
    /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/   { own = $1 " " $3 " " $5 }
    /^Test (Passed|Failed|Not Run|Timeout|Skipped)|^Test .*(Exception|Disabled)/ {
      status = ($2 == "Passed.") ? "passed" : ($0 ~ /Disabled|Skipped/) ? "skipped" : "failed"
      for (k in failing) { bad++; delete failing[k] }
      for (k in skipping) { skip++; delete skipping[k] }
      if (own != "") { split(own, n, " "); ok = n[1]; bad = n[2]; skip = n[3] }
      else if (script && status == "passed") { status = "failed"; print name ": lacks its closing count" >notes }
      else if (ok + bad + skip == 0 && status == "passed") ok = 1
      if (status == "failed" && bad == 0) bad = 1
      if (status == "skipped" && skip == 0) { skip = 1; print name ": not run by ctest" >skips }
      print name, status, ok, bad, skip
    }' "$1"
}

# count TITLE LABEL: programs, passed, failed, skipped.
count() {
  awk 'NR == FNR { mine[$1] = 1; next }
       $1 in mine { n++; ok += $3; bad += $4; skip += $5 }
       END { print n + 0, ok + 0, bad + 0, skip + 0 }' "$work/$1.$2" "$work/$1"
}

# account TITLE LABEL: one line of the summary, and the reason of every skip.
account() {
  [ -s "$work/$1.$2" ] || return 0
  printf '%-9s %-8s %d programs: %d passed, %d failed, %d skipped\n' "$1" "$2" $(count "$1" "$2")
  while IFS= read -r reason; do
    if grep -qxF -- "${reason%%:*}" "$work/$1.$2"; then printf '%20snot run: %s\n' '' "$reason"; fi
  done < <(LC_ALL=C sort -u "$work/$1.skips")
}

# ---- flavours of `all`: flavour NAME does it, or says what is missing

newest_clang() { # newest_clang FLAGS...: the newest that makes programs with these flags
  local folder name
  folder=$(dirname "$(command -v clang || echo /usr/bin/clang)")
  for name in $(ls "$folder" | grep -xE 'clang(-[0-9]+)?' | sort -rV); do
    if builds "$name" "$@"; then echo "$name"; return; fi
  done
  return 1
}
missing() { absent="$absent$1"$'\n'; }
builds() { # builds COMPILER FLAGS...: a program that runs
  printf '#include <errno.h>\n#include <stdio.h>\nint main(void) { return 0; }\n' | "$@" -x c - -o "$work/builds" 2>/dev/null && "$work/builds"
}
usual=(-LE '^tier_all$' -L '^(core|data)$' -E '^(packaging|test_docs|readme-table)$')
programs=(-LE '^(tier_all|script)$' -L '^(core|data)$' -E '^(packaging|test_docs|readme-table|fuzz_.*)$')
absent=""
flavour() {
  local clang portable=(-DPOSENC_PORTABLE_TESTS=ON)
  export POSENC_BLAS=none # the one there is was compiled for another libc, size or sanitizer
  case $1 in
    clang)
      clang=$(newest_clang) || { missing "clang: no compiler"; return; }
      suite build-clang clang "${usual[@]}" -- -DCMAKE_C_COMPILER="$clang" ;;
    m32)
      # gcc-multilib has the link to asm/, but cannot be installed beside a cross compiler.
      local m32="-m32 -idirafter /usr/include/$(gcc -print-multiarch)"
      builds gcc $m32 || { missing "m32: gcc -m32 makes no program that runs (Debian: gcc-12-multilib)"; return; }
      suite build-m32 m32 "${usual[@]}" -- -DCMAKE_C_COMPILER=gcc "${portable[@]}" \
        -DCMAKE_C_FLAGS="$m32 -msse2 -mfpmath=sse" ;;
    musl)
      builds musl-gcc || { missing "musl: no musl-gcc (Debian: musl-tools)"; return; }
      suite build-musl musl "${usual[@]}" -- -DCMAKE_C_COMPILER=musl-gcc "${portable[@]}" ;;
    msan)
      clang=$(newest_clang -fsanitize=memory) || { missing "msan: no clang with -fsanitize=memory"; return; }
      suite build-msan msan "${programs[@]}" -- -DCMAKE_C_COMPILER="$clang" "${portable[@]}" -DPOSENC_SANITIZE=memory ;;
    tsan)
      builds cc -fsanitize=thread || { missing "tsan: no cc with -fsanitize=thread"; return; }
      suite build-tsan tsan -L '^threads$' -- -DPOSENC_SANITIZE=thread ;;
    fuzz)
      builds clang -fsanitize=address || { missing "fuzz: no clang with -fsanitize=address"; return; }
      printf '\n== fuzz: %s executions of each target\n' "${RUNS:-200000}"
      RUNS=${RUNS:-200000} JOBS=$jobs scripts/fuzz.sh || failed=yes ;;
    *) echo "FLAVOURS has $1; needs clang m32 musl msan tsan fuzz"; exit 2 ;;
  esac
}

# ---- what runs

release=(-DPOSENC_SANITIZE=)
sanitize=(-DPOSENC_SANITIZE=address,undefined,float-cast-overflow)
case $tier in
  quick) suite build-test release -L '^tier_quick$' -- "${release[@]}" ;;
  test)
    suite build-test release -LE '^tier_all$' -- "${release[@]}"
    suite build-asan sanitize -LE '^tier_all$' -L '^(core|data)$' -- "${sanitize[@]}" ;;
  all)
    if [ -z "${FLAVOURS:-}" ]; then
      suite build-test release -LE '^none$' -- "${release[@]}"
      suite build-asan sanitize -L '^(core|data)$' -- "${sanitize[@]}"
    fi
    for name in ${FLAVOURS:-clang m32 musl msan tsan fuzz}; do flavour "$name"; done ;;
esac

printf '\n== summary\n'
for title in $suites; do
  for label in $labels; do account "$title" "$label"; done
done
[ -z "$absent" ] || printf '%s' "$absent" | sed 's/^/not run: /'
echo "not run: attention over many processes, which needs MPI: make test-mpi"
[ "$tier" = all ] || echo "not run: tests of higher tiers: make test-all"
for title in $suites; do cat "$work/$title.notes"; done | LC_ALL=C sort -u | sed 's/^/to do: /'
core_skips=$(for title in release sanitize; do [ ! -e "$work/$title.core" ] || count $title core; done |
  awk '{ n += $4 } END { print n + 0 }')
if [ "${CI:-}" = true ] && [ "$core_skips" -gt 0 ]; then
  echo "CI: $core_skips skipped inside core, which must run whole"
  failed=yes
fi
for title in $suites; do cat "$work/$title"; done |
  awk '{ ok += $3; bad += $4; skip += $5 }
       END { printf "%d passed, %d failed, %d skipped\n", ok, bad, skip; exit bad > 0 }' || failed=yes
[ $failed = no ]
