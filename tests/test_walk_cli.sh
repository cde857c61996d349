#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 1 s
# posenc walk as people use it: every row, both languages, with and without UTF-8, and what is wrong is said.
set -uo pipefail
. tests/lib.sh
POSENC=$(realpath "${POSENC:-build/posenc}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export LC_ALL=C.UTF-8
rows=0

# expect CODE WORDS ARGUMENTS...: posenc walk exits so and prints WORDS; an error prints nothing on stdout.
expect() {
  local code=$1 words=$2 got; shift 2
  "$POSENC" walk "$@" >stdout 2>stderr; got=$?
  if [ $got != "$code" ]; then bad "walk $*: exit code $got, not $code: $(head -c 300 stderr)"
  elif [ "$code" -gt 1 ] && [ -s stdout ]; then bad "walk $*: an error, and something on stdout"
  elif ! cat stdout stderr | tr -s ' \n' ' ' | grep -qF -- "$words"; then bad "walk $*: no '$words' in: $(cat stdout stderr | head -c 600)"
  else passed=$((passed + 1)); fi
}

# ---- formula beside number
expect 0 "p_5[2] = sin(5 · 10000^(-2/8)) = sin(5 · 0.1) = 0.4794" sinusoidal --pos 5 --dim 8
expect 0 "p_5[0] = sin(7 · 10000^(-0/6)) = sin(7 · 1) = 0.657" sinusoidal:denominator=d-2,offset=2 --pos 5 --dim 8
expect 0 "p_6[1] = floor(6 / 2^1) mod 2 = 1" binary --pos 6
expect 0 "p_600[0] = 0.6667 · (table[1][0] - table[0][0]) + table[88][0] =" hierarchical --pos 600
expect 0 "p_3[7] = 3 / 512 = 0.005859" normalised --pos 3
expect 0 "p_(3,5)[0] = table[3][0] + table_1[5][0] =" learned:rows=14/14 --pos 3/5
expect 0 "angle_0 = 5 - 2π · 1 = -1.2832" rope --dim 4
expect 0 "q'[0] = q[0] · c - q[2] · s =" rope --dim 4
expect 0 "A rotation keeps the length of a vector" rope
expect 0 "the query at i - j and the key at 0 give the same" rope
expect 0 "cos and sin are those of the rounded angle" rope:precision=hf --pos 1000003
expect 0 "f_1 = 10000^(-2/8) = 0.1" rope --dim 8
expect 0 "keep_2 = 1 - min(max((2 - 1) / (3 - 1), 0), 1) = 0.5 f_2 = 0.01 · 0.5 + 0.01 / 4 · (1 - 0.5)" rope:scaling=yarn,factor=4,trained=4096
expect 0 "m = 0.1 · log(4) + 1 = 1.1386" rope:scaling=yarn,factor=4,trained=4096
expect 0 "turns_2 = 8192 · 0.001414 / (2π) = 1.8438" rope:theta=500000,scaling=llama3,factor=8,trained=8192
expect 0 "theta = 10000 · 8^(8/6) = 160000" rope:scaling=ntk,alpha=8
expect 0 "scale = 1 / sqrt(8)" rope
expect 0 "scale = 1 / sqrt(8 · (1 + 2))" deberta
expect 0 "This uses the encoding's scale too" t5
expect 0 "m = 2^(-8 · 4/8) = 2^(-4) = 0.0625" alibi --heads 8 --head 3
expect 0 "term(5, 2) = -0.5 · (5 - 2) = -0.5 · 3 = -1.5" alibi --key 2
expect 0 "term(5, 2) = -0.5 · |5 - 2| = -0.5 · 3 = -1.5" alibi:form=symmetric --key 2
expect 0 "bucket(40 - 3) = bucket(37) = min(8 + floor(log(37 / 8) / log(128 / 8) · 8), 16 - 1) = 12 term(40, 3) = table[12][0]" t5 --pos 40 --key 3
expect 0 "term(5, 3) = q_5 · key_table[14] =" shaw
expect 0 "V(5, 3) = value_table[14] =" shaw
expect 0 "gate(5, 3) = sigmoid(q·k · scale) = 1 / (1 + exp(-(-1.86) · 0.5)) = 0.2829" cope --dim 4
expect 0 "e[1.5805][0] = 0.4195 · table[1][0] + 0.5805 · table[2][0] = 0.4195 · 0.01201 + 0.5805 · 0.009013 = 0.01027" cope --dim 4
expect 0 "h[3] = max(w1[3] · 0.0461 + b1[3], 0) = max(" fire
expect 0 "r[2][1] = R_2[1] = sin(2 · 10000^(-2/16)) = sin(2 · 0.3162) = 0.5911 R_2[9] = cos(2 · 10000^(-2/16)) = cos(2 · 0.3162) = 0.8066" transformer-xl --dim 4 --heads 4
expect 0 "4 heads of 4 make it 16 wide" xlnet --dim 4 --heads 4
expect 0 "log f_4 = -1.2 f_4 = exp(-1.2) = 0.3012 c_4 = c_3 + log f_4 = -0.9 + (-1.2) = -2.1" forget
expect 0 "bucket(5 - 3) = 5 - 3 = 2 term" t5
expect 0 "bucket(3 - 5) = bucket(-2) = 16 + 2 = 18 term" t5 --pos 3 --key 5
expect 0 "bucket(3 - 5) = max(3 - 5, 0) = 0 term" t5:direction=causal --pos 3 --key 5
expect 0 "W_R is the identity" transformer-xl
expect 0 "row(5, 3) = b(5 - 3) + 256 = 2 + 256 = 258" deberta
expect 0 "w[2][0] = psi((2 - 0) / 2^0) = psi(2) = (1 - 2^2) · exp(-2^2 / 2) = -0.406" wavelet
expect 0 "C_0 = 1.0114 · cos(3 · 1) = -1.0013" fope --dim 4 --heads 2
expect 0 "k'[2] = k[0] · s + k[2] · c =" rope --dim 4
expect 0 "row(5, 3) = min(max(3 - 5, -16), 16) + 16 = 14" shaw
expect 0 "查询：位置 5 的“人”" rope --lang zh
expect 0 "does not support keys ahead of the query" transformer-xl --pos 0
expect 0 "score(5, 5) = (" deberta
expect 0 "weight = softmax(score)" none
"$POSENC" table normalised:length=10 -n 4 --start 1 --model-dim 1 -o four.npy 2>/dev/null # 0.1 0.2 0.3 0.4
expect 0 "f_2 = 10000^(-4/8) = 0.01" rope:learned=shared
expect 0 "the values from which training starts" rope:learned=shared
expect 0 "f_2[0] = 0.3" rope:learned=shared --params four.npy
expect 0 "angle_2 = 5 · 0.3 = 1.5" rope:learned=shared --params four.npy
expect 3 "four.npy: 4 learned parameters are given; rope has 0" rope --params four.npy
expect 0 "y = [x, p]" sinusoidal:join=concat --dim 4
expect 0 "softmax does not change" integer --pos 100

equations() { "$POSENC" walk "$1" --dim 8 --lang "$2" --json | grep -oE '"(text": ".* = .*"|shown": .*)'; }

# What stands under a heading where it is a formula: a row's own, which no language changes.
formulas() { awk 'heading && / (=|\+=|->) / && !/；|;|dog|狗/ { print } { heading = /^[0-9]/ }' "$1"; }

# ---- every row, in both languages; no line is wider than a page but for one that cannot be broken
for row in $("$POSENC" list --json | sed -n 's|^      "name": "\([^"]*\)",$|\1|p'); do
  rows=$((rows + 1))
  "$POSENC" walk "$row" --dim 8 --lang en >en 2>stderr || { bad "walk $row: $(head -c 300 stderr)"; continue; }
  "$POSENC" walk "$row" --dim 8 --lang zh >zh 2>stderr || { bad "walk $row --lang zh: $(head -c 300 stderr)"; continue; }
  check "$row: both languages have as many steps" test "$(grep -c '^[0-9]' en)" = "$(grep -c '^[0-9]' zh)"
  check "$row: both languages have the same equations" diff <(equations "$row" en) <(equations "$row" zh)
  check "$row: the same formulas stand above the steps" diff <(formulas en) <(formulas zh)
  check "$row: no label stands in front of a sentence" test -z "$(LC_ALL=C.UTF-8 grep -P '^ *\d+. ?\p{Han}+\|' zh)"
  check "$row: Chinese is Chinese" grep -q '没有位置编码' zh
  check "$row: one Chinese word for each thing" test -z "$(grep -vF '[en]' zh | grep -wE 'query|key|value|attention|at'; grep '得分' zh)"
  check "$row: English is English" test -z "$(LC_ALL=C.UTF-8 grep -P '\p{Han}' en)"
  check "$row: lines end within 100 columns" test -z "$(LC_ALL=C.UTF-8 grep -P '^.{101}' en)"
done
check "there are rows" test $rows -ge 20
LC_ALL=zh_CN.UTF-8 "$POSENC" walk rope --dim 2 >stdout
check "the language is LANG's" grep -q '例子' stdout
LC_ALL=C "$POSENC" walk rope --dim 2 --lang en >stdout
check "no UTF-8: plain signs" test -z "$(LC_ALL=C grep -P '[\x80-\xff]' stdout)"
check "no UTF-8: * for the dot" grep -q 'angle_0 *= 5 \* 1' stdout

# ---- data
"$POSENC" walk rope --dim 4 --json >one.json
"$POSENC" walk rope --dim 4 --json --seed 0 --pos 5 --key 3 >two.json
check "the same question, the same bytes" cmp -s one.json two.json
"$POSENC" walk rope --dim 4 --json --seed 7 >two.json
check "another seed, other numbers" test "$(cmp -s one.json two.json; echo $?)" = 1
check "JSON: a line's number in full and as shown" grep -qF '"shown": ["-1.2832"]' one.json

# ---- what is wrong is said
expect 2 "needs SPEC" 
expect 2 "did you mean 'rope'?" rop
expect 2 "--dim is 65; needs 1 to 64" rope --dim 65
expect 2 "even" rope --dim 7
expect 2 "needs a multiple of axes, 2" sinusoidal:axes=2 --dim 7
expect 0 "p_5[6] = sin(5 · 10000^(-6/7))" sinusoidal --pos 5 --dim 7
expect 2 "--pos is x; needs a whole number" rope --pos x
expect 2 "--pos is 1//2" rope --pos 1//2
expect 2 "--pos is 1/2/3/4/5/6/7/8/9" rope --pos 1/2/3/4/5/6/7/8/9
expect 2 "--key is 99999999999999999999" rope --key 99999999999999999999
expect 2 "has 2 coordinates; this encoding takes 1" rope --pos 1/2
expect 2 "make rows larger" learned --pos 600
expect 2 "further apart than its table reaches" window --pos 20 --key 0
expect 2 "--head is 8; the model has 8 heads" alibi --head 8
expect 2 "--lang is fr" rope --lang fr
expect 2 "unexpected argument alibi" rope alibi
finish
