#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; timeout: 1200; sanitize: no
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

# docs/add-an-encoding.md: a copy of the sources with its two rows, a file and a word of registry.c each; the tests that
# loop over rows hold them to everything, and what is made from the registry is told and no failure.
added=$work/added
rows="gaussian tuned"
mkdir "$added"
tar -cf - --exclude='./build*' --exclude=./.git --exclude=./web/build --exclude=./web/node_modules . | tar -xf - -C "$added"
for row in $rows; do
  block docs/add-an-encoding.md "c file=src/encodings/$row.c" >"$added/src/encodings/$row.c"
  check "registry.c has a place for $row" grep -q 'X(window)' "$added/src/encodings/registry.c"
  sed -i "s/X(window)/X(window) X($row)/" "$added/src/encodings/registry.c"
done
held="attention cache claims cli_json contract fractions fused fused_back gradients lowered memory model partial ring rotate spec_rows trained walk"
build() {
  cmake -S "$added" -B "$added/build" -DPOSENC_WERROR=ON --log-level=WARNING &&
    cmake --build "$added/build" --parallel "${JOBS:-2}" --target posenc_tool $(printf 'test_%s ' $held)
}
hold() { # hold TEST...: each is there and passes
  ctest --test-dir "$added/build" -j "${JOBS:-2}" --output-on-failure -R "^($(tr ' ' '|' <<<"$*"))\$" | tee "$work/held" &&
    [ "$(grep -c ' Passed ' "$work/held")" = $# ]
}
names() { # names FILE ROW: the tests that ran last say that FILE lacks it
  grep -qF "note: $1 lacks the row $2: make" "$added/build/Testing/Temporary/LastTest.log"
}
if build >"$work/log" 2>&1; then
  passed=$((passed + 1))
  check "the tests that loop over rows hold $rows" hold $(printf 'test_%s ' $held lint)
  check "tables and Chinese that lack $rows are no failure" hold readme-table test_registry_zh test_prove_cli
  for row in $rows; do
    check "posenc list has $row" "$added/build/posenc" list "$row"
    for file in docs/encodings.md docs/claims.md; do check "$file is told to lack $row" names "$file" "$row"; done
  done
else
  failed=$((failed + 1)); echo "FAILED: the build with $rows"; grep -E 'error|\*\*\*' "$work/log" | head -n 20
fi

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
