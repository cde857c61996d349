#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 1 s
# posenc explain and posenc diff on files, as people use them.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
dir=$(mktemp -d)
. tests/lib.sh
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
# posenc, its lines joined and its spaces squeezed; from FILE: with the file on stdin
posenc() { "$POSENC" "$@" >raw; local code=$?; tr -s ' \n' ' ' <raw; return $code; }
from() { local file=$1; shift; posenc "$@" <"$file"; }

cat >llama.json <<'J'
{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
 "num_hidden_layers": 32, "max_position_embeddings": 131072, "rope_theta": 500000.0,
 "rope_scaling": {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                  "original_max_position_embeddings": 8192, "rope_type": "llama3"}}
J
sed 's/"high_freq_factor": 4.0/"high_freq_factor": 5.0/' llama.json >other.json
cat >qwen.json <<'J'
{"model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28, "num_key_value_heads": 4,
 "num_hidden_layers": 28, "max_position_embeddings": 32768, "rope_theta": 1000000.0}
J
cat >opt.json <<'J'
{"model_type": "opt", "hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 12,
 "max_position_embeddings": 2048, "word_embed_proj_dim": 768}
J
echo '{"model_type": "llama"' >cut.json
: >empty.json
printf '\377\376{\0}\0' >utf16.json
printf '\357\273\277{}' >marked.json
echo '{"model_type":"chatglm","hidden_size":4096,"inner_hidden_size":16384,"max_sequence_length":2048,"num_attention_heads":32,"num_layers":28,"position_encoding_2d":true}' >chatglm.json
printf 'GGUF\003\000\000\000' >some.gguf
# a file's orders to a terminal (C1, the direction of writing) are masked, and escaped in JSON
printf '{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 1, "num_hidden_layers": 2, "max_position_embeddings": 64, "layer_types": ["b", "a\xc2\x9bb\xe2\x80\xaec\xe2\x81\xa6d\xc3\xa9"]}' >orders.json

# CODE|WORDS|COMMAND
llama3=rope:theta=500000,scaling=llama3,factor=8,trained=8192
yarn=rope:theta=150000,scaling=yarn,factor=32,trained=4096
while IFS='|' read -r code words command; do
  eval "expect $code \"\$words\" $command"
done <<T
0|llama.json format config.json model llama, 32 layers|posenc explain llama.json
0|trained 8192 positions served 131072 positions, 16 times|posenc explain llama.json
0|more than 4 turns in 8192 positions|posenc explain llama.json
0|32 of dimension 128, 8 for keys and values|posenc explain llama.json
0|--hf-overrides '{"rope_parameters": {"rope_type": "llama3"|posenc explain llama.json --for vllm
0|has no option for llama3|posenc explain llama.json --for llama.cpp
0|base 20000|posenc explain qwen.json --theta 20000
0|never complete a turn in 1000 positions|posenc explain qwen.json --trained 1000
0|adjacent [cscs]|posenc explain qwen.json --pairs adjacent
0|At position 32768|posenc explain qwen.json --layer 27
0|"new_angles_from": 65536|posenc explain llama.json --json
0|"command": "vllm serve MODEL|posenc explain llama.json --json --for vllm
0|"file": "llama.json"|posenc explain llama.json --json
0|"layers": [3]|posenc explain llama.json --layer 3 --json
0|# llama.json|posenc explain llama.json --as md
0|the table has 2048 positions|posenc explain opt.json
0|only the length can be set|posenc explain opt.json --for sglang
0|stdin format config.json model llama, 32 layers|from llama.json explain -
3|stdin|from cut.json explain -
3|stdin: is empty; needs a JSON object|from empty.json explain -
3|stdin: is UTF-16; needs UTF-8|from utf16.json explain -
3|stdin: begins with a byte order mark|from marked.json explain -
0|elements i and i + 32 of it; 64 pairs|posenc explain chatglm.json
3|stdin|from some.gguf explain -
2|layers 0 to 27|posenc explain qwen.json --layer 28
2|--theta is x|posenc explain qwen.json --theta x
2|did you mean vllm?|posenc explain qwen.json --for vlm
2|needs FILE|posenc explain
4|missing.json|posenc explain missing.json
3|cut.json|posenc explain cut.json
0|a?b?c?dé|posenc explain orders.json --lenient
0|"kind": "a\\u009bb\\u202ec\\u2066dé"|posenc explain orders.json --lenient --json
0|same|posenc diff llama.json llama.json
1|encoding forget|posenc diff forget alibi
1|Different|posenc diff rope+forget rope+alibi
0|same|posenc diff forget forget
1|high 4 |posenc diff llama.json other.json
1|theta 500000 |posenc diff llama.json qwen.json
1|served 131072 |posenc diff llama.json qwen.json
0|same|posenc diff llama.json $llama3
1|layouts differ|posenc diff llama.json $llama3,pairs=adjacent
0|layouts differ|posenc diff llama.json $llama3,pairs=adjacent --ignore-layout
1|0.90421 12|posenc diff $yarn $yarn,truncate=no --at 4k
1|"same": false|posenc diff llama.json other.json --json
0|weights need no change|posenc diff rope:pairs=adjacent rope:pairs=adjacent-half
0|"verb": "diff"|posenc diff llama.json llama.json --json
0|exit code 1|posenc diff --help
2|did you mean 'rope'?|posenc diff rop rope
2|--at has x|posenc diff rope rope --at 1,x
2|needs A B|posenc diff rope
4|missing.json|posenc diff missing.json rope
1|encoding rope |posenc diff rope alibi
T
check "a table without numbers is not shown" eval '! grep -q position stdout'
check "what is set apart by a bar is shown" grep -q 'rope | alibi' stdout
posenc explain llama.json --json >file.out
from llama.json explain - --json | sed 's/stdin/llama.json/' >stdin.out
check "explain - is explain FILE" cmp -s file.out stdin.out
check "choices are not cut in the help" eval '"$POSENC" extend --help | grep -q "llama3|p-rope$"'

finish
