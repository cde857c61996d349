#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: test; cost: 10 s; sanitize: no
# scripts/models.sh makes models/ from a folder of books: a tiny race of the same entries, with books of other words.
set -uo pipefail
. tests/lib.sh
export POSENC=$(realpath "${POSENC:-build/posenc}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C RUN=$work/run OUT=$work/out
mkdir "$work/books"
tiny="--steps 2 --layers 1 --width 32 --heads 2 --batch 1 --train-length 128 --test 1x --test-tokens 128"

scripts/models.sh "$work/books" $tiny >"$work/said" 2>&1
check "a book that is missing is said" grep -q '1023.txt is not there' "$work/said"
for file in $(grep -oE '`[0-9]+(-0)?\.txt`' models/README.md | tr -d '`' | sort -u); do
  for n in $(seq 12); do cat tests/story.txt; done | head -c 60000 >"$work/books/$file"
done
check "models/README.md lists eight books" test "$(ls "$work/books" | wc -l)" = 8
scripts/models.sh "$work/books" $tiny >"$work/said" 2>&1
check "another edition is said" grep -q 'is another edition' "$work/said"
check "and nothing is trained on it" test ! -e "$RUN"

for n in 1 2; do # the second time the race is there, and is gone on with
  EDITION=any scripts/models.sh "$work/books" $tiny >"$work/said" 2>&1 || bad "models.sh: $(tail -n 3 "$work/said")"
  check "nine encodings, three seeds" test "$(ls "$OUT"/*.safetensors | wc -l)" = 27
  check "a row for each" test "$(grep -cE '^\| [a-z0-9]+-[123]\.safetensors \| `[a-z]' "$OUT/table.md")" = 27
done
names() { (cd "$1" && ls *.safetensors); }
check "the names are those of models/" test "$(names "$OUT")" = "$(names models)"
check "text.txt is of the book that is tested on" test -s "$OUT/text.txt"
check "the learned table ends where it was trained" grep -q '^| learned-1.*cannot | cannot |$' "$OUT/table.md"
proves() { "$POSENC" prove trained-table --models "$OUT" >"$work/said"; }
check "posenc prove reads them" proves
# a folder with a README gets the table there, and keeps what is beside it
cp models/README.md "$OUT/"
EDITION=any scripts/models.sh "$work/books" $tiny >"$work/said" 2>&1
check "the README's books stay" test "$(grep -c '^| [0-9]* | .*`[0-9a-f]\{64\}` |$' "$OUT/README.md")" = 8
check "its table is new" test "$(grep -c '^| [a-z0-9]*-[123].safetensors' "$OUT/README.md")" = 27
finish
