#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# setup.sh [--check] run|test|fuzz: is there what `make run`, `make test` or `make fuzz` needs? Says what is missing;
# installs it where it may (root, or CI with sudo; never with --check); otherwise prints the line to type and fails.
set -euo pipefail
check=no
[ "${1:-}" = --check ] && check=yes && shift
case "${1:-}" in run | test | fuzz) what=$1 ;; *) echo "usage: setup.sh [--check] run|test|fuzz" >&2; exit 2 ;; esac

# what to look for | for what | package: Debian, Fedora, Arch, Alpine, Homebrew
needs() {
  cat <<'END'
cc          run   gcc             gcc             gcc         gcc           gcc
make        run   make            make            make        make          make
cmake       run   cmake           cmake           cmake       cmake         cmake
pkg-config  test  pkg-config      pkgconf         pkgconf     pkgconf       pkgconf
jansson.h   test  libjansson-dev  jansson-devel   jansson     jansson-dev   jansson
cmocka.h    test  libcmocka-dev   libcmocka-devel cmocka      cmocka-dev    cmocka
mpfr.h      test  libmpfr-dev     mpfr-devel      mpfr        mpfr-dev      mpfr
g++         test  g++             gcc-c++         gcc         g++           gcc
clang       fuzz  clang           clang           clang       clang         llvm
END
}

present() {
  case $1 in
    cmocka.h) found "#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>" ;;
    *.h) found "#include <$1>" ;;
    *) command -v "$1" >/dev/null ;;
  esac
}
found() { printf '%s\n' "$1" | ${CC:-cc} -E - >/dev/null 2>&1; }

missing() { # names in $names, package names of column $1 in $packages
  names='' packages=''
  while read -r name for debian fedora arch alpine brew; do
    if { [ "$for" = run ] || [ "$for" = "$what" ]; } && ! present "$name"; then
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

missing $system
[ -n "$names" ] || exit 0
echo "missing:$names" >&2

may=no sudo=''
if [ "$(id -u)" = 0 ]; then may=yes
elif [ -n "${CI:-}" ] && sudo -n true 2>/dev/null; then may=yes sudo="sudo -n"; fi
if [ $check = no ] && [ $may = yes ] && command -v apt-get >/dev/null; then
  echo "installing:$packages" >&2
  install="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install $packages"
  $install >/dev/null || { $sudo apt-get -qq update && $install >/dev/null; }
  missing $system
  [ -n "$names" ] || exit 0
  echo "still missing:$names" >&2
  exit 1
fi
[ $system = brew ] || [ "$(id -u)" = 0 ] || [ "${line%:}" != "$line" ] || line="sudo $line"
echo "$line$packages"
exit 1
