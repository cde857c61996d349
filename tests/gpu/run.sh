#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bash tests/gpu/run.sh [BUILD]: builds the GPU library and its tests on a machine that has a GPU, a C compiler and
# cmake, and no cmocka, MPFR or jansson, and runs them. Kernels take a second each to compile: tests run side by side.
set -uo pipefail
build=${1:-build-gpu}
cmake -S . -B "$build" -DPOSENC_TESTS=ON -DPOSENC_PORTABLE_TESTS=ON --log-level=WARNING >/dev/null &&
  cmake --build "$build" -j "$(nproc)" --target posenc_static posenc_cuda_static emulated_cuda test_cuda_attention \
    test_cuda_bias test_cuda_rotate >"$build/log" 2>&1 || { tail -20 "$build/log"; exit 1; }
if [ -z "${POSENC_NVRTC:-}" ]; then
  POSENC_NVRTC=$(ls -d /usr/local/cuda*/lib64/libnvrtc.so.1? \
    /opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.1? /usr/lib/python3*/*-packages/nvidia/*/lib/libnvrtc.so.1? 2>/dev/null | head -1)
fi
export POSENC_NVRTC POSENC_BUILD=$build
work=$(mktemp -d)
export work POSENC_CUDA_CACHE=$work/cache
trap 'rm -rf "$work"' EXIT

# one PROGRAM NAME: its claim in a line, and what it printed where it failed
one() {
  local log=$work/$2.log code=0
  "$POSENC_BUILD/tests/$1" "$2" >"$log" 2>&1 || code=$?
  if [ $code != 0 ]; then echo "FAILED $2"; tail -15 "$log"
  elif grep -q '^SKIP' "$log"; then echo "SKIPPED $2: $(grep -m1 '^SKIP' "$log")"
  else echo "ok $2"; grep -E '^(refused|[0-9]+ specs)' "$log"; fi
}
export -f one
{
  sed -n 's/^TEST(\(.*\))$/test_cuda_attention \1/p' tests/gpu/attend_shapes_case.h tests/gpu/attend_case.h
  sed -n 's/^TEST(\(.*\))$/test_cuda_bias \1/p' tests/gpu/bias_case.h
  sed -n 's/^TEST(\(.*\))$/test_cuda_rotate \1/p' tests/gpu/rotate_case.h
} | xargs -P 8 -L 1 bash -c 'one "$0" "$1"' | tee "$work/all"
{
  bash tests/test_cuda_example.sh || echo "FAILED tests/test_cuda_example.sh"
  for name in bias rotate; do # alone on the GPU
    "$build/tests/test_cuda_$name" costs_are_printed || echo "FAILED costs of $name"
  done
} | tee -a "$work/all"
count() { grep -c "^$1" "$work/all"; }
echo "$(count ok) claims hold, $(count FAILED) failed, $(count SKIP) skipped"
! grep -q '^FAILED' "$work/all"
