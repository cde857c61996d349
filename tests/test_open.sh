#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 1 s
# What a file or folder is, when it is no model: every sentence says what was found and what would do.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
. tests/lib.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# expect CODE WORDS FILE: posenc explain FILE exits so and prints WORDS.
expect() {
  local got
  "$POSENC" explain "$3" >out.txt 2>&1; got=$?
  if [ $got = "$1" ] && grep -qF -e "$2" out.txt; then ok
  else bad "$3: exit code $got, not $1; no \"$2\" in: $(head -c 300 out.txt)"; fi
}
llama='"model_type":"llama","hidden_size":64,"num_attention_heads":4,"num_hidden_layers":2,"max_position_embeddings":64'

: >empty.json; : >empty.gguf; : >empty.bin; : >empty.safetensors
for file in empty.*; do expect 3 "$file: is empty" $file; done
echo '[]' >array.json; expect 3 "is a JSON array; config.json is an object" array.json
printf ' \n[{"a": 1}]' >list.json; expect 3 "is a JSON array; config.json is an object" list.json
printf ' \n\t ' >blank.json; expect 3 "white space" blank.json
printf '\357\273\277{%s}' "$llama" >mark.json; expect 3 "byte order mark" mark.json
printf '\377\376{\0' >u16.json; expect 3 "u16.json: is UTF-16" u16.json
printf '{\0"\0a\0"\0' >u16le.json; expect 3 "is UTF-16; needs UTF-8" u16le.json
printf 'version https://git-lfs.github.com/spec/v1\noid' >model.safetensors; expect 3 "pointer of Git LFS" model.safetensors
printf 'GGU' >short.gguf; expect 3 "is none of" short.gguf
printf 'GGUF' >cut.gguf; expect 3 "cut.gguf" cut.gguf
printf 'PK\003\004' >model.pt; expect 3 "is a zip archive" model.pt
expect 4 "missing" missing.json

mkdir bare two one linked
expect 3 "bare: is a folder that holds neither config.json nor a .gguf" bare
printf 'GGUF' >two/a.gguf; cp two/a.gguf two/b.gguf; expect 3 "two: holds 2 .gguf" two
cp two/a.gguf one/; expect 3 "one/a.gguf" one
ln -s nowhere linked/config.json; expect 4 "linked/config.json: cannot be opened" linked
echo "{$llama}" >bare/config.json; expect 0 "llama" bare; expect 0 "llama" bare/
for scaling in linear yarn; do
  echo "{$llama,\"rope_scaling\":{\"type\":\"$scaling\",\"factor\":0}}" >zero.json; expect 3 "factor is 0" zero.json
done
# the ninth byte is a brace here too, and yet it is JSON
echo '{"rope":{},'"$llama}" >brace.json; expect 0 "config.json" brace.json

finish
