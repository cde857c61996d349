#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: gpu; tier: test; cost: 20 s; needs: compiler; sanitize: no
# The cases of test_cuda_rotate.sh on a GPU, through libposenc_cuda as it is built.
set -uo pipefail
. tests/lib.sh

build=${POSENC_BUILD:-build-test}
if ! command -v "${CC:-cc}" >/dev/null; then
  skip "no C compiler"
  finish
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compiled=true
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -g -ffp-contract=off -Wall -Wextra -Iinclude -Isrc -Itests -Itests/portable \
  tests/gpu/{rotate_cases,device_driver}.c src/base/num.c "$build/libposenc_cuda.a" "$build/libposenc.a" \
  -lm -ldl -lpthread -o "$work/cases" || compiled=false
check "the cases compile" $compiled
if $compiled; then
  "$work/cases" >"$work/log" 2>&1
  code=$?
  if [ $code = 77 ]; then
    skip "$(sed -n 's/^SKIP: //p' "$work/log" | head -1)"
  else
    cat "$work/log"
    check "the cases hold" [ $code = 0 ]
  fi
fi
finish
