#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: all; cost: 240 s; needs: compiler; sanitize: no
# docs/add-an-encoding.md, to the letter: a copy of the sources with its two rows, a file and a word of registry.c each; the tests that
# loop over rows hold them to everything, and what is made from the registry is told and no failure.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/lib.sh
check() { check_quietly "$work/log" "$@"; }

added=$work/added
rows="gaussian tuned"
mkdir "$added"
tar -cf - --exclude='./build*' --exclude=./.git --exclude=./web/build --exclude=./web/node_modules . | tar -xf - -C "$added"
for row in $rows; do
  block docs/add-an-encoding.md "c file=src/encodings/$row.c" >"$added/src/encodings/$row.c"
  check "registry.c has a place for $row" grep -q 'X(window)' "$added/src/encodings/registry.c"
  sed -i "s/X(window)/X(window) X($row)/" "$added/src/encodings/registry.c"
done
held="attention cache claims cli_json contract fractions fused fused_back gradients lowered memory model partial ring rotate spec_rows trained walk"
build() {
  cmake -S "$added" -B "$added/build" -DPOSENC_WERROR=ON --log-level=WARNING &&
    cmake --build "$added/build" --parallel "${JOBS:-2}" --target posenc_tool $(printf 'test_%s ' $held)
}
hold() { # hold TEST...: each is there and passes
  ctest --test-dir "$added/build" -j "${JOBS:-2}" --output-on-failure -R "^($(tr ' ' '|' <<<"$*"))\$" | tee "$work/held" &&
    [ "$(grep -c ' Passed ' "$work/held")" = $# ]
}
names() { # names FILE ROW: the tests that ran last say that FILE lacks it
  grep -qF "note: $1 lacks the row $2: make" "$added/build/Testing/Temporary/LastTest.log"
}
if build >"$work/log" 2>&1; then
  ok
  check "the tests that loop over rows hold $rows" hold $(printf 'test_%s ' $held lint)
  check "tables and Chinese that lack $rows are no failure" hold readme-table test_registry_zh test_prove_cli
  for row in $rows; do
    check "posenc list has $row" "$added/build/posenc" list "$row"
    for file in docs/encodings.md docs/claims.md; do check "$file is told to lack $row" names "$file" "$row"; done
  done
else
  bad "the build with $rows"; grep -E 'error|\*\*\*' "$work/log" | head -n 20
fi

finish
