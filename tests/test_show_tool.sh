#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: test; cost: 4 s; sanitize: all
# posenc show as people use it: views, presets, formats by the end of a name, languages, and what it refuses.
set -uo pipefail
. tests/lib.sh
POSENC=$(realpath "${POSENC:-build/posenc}")
. tests/lib.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
unset LC_ALL LC_MESSAGES NO_COLOR
export LANG=C.UTF-8

show() { "$POSENC" show "$@" >stdout 2>stderr; }
shows() { local code=$1 words=$2; shift 2; expect "$code" "$words" "$POSENC" show "$@"; }
views() { grep -o '"title": "[^"]*"' stdout | sort -u | wc -l; }

# ---- views
shows 0 "has more views: curves" rope
shows 0 "attention" --list
shows 0 '"fits": ["alibi"]' alibi --list --json
shows 0 '"terms": "c2p"' deberta:terms=c2p --list --json
show "shaw:on=keys+values,left=4+alibi" --list --json; check "a + inside a value starts no part" test "$(grep -c '"keys": ' stdout)" = 2
show alibi --list; check "a list of one spec holds what fits" test "$(grep -c '^  [a-z]' stdout)" = 7
show none; check "a row without a hook has its attention" grep -q "Attention with the encoding" stdout
show rope --view table,decay --json; check "two views by name" test "$(views)" = 2
show rope --json; check "data has every view that fits" test "$(views)" = 16
for spec in none sinusoidal rope; do
  show $spec --view permuted,pooled --json
  check "$spec: without an encoding permuted words give P S P^T" grep -qF "It is P S P^T" stdout
  check "$spec: pooling and cross-attention do not notice" test "$(grep -c 'changes by up to 0 without' stdout)" = 2
  check "$spec: an encoding breaks it" test "$(grep -cF 'It is not P S P^T' stdout)" = "$([ $spec = none ] && echo 0 || echo 1)"
done
for spec in none alibi; do # alibi is made for a causal mask
  show $spec --view permuted,pooled --causal --json
  check "$spec: a causal mask breaks it without an encoding" grep -qF "The causal mask alone breaks the symmetry" stdout
  check "$spec: nothing is P S P^T under it" bash -c '! grep -qF "It is P S P^T" stdout'
  check "$spec: the mean of all outputs changes" grep -q 'Under a causal mask, .* changes by up to [0-9.]*[1-9][0-9.]* without' stdout
done
show none rope sinusoidal --view permuted --json; check "P, S and P S P^T stand once, for all specs" test "$(grep -c '"kind"' stdout)" = 6
show integer binary sinusoidal --view path -n 16 --json; check "each path has axes of its own" test "$(grep -c 'goes from 0 to 15\|goes from 0 to 1,\|goes from -1 to 0\.991' stdout)/$(grep -c 'On one scale' stdout)" = 3/0
show sinusoidal --view shift --json; check "sine and cosine move on by a matrix, sine alone does not" grep -q 'leaves up to 0 with sine and cosine, and up to 0\.[5-9]' stdout
show binary --view path -n 16 --json; check "bits jump: both numbers change in 7 of 15 steps" grep -qF "in 7 steps both numbers change" stdout
"$POSENC" table normalised:length=10 -n 4 --start 1 --model-dim 1 -o four.npy 2>/dev/null # 0.1 0.2 0.3 0.4
shows 0 "62.83" rope:learned=shared --head-dim 8 --view wavelengths --params four.npy --json
shows 3 "four.npy: 4 learned parameters are given; alibi has 0" alibi --params four.npy
shows 2 "--params is for one spec; 2 are given" rope alibi --params four.npy
show sinusoidal --view products -n 8 --as csv; check "64 products of 8 codes" test "$(wc -l <stdout)" = 65
show rope --view all; check "so has all" grep -q "Rotating pairs" stdout
show sinusoidal rope alibi --view decay --json; check "one figure of each spec" test "$(grep -c '"kind"' stdout)" = 3
shows 0 "drawn for 1 of 2 specs" rope alibi --view heads
shows 0 "left out: table" rope -n 100k
shows 0 "One position of 50" rope -n 100k --view curves --json
shows 0 "第 0 至" rope --view table --lang zh
LANG=zh_CN.UTF-8 shows 0 "每一行" rope --view table
shows 0 '"pair 3"' rope --view turns --pairs 3,5 --json
shows 0 '"head 2"' alibi --view decay --head 2 --json
shows 0 '"c 0"' t5 --view around --sentence "a b c" --at 2 --json
shows 0 "Causal mask" t5 alibi --view attention
shows 0 "changes nothing" rope --view decay --log
LC_ALL=C shows 0 'Seen from "dog"' alibi --view around
LC_ALL=C shows 0 "none beyond +-1." sinusoidal --view table
LC_ALL=C shows 0 "locale is not UTF-8" sinusoidal --view decay --lang zh
show sinusoidal --preset 20x512 --json; check "a preset is a table" test "$(views)" = 1

show rope --view table -n 2 --as csv; check "columns have names" grep -q '"sin 31",' stdout
shows 0 '"names_alone": true' rope --view table -n 2 --as parts
show rope --view table -n 2 --as svg; check "which are not drawn" bash -c '! grep -q ">cos 0<" stdout'
for spec in rope:dims=0 rope:fraction=0; do
  show $spec --list; check "nothing of $spec turns: no views of turns" test "$(sed -n 's/^  \([a-z]*\).*/\1/p' stdout | xargs)" = "attention permuted pooled"
  shows 2 "does not have the view turns" $spec --view turns
done

# ---- side by side: one scale, and a sentence where one uses little of it
shows 0 "On one scale: here -1 to 1, in integer -63 to 63." sinusoidal integer --view table --json
shows 0 "同一刻度：本图为 -1 至 1，integer 为 -63 至 63。" sinusoidal integer --view table --json --lang zh
show sinusoidal rope --view table --json; check "equal scales need no words" bash -c '! grep -q "On one scale" stdout'
show rope rope:theta=1e6 --view wavelengths --json; check "nor do like ones in logarithms" bash -c '! grep -q "On one scale" stdout'
show none rope --view attention --json; check "nor those up to a quarter" bash -c '! grep -q "On one scale" stdout'

# ---- training saw the frequencies from before the scaling: show and explain count the same pairs
cat >config.json <<'EOF'
{ "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 2,
  "max_position_embeddings": 131072, "rope_theta": 500000.0, "rope_scaling": { "rope_type": "llama3", "factor": 8.0,
  "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192 } }
EOF
"$POSENC" explain config.json --json >explain.json
unrotated=$(grep -o '"pairs_without_a_turn": [0-9]*' explain.json | grep -o '[0-9]*$')
from=$(grep -o '"extrapolates_from": [0-9]*' explain.json | grep -o '[0-9]*$')
check "explain's numbers" test "$unrotated,$from" = 29,65536
for part in "" sinusoidal+; do
  shows 0 "$unrotated completed no turn: they see new angles from position $from on" \
    "${part}rope:theta=500000,scaling=llama3,factor=8,trained=8192" --head-dim 128 --view wavelengths -n 8192 --json
done
shows 0 "In training, over 8192 positions, all of them did" rope:theta=100,scaling=yarn,factor=8,trained=8192 --view wavelengths --json

# ---- presets: positions x width, in halves where the row knows halves
show sinusoidal --preset 50x128 --view table --json
check "50x128" grep -qz '"sinusoidal".*"rows": 50.*"columns": 128' stdout
show sinusoidal --preset 20x512 --view table --json
check "20x512 in halves" grep -qz '"sinusoidal:layout=halves".*"rows": 20.*"columns": 512' stdout
show sinusoidal:layout=interleaved --preset 20x512 --view table --json
check "what the spec says stays" grep -q '"group": "sinusoidal"' stdout
show rope --preset 20x512 --view table --json
check "a row without halves has none" grep -qz '"rope".*"rows": 20.*"columns": 512' stdout
show rope --preset 20x512 -n 7 --head-dim 32 --view table --json
check "options over presets" grep -qz '"rows": 7.*"columns": 32' stdout

# ---- formats
for end in svg html csv json; do
  shows 0 "wrote x.$end" rope -o "x.$end"
  check "x.$end is not empty" test -s "x.$end"
done
check "x.svg" grep -q '</svg>' x.svg
check "x.html asks for nothing from elsewhere" bash -c '! grep -oE "(src|href)=\"?https?:" x.html'
check "x.csv" grep -q '^"\?group"\?,' x.csv
shows 0 "<svg" rope --view decay --as svg
shows 0 "<svg" rope --view decay --as svg -o -
shows 0 '"figures"' rope --view table --as parts
show rope --view decay --json && cp stdout a.json && show rope --view decay --as json && check "--json is --as json" cmp -s a.json stdout
show rope --view decay -o b.json; check "and what .json holds" cmp -s a.json b.json
show rope --view decay --as term -o t.txt; check "a terminal's picture in a file" grep -q "Score against distance" t.txt
env LANG=C "$POSENC" show rope --view decay | LC_ALL=C grep -q $'[\x80-\xff]' && bad "plain ASCII where the locale is" || ok

# ---- what is refused
shows 2 "no SPEC is given"
shows 2 "did you mean attention" rope --view atention
shows 2 "there are all, table" rope --view zzzzzz
shows 2 "it has decay, heads" alibi --view table
shows 2 "all and table" rope --view all,table
shows 2 "4096 or less" rope --view table -n 5000
shows 2 "does not end in" rope -o x.jpg
shows 2 "choose one" rope -o x.svg --as html
shows 2 "do not go together" rope --json --as svg
for png in "-o x.png" "-o x.PNG --as svg" "--as png"; do
  shows 2 "write SVG and convert it, as rsvg-convert x.svg -o x.png does" rope $png
done
shows 2 "more than 8 specs" rope rope rope rope rope rope rope rope rope
shows 2 "a list is text" --list --as svg
shows 2 "needs whole numbers" rope --pairs 1,x
for refused in "learned -n 600" "rope --view turns --pairs 99" "alibi --view bias --head 8" "rope --axis 1 --view table" \
  "rope --view around --sentence a --at 2"; do
  shows 2 "posenc show: " $refused # what each says is tested by test_show
done
shows 2 "needs one of" rope --preset 3x3
shows 2 "unknown" rop
# the work is counted before it is done: sampled where that can be said, refused where not
shows 0 "One position of 33 is drawn" sandwich:width=65536 --view decay -n 4096 --json
show sandwich --view decay -n 4096 --json; check "every second distance" grep -q '"x": \[-2046, -2044,' stdout
shows 2 "too many for a picture; needs 1048576 or less" sinusoidal:join=concat,width=65538 --view variance
shows 2 "needs 128 or less" sinusoidal:join=concat,width=32768 --view table -n 129
shows 2 "needs 16 or less" sandwich:width=65534+alibi --view bias -n 17
shows 2 "learns 33554432 numbers, too many to make for a picture; needs 8388608 or less" hierarchical:rows=262144
shows 2 "too many numbers for a picture; needs 2097152" alibi --view attention --model-dim 65536
mkdir d.svg; shows 4 "d.svg" rope --view decay -o d.svg
echo kept >k.svg; shows 2 "unknown" rop -o k.svg; check "a file is left as it was" test "$(cat k.svg)" = kept

finish
