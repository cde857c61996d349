#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make bench-mpi: ring attention on 1, 2, 4 and 8 ranks of this machine: times, tokens per second, efficiency, bytes sent and
# memory of each rank: the table of docs/scale.md, with the model's times where one rank with 16384 tokens is measured. The
# ranks may be more than the cores: times are CPU times of a rank, so the table says what a core for each would do if no rank
# waited. RANKS, TOKENS, ORDERS, SPEC, HEADS, DIM, BACK (0: forward alone), MPI (mpich) change it.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh mpi
mpi=${MPI:-openmpi}
build=build-mpi-$mpi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
cmake -S . -B "$build" -DPOSENC_MPI=ON -DMPI_C_COMPILER="mpicc.$mpi" -DPOSENC_TOOL=OFF -DPOSENC_TESTS=OFF -DPOSENC_CUDA=OFF \
  --log-level=WARNING >/dev/null
cmake --build "$build" --parallel "${JOBS:-2}" >/dev/null
"mpicc.$mpi" -std=c11 -O2 -Wall -Wextra -Iinclude bench/mpi/ring.c "$build/libposenc_mpi.a" "$build/libposenc.a" -lm -lpthread -o "$build/bench"
for order in ${ORDERS:-zigzag contiguous}; do
  for n in ${RANKS:-1 2 4 8}; do
    "mpirun.$mpi" -n "$n" "$build/bench" "${SPEC:-rope}" "$order" "${HEADS:-4}" "${DIM:-64}" "${BACK:-1}" ${TOKENS:-4096 16384}
  done
done | python3 bench/scale.py runs
