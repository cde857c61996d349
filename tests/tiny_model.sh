# SPDX-License-Identifier: MIT
# For scripts that run examples: models of zeros, which posenc eval reads, and a text; all in the folder at hand.

# le NUMBER BYTES: a whole number, its lowest byte first
le() { local n=$1 k; for ((k = 0; k < $2; k++)); do printf "\\x$(printf %02x $((n & 255)))"; n=$((n >> 8)); done; }

# npy FILE DESCR SHAPE BYTES NUMBERS...: whole numbers of BYTES bytes each.
npy() {
  local file=$1 head="{'descr': '$2', 'fortran_order': False, 'shape': $3, }" size=$4; shift 4
  { printf '\x93NUMPY\x01\x00'; le 118 2; printf '%-117s\n' "$head"; for n; do le "$n" "$size"; done; } >"$file"
}

# tiny_model STORY: dim 8, hidden 16, layer 1, heads 2, kv heads 1, vocab 259, length 16, as stories.bin (llama2.c) with
# its tokenizer tok.bin, three marks and the bytes, and as folder model (Hugging Face); ids.npy are token
# numbers, story.txt is STORY; race is a race that has ended, and models/rope-1.safetensors what it trained
tiny_model() {
  local word name size from=0 header='{"__metadata__":{}'
  { for n in 8 16 1 2 1 259 16; do le $n 4; done; head -c $((4 * 2736)) /dev/zero; } >stories.bin
  { le 6 4
    for word in '<unk_>' '<s___>' '</s__>' $(printf '<0x%02X> ' $(seq 0 255)); do
      printf '\0\0\0\0\6\0\0\0%s' "$word" # score 0, size 6
    done; } >tok.bin
  mkdir -p model
  cat >model/config.json <<'J'
{"model_type": "llama", "hidden_size": 8, "intermediate_size": 16, "num_attention_heads": 2, "num_key_value_heads": 1,
 "num_hidden_layers": 1, "vocab_size": 259, "max_position_embeddings": 16, "rope_theta": 10000.0, "rms_norm_eps": 1e-5,
 "hidden_act": "silu", "tie_word_embeddings": true}
J
  while read -r name size; do
    header+=",\"model.$name.weight\":{\"dtype\":\"F32\",\"shape\":[$size],\"data_offsets\":[$from,$((from + 4 * ${size/,/*}))]}"
    from=$((from + 4 * ${size/,/*}))
  done <<'T'
embed_tokens 259,8
layers.0.input_layernorm 8
layers.0.self_attn.q_proj 8,8
layers.0.self_attn.k_proj 4,8
layers.0.self_attn.v_proj 4,8
layers.0.self_attn.o_proj 8,8
layers.0.post_attention_layernorm 8
layers.0.mlp.gate_proj 16,8
layers.0.mlp.up_proj 16,8
layers.0.mlp.down_proj 8,16
norm 8
T
  { le $((${#header} + 1)) 8; printf '%s}' "$header"; head -c $from /dev/zero; } >model/model.safetensors
  npy ids.npy '<i8' '(16,)' 8 1 5 2 7 7 7 200 258 0 3 4 5 6 9 9 9
  cp "$1" story.txt
  "$POSENC" race -e rope --layers 1 --width 8 --heads 2 --train-length 16 --steps 1 --test 1x --batch 1 --test-tokens 16 --threads 1 \
    --out race >/dev/null 2>&1
  "$POSENC" report race --models models >/dev/null 2>&1
}
