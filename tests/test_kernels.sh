#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 1 s; sanitize: no
# posenc-kernels refuses what would check nothing, and says what it takes instead.
set -uo pipefail
. tests/lib.sh
kernels=${POSENC_BUILD:-build-test}/posenc-kernels
refuses() { # refuses SENTENCE ARGS...
  local said
  said=$("$kernels" "${@:2}" 2>&1)
  if [ $? = 2 ] && [[ $said == *"$1"* ]]; then ok; else bad "${*:2}: $said"; fi
}
shows() { # shows TEXT ARGS...
  if grep -qF -- "$1" <<<"$("$kernels" "${@:2}")"; then ok; else bad "${*:2}: no $1"; fi
}
refuses "--runs is 0; needs a number from 1" --runs 0
refuses "--runs is -3; needs a number from 1" --runs -3
refuses "--runs is 7x; needs" --runs 7x
refuses "--kernel gem: no such kernel; there are gemm, " --kernel gem
refuses "--rung avx9: this CPU or this build does not have it; there are scalar" --rung avx9
refuses "no such option: --kernels" --kernels gemm
refuses "--kernel needs a value" --kernel
shows '"passed": true, "seed": 1, "runs": 5, "of_bound"' --kernel gemm --rung scalar --runs 5 --json
shows '"passed": false, "seed": 1, "runs": 400, "case"' --kernel gemm --rung broken:gemm_adds_always --runs 400 --json
finish
