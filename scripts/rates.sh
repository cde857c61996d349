#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which learning rate do the learned tensors of each encoding need? One small race per factor of the weights' rate; prints a table
# of bits per byte at the trained length and at four times that. The rows of src/encodings have the factors that it found (.rate),
# and docs/lab.md the table. Run again it goes on where it was stopped.
#   scripts/rates.sh FOLDER [OPTION OF posenc race ...]
#   FACTORS="1 10" ENCODINGS=t5:direction=causal,cope scripts/rates.sh FOLDER --text a.txt,b.txt --test-text c.txt
#   TENSORS="c L" ENCODINGS=fire scripts/rates.sh FOLDER: the factors are of these tensors alone
set -euo pipefail
[ $# -gt 0 ] || { sed -n 's/^#   //p' "$0" >&2; exit 2; }
folder=$1; shift
posenc=${POSENC:-build/posenc}
encodings=${ENCODINGS:-learned,t5:direction=causal,shaw:left=64,right=0,deberta:buckets=32,max=128,cope,kerple,fire:length=128,alibi:slopes=learned,inkling,pope,fope}
factors=${FACTORS:-1 3 10 30}
mkdir -p "$folder"
for factor in $factors; do
  rate=$factor
  [ -z "${TENSORS:-}" ] || rate=$(printf ",%s=$factor" $TENSORS | cut -c2-)
  if [ -e "$folder/$factor/race.json" ]; then
    "$posenc" race --resume "$folder/$factor" >/dev/null
  else
    "$posenc" race -e "$encodings" --layers 2 --width 64 --heads 4 --train-length 128 --test 1x,4x --steps 300 "$@" \
      --position-rate "$rate" --out "$folder/$factor" >/dev/null
  fi
done
for factor in $factors; do sed "s/^/$factor,/" "$folder/$factor/results.csv"; done | tr -d '\r' | awk -v factors="$factors" '
  # factor,seed,length,windows,"entry",bits,...; an entry may have commas. A cell has the means over seeds.
  { split($0, quoted, "\""); split(quoted[1], before, ","); split(quoted[3], after, ",") }
  before[2] == "seed" { next }
  {
    if (!(quoted[2] in known)) { known[quoted[2]]; order[++names] = quoted[2] }
    if (!(before[3] in length_known)) { length_known[before[3]]; lengths[++count] = before[3] }
    key = before[1] SUBSEP quoted[2] SUBSEP before[3]
    if (after[2] != "") { sum[key] += after[2]; seeds[key]++ }
  }
  END {
    n = split(factors, factor, " ")
    printf "| encoding |"; for (i = 1; i <= n; i++) printf " %s |", factor[i]; print ""
    printf "|---|"; for (i = 1; i <= n; i++) printf "---|"; print ""
    for (k = 1; k <= names; k++) {
      printf "| `%s` |", order[k]
      for (i = 1; i <= n; i++) {
        for (l = 1; l <= count; l++) {
          key = factor[i] SUBSEP order[k] SUBSEP lengths[l]
          printf " %s", key in seeds ? sprintf("%.2f", sum[key] / seeds[key]) : "cannot"
        }
        printf " |"
      }
      print ""
    }
  }'
