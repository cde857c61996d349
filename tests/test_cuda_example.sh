#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: gpu; tier: test; cost: 3 s; needs: compiler; sanitize: no
# examples/cuda_attention.c compiles; it runs with kernels on the CPU (gpu/emulated_cuda.c), and on a GPU where there is
# one.
set -uo pipefail
. tests/lib.sh

build=${POSENC_BUILD:-build-test}
if ! command -v "${CC:-cc}" >/dev/null || [ ! -e "$build/libposenc_cuda.a" ]; then
  skip "no C compiler, or no posenc_cuda in $build"
  finish
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check "the example compiles" "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Iinclude examples/cuda_attention.c \
  "$build/libposenc_cuda.a" "$build/libposenc.a" -lm -ldl -lpthread -o "$work/example"
if [ -e "$build/tests/libemulated_cuda.so" ] && command -v "${CXX:-c++}" >/dev/null; then
  POSENC_CUDA_CACHE= check "the example runs on the CPU" "$work/example" "$(realpath "$build/tests/libemulated_cuda.so")"
fi
"$work/example" >"$work/log" 2>&1
case $? in
  0) ok ;;
  77) skip "$(head -1 "$work/log")" ;;
  *) bad "the example runs on the GPU: $(cat "$work/log")" ;;
esac
finish
