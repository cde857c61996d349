#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: data; tier: quick; cost: 1 s
# posenc eval on a real trained model, stories260K: its greedy text byte for byte, and its perplexity past its length.
set -euo pipefail
root=$PWD
data=${POSENC_SHARED:-../shared}/data
if [ ! -r "$data/stories260K.bin" ]; then
  echo "SKIP: $data/stories260K.bin is not there"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
data=$(cd "$data" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/lib.sh
cd "$dir"
model=$data/stories260K.bin tokenizer=$data/tok512.bin

"$POSENC" eval "$model" --tokenizer "$tokenizer" --generate 200 >greedy.txt
check "greedy text is llama2.c's, byte for byte" cmp greedy.txt "$data/stories260K_greedy_200.expected.txt"
for threads in 1 2; do
  "$POSENC" eval "$model" --tokenizer "$tokenizer" --generate 40 --threads $threads --prompt "One day, a dog" >threads$threads.txt
done
check "the prompt begins the text" grep -q "^One day, a dog" threads1.txt
"$POSENC" eval "$model" --tokenizer "$tokenizer" --generate 1 --prompt "One day, a dog" >one.txt
check "the prompt is whole before one new token" grep -q "^One day, a dog." one.txt
"$POSENC" eval "$model" --tokenizer "$tokenizer" --generate 40 --json --prompt "One day, a dog" >greedy.json
check "--json has the same text" grep -qxF "  \"text\": \"$(sed 's/"/\\&/g; $!s/$/\\u000a/' threads1.txt | tr -d '\n')\"" greedy.json
{ head -c 4096 "$model"; printf '\0\0\300\177%.0s' {1..1000}; tail -c +8097 "$model"; } >nan.bin # 1,000 weights are NaN
for what in "--generate 5" "--generate 5 --json" "--text $root/tests/story.txt --lengths 64 --extend none"; do
  status=0
  "$POSENC" eval nan.bin --tokenizer "$tokenizer" $what >out.txt 2>message || status=$?
  check "a model of NaN: exit code 3 ($what)" test $status = 3
  check "a model of NaN: said so, and nothing else" sh -c 'grep -q "logits are not finite" message && test ! -s out.txt'
done
check "the text is the same for 1 and 2 threads" cmp threads1.txt threads2.txt

"$POSENC" eval "$model" --tokenizer "$tokenizer" --text "$root/tests/story.txt" --lengths 256,512,1k \
  --extend none,linear,ntk,dynamic,yarn,llama3,prope --json >eval.json
value() { # value METHOD LENGTH: its perplexity
  tr -d '\n' <eval.json | sed 's/"name":/\n&/g' | grep '^"name": "'"$1"'"' | sed 's/"length":/\n&/g' |
    sed -n '/^"length": '"$2"',/ { s/.*"perplexity": *{ *"mean": \([0-9.]*\)[ ,}].*/\1/p; q; }'
}
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; } # less A B
check "the table has numbers" test -n "$(value none 512)"
for length in 256 512; do
  for method in linear ntk dynamic yarn llama3 p-rope; do
    check "$method at $length changes nothing" test "$(value $method $length)" = "$(value none $length)"
  done
done
check "more context helps up to the trained length" less "$(value none 512)" "$(value none 256)"
check "it has learned English: perplexity below 6 at 512" less "$(value none 512)" 6
check "linear, which is for fine-tuning, costs more than twice at 1k" less 8 "$(value linear 1024)"
check "yarn does not" less "$(value yarn 1024)" 5
check "what extend recommends at 1k was measured" grep -q 'extend recommends ntk at 1024: measured' eval.json
check "and is near the best by both measures" test "$(grep -c '"near_the_best": true' eval.json)" = 2
check "and nothing else is said" test -z "$(grep 'not near the best' eval.json)"

story=$root/tests/story.txt
{ printf '\xef\xbb\xbfThe Project Gutenberg eBook\r\n*** START OF IT ***\r\n\r\n'
  sed 's/$/\r/' "$story"; printf '\r\n*** END OF IT ***\r\nLicense\r\n'; } >book.txt
for text in "$story" book.txt; do
  "$POSENC" eval "$model" --tokenizer "$tokenizer" --text "$text" --lengths 256 --extend none --json |
    grep -E '"(text_tokens|mean|last_quarter)"' >"numbers-$(basename "$text")"
done
check "of a book only what stands between its marks is measured" cmp numbers-story.txt numbers-book.txt
printf '*** START OF IT ***\n\n*** END OF IT ***\n' >empty.txt
status=0
"$POSENC" eval "$model" --tokenizer "$tokenizer" --text empty.txt 2>message || status=$?
check "a book without a text is refused" test $status = 3
check "by its name" grep -q 'empty.txt: has no text' message

status=0
"$POSENC" eval "$model" --text "$root/tests/story.txt" 2>message || status=$?
check "without a tokenizer the sentence says what to give" grep -q -- '--tokens-file' message
check "and the exit code is 2" test $status = 2
status=0
"$POSENC" eval "$model" --tokenizer "$model" --generate 5 2>message || status=$?
check "a file that is no tokenizer is refused" test $status = 3
finish
