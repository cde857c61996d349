#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make test-mpi: libposenc_mpi with Open MPI and with MPICH. Each is built in build-mpi-NAME, installed into a temporary
# prefix, and used from there, by pkg-config and by CMake; then 1 to 8 ranks of this machine run the tests, the example, the C of
# docs/scale.md and jobs that end badly. RANKS="2 8": these numbers of ranks. run.sh openmpi: this MPI alone, mpicc.openmpi and
# mpirun.openmpi as Debian names them; where no MPI has such a name, mpicc and mpirun.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/lib.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none # containers forbid it, and Open MPI says so on every run
unset MAKEFLAGS MFLAGS

of() { if [ "$2" = mpi ]; then echo "$1"; else echo "$1.$2"; fi; }
build() { # build MPI: the library alone
  cmake -S . -B "build-mpi-$1" -DPOSENC_MPI=ON -DMPI_C_COMPILER="$(of mpicc "$1")" -DPOSENC_TOOL=OFF -DPOSENC_TESTS=OFF \
    -DPOSENC_CUDA=OFF -DPOSENC_WERROR=ON --log-level=WARNING &&
    cmake --build "build-mpi-$1" --parallel "${JOBS:-2}" && cmake --install "build-mpi-$1" --prefix "$work/$1"
}
compile() { # compile MPI SOURCE FLAGS...
  local mpi=$1 source=$2
  shift 2
  "$(of mpicc "$mpi")" -std=c11 -O1 -Wall -Wextra -Wpedantic -Werror "$source" "$@" $(PKG_CONFIG_PATH="$work/$mpi/lib/pkgconfig" \
    pkg-config --cflags --libs posenc_mpi) -Wl,-rpath,"$work/$mpi/lib" -lcmocka -lm -o "$work/$mpi/$(basename "$source" .c)"
}
found_by_cmake() { # found_by_cmake MPI: as the component mpi, and a package without it does not ask for MPI
  local to=$work/$1/cmake
  mkdir -p "$to"
  cat >"$to/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(stranger LANGUAGES C)
find_package(posenc REQUIRED)
if(TARGET MPI::MPI_C OR TARGET posenc::posenc_mpi)
  message(FATAL_ERROR "MPI was not asked for")
endif()
find_package(posenc REQUIRED COMPONENTS mpi)
foreach(link posenc_mpi posenc_mpi_static)
  add_executable(${link} ${EXAMPLE})
  target_link_libraries(${link} PRIVATE posenc::${link} m)
endforeach()
END
  cmake -S "$to" -B "$to/build" -DCMAKE_PREFIX_PATH="$work/$1" -DMPI_C_COMPILER="$(of mpicc "$1")" \
    -DEXAMPLE="$PWD/examples/ring_attention.c" && cmake --build "$to/build" && ranks "$1" 2 "$to/build/posenc_mpi_static"
}
ranks() { # ranks MPI N PROGRAM...
  "$(of mpirun "$1")" -n "$2" "${@:3}"
}

# The C of docs/scale.md, in docs.c.
page() { # page MPI
  block docs/scale.md c >"$work/scale.inc"
  [ -s "$work/scale.inc" ] && compile "$1" tests/mpi/docs.c -I"$work" && ranks "$1" 2 "$work/$1/docs"
}

# The example's 2048 tokens are no multiple of 6.
refused() { # refused MPI
  local log=$work/$1/refused i
  ranks "$1" 3 "$work/$1/ring_attention" >"$log" 2>&1
  i=$?
  [ $i = 2 ] && grep -q '^2048 tokens cannot be shared by 3 ranks; needs a multiple of 6' "$log"
}

# A rank that is killed: the job ends by itself, with an error and the launcher's sentence. MPICH's names the signal, or, where
# a rank was reading the dead one's memory and ended first, says no more than BAD TERMINATION.
killed() { # killed MPI
  local log=$work/$1/killed pid i
  timeout 120 "$(of mpirun "$1")" -n 4 "$work/$1/ends" work >"$log" 2>&1 &
  pid=$!
  await $pid has_lines "$log" 4 || return 1
  sleep 1
  kill -9 "$(sed -n 's/^rank 2 is process //p' "$log")" || return 1
  wait $pid
  i=$?
  sed -nE 's/^/    /; /[Kk]illed|BAD TERMINATION/p' "$log" | head -n 2
  [ $i != 0 ] && [ $i != 124 ] && grep -qE '[Kk]illed|BAD TERMINATION' "$log" && return
  cat "$log"
  return 1
}
# Rank 1 of 5 hangs: the others give up after their patience, its neighbours name it, and nobody names another.
stuck() { # stuck MPI
  local log=$work/$1/stuck i
  timeout 120 "$(of mpirun "$1")" -n 5 "$work/$1/ends" stuck >"$log" 2>&1
  i=$?
  grep PE_ERR_PEER "$log"
  [ $i != 0 ] && [ $i != 124 ] && grep -q 'PE_ERR_PEER: rank 0 waited 4 seconds for rank 1; is it alive' "$log" &&
    grep -q 'PE_ERR_PEER: rank 2 waited 4 seconds for rank 1; is it alive' "$log" &&
    ! grep -q 'seconds for rank [^1]' "$log"
}

one_mpi() {
  local mpi=$1 n log
  if ! command -v "$(of mpicc "$mpi")" >/dev/null; then
    skip "no $(of mpicc "$mpi"): scripts/setup.sh mpi"
    return
  fi
  echo "== $mpi: $("$(of mpirun "$mpi")" --version 2>&1 | grep -m 1 -iE 'open|version')"
  check_quietly "$work/log" "$mpi: the library is built and installed" build "$mpi"
  check_quietly "$work/log" "$mpi: the example compiles by pkg-config" compile "$mpi" examples/ring_attention.c
  check_quietly "$work/log" "$mpi: CMake finds the component mpi" found_by_cmake "$mpi"
  check_quietly "$work/log" "$mpi: ends.c compiles" compile "$mpi" tests/mpi/ends.c -D_POSIX_C_SOURCE=200809L
  check_quietly "$work/log" "$mpi: ring.c compiles" compile "$mpi" tests/mpi/ring.c src/base/num.c -Isrc -Itests
  for n in ${RANKS:-1 2 3 5 8}; do
    log=$work/$mpi/ring.$n
    check_quietly "$log" "$mpi: the tests hold on $n ranks" timeout 900 "$(of mpirun "$mpi")" -n "$n" "$work/$mpi/ring"
    grep -E 'formula|registry|tokens:' "$log" | sed 's/^/  /'
  done
  check_quietly "$work/log" "$mpi: the C of docs/scale.md runs" page "$mpi"
  check "$mpi: the example runs on 4 ranks" ranks "$mpi" 4 "$work/$mpi/ring_attention"
  check "$mpi: and says that 3 cannot share its tokens" refused "$mpi"
  check "$mpi: a killed rank ends the job with a sentence" killed "$mpi"
  check "$mpi: a rank that hangs is told after patience" stuck "$mpi"
}

usual="openmpi mpich"
command -v mpicc.openmpi mpicc.mpich >/dev/null || usual=mpi
for mpi in ${*:-$usual}; do one_mpi "$mpi"; done
finish
