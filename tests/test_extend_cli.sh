#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 3 s
# posenc extend as people use it: plans, settings, and a config.json changed in place without losing anything.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
lib=$(realpath tests/lib.sh)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
. "$lib"
# The tool with its lines joined and its spaces squeezed; from FILE: with the file on stdin
extend() { "$POSENC" extend "$@" >raw; local code=$?; tr -s ' \n' ' ' <raw; return $code; }
from() { local file=$1; shift; extend "$@" <"$file"; }
# each <<T: lines of CODE|WORDS|COMMAND, which exits so and prints WORDS
each() { local code words command; while IFS='|' read -r code words command; do eval "expect $code \"\$words\" $command"; done; }
# config FILE LENGTH SCALING: a Llama, with Windows line ends where the name says so
config() {
  printf '{\n  "architectures": ["LlamaForCausalLM"],\n  "model_type": "llama",\n  "hidden_size": 4096,\n' >"$1"
  printf '  "num_attention_heads": 32,\n  "num_hidden_layers": 2,\n  "max_position_embeddings": %s,\n' "$2" >>"$1"
  printf '  "rope_scaling": %s,\n  "rope_theta": 10000.0\n}' "$3" >>"$1"
  case $1 in *crlf*) sed -i 's/$/\r/' "$1" ;; esac
}

config llama.json 4096 null
config own.json 131072 '{"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}'
config grows.json 4096 '{"type": "dynamic", "factor": 2.0}'
sed 's/"llama"/"gptj"/' llama.json >gptj.json
sed 's/"llama"/"qwen2"/' llama.json >qwen2.json
sed 's/"llama"/"gemma2"/; s/"num_hidden_layers": 2/"num_hidden_layers": 4, "sliding_window": 1024, "head_dim": 128/' llama.json >gemma2.json
sed 's/"llama"/"olmo3"/; s/"num_hidden_layers": 2/"num_hidden_layers": 4, "sliding_window": 1024, "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]/' llama.json >olmo3.json
config linear.json 16384 '{"type": "linear", "factor": 4.0}'
head -c 300 llama.json | tr '\n' '\0' >zero.json

printf '{"model_type":"inkling_text","num_hidden_layers":4,"local_layer_ids":[0,2,3],"max_position_embeddings":4096}' >inkling.json
sed 's/}/,"log_scaling_n_floor":1024}/' inkling.json >floor.json

# plans, settings and refusals; a config.json on stdin gives the same plan, and the same text with it
each <<'T'
0|* yarn factor 8|from llama.json - --to 32k
2|cannot change stdin|from llama.json - --to 32k --write
0|wrote out.json|from llama.json - --to 32k -o out.json
0|wrote out2.json|extend llama.json --to 32k -o out2.json
3|stdin|from /dev/null - --to 32k
3|stdin|from zero.json - --to 32k
0|none 18 (46-63), 8 x|extend llama.json --to 32k
0|spec 3x inkling:distances=512, 1x inkling trained|extend inkling.json --to 32k
0|"specs": ["inkling:distances=512", "inkling"]|extend inkling.json --to 32k --json
0|any length is defined. There is nothing to set|extend inkling.json --to 32k
0|any length is defined; log_scaling_n_floor makes|extend floor.json --to 32k
0|* yarn factor 8|extend llama.json --to 32k
0|recommended ntk because up to 4 times the length|extend llama.json --to 16k
0|pairs 46-62 still reach new angles, up to 1.45 x|extend llama.json --to 16k
0|this was measured on two small models|extend llama.json --to 16k --json
0|take --method ntk|extend llama.json --to 32k --for sglang -m dynamic
0|nothing to do|extend llama.json --to 4k
0|target 10 (not longer than the trained length)|extend llama.json --to 10
0|target 102400 (not longer than the served length)|extend own.json --to 100k
0|63 54410.1|extend llama.json --to 32k --all
0|--rope-scaling yarn --rope-freq-base 10000 --rope-scale 8 --yarn-orig-ctx 4096 -c 32768|extend llama.json --to 32k --for llama.cpp
0|--rope-scaling linear --rope-freq-base 10000 --rope-scale 8|extend llama.json --to 32k --for llama.cpp --method linear
0|convert the changed config.json again|extend llama.json --to 32k --for llama.cpp -m llama3
0|"original_max_position_embeddings": 4096}, "max_position_embeddings": 32768}' --max-model-len 32768|extend llama.json --to 32k --for vllm
0|--context-length 32768|extend llama.json --to 32k --for sglang
2|--theta|extend llama.json --to 32k --theta no
3|nothing was written|extend llama.json --to 32k --theta 500000 -o theta.json
0|"recommended": "yarn"|extend llama.json --to 32k --json
1|still reach new angles, up to 8 x|extend llama.json --to 32k --method none
2|needs --to N|extend llama.json
2|not both|extend llama.json --to 32k --write -o x.json
2|did you mean yarn?|extend llama.json --to 32k --method yarm
4||extend missing.json --to 32k
0|offered by the model's makers|extend own.json --to 100k
0|nothing to do|extend own.json --to 100k
0|served 8192|extend grows.json --to 8k
0|"served": 8192|extend grows.json --to 8k --json
0|"served": 8192|"$POSENC" explain grows.json --json
0|2 layers have a window and need no change; this plan changes 2 of them too|extend gemma2.json --to 32k
0|"windowed_layers": 2, "windowed_layers_changed": 2|extend gemma2.json --to 32k --json
0|2 layers have a window, and stay as they are|extend olmo3.json --to 32k --method yarn
0|recommended yarn because it is a Qwen: its makers prescribe YaRN|extend qwen2.json --to 16k
3|does not say the trained length before scaling=linear; pass --trained N|extend linear.json --to 64k
0|"seen": 16384, "target": 65536|extend linear.json --to 64k --trained 4k --json
0|Replace these keys|extend llama.json --to 32k --for transformers
T
cmp -s out.json out2.json || bad "extend - -o: another text than extend FILE -o"
grep -q null stdout && bad "a null among the keys to replace"
expect 0 "has no dynamic NTK" extend llama.json --to 32k --for llama.cpp -m dynamic
grep -q llama-server stdout && bad "llama.cpp has a command for what it cannot do"
expect 0 "its class reads rotary_dim" extend gptj.json --to 32k --for transformers
grep -q rope_ stdout && bad "GPT-J got keys that its class does not read"

# every method is written, read back, and then serves the length
for method in linear ntk yarn longrope llama3 p-rope; do
  expect 0 "wrote $method.json" extend llama.json --to 32k --method $method -o $method.json
  [ $method = p-rope ] || expect 0 "nothing to do" extend $method.json --to 32k --trained $([ $method = ntk ] && echo 32768 || echo 4096)
done
expect 0 "wrote dynamic.json" extend llama.json --to 32k --method dynamic -o dynamic.json
grep -q '"max_position_embeddings": 4096' dynamic.json || bad "dynamic: max_position_embeddings is its trained length"

# in place: the original is kept, and never lost
config crlf.json 4096 null
cp crlf.json before.json
expect 0 "wrote crlf.json" extend crlf.json --to 32k --write
cmp -s before.json crlf.json.bak || bad "the original is not in crlf.json.bak"
[ "$(grep -c $'\r$' crlf.json)" = "$(grep -c "" crlf.json)" ] || bad "a line lost its Windows end"
[ "$(diff <(tr -d '\r' <before.json) <(tr -d '\r' <crlf.json) | grep -c '^<')" = 2 ] || bad "more than two lines changed"
expect 2 "--force" extend crlf.json --to 64k --write
cmp -s before.json crlf.json.bak || bad "a refused write changed the backup"
expect 0 "never stacked" extend crlf.json --to 64k --write --force
grep -q '"factor": 16.0' crlf.json || bad "yarn was not raised to 16"
[ "$(grep -c '"rope_type"' crlf.json)" = 1 ] || bad "two scalings in one file"

# a link (a snapshot in a hub's cache): refused before anything is made; the mode of the original is its backup's
mkdir hub && config hub/blob 4096 null && ln -s blob hub/config.json
expect 4 "is a link; needs the file it points to, or another path (-o FILE)" extend hub/config.json --to 32k --write
expect 4 "is a link" extend hub --to 32k --write
[ "$(ls hub | tr '\n' ' ')" = "blob config.json " ] || bad "a refused link left something behind: $(ls hub)"
config secret.json 4096 null
chmod 600 secret.json
expect 0 "wrote secret.json" extend secret.json --to 32k --write
[ "$(stat -c %a secret.json secret.json.bak | tr '\n' ' ')" = "600 600 " ] || bad "the mode of secret.json or its backup changed"
config third.json 4096 null && mkdir third.json.bak
expect 2 "third.json.bak is no regular file" extend third.json --to 32k --write --force
[ "$(ls -d third* | tr '\n' ' ')" = "third.json third.json.bak " ] || bad "a refused backup left something behind"
# someone else writes the file while it is planned: theirs stays, and no backup
config busy.json 4096 null
sed 's/10000.0/20000.0/' busy.json >theirs.json
cp busy.json ours.json
( while :; do cp theirs.json swap.json; mv swap.json busy.json; cp ours.json swap.json; mv swap.json busy.json; done ) & writer=$!
refused=0
for ((i = 0; i < 500 && (i < 40 || refused == 0); i++)); do
  rm -f busy.json.bak
  "$POSENC" extend busy.json --to 32k --write >stdout 2>stderr; code=$?
  if grep -q "wrote busy" stderr; then cmp -s busy.json.bak ours.json || cmp -s busy.json.bak theirs.json || bad "the backup is no original"
  elif [ -e busy.json.bak ]; then bad "exit code $code, and a backup: $(cat stderr)"; fi
  grep -q "the file changed during this command" stderr && refused=$((refused + 1))
done
[ $refused -gt 0 ] && ok || bad "no change of the file was seen in $i runs"
kill $writer; wait $writer 2>/dev/null
[ -z "$(ls ./*.tmp 2>/dev/null)" ] && ok || bad "a temporary file stayed behind"

# a key spelled with an escape is found by the reader only: the edit would double it, is refused, and nothing changes
printf '%s' '{"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"num_hidden_layers":2,"max_position_embeddings":4096,"rope_theta":1e4,"rope\u005fscaling":null}' >odd.json
cp odd.json odd2.json
expect 3 "nothing was written" extend odd.json --to 32k --write
cmp -s odd.json odd2.json || bad "a config that could not be changed was changed"
[ -z "$(ls ./*.tmp odd.json.bak 2>/dev/null)" ] || bad "something was left behind"
"$POSENC" extend llama.json --to 32k -o - | cmp -s - yarn.json || bad "-o - is not the changed config alone"

finish
