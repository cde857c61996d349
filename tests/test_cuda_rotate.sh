#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: test; cost: 30 s; needs: compiler; sanitize: no
# Rotation of libposenc_cuda has the bits of the CPU. Its kernel is compiled as C++ and runs on the CPU
# (gpu/emulate_cuda.h), with the checks and launches of the library as they are; gpu/rotate_cases.c has the cases.
set -uo pipefail
. tests/lib.sh

build=${POSENC_BUILD:-build-test}
if ! command -v "${CXX:-c++}" >/dev/null; then
  skip "no C++ compiler, which runs the kernels here"
  finish
  exit
fi
if grep -q '^POSENC_PORTABLE_TESTS:BOOL=ON' "$build/CMakeCache.txt"; then
  skip "this build is for another C library or word size than the C++ compiler's; the usual build runs it"
  finish
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

flags=(-O1 -g -ffp-contract=off -Wall -Wextra -Iinclude -Isrc -Itests -Itests/portable)
compiled=true
for file in src/cuda/{door,rotate,rotate_cache,rotation_data}.c src/base/num.c tests/gpu/rotate_cases.c; do
  "${CC:-cc}" -std=c11 -D_GNU_SOURCE "${flags[@]}" -c "$file" -o "$work/$(basename "$file").o" || compiled=false
done
flags+=(-fsanitize=alignment -fsanitize-undefined-trap-on-error -Wno-unknown-pragmas -Wno-unused-function)
"${CXX:-c++}" -std=c++17 -D_GNU_SOURCE "${flags[@]}" -c tests/gpu/device_emulated.cpp -o "$work/device.o" ||
  compiled=false
"${CXX:-c++}" "$work"/*.o "$build/libposenc.a" -lm -lpthread -o "$work/cases" || compiled=false
check "the emulated library compiles" $compiled
$compiled && check "the cases hold" "$work/cases"
finish
