#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: test; cost: 100 s; sanitize: all
# posenc prove as people use it, and docs/claims.md, which has to say what the command says.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
root=$PWD
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export LC_ALL=C
. "$root/tests/lib.sh"
# proves CODE WORDS ARGS...: the exit code of posenc prove ARGS, and WORDS in what it prints, with any spaces between them.
proves() {
  local code=$1 words=$2 got; shift 2
  "$POSENC" prove "$@" >out 2>err; got=$?
  cat out err | tr -s ' ' >said
  if [ $got != "$code" ]; then bad "prove $*: exit code $got, not $code: $(head -c 300 err)"
  elif ! grep -qF -- "$words" said; then bad "prove $*: '$words' is not in: $(head -c 400 said)"
  else ok; fi
}
lacks() { if grep -q -- "$1" "$2"; then bad "$3"; else ok; fi; }

# ---- words on the command line, sentences that are put to a spec, sizes
while IFS='|' read -r code words args; do proves "$code" "$words" $args; done <<'E'
0|HOLDS order-blind|order-blind
0|source: Lee et al. 2019|order-blind
0|REFUTED order-blind|order-blind alibi
0|posenc prove|--help
0|"takes_spec": true|--list --json
2|is not a claim|two-dosg
2|a claim is called two-dogs|two-dosg
2|wavelengths takes no spec|wavelengths rope
2|--properties needs one or more specs|--properties
2|--properties needs one or more specs|--properties order
2|-o is proofs.pdf; needs a name that ends in|order -o proofs.pdf
0|HOLDS relative|rope
0|REFUTED order-blind|rope
0|no meaning axes|rope --properties
0|HOLDS axes|rope:axes=2,split=axial --properties
0|no learned|rope --properties
0|for equal contents|rope --properties --json
0|fails any-length|sinusoidal:theta=100+normalised --properties
0|HOLDS fractions-depend|fractions-depend sinusoidal:theta=100+normalised
0|HOLDS fractions-depend|fractions-depend normalised:length=9
0|REFUTED two-dogs|two-dogs none
2|binary-jumps cannot be measured on rope|binary-jumps rope
0|"cannot": "learned: position 64|learned:rows=64 --json
2|CANNOT binary-jumps|binary-jumps learned:rows=64
0|HOLDS binary-jumps|binary-jumps binary
0|DEPENDS alibi-linear|alibi-linear alibi
0|HOLDS alibi-linear|alibi-linear alibi --heads 8
0|DEPENDS alibi-linear|alibi-linear alibi --heads 12
0|DEPENDS alibi-linear|alibi-linear alibi --heads 40
0|DEPENDS orthogonal|orthogonal --model-dim 64 --heads 1
0|REFUTED orthogonal|orthogonal --model-dim 32 --heads 1
0|Sizes: head_dim 128,|rope-bound-decays
0|Sizes: head_dim 96.|rope-bound-decays --head-dim 96
0|order-blind algebra|order-blind
0|"seeds": 40|two-dogs rope --json
0|"seeds": 20|two-dogs rope --json --heads 2 --head-dim 8
0|It holds if|two-dogs
0|Sizes: heads 2, head_dim 8|two-dogs --heads 2 --head-dim 8
0|512 with 8 (20 seeds each)|two-dogs rope
0|DEPENDS bfloat16-is-enough|bfloat16-is-enough kerple
0|HOLDS bounded|normalised --properties
0|HOLDS linear|integer --properties
0|fails linear|binary --properties
0|REFUTED|order-blind rope:theta=1000000,sections=16/24/24 --head-dim 128
2|heads is 60000; needs 1 to|order-blind rope --heads 60000
2|heads * head_dim|order-blind --head-dim 512 --heads 100
2|head-dim is 0|order-blind --heads 1 --head-dim 0
E
proves 0 "DEPENDS reversal-seen" order
lacks "source:" out "a group is printed without its evidence"
proves 0 "two-dogs" --list
lacks "HOLDS" out "--list measures nothing"
proves 0 "claimed" rope --properties
lacks "order-blind" out "--properties prints no claims"
proves 0 "rope: Permuted words give permuted outputs" order-blind rope
lacks "Without a position encoding" out "a claim about no encoding is put to rope as it stands"

# ---- what cannot be measured: listed with its reason, counted, not on stderr
proves 0 "CANNOT binary-jumps" learned:rows=64 # it ends before the text does
check "CANNOT is counted" grep -q ' CANNOT$' out
check "and not told on stderr" test ! -s err
proves 0 "order-blind" transformer-xl # its table is made as long as the text
lacks "CANNOT" out "transformer-xl: a table about which the spec says nothing ends too early"

# ---- trained models: those that come with posenc are found beside the tool; where there are none, it says so
proves 0 "trained-table" trained-table
lacks "CANNOT" out "models/ is not found from the tool"
mkdir -p far/bin && cp "$POSENC" far/bin/posenc
far/bin/posenc prove trained-table >out 2>err; code=$?
check "without models: exit code 2" test $code = 2
check "and what to do about it" grep -q -- "--models FOLDER" out
far/bin/posenc prove trained-table --lang zh >out 2>err
check "in Chinese, too" grep -q '这里没有；请用 --models FOLDER' out
lacks '\[en\]' out "a trained claim's reason has no Chinese"
mkdir -p far/share/posenc && cp -r "$root/models" far/share/posenc/
far/bin/posenc prove trained-table >out 2>err
lacks "CANNOT" out "installed models are not found"
proves 0 "trained-table" trained-table --models "$root/models"
proves 4 "nowhere: cannot be listed" trained-table --models nowhere
proves 0 "随机种子" trained-orthogonal --lang zh
proves 0 "训练长度 128 字节。" trained-orthogonal --lang zh
proves 0 "trained at 128 bytes." trained-orthogonal

# ---- posenc dogs has the numbers of two-dogs
dogs() { tr -d ' \n' | grep -o "\"$1\":\"rope\",.*" | grep -o "\"$2\":[0-9.e-]*" | head -n 1 | cut -d: -f2; }
check "dogs and two-dogs say the same of rope" test "$("$POSENC" dogs --json | dogs spec dogs)" = "$("$POSENC" prove two-dogs --json | dogs of value)"

# ---- columns
"$POSENC" prove rope:theta=500000,scaling=llama3,factor=8,low=1,high=4,trained=8192 >out 2>err
check "within 100 columns" test -z "$(awk 'length > 100' out)"

# ---- two languages
proves 0 "成立" order-blind --lang zh
proves 0 "视情况而定" reversal-seen --lang zh
proves 0 "成立的条件" two-dogs --lang zh
proves 0 "代数" order-blind --lang zh
proves 0 "满足" rope --properties --lang zh
proves 0 "无掩码" causal-mask --lang zh
proves 0 "来源：Haviv" causal-mask --lang zh
lacks "causal mask" out "what a number is of, in English"
LC_ALL=zh_CN.UTF-8 "$POSENC" prove order-blind >out 2>err
check "the environment's language is spoken" grep -q 置换 out

# ---- no terminal, no colour
"$POSENC" prove order >out 2>err
lacks $'\033' out "colours in a file"
lacks . err "progress where stderr is no terminal"

# ---- a terminal has colours and progress, unless it says otherwise
if command -v script >/dev/null; then
  terminal() { env "$@" script -qec "'$POSENC' prove order-blind" /dev/null </dev/null >out 2>&1; }
  terminal TERM=xterm NO_COLOR=
  if grep -q $'\033\[1;32mHOLDS' out && grep -q '1/1 order-blind' out; then ok; else bad "no colour or no progress on a terminal"; fi
  terminal TERM=xterm NO_COLOR=1
  lacks $'\033\[1;' out "NO_COLOR is not minded"
  terminal TERM=dumb NO_COLOR=
  lacks $'\033' out "colours or progress on a dumb terminal"
fi

# ---- files
proves 0 "wrote proofs.html" order -o proofs.html
for part in 'class="good">HOLDS' 'prefers-color-scheme' '<details>' '</html>'; do check "proofs.html has $part" grep -qF "$part" proofs.html; done
lacks 'src=\|href=\|url(\|<script' proofs.html "proofs.html asks for nothing outside itself"
proves 0 "已写入 sub" rope --properties --lang zh -o sub.html
check "the page in Chinese" grep -q 'lang="zh-CN"' sub.html
check "and its words" grep -q '满足' sub.html
proves 4 "cannot be written" order-blind -o nowhere/x.md

# ---- every table has its columns in one order
check "docs/claims.md has one order of columns" test "$(grep '^| verdict' "$root/docs/claims.md" | sort -u | wc -l)" = 1

# ---- docs/claims.md says what the command says: names, verdicts, numbers (to 1 %; what is below 1e-5 is rounding). Where it
# is older than a row, claims about every encoding have no number to compare with.
"$POSENC" prove --lang en -o claims.md 2>err || bad "the table is not made: $(cat err)"
measured_on() { sed -n 's/^- Claims about every encoding are measured on: //p' "$1" | tr -s ', ' '\n'; }
measured_on "$root/docs/claims.md" >old.rows
measured_on claims.md >new.rows
every="" # claims that are not compared
for row in $(grep -vxFf old.rows new.rows); do
  echo "note: docs/claims.md lacks the row $row: make claims"
  every=$("$POSENC" prove --list --json | awk -F'"' '/"name":/ { name = $4 } /"every_row": true/ { printf " %s ", name }')
done
for row in $(grep -vxFf new.rows old.rows); do bad "docs/claims.md has the row $row, and the registry has not: make claims"; done
if [ -s old.rows ]; then ok; else bad "docs/claims.md does not say on which rows it was measured"; fi
table() { # name, verdict, number of every line; the third column is the kind
  awk -F' \\| ' '/^\| \*\*/ { gsub(/\\</, "", $4); print $2 "\t" $1 "\t" $4 }' "$1"
}
table "$root/docs/claims.md" >old
table claims.md >new
if paste old new | awk -F'\t' -v every="$every" '
    function small(x) { return (x < 0 ? -x : x) < 1e-5 }
    function same(x, y, d) { if (x == y || (small(x + 0) && small(y + 0) && x != "" && y != "")) return 1; d = x - y; return (d < 0 ? -d : d) <= 0.01 * (x < 0 ? -x : x) }
    $1 == $4 && index(every, " " $1 " ") { next }
    $1 != $4 || $2 != $5 || !same($3, $6) { print "docs/claims.md: " $1 " " $2 " " $3 "; measured: " $4 " " $5 " " $6; wrong = 1 }
    END { exit wrong || NR < 20 }'; then ok; else bad "docs/claims.md is not what posenc prove says: make claims"; fi
count=$("$POSENC" prove --list | grep -c '^  [a-z0-9]')
if [ "$count" = "$(wc -l <new)" ]; then ok; else bad "$count claims, $(wc -l <new) lines in the table"; fi

finish
