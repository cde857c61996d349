#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core
# posenc explain and posenc diff on files, as people use them.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
passed=0 failed=0

# expect CODE WORDS COMMAND...: the exit code, and WORDS in what it prints; an error prints nothing on stdout.
expect() {
  local code=$1 words=$2 got; shift 2
  "$POSENC" "$@" >stdout 2>stderr; got=$?
  if [ $got != "$code" ]; then printf 'FAILED: %s: exit code %s, not %s: %s\n' "$*" $got "$code" "$(head -c 300 stderr)"
  elif [ "$code" -gt 1 ] && [ -s stdout ]; then printf 'FAILED: %s: an error, and something on stdout\n' "$*"
  elif ! cat stdout stderr | tr -s ' \n' ' ' | grep -qF -- "$words"; then
    printf "FAILED: %s: '%s' is not in:\n%s\n" "$*" "$words" "$(cat stdout stderr | head -c 2000)"
  else passed=$((passed + 1)); return; fi
  failed=$((failed + 1))
}

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

# ---- explain
expect 0 "llama.json: config.json, llama, 32 layers" explain llama.json
expect 0 "trained 8192 positions served 131072 positions, 16 times" explain llama.json
expect 0 "half [ccss]" explain llama.json
expect 0 "more than 4 turns in 8192 positions are kept" explain llama.json
expect 0 "pairs 35-63 (29 of 64) never completed a turn" explain llama.json
expect 0 "At position 65536, not at 8192" explain llama.json
expect 0 "32 of 128, 8 for keys and values" explain llama.json
expect 0 "--hf-overrides '{\"rope_parameters\": {\"rope_type\": \"llama3\"" explain llama.json --for vllm
expect 0 "has no option for llama3" explain llama.json --for llama.cpp
expect 0 "base 20000" explain qwen.json --theta 20000
expect 0 "never completed a turn in 1000 positions" explain qwen.json --trained 1000
expect 0 "adjacent [cscs]" explain qwen.json --pairs adjacent
expect 0 "At position 32768, the trained length" explain qwen.json --layer 27
expect 0 '"new_angles_from": 65536' explain llama.json --json
expect 0 '"command": "vllm serve MODEL' explain llama.json --json --for vllm
expect 0 "the table has 2048 positions" explain opt.json
expect 0 "nothing turns here" explain opt.json --for sglang
# a config.json on stdin says what the file does
from_stdin() { # from_stdin FILE CODE WORDS COMMAND...
  local file=$1; shift
  expect "$@" <"$file"
}
from_stdin llama.json 0 "stdin: config.json, llama, 32 layers" explain -
"$POSENC" explain llama.json --json >file.out && "$POSENC" explain - --json <llama.json | sed 's/stdin/llama.json/' >stdin.out
if cmp -s file.out stdin.out; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: explain - is not explain FILE"; fi
printf '{"model_type": ' >half.json
: >empty.json
from_stdin half.json 3 "stdin" explain -
from_stdin empty.json 3 "stdin" explain -
printf 'GGUF\003\000\000\000' >some.gguf
from_stdin some.gguf 3 "stdin" explain -
from_stdin llama.json 0 "stdin" explain - --for vllm
expect 2 "layers 0 to 27" explain qwen.json --layer 28
expect 2 "--theta is x" explain qwen.json --theta x
expect 2 "did you mean vllm?" explain qwen.json --for vlm
expect 2 "needs FILE" explain
expect 4 "missing.json" explain missing.json
echo '{"model_type": "llama"' >cut.json
expect 3 "cut.json" explain cut.json

# a file's orders to a terminal (C1, the direction of writing) are masked, and escaped in JSON
printf '{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 1, "num_hidden_layers": 2, "max_position_embeddings": 64, "layer_types": ["b", "a\xc2\x9bb\xe2\x80\xaec\xe2\x81\xa6d\xc3\xa9"]}' >orders.json
expect 0 'a?b?c?dé' explain orders.json --lenient
expect 0 '"kind": "a\u009bb\u202ec\u2066dé"' explain orders.json --lenient --json
"$POSENC" extend --help | grep -q 'llama3|p-rope$' || { echo "FAILED: choices are cut in the help"; failed=$((failed + 1)); }

# ---- diff
expect 0 "same" diff llama.json llama.json
expect 1 "high 4 | 5" diff llama.json other.json
expect 1 "theta 500000 | 1000000" diff llama.json qwen.json
expect 1 "served 131072 | 32768" diff llama.json qwen.json
expect 0 "same" diff llama.json rope:theta=500000,scaling=llama3,factor=8,trained=8192
expect 1 "layouts differ" diff llama.json rope:theta=500000,scaling=llama3,factor=8,trained=8192,pairs=adjacent
expect 0 "layouts differ" diff llama.json rope:theta=500000,scaling=llama3,factor=8,trained=8192,pairs=adjacent --ignore-layout
expect 1 "0.90421 12" diff rope:theta=150000,scaling=yarn,factor=32,trained=4096 rope:theta=150000,scaling=yarn,factor=32,trained=4096,truncate=no --at 4k
expect 1 '"same": false' diff llama.json other.json --json
expect 0 "weights need no change" diff rope:pairs=adjacent rope:pairs=adjacent-half
expect 1 "encoding rope | alibi" diff rope alibi
grep -q position stdout && { echo "FAILED: a table without numbers"; failed=$((failed + 1)); }
expect 0 '"verb": "diff"' diff llama.json llama.json --json
expect 0 '"file": "llama.json"' explain llama.json --json
expect 0 '"layers": [3], "heads": 32' explain llama.json --layer 3 --json
expect 0 "exit code 1" diff --help
expect 2 "did you mean 'rope'?" diff rop rope
expect 2 "--at has x" diff rope rope --at 1,x
expect 2 "needs A B" diff rope
expect 4 "missing.json" diff missing.json rope

printf '%d checks passed, %d failed\n' $passed $failed
[ $failed = 0 ]
