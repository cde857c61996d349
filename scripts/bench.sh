#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench.sh [--docs] [options of posenc-bench]: builds posenc-bench, measures every peer that is installed, then posenc
# beside it. --docs writes the tables into docs/performance.md, between its markers. From the environment:
#   QUICK=1           a smoke run of seconds; its times mean nothing
#   ONLY=rotate       topics, as posenc-bench --help lists them; ONLY=python: calls from Python alone
#   THREADS=4         1 and 4 threads; the CPUs, at most 2, unless told
#   PYTHON=python3    whose NumPy, PyTorch, ONNX Runtime and posenc package are measured; PYTHON= for none
#   GGML=folder       a built copy of ggml or llama.cpp
set -euo pipefail
cd "$(dirname "$0")/.."
unset MFLAGS MAKELEVEL
export MAKEFLAGS=--no-print-directory
load=$(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo -1) # before anything of ours runs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

docs=no
[ "${1:-}" = --docs ] && docs=yes && shift
page=docs/performance.md begin='<!-- bench -->' end='<!-- /bench -->'
if [ $docs = yes ]; then
  for marker in "$begin" "$end"; do
    grep -qxF -- "$marker" $page || { echo "$page: no line '$marker'" >&2; exit 1; }
  done
fi

cpus=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
threads=${THREADS:-$((cpus > 2 ? 2 : cpus))}
options=(--threads "$threads")
[ -z "${QUICK:-}" ] || options+=(--quick)
[ -z "${ONLY:-}" ] || options+=(--only "$ONLY")

# Calls from Python beside PyTorch's: a table of their own, where the package is installed.
python=${PYTHON-python3}
from_python() { "$python" bench/python.py --threads "$threads" ${QUICK:+--quick}; }
if [ "${ONLY:-}" = python ]; then
  from_python
  exit
fi

scripts/setup.sh --check run
build=build
cmake -S . -B $build -DPOSENC_TESTS=OFF --log-level=WARNING >/dev/null
cmake --build $build --parallel "${JOBS:-2}" --target posenc-bench >/dev/null

# Peers. What they print is for posenc-bench; one that fails is told and left out.
peers=$work/peers.jsonl
: >"$peers"
absent() { printf '{"absent": "%s"}\n' "$1" >>"$peers"; }
if [ -z "$python" ]; then
  absent "NumPy, PyTorch and ONNX Runtime were not asked for (PYTHON is empty)"
elif ! command -v "$python" >/dev/null; then
  absent "NumPy, PyTorch and ONNX Runtime need Python, and $(basename "$python") is not there"
else
  "$python" bench/peers.py "${options[@]}" >>"$peers" || echo "bench/peers.py failed; its numbers up to there stand" >&2
fi

# ggml: its headers and libraries lie in different places in a checkout and in an installation.
build_ggml() {
  local header library
  header=$(find "$GGML/" -name ggml-cpu.h -print -quit)
  library=$(find "$GGML/" \( -name 'libggml-base.so' -o -name 'libggml-base.dylib' -o -name 'libggml-base.a' \) -print -quit)
  if [ -z "$header" ] || [ -z "$library" ]; then
    echo "GGML is $GGML; needs a folder with ggml-cpu.h and a built libggml-base below it" >&2
    return 1
  fi
  library=$(cd "$(dirname "$library")" && pwd)
  ${CC:-cc} -std=c11 -O2 -D_POSIX_C_SOURCE=200809L -Ibench -Isrc -Iinclude -I"$(dirname "$header")" bench/peer_ggml.c bench/time.c -L"$library" \
    -Wl,-rpath,"$library" -lggml-cpu -lggml-base -lstdc++ -lm -lpthread -o "$work/peer_ggml"
}
if [ -z "${GGML:-}" ]; then
  absent "ggml needs a built copy: make bench GGML=folder"
elif build_ggml; then
  "$work/peer_ggml" "${options[@]}" >>"$peers" || echo "bench/peer_ggml failed; its numbers up to there stand" >&2
else
  absent "ggml did not compile"
fi

options+=(--peers "$peers" --load "$load")
if [ $docs = no ]; then
  $build/posenc-bench "${options[@]}" "$@"
  [[ -z $python || -n ${ONLY:-} || $* == *--json* ]] || from_python || true
  exit
fi
command="make bench-docs${QUICK:+ QUICK=$QUICK}${ONLY:+ ONLY=$ONLY}${THREADS:+ THREADS=$THREADS}${GGML:+ GGML=folder}"
$build/posenc-bench "${options[@]}" --markdown --command "$command" "$@" >"$work/tables.md"
awk -v tables="$work/tables.md" -v begin="$begin" -v end="$end" '
  $0 == end { inside = 0 }
  !inside { print }
  $0 == begin { inside = 1; while ((getline line < tables) > 0) print line }
' $page >"$work/page.md"
cat "$work/page.md" >$page
