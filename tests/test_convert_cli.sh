#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 1 s
# posenc convert as people use it: files large and small, full disks, and a kill in the middle.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
dir=$(mktemp -d)
. tests/lib.sh
seen=$dir
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin" "$dir/work" && ln -s "$POSENC" "$dir/bin/posenc"
PATH=$dir/bin:$PATH
cd "$dir/work" || exit 1
not() { ! "$@"; }
le() { local n=$1 k; for ((k = 0; k < $2; k++)); do printf "\\x$(printf %02x $((n & 255)))"; n=$((n >> 8)); done; }
weights() { { le ${#2} 8; printf %s "$2"; [ -z "${3:-}" ] || printf %s "$3"; } >"$1"; }
to_half() { posenc convert "$1" --from adjacent --to half "${@:2}"; }
to_adjacent() { posenc convert "$1" --from half --to adjacent "${@:2}"; }

# ---- one head of four elements: abcd is c0 s0 c1 s1, half is c0 c1 s0 s1
q='{"x.q_proj.weight":{"dtype":"F16","shape":[4,1],"data_offsets":[0,8]}}'
weights q.safetensors "$q" aabbccdd
expect 0 "1 of 1 tensors, adjacent to half" to_half q.safetensors --heads 1 -o half.safetensors
check "adjacent to half" test "$(tail -c 8 half.safetensors)" = aaccbbdd
expect 0 "" to_adjacent q.safetensors --heads 1 -o adjacent.safetensors
check "half to adjacent" test "$(tail -c 8 adjacent.safetensors)" = aaccbbdd
expect 0 "replaced half.safetensors" to_adjacent half.safetensors --heads 1 -o half.safetensors
check "and back" test "$(tail -c 8 half.safetensors)" = aabbccdd
expect 3 "was converted before; --force" to_adjacent half.safetensors --heads 1 -o again.safetensors
expect 0 "wrote again" to_adjacent half.safetensors --heads 1 --force -o again.safetensors
expect 0 '"permuted": 1' to_half q.safetensors --heads 1 --dry-run --json
expect 0 "2 to 3 of 4" to_half q.safetensors --heads 1 --dims 2 --range trailing --dry-run -o never.safetensors
expect 0 "1 of 1" posenc convert q.safetensors --from adjacent-half --to half --heads 1 -o h2.safetensors
check "a dry run writes nothing" test ! -e never.safetensors

# ---- a config.json beside the weights knows the heads and the layout
mkdir model && cp q.safetensors model/
echo '{"model_type":"cohere","hidden_size":4,"num_attention_heads":1,"num_key_value_heads":1,"num_hidden_layers":1}' >model/config.json
expect 0 "1 of 1 tensors, adjacent to half" posenc convert model/q.safetensors --to half -o model/o.safetensors
check "by its config" test "$(tail -c 8 model/o.safetensors)" = aaccbbdd
expect 0 "warning: --from is half, but model/config.json says adjacent" posenc convert model/q.safetensors --from half --to adjacent --dry-run
expect 0 "warning: --from is half" posenc convert model/q.safetensors --heads 1 --from half --to adjacent --dry-run
expect 0 "" posenc convert model/o.safetensors --from half --to adjacent --dry-run
check "a converted file is not what the config says" test -z "$(grep warning "$dir/stderr")"
# two axes in blocks: neither layout, whoever says so
echo '{"model_type":"chatglm","hidden_size":8,"inner_hidden_size":32,"max_sequence_length":64,"num_attention_heads":1,"num_layers":1,"position_encoding_2d":true}' >model/config.json
weights model/b.safetensors '{"x.query_key_value.weight":{"dtype":"F16","shape":[24,1],"data_offsets":[0,48]}}' aabbccddeeffgghhaabbccddeeffgghhaabbccddeeffgghh
expect 3 "its pairs lie in blocks" posenc convert model/b.safetensors --to adjacent --fused per-head -o y
expect 3 "knows half and adjacent" posenc convert model/b.safetensors --from half --to adjacent --heads 1 --fused per-head -o y
expect 0 "the tensors of --tensors are taken as half" posenc convert model/b.safetensors --from half --to adjacent --heads 1 --fused per-head --tensors 'x.*' --dry-run
echo '{"model_type":"gpt2","n_embd":8,"n_head":1,"n_layer":1}' >model/config.json
expect 2 "this model does not rotate" posenc convert model/q.safetensors --to half -o y
echo '{"model_type":"nobody"}' >model/config.json
expect 2 "does not help: model/config.json: model_type nobody is unknown" posenc convert model/q.safetensors --to half -o y
expect 2 "needs --from" posenc convert q.safetensors --to half --heads 1 -o y

# ---- what is wrong is said
expect 2 "needs --from and --to" posenc convert q.safetensors --from half -o y
expect 2 "needs -o FILE, or --dry-run" to_half q.safetensors --heads 1
expect 2 "needs a file name" to_half q.safetensors --heads 1 -o -
expect 2 "nothing to do" posenc convert q.safetensors --from half --to half --heads 1 -o y
expect 2 "same layout for weights" posenc convert q.safetensors --from adjacent --to adjacent-half --heads 1 -o y
expect 2 "give --heads" to_half q.safetensors -o y
expect 2 "give --dims" to_half q.safetensors --heads 1 --range trailing -o y
expect 2 "--bf16 is for .npy" to_half q.safetensors --heads 1 --bf16 -o y
expect 2 "even number" to_half q.safetensors --heads 1 --dims 3 -o y
expect 3 "not 3 equal heads" to_half q.safetensors --heads 3 -o y
expect 4 "missing" to_half missing.safetensors --heads 1 -o y
expect 4 "device" to_half q.safetensors --heads 1 -o /dev/full
expect 4 "folder" to_half q.safetensors --heads 1 -o "$dir"
weights none.safetensors '{"x.attn.other":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}' abcd
expect 3 "x.attn.other" to_half none.safetensors --heads 1 -o y
expect 3 "matches --tensors" to_half q.safetensors --heads 1 --tensors 'y.*' -o y
cp none.safetensors model-00002-of-00003.safetensors
expect 0 "no q and no k" to_half model-00002-of-00003.safetensors --heads 1 -o copy.safetensors
check "a shard without q and k is copied" cmp -s none.safetensors copy.safetensors
echo '{"weight_map": {}}' >model.safetensors.index.json
expect 3 "convert each of the .safetensors files" to_half model.safetensors.index.json --heads 1 -o y
printf 'GGUF\3\0\0\0aaaaaaaa' >m.gguf
expect 3 "is GGUF" to_half m.gguf --heads 1 -o y
printf 'PK\3\4\0\0\10\10aaaaaaa' >m.bin
expect 3 "PyTorch" to_half m.bin --heads 1 -o y
head -c 60 q.safetensors >cut.safetensors
expect 3 "cut.safetensors" to_half cut.safetensors --heads 1 -o y
# a header whose length begins with the letters PK is weights all the same
pad=$(printf '%*s' $((0x4B50 - ${#q})) '')
weights pk.safetensors "$q$pad" aabbccdd
expect 0 "1 of 1" to_half pk.safetensors --heads 1 -o pk2.safetensors
check "nothing else was written" test ! -e y

# a q or k of no known name is not passed over in silence
two='{"h.attn.qkv.weight":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"x.q_proj.weight":{"dtype":"F16","shape":[4,1],"data_offsets":[4,12]}}'
weights two.safetensors "$two" abcdaabbccdd
expect 0 "left as they are: h.attn.qkv.weight" to_half two.safetensors --heads 1 -o two2.safetensors
expect 0 "left as they are: h.attn.qkv.weight" to_half two.safetensors --heads 1 --dry-run
expect 0 '"h.attn.qkv.weight"' to_half two.safetensors --heads 1 --dry-run --json
expect 0 "" to_half two.safetensors --heads 1 --tensors '*.q_proj.*' --dry-run
check "who chooses by name knows" not grep -q "left as they are" "$dir/stderr"
weights model-00001-of-00003.safetensors '{"h.attn.qkv.weight":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}' abcd
expect 3 "h.attn.qkv.weight" to_half model-00001-of-00003.safetensors --heads 1 -o y

# names out of a file give no orders to the terminal
orders() { LC_ALL=C grep -q "$(printf '[\001-\011\013-\037]\\|\302[\200-\237]')" "$dir/stdout" "$dir/stderr"; }
weights esc.safetensors '{"\u001b[31mx\u0085.q_proj.weight":{"dtype":"F16","shape":[4,1],"data_offsets":[0,8]},"visual.\u001b]0;t\u0007.q_proj.weight":{"dtype":"U8","shape":[1],"data_offsets":[8,9]}}' aabbccddx
expect 0 "?[31mx?.q_proj.weight" to_half esc.safetensors --heads 1 --dry-run
check "a page is plain" not orders
expect 0 "visual.?]0;t?.q_proj.weight and the like" to_half esc.safetensors --heads 1 -o esc2.safetensors
weights esc.safetensors '{"x.\u001b[31mattn.other":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}' abcd
expect 3 "there are: x.?[31mattn.other" to_half esc.safetensors --heads 1 -o y
check "a message is plain" not orders

# ---- K caches
npy() { { printf '\x93NUMPY\x01\x00'; le 118 2; printf '%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': $3, }"; printf %s "$4"; } >"$1"; }
npy k.npy '<f2' '(2, 1, 4)' aabbccddeeffgghh
expect 0 "wrote k2.npy: adjacent to half" to_half k.npy -o k2.npy
check "a cache is permuted along its last axis" test "$(tail -c 16 k2.npy)" = aaccbbddeeggffhh
expect 0 "" to_adjacent k2.npy -o k2.npy
check "and back" cmp -s k.npy k2.npy
npy b.npy '<u2' '(8,)' aabbccddeeffgghh
expect 3 "with --bf16" to_half b.npy -o y
expect 0 "" to_half b.npy --bf16 --head-dim 4 -o b2.npy
check "bfloat16, heads side by side" test "$(tail -c 16 b2.npy)" = aaccbbddeeggffhh
npy v.npy '<V2' '(8,)' aabbccddeeffgghh
expect 0 "" to_half v.npy --bf16 --head-dim 4 -o v2.npy
check "the header is kept" cmp -s -n 128 v.npy v2.npy
npy none.npy '<f4' '(0, 3, 4)' ''
expect 0 "" to_half none.npy -o none2.npy
check "an empty cache" cmp -s none.npy none2.npy
npy i.npy '<i8' '(1,)' aaaaaaaa
expect 3 "holds I64" to_half i.npy -o y
npy odd.npy '<f2' '(1, 3)' aabbcc
expect 3 "even number" to_half odd.npy -o y
expect 3 "needs heads of 3" to_half k.npy --head-dim 3 -o y
expect 2 "--heads is for weights" to_half k.npy --heads 1 -o y
expect 2 "same layout for a K cache" posenc convert k.npy --from half --to adjacent-half -o y
npy lie.npy '<f2' '(9, 1, 4)' aabbccddeeffgghh
expect 3 "ask for 72 bytes" to_half lie.npy -o y

# ---- a full disk, a kill: the old file stands
size=$((3 << 30)) # which 32 bits address
weights big.safetensors '{"x.q_proj.weight":{"dtype":"F16","shape":[1610612736,1],"data_offsets":[0,'$size']}}'
start=$(stat -c %s big.safetensors)
mkdir out && echo old >out/o.safetensors
if truncate -s $((start + size)) big.safetensors 2>/dev/null; then
  full() { (trap '' XFSZ; ulimit -f 9000; to_half big.safetensors --head-dim 64 -o out/o.safetensors); }
  expect 4 "cannot be written" full
  check "a full disk leaves the old file and no other" test "$(ls -A out)" = o.safetensors -a "$(cat out/o.safetensors)" = old
  grown() { [ -n "$(find out -name '*.tmp' -size +1M)" ]; }
  for signal in TERM INT KILL; do
    # bash starts background jobs with SIGINT ignored, and an ignored signal stays so: env gives it back
    env --default-signal=INT posenc convert big.safetensors --from adjacent --to half --head-dim 64 -o out/o.safetensors 2>"$dir/stderr" &
    job=$!
    await $job grown
    kill -$signal $job; wait $job 2>/dev/null; code=$?
    check "$signal leaves the old file" test "$(cat out/o.safetensors)" = old
    if [ $signal = KILL ]; then rm -f out/*.tmp; continue; fi
    check "$signal: exit code 4, not $code" test $code = 4
    check "$signal leaves no other" test "$(ls -A out)" = o.safetensors
  done
else
  skip "no sparse files of 3 GiB here"
fi

finish
