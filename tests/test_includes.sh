#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 1 s; sanitize: no
# Which folders know which: the last column of the table in docs/architecture.md names them in backquotes, and #include lines say
# the same. An edge that the table lacks is a failure, and so is a name that no file of the folder uses. The page's own C, which
# only make page builds, calls the library as it is now.
set -uo pipefail
. tests/lib.sh

# rows ROOT: "FOLDER NAME..." for each folder of the table but those that know anything; posenc.h and the folder itself need
# no mention.
rows() {
  sed -nE 's/^\| `(src\/)?([a-z]+)\/` \|.*\| ([^|]*)\|$/\1\2 \3/p' "$1/docs/architecture.md" | grep -v ' anything ' | while read -r folder cell; do
    echo "$folder $(grep -oE '`[a-z]+`' <<<"$cell" | tr -d '`' | sort -u | paste -sd' ')"
  done
}
# edges ROOT FOLDER: "NAME FILE" for each other folder whose headers its files include.
edges() {
  (cd "$1" && find "$2" -name '*.[ch]' -exec grep -HoE '^ *#include "[^"]+"' {} +) |
    sed -nE 's/^([^:]*): *#include "(\.\.\/)*([^/"]*)\/.*/\3 \1/p' | grep -v "^${2##*/} " | sort
}
# told ROOT: a sentence for whatever does not agree.
told() {
  local folder known name file
  rows "$1" >"$work/rows"
  while read -r folder known; do
    edges "$1" "$folder" >"$work/edges"
    while read -r name file; do
      [[ " $known " == *" $name "* ]] || echo "$file includes a header of $name; the row of $folder in docs/architecture.md does not know it"
    done <"$work/edges"
    for name in $known; do
      grep -q "^$name " "$work/edges" || echo "the row of $folder in docs/architecture.md knows $name; no file includes a header of it"
    done
  done <"$work/rows"
  for folder in "$1"/src/*/; do
    folder=src/$(basename "$folder")
    grep -q "^$folder " "$work/rows" || echo "$folder has no row in docs/architecture.md"
  done
}
agree() { told "$1" >"$work/told"; cat "$work/told"; [ ! -s "$work/told" ]; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/tree/{docs,src/{high,low,lost}} # the test itself
printf '| `src/low/` | x | |\n| `src/high/` | y | `low`, `other`; not `low/inner.h` |\n' >"$work/tree/docs/architecture.md"
printf '#include "low/low.h"\n#include "posenc.h"\n' >"$work/tree/src/high/a.c"
printf '#include "high/high.h"\n#include <low/x.h>\n' >"$work/tree/src/low/b.c"
told "$work/tree" >"$work/seen"
check "an edge that is not in the table is told" grep -q '^src/low/b.c includes a header of high' "$work/seen"
check "a name that no file uses is told" grep -q 'the row of src/high .* knows other' "$work/seen"
check "a folder without a row is told" grep -q '^src/lost has no row' "$work/seen"
check "nothing else is" test "$(wc -l <"$work/seen")" = 3

check "the table has every folder" test "$(rows . | wc -l)" -ge "$(ls -d src/*/ | wc -l)"
check "docs/architecture.md and #include lines agree" agree .
check "the page's C calls the library as it is" "${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -fsyntax-only -Werror -Iinclude \
  -Isrc web/wasm/verb_read.c web/wasm/verbs.c
finish
