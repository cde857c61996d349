#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; timeout: 600; sanitize: no
# The docs are run: commands of the READMEs, their C example, and the page that adds an encoding, to the letter.
set -euo pipefail
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
check() { # check NAME COMMAND...
  if "${@:2}" >"$work/log" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1"; tail -n 20 "$work/log"; fi
}
# block FILE FENCE: the text between ```FENCE and ```
block() { awk -v fence="\`\`\`$2" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "$1"; }

# The C example of a README is the middle of examples/kv_cache.c, less its indentation.
example_is_the_file() { # example_is_the_file README
  block "$1" c >"$work/readme.c"
  sed -n '/pe_encoding \*rope;/,/pe_encoding_free/p' examples/kv_cache.c | sed 's/^    //' >"$work/file.c"
  [ -s "$work/readme.c" ] && diff "$work/readme.c" "$work/file.c"
}
for f in README.md README.zh-CN.md; do check "the C example of $f is examples/kv_cache.c" example_is_the_file "$f"; done

# Every command line of the docs: posenc ones run, make ones must be targets; packaging/run.sh runs the install and cc ones.
mkdir "$work/bin" "$work/run"
ln -s "$(cd "$(dirname "$POSENC")" && pwd)/$(basename "$POSENC")" "$work/bin/posenc"
cd "$work/run"
cp "$root"/examples/llama-3.1-8b/config.json .
. "$root/tests/tiny_model.sh"
tiny_model "$root/tests/story.txt"
while IFS= read -r line; do
  command=${line%%#*}
  case $command in
    posenc*) check "$line" env PATH="$work/bin:$PATH" bash -c "$command" ;;
    "make "*) check "$line" make -C "$root" -n $(set -- $command; echo "$2") ;;
    "cc app.c"*) ;;
    *[![:space:]]*) failed=$((failed + 1)); echo "FAILED: nothing runs this line of the docs: $line" ;;
  esac
done < <(for f in "$root"/README*.md "$root"/docs/*.md; do block "$f" sh; done)
cd "$root"

# Whole programs of the docs (```c run) compile and end well.
run_program() {
  block "$1" "c run" >"$work/program.c" && ${CC:-cc} -std=c11 -Wall -Wextra -Werror -Iinclude "$work/program.c" \
    "$POSENC_BUILD/libposenc.a" -lm -pthread -o "$work/program" && "$work/program"
}
for f in $(grep -l '^```c run' README.md docs/*.md); do check "program of $f" run_program "$f"; done

# Every spec in the README's table makes an encoding.
npy "$work/grid.npy" '<i8' '(2, 3)' 8 0 0 0 0 0 0 # two tokens at (0, 0, 0)
for spec in $(sed -n '/^| spec/,/^$/p' README.md | sed 's/|[^|]*|$//' | grep -o '`[^`]*`' | tr -d '`'); do
  check "spec $spec" bash -c '"$1" table "$2" --head-dim 128 -n 2 || "$1" bias "$2" -n 2 || "$1" table "$2" --head-dim 128 --pos "$3"' \
    spec "$POSENC" "$spec" "$work/grid.npy"
done

# docs/add-an-encoding.md: its file, its row, and the tests that hold every row.
added=$work/added
mkdir -p "$added"
cp -r include src tests "$added/"
block docs/add-an-encoding.md "c file=src/encodings/gaussian.c" >"$added/src/encodings/gaussian.c"
sed -i 's/X(window)/X(window) X(gaussian)/' "$added/src/encodings/registry.c"
cd "$added"
build() {
  mkdir -p o && cd o && ${CC:-cc} -std=c11 -O2 -ffp-contract=off -Wall -Wextra -Werror -I../include -I../src -c \
    ../src/base/*.c ../src/core/*.c ../src/encodings/*.c ../src/kernels/*.c ../src/attention/*.c ../src/prove/property*.c \
    ../src/prove/measure.c ../src/prove/measure_spec.c ../src/zoo/spec_read.c ../src/zoo/spec_edit.c ../src/zoo/look.c ../src/io/numbers.c &&
    ${CC:-cc} -std=c11 -O2 -I../include -I../src -c ../src/io/error.c -o io_error.o && cd ..
}
check "the library builds with gaussian" build
for t in test_claims test_gradients; do
  check "$t builds with gaussian" ${CC:-cc} -std=c11 -O2 -Iinclude -Isrc -Itests tests/$t.c o/*.o -lcmocka -lm -pthread -o $t
  check "$t holds gaussian to its row" ./$t
done

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
