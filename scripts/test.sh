#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Everything `make test` does: set-up, a Release build and all tests, a sanitizer build and its tests, and an account of
# what ran and what did not. CI=true makes a skip inside core a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
unset MFLAGS MAKELEVEL
export MAKEFLAGS=--no-print-directory
scripts/setup.sh test

labels="core data gpu python browser isa"
why_empty="nothing in the project yet"
jobs=${JOBS:-2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=no

# suite FOLDER TITLE CTEST_ARGS -- CMAKE_ARGS: builds, runs, and leaves $work/TITLE: name, status, passed, failed, skipped.
suite() {
  local folder=$1 title=$2 ctest_args=()
  shift 2
  while [ "$1" != -- ]; do ctest_args+=("$1"); shift; done
  shift
  printf '\n== %s: build in %s\n' "$title" "$folder"
  cmake -S . -B "$folder" --log-level=WARNING -DPOSENC_WERROR=ON "$@" >/dev/null
  cmake --build "$folder" --parallel "$jobs"
  printf '\n== %s: tests\n' "$title"
  rm -f "$folder/Testing/Temporary/LastTest.log"
  ctest --test-dir "$folder" -j "$jobs" --output-on-failure --no-tests=error "${ctest_args[@]}" || failed=yes
  results "$folder/Testing/Temporary/LastTest.log" "$title" >"$work/$title"
  for label in $labels; do
    { ctest --test-dir "$folder" -N -L "^$label\$" "${ctest_args[@]}" || true; } |
      sed -n 's/^ *Test *#[0-9]*: \([^ ]*\).*/\1/p' >"$work/$title.$label"
  done
}

# One row per test from ctest's log. The cases inside count: cmocka's lines, or a program's own closing line
# "N passed, N failed, N skipped"; without either the test is one case. Reasons ("SKIP: ...") go to $work/TITLE.skips,
# what is left to do ("note: docs/encodings.md lacks the row x: make docs") to $work/TITLE.notes.
results() {
  : >"$work/$2.skips" >"$work/$2.notes"
  awk -v skips="$work/$2.skips" -v notes="$work/$2.notes" '
    /^[0-9]+\/[0-9]+ Test: /                           { name = $3; ok = bad = skip = 0; own = "" }
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
  if [ ! -s "$work/$1.$2" ]; then
    printf '%-9s %-8s not run: %s\n' "$1" "$2" "$why_empty"
    return
  fi
  printf '%-9s %-8s %d programs: %d passed, %d failed, %d skipped\n' "$1" "$2" $(count "$1" "$2")
  while IFS= read -r reason; do
    if grep -qxF -- "${reason%%:*}" "$work/$1.$2"; then printf '%20snot run: %s\n' '' "$reason"; fi
  done <"$work/$1.skips"
}

suite build-test release -- -DPOSENC_SANITIZE=
suite build-asan sanitize -L '^(core|data)$' -- -DPOSENC_SANITIZE=address,undefined,float-cast-overflow

printf '\n== summary\n'
for label in $labels; do account release "$label"; done
for label in core data; do
  account sanitize "$label"
  only=$(grep -vxFf "$work/sanitize.$label" "$work/release.$label" | paste -sd' ' || true)
  [ -z "$only" ] || printf '%20snot run: %s (release build only)\n' '' "$only"
done
LC_ALL=C sort -u "$work/release.notes" "$work/sanitize.notes" | sed 's/^/to do: /'
core_skips=$({ count release core; count sanitize core; } | awk '{ n += $4 } END { print n }')
if [ "${CI:-}" = true ] && [ "$core_skips" -gt 0 ]; then
  echo "CI: $core_skips skipped inside core, which must run whole"
  failed=yes
fi
cat "$work/release" "$work/sanitize" |
  awk '{ ok += $3; bad += $4; skip += $5 } END { printf "%d passed, %d failed, %d skipped\n", ok, bad, skip; exit bad > 0 }' || failed=yes
[ $failed = no ]
