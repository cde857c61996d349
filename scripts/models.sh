#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# models.sh TEXT RACE...: models/ from the folders of finished races: a file of 8 bits a weight for each encoding and seed,
# text.txt, and the table of models/README.md. TEXT is what the races were tested on. POSENC: the tool.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: models.sh TEXT RACE..." >&2; exit 2; }
cd "$(dirname "$0")/.."
posenc=${POSENC:-build/posenc} text=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shift

# bits FILE LENGTHS: a line "LENGTH BITS" for each, bits per byte of the text as the model was trained
bits() {
  "$posenc" eval "$1" --text "$text" --lengths "$2" --extend none --json 2>/dev/null | tr -d ' \n' | sed 's/"length":/\n&/g' |
    sed -nE 's/^"length":([0-9]+),.*"bits":\{"mean":([0-9.]+).*/\1 \2/p'
}

mkdir -p models
for race; do
  "$posenc" report "$race" --models models -o "$work/report" >/dev/null 2>&1
  "$posenc" report "$race" --models "$work/floats" --bits 32 -o "$work/report" >/dev/null 2>&1
done
# 64 KB from the middle of the text: what posenc prove asks the models about.
tr -d '\r' <"$text" | head -c 365536 | tail -c 65536 >models/text.txt || true # head is done before tr

{
  echo "| file | spec | KB | float32, 128 | 8 bits, 128 | 8 bits, 256 | 8 bits, 512 |"
  echo "|---|---|---|---|---|---|---|"
  for file in models/*.safetensors; do
    name=$(basename "$file")
    spec=$("$posenc" explain "$file" | sed -nE 's/^ *spec +//p' | head -n 1)
    bits "$work/floats/$name" 1x >"$work/whole"
    bits "$file" 1x,2x,4x >"$work/rounded"
    at() { awk -v n="$2" '$1 == n { printf "%.3f", $2; found = 1 } END { if (!found) printf "cannot" }' "$1"; }
    echo "| $name | \`$spec\` | $(($(wc -c <"$file") / 1000)) | $(at "$work/whole" 128) | $(at "$work/rounded" 128) | $(at "$work/rounded" 256) | $(at "$work/rounded" 512) |"
  done
} >"$work/table"
sed -i -e '/^| file /,/^$/{/^| file /r '"$work/table"'
/^|/d}' models/README.md
