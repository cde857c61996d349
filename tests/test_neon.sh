#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: isa; tier: all; cost: 60 s; needs: qemu; sanitize: no
# 64-bit ARM, cross-compiled and run by qemu-user (on such a machine: as it is): every kernel on every rung there, and
# the bits of rotations and embeddings, which are the same on all machines. Attention takes exp from libm: no such claim.
set -uo pipefail
. tests/lib.sh
skip() { echo "SKIP: $1"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
cc=${CROSS_CC:-aarch64-linux-gnu-gcc}
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
case $(uname -m) in aarch64 | arm64) cc=${CC:-cc} qemu=env ;; esac
[ -n "$qemu" ] || skip "no qemu-aarch64 (Debian: qemu-user)"
command -v "$cc" >/dev/null || skip "no $cc (Debian: gcc-aarch64-linux-gnu)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo 'int main(void) { return 0; }' >"$work/hello.c"
"$cc" -static "$work/hello.c" -o "$work/hello" 2>/dev/null && "$qemu" "$work/hello" ||
  skip "$cc and qemu make no program that runs (Debian: libc6-dev-arm64-cross)"

compile() { # the library once, then both programs
  printf '%s\n' src/base/*.c src/core/*.c src/encodings/*.c src/kernels/*.c src/attention/*.c tests/check/*.c tests/packaging/bits.c |
    xargs -P 2 -I{} sh -c '"$0" -std=c11 -O2 -Wall -Wextra -Werror -Iinclude -Isrc -c "$1" -o "$2/$(echo "$1" | tr / _).o"' "$cc" {} "$work" &&
    "$cc" -static "$work"/src_*.o "$work"/tests_check_*.o -lm -pthread -o "$work/check" &&
    "$cc" -static "$work"/src_*.o "$work"/tests_packaging_*.o -lm -pthread -o "$work/bits"
}
bits_here() { "${CC:-cc}" -Iinclude tests/packaging/bits.c "${POSENC_BUILD:-build-test}/libposenc.a" -lm -pthread -o "$work/bits_here"; }
exact() { grep -v ' attend '; }
same_bits() { [ "$("$work/bits_here" | exact | wc -l)" -gt 50 ] && diff <("$work/bits_here" | exact) <("$qemu" "$work/bits" | exact); }
has_neon() { "$qemu" "$work/check" --list | grep -q '^neon .*a rung of this CPU'; }
kernels_pass() { # each of them counts
  "$qemu" "$work/check" --runs "${NEON_RUNS:-400}" >"$work/out"
  local code=$? ok bad
  read -r ok bad < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' "$work/out")
  passed=$((passed + ${ok:-0})) failed=$((failed + ${bad:-0}))
  [ $code = 0 ] || { cat "$work/out"; return 1; }
}
self_test() { "$qemu" "$work/check" --self-test >"$work/out" || { cat "$work/out"; return 1; }; }
check "it compiles for 64-bit ARM" compile
check "NEON is a rung there" has_neon
check "every kernel" kernels_pass
check "kernels broken on purpose are seen" self_test
check "the library here" bits_here
check "bits are those of this machine" same_bits
finish
