#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# setup.sh [--check] build|run|test|test-all|mpi|python|fuzz|wasm|page: is there what `make`, `make run`, `make test`,
# `make test-all`, `make test-mpi`, `make test-python`, `make fuzz`, the module of the page or `make page` needs? Says what
# is missing; installs it where it may (root, or CI with sudo; never with --check); otherwise prints the line to type and fails.
set -euo pipefail
check=no
[ "${1:-}" = --check ] && check=yes && shift
what=${1:-}
case $what in
  build) wants=" build " ;;
  run) wants=" build run " ;;
  test | test-all) wants=" build run test " ;;
  mpi) wants=" build test mpi " ;;
  fuzz | wasm | python) wants=" build $what " ;;
  page) wants=" build wasm page " ;;
  *) echo "usage: setup.sh [--check] build|run|test|test-all|mpi|python|fuzz|wasm|page" >&2; exit 2 ;;
esac

# what to look for | for what | package: Debian, Fedora, Arch, Alpine, Homebrew
needs() {
  cat <<'END'
cc          build gcc             gcc             gcc         gcc           gcc
make        build make            make            make        make          make
cmake       build cmake           cmake           cmake       cmake         cmake
openblas    run   libopenblas0-pthread openblas   openblas    openblas      openblas
pkg-config  test  pkg-config      pkgconf         pkgconf     pkgconf       pkgconf
jansson.h   test  libjansson-dev  jansson-devel   jansson     jansson-dev   jansson
cmocka.h    test  libcmocka-dev   libcmocka-devel cmocka      cmocka-dev    cmocka
mpfr.h      test  libmpfr-dev     mpfr-devel      mpfr        mpfr-dev      mpfr
g++         test  g++             gcc-c++         gcc         g++           gcc
openmpi     mpi   libopenmpi-dev  openmpi-devel   openmpi     openmpi-dev   open-mpi
mpirun.openmpi mpi openmpi-bin    openmpi         openmpi     openmpi       open-mpi
mpich       mpi   libmpich-dev    mpich-devel     mpich       mpich-dev     mpich
mpirun.mpich mpi  mpich           mpich           mpich       mpich         mpich
python3     mpi   python3         python3         python      python3       python
python3     python python3        python3         python      python3       python
venv        python python3-venv   python3         python      python3       python
Python.h    python python3-dev    python3-devel   python      python3-dev   python
clang       fuzz  clang           clang           clang       clang         llvm
clang       wasm  clang           clang           clang       clang         llvm
wasm-ld     wasm  lld             lld             lld         lld           lld
wasi-libc   wasm  wasi-libc       wasi-libc-devel wasi-libc   wasi-libc     wasi-libc
wasm-rt     wasm  libclang-rt-14-dev-wasm32 compiler-rt wasi-compiler-rt wasi-compiler-rt wasi-runtimes
node        page  nodejs          nodejs          nodejs      nodejs        node
npm         page  npm             npm             npm         npm           node
END
}

present() {
  case $1 in
    cmocka.h) found "#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>" ;;
    openblas) has_library libopenblas ;;
    wasi-libc) printf '#include <stdio.h>\n' | clang --target=wasm32-wasi -E - >/dev/null 2>&1 ;;
    wasm-rt) [ -e "$(clang --target=wasm32-wasi -print-libgcc-file-name 2>/dev/null)" ] ;;
    venv) ${PYTHON:-python3} -c 'import ensurepip, venv' 2>/dev/null ;;
    Python.h) test -e "$(${PYTHON:-python3} -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)/Python.h" ;;
    openmpi | mpich) command -v "mpicc.$1" >/dev/null || only_mpi mpicc ;;
    mpirun.*) command -v "$1" >/dev/null || only_mpi mpirun ;;
    *.h) found "#include <$1>" ;;
    *) command -v "$1" >/dev/null ;;
  esac
}
found() { printf '%s\n' "$1" | ${CC:-cc} -E - >/dev/null 2>&1; }
only_mpi() { ! command -v apt-get && command -v "$1"; } >/dev/null # elsewhere there is one MPI at a time
has_library() { { ldconfig -p || /sbin/ldconfig -p || ls /usr/lib /usr/local/lib /opt/homebrew/lib; } 2>/dev/null | grep "$1" >/dev/null; }

missing() { # names in $names, package names of column $1 in $packages
  names='' packages=''
  while read -r name for debian fedora arch alpine brew; do
    if [[ $wants == *" $for "* ]] && ! present "$name"; then
      names="$names $name" packages="$packages ${!1}"
    fi
  done < <(needs)
}

if command -v apt-get >/dev/null; then system=debian line="apt-get install -y"
elif command -v dnf >/dev/null; then system=fedora line="dnf install -y"
elif command -v pacman >/dev/null; then system=arch line="pacman -S --needed"
elif command -v apk >/dev/null; then system=alpine line="apk add"
elif command -v brew >/dev/null; then system=brew line="brew install"
else system=debian line="install these packages, by their Debian names:"; fi

may=no sudo=''
if [ $check = yes ] || ! command -v apt-get >/dev/null; then :
elif [ "$(id -u)" = 0 ]; then may=yes
elif [ -n "${CI:-}" ] && sudo -n true 2>/dev/null; then may=yes sudo="sudo -n"; fi

install() { # install PACKAGE...
  echo "installing: $*" >&2
  local get="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install $*"
  $get >/dev/null || { $sudo apt-get -qq update && $get >/dev/null; }
}

# For tests that are skipped without: a failure here is none.
extras() {
  [ $may = yes ] || return 0
  case $what in
    test-all) cross; flavours; browser ;;
    mpi) engines ;;
  esac
}
engines() { # those of examples/race
  local packages=''
  command -v parallel >/dev/null || packages="parallel"
  command -v sbatch >/dev/null || packages="$packages slurm-client"
  command -v snakemake >/dev/null || packages="$packages snakemake"
  [ -z "$packages" ] || install $packages || echo "going on without: not all examples of races over machines" >&2
}
cross() {
  [ "$(uname -m)" = x86_64 ] || return 0
  if ! command -v aarch64-linux-gnu-gcc || ! command -v qemu-aarch64 || [ ! -e /usr/aarch64-linux-gnu/lib/libc.a ]; then
    install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user || echo "going on without: no tests of 64-bit ARM" >&2
  fi >/dev/null
}
flavours() { # other compilers and their libraries
  local packages=''
  command -v clang >/dev/null || packages="clang"
  command -v musl-gcc >/dev/null || packages="$packages musl-tools"
  [ "$(uname -m)" != x86_64 ] || gcc -m32 -print-file-name=libc.a | grep -q / || packages="$packages gcc-$(gcc -dumpversion | cut -d. -f1)-multilib"
  [ -z "$packages" ] || install $packages || echo "going on without: not all flavours" >&2
}
browser() { # the page and its module
  wants=" wasm " && missing debian
  command -v node >/dev/null || packages="$packages nodejs"
  command -v npm >/dev/null || packages="$packages npm" # brings playwright-core
  command -v chromium >/dev/null || packages="$packages chromium"
  [ -z "$packages" ] || install $packages || echo "going on without: not all tests of the page" >&2
  [ -n "$(fc-list :lang=zh 2>/dev/null)" ] || install fonts-wqy-microhei || echo "going on without: Chinese in pictures of the page shows boxes" >&2
}

missing $system
[ -n "$names" ] || { extras; exit 0; }
echo "missing:$names" >&2

if [ $may = yes ]; then
  install $packages || true
  missing $system
  [ -n "$names" ] || { extras; exit 0; }
  echo "still missing:$names" >&2
  exit 1
fi
[ $system = brew ] || [ "$(id -u)" = 0 ] || [ "${line%:}" != "$line" ] || line="sudo $line"
echo "$line$packages"
exit 1
