#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# models.sh BOOKS [OPTION...]: models/ from a folder of books: the race that trains them (which goes on where it was stopped), a file
# of 8 bits a weight for each encoding and seed, text.txt, and the table of models/README.md. The books and their checksums are those
# of models/README.md. OPTION: of posenc race, in place of the script's. POSENC: the tool. RUN: the race's folder. OUT: in place of
# models/. EDITION=any: books with other checksums will do.
set -euo pipefail
[ $# -ge 1 ] && [ -d "$1" ] || { echo "usage: models.sh BOOKS [OPTION...]; BOOKS is a folder" >&2; exit 2; }
books=$(realpath "$1")
cd "$(dirname "$0")/.."
posenc=${POSENC:-build/posenc} run=${RUN:-runs/models} out=${OUT:-models} work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shift

# books_to train|test: lines "FILE SHA256"
books_to() { sed -nE "s/^\\| [0-9]+ \\|[^|]*\\| \`([^\`]+)\` \\| $1 \\| \`([0-9a-f]{64})\` \\|\$/\\1 \\2/p" models/README.md; }
while read -r file sum; do
  [ -f "$books/$file" ] || { echo "models.sh: $books/$file is not there; models/README.md lists the books" >&2; exit 4; }
  [ "${EDITION:-}" = any ] || echo "$sum  $books/$file" | sha256sum --check --quiet ||
    { echo "models.sh: $file is another edition than the models were trained on; EDITION=any goes on with it" >&2; exit 4; }
done < <(books_to train; books_to test)
train=$(books_to train | while read -r file _; do echo "$books/$file"; done | paste -sd,)
test=$books/$(books_to test | cut -d' ' -f1)

if [ -d "$run" ]; then
  "$posenc" race --resume "$run"
else
  printf '%s\n' none sinusoidal 'concat = sinusoidal:join=concat,width=24' 'scaled = sinusoidal:scale=0.5' \
    'doubled = sinusoidal:scale=2' learned rope alibi 't5 = t5:direction=causal' >"$work/entries"
  "$posenc" race --sweep "$work/entries" --layers 3 --width 96 --heads 4 --train-length 128 --batch 32 --steps 1800 --seeds 3 \
    --test 1x,2x,4x,8x,16x --text "$train" --test-text "$test" -o "$run" "$@"
fi

mkdir -p "$out"
"$posenc" report "$run" --models "$out" -o "$work/report" >/dev/null
"$posenc" report "$run" --models "$work/floats" --bits 32 -o "$work/report" >/dev/null
# 64 KB from the middle of the text: what posenc prove asks the models about.
tr -d '\r' <"$test" | head -c 365536 | tail -c 65536 >"$out/text.txt" || true # head is done before tr

# bits FILE LENGTHS: a line "LENGTH BITS" for each, bits per byte of the text as the model was trained
bits() {
  "$posenc" eval "$1" --text "$test" --lengths "$2" --extend none --json 2>/dev/null | tr -d ' \n' | sed 's/"length":/\n&/g' |
    sed -nE 's/^"length":([0-9]+),.*"bits":\{"mean":([0-9.]+).*/\1 \2/p'
}
{
  echo "| file | spec | KB | float32, 128 | 8 bits, 128 | 8 bits, 256 | 8 bits, 512 |"
  echo "|---|---|---|---|---|---|---|"
  for file in "$out"/*.safetensors; do
    name=$(basename "$file")
    spec=$("$posenc" explain "$file" | sed -nE 's/^ *spec +//p' | head -n 1)
    bits "$work/floats/$name" 1x >"$work/whole"
    bits "$file" 1x,2x,4x >"$work/rounded"
    at() { awk -v n="$2" '$1 == n { printf "%.3f", $2; found = 1 } END { if (!found) printf "cannot" }' "$1"; }
    echo "| $name | \`$spec\` | $(($(wc -c <"$file") / 1000)) | $(at "$work/whole" 128) | $(at "$work/rounded" 128) | $(at "$work/rounded" 256) | $(at "$work/rounded" 512) |"
  done
} >"$work/table"
if grep -qs '^| file |' "$out/README.md"; then
  sed -i -e '/^| file /,$ { /^| file /r '"$work/table"'
/^|/d }' "$out/README.md"
else
  cp "$work/table" "$out/table.md"
fi
