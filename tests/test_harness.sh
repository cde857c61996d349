#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 1 s; needs: compiler; sanitize: no
# The fuzzers' harness silences the code under test and is heard itself; with musl, whose streams are constants, in make test-all.
set -uo pipefail
root=$PWD
dir=$(mktemp -d)
. tests/lib.sh
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

cat >quiet.c <<'C'
#include "harness.h"

int main(void)
{
    harness_be_quiet();
    harness_be_quiet();
    printf("of the code\n");
    fprintf(stderr, "of the code\n");
    fflush(NULL);
    harness_fail("%d of the harness", 7);
}
C
heard() { # heard COMPILER
  "$1" -std=c11 -D_POSIX_C_SOURCE=200809L -DHARNESS_WRAP -Wall -Wextra -Werror -I"$root/include" -I"$root/src" -I"$root/fuzz" quiet.c \
    "$root/fuzz/harness.c" -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free -o quiet &&
    test "$({ ./quiet; } 2>&1 | grep -a "of the")" = "HARNESS: 7 of the harness"
}
check "with the compiler of this build" heard "${CC:-cc}"
finish
