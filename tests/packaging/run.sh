#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the build in POSENC_BUILD into a temporary prefix and uses it as a stranger would: pkg-config and find_package,
# static and shared, C11 and C++17, every program printing the same text. run.sh flavours: those that compile the library
# anew, FetchContent and "add these files" with the flags of others; 8 times in all.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${POSENC_BUILD:?the build folder to install}
cc=${CC:-cc} cxx=${CXX:-g++}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset MAKEFLAGS MFLAGS DESTDIR
passed=0 failed=0
example=$root/examples/kv_cache.c
strict="-Wall -Wextra -Wpedantic -Werror"

step() { # step NAME COMMAND...: the command's output is shown only when it fails
  local name=$1 code=0
  shift
  set +e # and not `if (...)`, inside which bash ignores set -e
  (set -ex; "$@") >log 2>&1
  code=$?
  set -e
  if [ $code = 0 ]; then passed=$((passed + 1)); echo "ok      $name"
  else failed=$((failed + 1)); echo "FAILED  $name"; sed 's/^/        /' log; fi
}
prints_the_same() { "$@" >out && diff expected out; }

install_it() { cmake --install "$build" --prefix "$work/prefix"; }
finish() {
  echo "$passed passed, $failed failed, 0 skipped"
  exit $((failed > 0))
}

step "cmake --install" install_it
lib=$(dirname "$(find prefix -name libposenc.a | head -n 1)")
so=$lib/libposenc.so
export PKG_CONFIG_PATH=$work/$lib/pkgconfig CMAKE_PREFIX_PATH=$work/prefix
export LD_LIBRARY_PATH=$work/$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
cp "$example" example.c
cp "$example" example.cpp

# ---- what was installed

version=$(sed -n 's/^#define PE_VERSION_[A-Z]* //p' "$root/include/posenc.h" | paste -sd.)
soversion=${version%.*}
[ "${version%%.*}" = 0 ] || soversion=${version%%.*}
the_soname() { readelf -d "$so" | grep -F "Library soname: [libposenc.so.$soversion]"; }
exports_pe_only() {
  nm -D --defined-only "$so" | awk '{ n++ } $3 !~ /^pe_[a-z0-9_]+$/ { print; bad = 1 } END { exit bad || !n }'
}
needs_libc_and_libm_only() {
  readelf -d "$so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >needed
  ! grep -vE '^(lib[cm]\.|ld-)' needed
}
declared() { sed -n 's/^PE_API [^(]*[ *]\(pe_[a-z0-9_]*\)(.*/\1/p' "$root/include/posenc.h" | sort; }
declared_is_exported() { nm -D --defined-only "$so" | awk '{ print $3 }' | sort >exported && diff <(declared) exported; }
declared_is_global() { # and nothing else: a program that links the archive may use any other name
  nm -g --defined-only "$lib/libposenc.a" | awk 'NF == 3 { print $3 }' | sort >global && diff <(declared) global
}
tool_is_hardened() {
  readelf -hW prefix/bin/posenc | grep -E 'Type: +DYN'
  readelf -lW prefix/bin/posenc | grep GNU_RELRO
  readelf -dW prefix/bin/posenc | grep -E 'BIND_NOW|Flags:.*NOW'
  readelf -sW prefix/bin/posenc | grep __stack_chk_fail
}
pkg_config_version() { [ "$(pkg-config --modversion posenc)" = "$version" ]; }
step "SONAME is libposenc.so.$soversion" the_soname
step "exports pe_ symbols only" exports_pe_only
step "exports what the header declares" declared_is_exported
step "the static library's names are what the header declares" declared_is_global
step "needs libc and libm only" needs_libc_and_libm_only
step "posenc.pc says $version" pkg_config_version
has_pages() {
  prefix/bin/posenc man --list | while read -r page; do test -s "prefix/share/man/man1/$page.1"; done
  [ "$(find prefix/share/man/man1 -name 'posenc*.1' | wc -l)" = "$(prefix/bin/posenc man --list | wc -l)" ]
  prefix/bin/posenc man table | cmp - prefix/share/man/man1/posenc-table.1
}
has_completions() {
  prefix/bin/posenc completion bash | cmp - prefix/share/bash-completion/completions/posenc
  prefix/bin/posenc completion zsh | cmp - prefix/share/zsh/site-functions/_posenc
  prefix/bin/posenc completion fish | cmp - prefix/share/fish/vendor_completions.d/posenc.fish
}
step "the tool is hardened" tool_is_hardened
declared_in_cuda() { sed -n 's/^PE_API [^(]*[ *]\(pe_cuda[a-z0-9_]*\)(.*/\1/p' "$root/include/posenc_cuda.h" | sort; }
cuda_library() { # opens CUDA when it runs: it is linked without
  [ -f "$lib/libposenc_cuda.so" ] || ! grep -q '^POSENC_CUDA:BOOL=ON' "$build/CMakeCache.txt"
  [ -f "$lib/libposenc_cuda.so" ] || return 0
  [ "$(pkg-config --modversion posenc_cuda)" = "$version" ]
  nm -D --defined-only "$lib/libposenc_cuda.so" | awk '{ print $3 }' | sort >exported
  [ -z "$(comm -13 <(declared_in_cuda) exported)" ]
  ! readelf -d "$lib/libposenc_cuda.so" | grep -E 'NEEDED.*(libcuda|nvrtc)'
  printf '#include <posenc_cuda.h>\nint main(void) { pe_cuda_free(0); return 0; }\n' >cuda.c
  cp cuda.c cuda.cpp
  $cc -std=c11 $strict cuda.c $(pkg-config --cflags --libs posenc_cuda) -o cuda_c && ./cuda_c
  $cxx -std=c++17 $strict cuda.cpp $(pkg-config --cflags --libs posenc_cuda) -o cuda_cpp && ./cuda_cpp
  $cc cuda.c $(pkg-config --cflags posenc_cuda) "$lib/libposenc_cuda.a" "$lib/libposenc.a" -lm -ldl -pthread -o cuda_a && ./cuda_a
}
step "libposenc_cuda, shared and static, C11 and C++17" cuda_library
step "every manual page is installed" has_pages
step "completions are installed" has_completions

# ---- pkg-config

shared_c() { $cc -std=c11 $strict example.c $(pkg-config --cflags --libs posenc) -o shared_c && ./shared_c >expected; }
shared_cpp() { $cxx -std=c++17 $strict example.cpp $(pkg-config --cflags --libs posenc) -o shared_cpp && prints_the_same ./shared_cpp; }
static_c() { $cc -std=c11 -static $strict example.c $(pkg-config --static --cflags --libs posenc) -o static_c && prints_the_same ./static_c; }
static_cpp() { $cxx -std=c++17 -static $strict example.cpp $(pkg-config --static --cflags --libs posenc) -o static_cpp && prints_the_same ./static_cpp; }
says_something() { [ -s expected ]; }
step "pkg-config, shared, C11" shared_c
step "the example prints something" says_something
step "pkg-config, shared, C++17" shared_cpp
step "pkg-config, static, C11" static_c
step "pkg-config, static, C++17" static_cpp

# ---- CMake: find_package, and FetchContent with no pkg-config to be had

consumer() { # consumer FOLDER CMAKE_ARGS
  local folder=$1
  shift
  cmake -S "$root/tests/packaging" -B "$folder" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
    -DEXAMPLE="$example" "$@"
  cmake --build "$folder" --parallel 2
  for program in posenc_c posenc_cpp posenc_static_c posenc_static_cpp; do
    prints_the_same env -u LD_LIBRARY_PATH "$folder/$program"
  done
  for program in "$folder"/posenc_cuda*_c; do [ ! -x "$program" ] || env -u LD_LIBRARY_PATH "$program"; done
}
fetch_content() { PKG_CONFIG=false consumer fetch -DPOSENC_TREE="$root"; }
step "find_package, shared and static, C11 and C++17" consumer find -DWANTED="$soversion"

# ---- flags that would break the arithmetic

# flags_refused SENTENCE FLAGS...: a compiler that sees base/exact.h, which every file of the library does, ends with it.
flags_refused() {
  ! $cc -O2 "${@:2}" -I"$root/src" -include base/exact.h -fsyntax-only -x c /dev/null 2>said
  grep -F -e "$1" said
}
floats_in_double() { flags_refused "$2" -U__i386__ -U__FLT_EVAL_METHOD__ -D__FLT_EVAL_METHOD__="$1" -D"$3"; }
step "-ffinite-math-only is refused" flags_refused "compile without -ffinite-math-only" -ffinite-math-only
step "floats computed in double are refused on s390x" floats_in_double 1 "compile with -fexcess-precision=fast" __s390__
step "and on i386, where another flag helps" floats_in_double 2 "compile with -msse2 -mfpmath=sse" __i386__
[ "${1:-}" = flavours ] || finish

step "FetchContent, shared and static, C11 and C++17" fetch_content

# ---- "add these files", with the flags of an engine that wants speed

added="-I$root/include -I$root/src $root/src/base/*.c $root/src/core/*.c $root/src/encodings/*.c $root/src/kernels/*.c $root/src/attention/*.c -lm -pthread"
add_plain() { $cc -std=c11 -O2 example.c $added -o add_plain && prints_the_same ./add_plain; }
same_bits() {
  local bits=$root/tests/packaging/bits.c
  $cc -std=c11 -O2 "$bits" $(pkg-config --static --cflags --libs posenc) -o bits && ./bits >bits.normal
  $cc -O3 -march=native "$bits" $added -o bits_native && ./bits_native >bits.native
  [ -s bits.normal ] && diff bits.normal bits.native
}
add_native() { $cc -O3 -march=native example.c $added -o add_native && prints_the_same ./add_native; }
# Flags that would change bits: the same bits all the same, or a refusal.
hostile_flags() {
  for flags in "-std=c11 -O3 -march=native -ffp-contract=fast" "-O3 -march=native -funsafe-math-optimizations"; do
    $cc $flags "$root/tests/packaging/bits.c" $added -o bits_hostile
    ./bits_hostile >bits.hostile || true
    diff -q bits.normal bits.hostile || grep "does not compute as written" bits.hostile
  done
}
# Without variants and without threads: the definitions alone.
scalar_only() {
  $cc -std=c11 -O2 $strict -DPOSENC_SCALAR -DPOSENC_NO_THREADS "$root"/tests/check/*.c $added -o check_scalar
  [ "$(./check_scalar --list | grep -c 'a rung of this CPU')" = 1 ]
  ./check_scalar --runs 100
  $cc -std=c11 -O2 -DPOSENC_SCALAR "$root/tests/packaging/bits.c" $added -o bits_scalar && ./bits_scalar >bits.scalar
  diff bits.normal bits.scalar
}
step "add these files" add_plain
step "add these files, -O3 -march=native" add_native
step "every row's bits, -O3 -march=native" same_bits
step "every row's bits, or a refusal, with flags that contract and reorder" hostile_flags
step "POSENC_SCALAR, POSENC_NO_THREADS: the definitions alone, and the same bits" scalar_only
finish
