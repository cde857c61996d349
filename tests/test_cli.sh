#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: test; cost: 8 s
# The tool as people use it: every verb, every example of every help, every exit code.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
root=$PWD
dir=$(mktemp -d)
. tests/lib.sh
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
mkdir "$dir/bin" && ln -s "$POSENC" "$dir/bin/posenc"
PATH=$dir/bin:$PATH
export XDG_CACHE_HOME=$dir/cache
cd "$dir" || exit 1

. "$root/tests/tiny_model.sh"
# gguf FILE ARCH KEY:NUMBER...: metadata of a model without tensors; rope.freq_base is 500000.
gguf() {
  local file=$1 arch=$2 pair; shift 2
  text() { le ${#1} 8; printf %s "$1"; }
  { printf GGUF; le 3 4; le 0 8; le $(($# + 2)) 8
    text general.architecture; le 8 4; text "$arch"
    text "$arch.rope.freq_base"; le 6 4; le $((0x48f42400)) 4
    for pair; do text "$arch.${pair%%:*}"; le 4 4; le "${pair#*:}" 4; done; } >"$file"
}
header() { head -c 200 "$1" | tr -d '\0' | grep -aom1 '{.*}'; }
numbers() { # FILE [TYPE]: the elements, one per line
  local skip=$((10 + $(od -An -tu2 -j8 -N2 "$1")))
  od -An -v -w8 -t "${2:-f4}" -j "$skip" "$1" | tr -s ' ' '\n' | grep .
}
# near A B LIMIT: two columns of numbers, no difference above LIMIT.
near() {
  paste <(printf '%s\n' "$1") <(printf '%s\n' "$2") |
    awk -v limit="$3" 'NF != 2 { bad = 1 } { d = $1 - $2; if (d < 0) d = -d; if (!(d <= limit)) bad = 1 } END { exit bad || !NR }'
}
differ() { ! near "$1" "$2" 1e-3; }
# same WHAT "ARGS" "ARGS": both commands write the same array, which stays in a.npy.
same() {
  posenc $2 -o a.npy 2>/dev/null
  posenc $3 -o b.npy 2>/dev/null
  check "$1" cmp -s a.npy b.npy
}

# ---- help
expect 0 "posenc " posenc --version
expect 0 "posenc VERB" posenc --help
expect 0 "unit: 32k is 32768" posenc help table
expect 0 '"verbs"' posenc help --json
posenc >stdout 2>stderr; check "posenc alone: exit code 2, help on stderr" test $? = 2 -a -s stderr -a ! -s stdout
verbs=$(posenc --help | sed -n '/^Verbs/,/^$/s/^  \([a-z]*\) .*/\1/p')
for verb in "" $verbs; do
  order=$(posenc $verb --help | grep -E '^(Examples|Options|Exit codes)' | paste -sd' ')
  check "help $verb: examples, options, exit codes" test "$order" = "Examples Options Exit codes"
  check "help $verb: starts with examples" test "$(posenc $verb --help | head -1)" = Examples
  check "help $verb: within 100 columns" test -z "$(posenc $verb --help | awk 'length > 100')"
done
for verb in $verbs; do
  shown=$(posenc "$verb" --help | sed -n '/^Examples/,/^$/s/^  posenc/posenc/p')
  check "help $verb: help --examples lists what is shown" test "$shown" = "$(posenc help "$verb" --examples)"
  check "help $verb: has --json" grep -q -- --json <(posenc "$verb" --help)
done

# ---- every example of every help is run, in order, where its input files are
posenc table learned -n 16 -o x.npy 2>/dev/null
posenc table learned -n 16 --model-dim 64 -o q.npy 2>/dev/null
npy p.npy '<i8' '(16,)' 8 0 1 2 3 100 101 102 103 68719476736 -68719476736 7 7 7 -1 -2 -3
npy grid.npy '<i8' '(6, 2)' 8 0 0 0 1 0 2 1 0 1 1 1 2
cp q.npy k.npy
# weights FILE ELEMENTS JSON: float16 zeros under this header
weights() { { le ${#3} 8; printf %s "$3"; head -c $((2 * $2)) /dev/zero; } >"$1"; }
l=model.layers.0.self_attn
weights m.safetensors 5120 '{"'$l'.q_proj.weight":{"dtype":"F16","shape":[512,8],"data_offsets":[0,8192]},'\
'"'$l'.k_proj.weight":{"dtype":"F16","shape":[128,8],"data_offsets":[8192,10240]}}'
cat >config.json <<'J'
{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
 "num_hidden_layers": 32, "max_position_embeddings": 8192, "rope_theta": 500000.0}
J
gguf model.gguf llama context_length:8192 embedding_length:4096 block_count:32 attention.head_count:32 \
  attention.head_count_kv:8 rope.dimension_count:128
# run FOLDER SEED: what a race of rope and alibi leaves
run() {
  mkdir -p "$1/rope-$2"
  cat >"$1/race.json" <<J
{"line": "setup", "kind": "race", "model": "", "note": "", "command": "posenc race", "version": "1", "blas": "", "cpu": "",
 "kernels": "", "date": "", "threads": 1, "data": "stories", "data_fingerprint": "0123456789abcdef", "data_size": 0, "layers": 1,
 "width": 16, "heads": 2, "kv_heads": 2, "hidden": 48, "vocab": 256, "causal": true, "train_length": 32, "batch": 2, "steps": 2,
 "warmup": 1, "rate": 0.002, "decay": 0.1, "clip": 1, "test": [32, 64], "test_tokens": 64, "seed": [$2], "minutes": 0,
 "step_seconds": 0, "test_seconds": 0, "calibration": "", "entries": [
 {"name": "rope", "spec": "rope", "trained": "rope", "slug": "rope"}]}
J
  local zeros=$(printf '0, %.0s' $(seq 19))0 bins=$(printf '3.5, %.0s' $(seq 63))3.5 length
  for length in 32 64; do
    echo '{"line": "test", "entry": "rope", "seed": '$2', "length": '$length', "windows": 2, "bits": 3.5, "last_quarter": 3.25,' \
      '"by_position": ['$bins'], "asked": ['$zeros'], "right": ['$zeros'], "asked_all": 64, "right_all": 9, "seconds": 1,' \
      '"spec": "rope", "cannot": ""}'
  done >"$1/rope-$2/log.jsonl"
}
run run 1
run run2 2
tiny_model "$root/tests/story.txt"
examples=0
while IFS= read -r command; do
  examples=$((examples + 1))
  if bash -c "$command" >stdout 2>stderr </dev/null; then ok; else bad "example: $command: $(head -c 300 stderr)"; fi
  file=$(sed -n 's/.* \(-o\|--out\) \([^ ]*\).*/\2/p' <<<"$command")
  [ -z "$file" ] || check "example writes $file: $command" test -s "$file"
done < <(posenc help --examples)
check "there are examples" test $examples -ge 15

# ---- what is wrong is said, with the right exit code
expect 2 "did you mean table?" posenc tabel
expect 2 "did you mean --heads?" posenc table rope --head 3
expect 2 "unknown option -x" posenc table rope -x
expect 2 "unknown verb ?[31mx" posenc help $'\033[31mx' # which a terminal would obey
expect 2 "did you mean 'rope'?" posenc table rop -n 4
expect 2 "did you mean 'theta'?" posenc table rope:thet=3 -n 4
expect 2 "did you mean 'rope'?" posenc list rop
expect 0 "its term replaces q.k, before the scale" posenc list pope
expect 0 "its term is added before the scale" posenc list shaw
expect 0 "column c is element c of p_t[2i] = 0.5 sin(t f_i), p_t[2i+1] = 0.5 cos(t f_i), f_i = 2π /" posenc table sinusoidal:periods=4/12,scale=0.5 --model-dim 4 -n 2
expect 2 "did you mean f32?" posenc table rope -n 4 --dtype f23
expect 2 "needs SPEC" posenc table
expect 2 "unexpected argument alibi" posenc table rope alibi
expect 2 "-n needs a value" posenc table rope -n
expect 2 "whole number" posenc table rope -n 4x
expect 2 "needs 1 to 68719476736" posenc table rope -n 0
expect 2 "whole number" posenc table rope -n 99999999999999999999
expect 2 "takes no value" posenc table rope -n 4 --json=yes
expect 2 "needs positions: -n N, or --pos FILE" posenc table rope
expect 2 "--pos and -n" posenc table rope --pos p.npy -n 4
expect 2 "kv_heads is 3" posenc table rope -n 4 --kv-heads 3
expect 2 "posenc bias alibi" posenc table alibi -n 4
expect 2 "posenc table rope" posenc bias rope -n 4
expect 2 "pe_reference_forward" posenc bias shaw -n 4
expect 2 "does nothing" posenc apply none --in q.npy
expect 2 "int64, shape (n, 2)" posenc table rope:axes=2,split=axial -n 4
expect 2 "--hook embed or --hook rotate" posenc table sinusoidal+rope -n 4
expect 2 "for rotations" posenc apply sinusoidal --in x.npy --inverse
expect 2 "needs --in" posenc apply rope
expect 2 "position 512" posenc table learned -n 513
expect 2 "need to stay" posenc table rope -n 2 --start 68719476736
expect 2 "need to stay" posenc table rope -n 20 --start 68719476720
expect 0 "alibi" posenc table sinusoidal+alibi -n 4 --hook embed

# ---- between whole positions
posenc table normalised:length=4 -n 3 --model-dim 1 -o f.npy 2>/dev/null # 0, 1/4, 1/2
expect 0 "0.25     0.9689" posenc table rope --pos f.npy --head-dim 2
expect 0 "0.5     0.4794" posenc table sinusoidal --pos f.npy --model-dim 2
expect 3 "position of token 1 is 0.25; needs a whole number" posenc table binary --pos f.npy --model-dim 2
expect 3 "position of token 1 is 0.25; needs a whole number" posenc bias t5 --pos f.npy

# ---- reports of runs
expect 2 "needs RUNS..." posenc report
expect 2 "-o FOLDER" posenc report run run2
expect 4 "race.json" posenc report nowhere
run other 3 && sed -i 's/"steps": 2/"steps": 3/' other/race.json
expect 3 "steps is 2 in one and 3 in the other" posenc report run other -o both
expect 0 "Trained at 32, rope holds at 64 (3.50 bits per byte, 3.50 at 32)." posenc report run run2 -o both
posenc report run run2 -o both --json 2>stderr | grep -q '"seeds": 2' && ok || bad "report of two folders: 2 seeds"
check "report says on stderr where the files are" grep -q both/report.html stderr
expect 0 "bits per byte" posenc report both/results.jsonl -o again
check "a report's file says all that its folders do" cmp both/report.html again/report.html
expect 2 "would replace the report of all" posenc report both --only rope
expect 2 "--only has nope" posenc report both/results.jsonl --only nope -o few
expect 0 "3.50" posenc report both/results.jsonl --only rope -o few
posenc report run --json >stdout 2>stderr; check "one seed has means" grep -q '"mean"' stdout
check "and no spread" test "$(grep -c '"spread"' stdout)" = 0
cp -r run2 ev; sed -i 's/"kind": "race"/"kind": "eval"/' ev/race.json; cp ev/rope-?/log.jsonl ev
expect 0 "Last quarter of the window" posenc report ev
printf '{"line": ' >>run/rope-1/log.jsonl
expect 0 "3.50" posenc report run
echo 'nonsense}' >>run/rope-1/log.jsonl
expect 3 "log.jsonl:3" posenc report run
posenc report run2 -o run2/race.json >stdout 2>stderr; check "no folder to write to: exit code 4" test $? = 4
check "and the table is there" grep -q 3.50 stdout
expect 4 "" posenc report run2 -o run2/race.json --json

# ---- bad files
echo "not an array" >text.npy
head -c 200 q.npy >cut.npy
npy whole.npy '<i4' '(2, 64)' 4 $(seq 128)
npy far.npy '<i8' '(16,)' 8 $(seq 15) 68719476737
npy pairs.npy '<i8' '(8, 2)' 8 $(seq 16)
npy flat.npy '<f4' '(4,)' 4 0 0 0 0
npy short.npy '<i8' '(3,)' 8 1 2 3
expect 3 "text.npy: is not a .npy file" posenc apply rope --in text.npy
expect 3 "cut.npy: shape and dtype ask for" posenc apply rope --in cut.npy
expect 3 "whole.npy: holds I32" posenc apply rope --in whole.npy
expect 3 "flat.npy: shape is (4,); needs (T, D) or (T, H, D)" posenc apply rope --in flat.npy
expect 3 "2^36" posenc apply rope --in q.npy --pos far.npy
expect 3 "shape is (8, 2); rope needs (n, 1) or (n,)" posenc table rope --pos pairs.npy
expect 3 "holds 3 positions; there are 16 tokens" posenc apply rope --in q.npy --pos short.npy
expect 3 "parameters" posenc table learned -n 4 --params q.npy
expect 4 "missing.npy" posenc apply rope --in missing.npy
expect 4 "folder" posenc apply rope --in bin

# ---- outputs: all or nothing
mkdir out full && echo keep >out/old.npy
expect 4 "missing" posenc table rope -n 4 -o missing/t.npy
expect 4 "folder" posenc table rope -n 4 -o out
expect 3 "text.npy" posenc apply rope --in text.npy --out out/old.npy
expect 2 "learned" posenc table learned -n 513 -o out/new.npy
check "a failed run leaves nothing behind" test "$(ls -A out)" = old.npy -a "$(cat out/old.npy)" = keep
if [ "$(id -u)" != 0 ]; then
  chmod a-w full && expect 4 "cannot be written" posenc table rope -n 4 -o full/t.npy
  check "an unwritable folder stays empty" test -z "$(ls -A full)"
fi
if [ -w /dev/full ]; then
  posenc list >/dev/full 2>stderr; check "a full stdout is exit code 4" test $? = 4
fi
( ulimit -f 1; trap '' XFSZ; posenc table rope -n 4k -o full/big.npy >/dev/null 2>&1 ); check "a file too large is exit code 4" test $? = 4
check "and leaves nothing behind" test -z "$(ls -A full)"

# ---- sizes that no machine has
expect 4 "would take" posenc table rope -n 68719476736 --json
expect 4 "would take" posenc table rope -n 34359738368 -o huge.npy
expect 4 "would take" posenc bias alibi -n 1M
expect 4 "would take" posenc bias alibi -n 60000M --heads 65536
expect 4 "would take" posenc table learned:rows=2147483648 -n 4
check "no huge file" test ! -e huge.npy
# OpenBLAS takes memory for each thread as a program starts, and asks for ever where there is none: one thread, and room for it.
if { (export OPENBLAS_NUM_THREADS=1; ulimit -v 200000; posenc --version); } >/dev/null 2>&1; then # not with sanitizers
  expect 4 "no memory" env OPENBLAS_NUM_THREADS=1 bash -c 'ulimit -v 200000; posenc table rope -n 1M -o huge.npy'
fi

# ---- list
posenc list --json >list.json
names=$(sed -n 's/^      "name": "\(.*\)",$/\1/p' list.json)
check "list has rows" test "$(wc -w <<<"$names")" -ge 20
posenc list >list.txt
check "list: within 100 columns" test -z "$(awk 'length > 100' list.txt)"
check "list: no escape codes" test -z "$(grep -l $'\033' list.txt)"
for name in $names; do
  check "list shows $name" grep -q "^  $name " list.txt
  check "list $name begins with its name" test "$(posenc list "$name" | awk 'NR == 1 { print $1, $2 }')" = "name $name"
  check "list $name: within 100 columns" test -z "$(posenc list "$name" | sed '/^Examples$/,$d' | awk 'length > 100')"
done
check "list --as csv: a line per row" test "$(posenc list --as csv | grep -c '^"[a-z0-9-]*",')" = "$(wc -w <<<"$names")"
check "explain --as csv: every value" test "$(posenc explain config.json --as csv | tail -n +2 | wc -l)" -gt 700
check "a unit is no sentence" grep -q '^"windowed_layers",0,.$' <(posenc extend config.json --to 128k --as csv)
posenc list --as md >list.md
check "list --as md: a line per row, a head and what is below it" test "$(grep -c '^| *' list.md)" = $(($(wc -w <<<"$names") + 2 * $(grep -c '^| name ' list.md)))
for idea in none absolute rotation bias content data-dependent; do
  check "list has the group $idea" grep -qx "$idea" list.txt
  check "list says when to choose $idea" grep -qE "^  $idea +(For|Where) " list.txt
done
check "list --as md: six cells" test -z "$(awk -F' [|] ' '/^[|] / && NF != 6' list.md)"
check "list --as md: arXiv links" grep -qF "](https://arxiv.org/abs/2104.09864)" list.md
expect 2 "no encoding is called falcon; models of that name use: rope, alibi" posenc list falcon
expect 2 "models of that name use: rope" posenc list qwen
expect 2 "models of that name use: shaw" posenc list "music transformer"
expect 2 "unknown encoding 'lcon'; use one of" posenc list lcon # a name's piece
expect 2 "unknown encoding 'use'; use one of" posenc list use   # a word between names
expect 0 "(32, 8): row: bucket of the distance" posenc list t5
expect 0 "(33, 1, 64): row clip(j-i)" posenc list shaw
check "list: no parameters where nothing is learned" test -z "$(posenc list rope | grep 'Learned parameters')"
if command -v jq >/dev/null; then
  for command in "list --json" "help --json" "dogs --json" "table rope -n 4 --json" "bias alibi -n 4 --json" "apply rope --in q.npy --json" "check rope --before q.npy --after q.npy --json"; do
    check "jq reads posenc $command" jq -e . >/dev/null < <(posenc $command)
  done
fi

# ---- table
same "--count=4 is -n 4" "table rope -n 4" "table rope --count=4"
posenc table -n4 -oc.npy -- rope 2>/dev/null
check "-n4 is -n 4, -oc.npy is -o c.npy" cmp -s a.npy c.npy
check "shape of a rotation's table" grep -qF "'<f4', 'fortran_order': False, 'shape': (2, 4, 32)" <(header a.npy)
check "cos 1" near "$(numbers a.npy | sed -n 33p)" 0.54030231 1e-7
check "sin 3" near "$(numbers a.npy | sed -n 225p)" 0.14112001 1e-7
for type in f32:'<f4' f16:'<f2' bf16:'<u2' f64:'<f8'; do
  posenc table sinusoidal -n 3 --model-dim 8 --dtype "${type%%:*}" -o d.npy 2>/dev/null
  check "dtype ${type%%:*}" grep -qF "'${type#*:}', 'fortran_order': False, 'shape': (3, 8)" <(header d.npy)
done
npy five.npy '<i8' '(4,)' 8 5 6 7 8
npy five2.npy '<i8' '(4, 1)' 8 5 6 7 8
npy six32.npy '<i4' '(4,)' 4 5 6 7 8
npy sixf.npy '<f4' '(4,)' 4 $((0x40a00000)) $((0x40c00000)) $((0x40e00000)) $((0x41000000)) # 5, 6, 7, 8
for file in five five2 six32 sixf; do
  same "--pos of any type, (n,) or (n, 1): $file" "table rope -n 4 --start 5" "table rope --pos $file.npy"
done
learned="table learned:rows=4 -n 4 --model-dim 8"
posenc $learned --seed 3 -o w.npy 2>/dev/null
same "--params are the parameters" "$learned --seed 3" "$learned --params w.npy"
posenc $learned --seed 4 -o b.npy 2>/dev/null
check "another seed, another table" test "$(cmp -s w.npy b.npy; echo $?)" = 1
expect 0 "(16 of 20 rows, 8 of 512 columns" posenc table sinusoidal -n 20
expect 0 "       252   0   0   1   1   1   1   1   1" posenc table binary --start 252 --model-dim 8
expect 0 "column c is element c of p_t[c] = floor(t / 2^c) mod 2" posenc table binary --start 252 --model-dim 8
check "16 positions are 16 rows" test "$(posenc table binary --start 252 -n 16 --model-dim 8 | grep -cE '^ +2[56][0-9] ')" = 16
expect 0 "sinusoidal: (20, 512) float32" posenc table sinusoidal -n 20
npy batch.npy '<f4' '(2, 2, 1, 4)' 4 $(for i in $(seq 16); do echo $((0x3f800000)); done)
npy heads.npy '<f4' '(1, 2, 8)' 4 $(seq 16)
npy each.npy '<i8' '(2, 2)' 8 5 6 7 8
npy pairs3.npy '<i8' '(2, 3)' 8 $(seq 6)
npy half.npy '<f8' '(2,)' 8 0 $((0x3fe0000000000000)) # 0, 0.5
expect 0 "         5 " posenc apply rope --in batch.npy --pos each.npy
expect 0 "columns: the 8 elements of head 0, then those of head 1 and so on (2 heads)" posenc apply rope --in heads.npy
expect 0 "       0.5 " posenc apply rope --in batch.npy --pos half.npy
expect 3 "2 sequences of 2 tokens need (2, 1) or (2, 2, 1)" posenc apply rope --in batch.npy --pos pairs3.npy
expect 0 "rope:learned=heads: (2, 2, 1, 4) float32" posenc apply rope:learned=heads --in batch.npy
expect 0 "       0.5      -0.25          0" posenc bias alibi --pos half.npy
expect 0 "       0.5      -0.25          0" posenc bias forget --heads 2 --pos half.npy
for verb in "bias forget -n 2" "show forget --view decay" "prove forget --properties"; do
  expect 0 "forget takes a gate per token; here all tokens are alike" posenc $verb
done
expect 0 "inkling takes a vector per token; here all tokens have the same one" posenc show inkling --view decay
check "help says which positions a file may hold" grep -q "fractions where the" <(posenc table --help)

# ---- what is not printed is not computed
expect 0 "rope: (2, 68719476736, 32) float32" posenc table rope -n 68719476736
expect 0 "(16 of 68719476736 rows" posenc table sinusoidal -n 68719476736
npy twenty.npy '<i8' '(20,)' 8 $(seq 7 26)
for spec in rope sinusoidal learned hierarchical; do
  posenc table $spec -n 20 --start 7 --seed 3 >brief.txt
  posenc table $spec --pos twenty.npy --seed 3 >whole.txt
  check "table $spec: the same rows, whether all are computed or not" cmp -s brief.txt whole.txt
done

# ---- apply
posenc apply rope --in q.npy --pos p.npy --out y.npy 2>/dev/null
posenc apply rope --in y.npy --pos p.npy --inverse --out z.npy 2>/dev/null
check "apply turns" differ "$(numbers q.npy)" "$(numbers y.npy)"
check "--inverse undoes it" near "$(numbers q.npy)" "$(numbers z.npy)" 1e-6
check "shape and type are kept" test "$(header q.npy)" = "$(header z.npy)"
posenc apply rope:magnitude=2 --in q.npy --pos p.npy --out y.npy 2>/dev/null
posenc apply rope:magnitude=2 --in y.npy --pos p.npy --inverse --out z.npy 2>/dev/null
posenc apply rope:magnitude=2 --in y.npy --pos p.npy --back --out y.npy 2>/dev/null
check "--inverse undoes a magnitude" near "$(numbers q.npy)" "$(numbers z.npy)" 1e-6
check "--back has it again, in place" near "$(numbers q.npy | awk '{ print 4 * $1 }')" "$(numbers y.npy)" 1e-6
posenc apply xpos --in q.npy --side key --out y.npy 2>/dev/null
posenc apply xpos --in y.npy --side key --inverse --out z.npy 2>/dev/null
check "xpos: keys too" near "$(numbers q.npy)" "$(numbers z.npy)" 1e-6
posenc bias alibi -n 16 --heads 4 --dtype f16 -o q3.npy 2>/dev/null
expect 0 '"in_shape": [4, 16, 16]' posenc apply rope --in q3.npy --out y.npy --json
check "float16 stays float16" test "$(header q3.npy)" = "$(header y.npy)"
posenc bias alibi -n 16 --heads 4 --dtype bf16 -o q3.npy 2>/dev/null
expect 3 "with --bf16" posenc apply rope --in q3.npy
expect 0 '"dtype": "bfloat16"' posenc apply rope --in q3.npy --bf16 --json
expect 3 "q.npy: holds F32; --bf16" posenc apply rope --in q.npy --bf16
expect 3 "whole.npy: holds I32; --bf16" posenc apply rope --in whole.npy --bf16
expect 0 "rope does not rotate this side (value)" posenc apply rope --in q.npy --side value -o y.npy
check "and the vectors are as they were" cmp -s q.npy y.npy
expect 0 "xpos does not rotate this side (output)" posenc apply xpos --in q.npy --side output -o y.npy
expect 0 "--side is for rotations" posenc apply sinusoidal --in x.npy --side key -o y.npy
for side in query key; do
  expect 0 "wrote y.npy" posenc apply rope --in q.npy --side $side -o y.npy
  check "no note: rope rotates a $side" test "$(wc -l <stderr)" = 1
done
expect 0 "wrote y.npy" posenc apply rope:turn=qkvo --in q.npy --side value -o y.npy
check "no note: this rope rotates values" test "$(wc -l <stderr)" = 1
posenc apply sinusoidal --in x.npy --start 3 --out y.npy 2>/dev/null
posenc table sinusoidal -n 16 --start 3 -o t.npy 2>/dev/null
check "embed rows: x plus its code" near "$(numbers y.npy)" "$(paste <(numbers x.npy) <(numbers t.npy) | awk '{ print $1 + $2 }')" 1e-5
expect 0 '"direction": "inverse"' posenc apply rope --in q.npy --inverse --json --out y.npy

# ---- check (the bugs it names: test_check.c)
posenc apply rope --in q.npy --start 5 -o y.npy 2>/dev/null
expect 0 "OK: rope" posenc check --spec rope --before q.npy --after y.npy --start 5
expect 1 "MISMATCH: position-offset: every position is 5 too large" posenc check rope --before q.npy --after y.npy
expect 1 '"bug": "position-offset"' posenc check rope --before q.npy --after y.npy --json
expect 0 "OK, allowed: position-offset" posenc check rope --before q.npy --after y.npy --allow position-offset
expect 3 "q.npy: shape is (16, 64)" posenc check rope --before x.npy --after q.npy
expect 3 "2^36" posenc check rope --before q.npy --after y.npy --pos far.npy
expect 2 "needs one spec" posenc check --before q.npy --after y.npy
expect 2 "needs --after" posenc check rope --before q.npy
posenc table learned -n 500 --model-dim 96 -o q96.npy 2>/dev/null
for spec in rope:theta=10000 rope:theta=1000000 rope:scaling=llama3,factor=8,trained=8192 rope:scaling=yarn,factor=4,trained=4096; do
  for precision in hf ggml; do # float32 is a bug only where it shows
    posenc apply "$spec,precision=$precision" --in q96.npy --start 3500 -o y96.npy 2>/dev/null
    expect 0 "OK: rope" posenc check "$spec" --before q96.npy --after y96.npy --start 3500
    posenc apply "$spec,precision=$precision" --in q96.npy --start 128k -o y96.npy 2>/dev/null
    expect 1 "MISMATCH: angles-float32: " posenc check "$spec" --before q96.npy --after y96.npy --start 128k
    expect 0 "OK: rope" posenc check "$spec,precision=$precision" --before q96.npy --after y96.npy --start 128k
  done
done
check "help lists the bugs" grep -q "^  pair-layout  " <(posenc check --help)

# ---- bias
posenc bias alibi -n 64 -o b.npy 2>/dev/null
check "shape of a bias" grep -qF "(8, 64, 64)" <(header b.npy)
check "slope of head 0" near "$(numbers b.npy | sed -n 65p)" -0.5 0
expect 0 '"after": true' posenc bias alibi -n 4 --json
expect 0 '"before": true' posenc bias alibi:convention=falcon -n 4 --json
posenc bias alibi --pos five.npy --kpos short.npy -o b.npy 2>/dev/null
check "--kpos: other keys" grep -qF "(8, 4, 3)" <(header b.npy)
check "5 back to 1, slope 0.5" near "$(numbers b.npy | head -1)" -2 0
expect 2 "further apart" posenc bias window:window=2 -n 4
expect 0 "head 0 of 8" posenc bias t5 -n 4

both=alibi:convention=falcon+t5:scale=sqrt
expect 2 "say which: --stage before or --stage after" posenc bias $both -n 4
expect 0 '"stage": "after"' posenc bias $both -n 4 --stage after --json
same "--stage before: those terms" "bias $both -n 4 --stage before" "bias alibi:convention=falcon -n 4"
same "--stage after: those terms" "bias $both -n 4 --stage after --seed 5" "bias t5:scale=sqrt -n 4 --seed 5"
same "--stage may be given where there is one" "bias alibi -n 4" "bias alibi -n 4 --stage after"
expect 0 "alibi adds nothing before the scale" posenc bias alibi -n 4 --stage before -o b.npy
check "zeros, then" test "$(numbers b.npy | sort -u)" = 0

# ---- stdin and stdout
for command in "table rope -n 40" "bias t5 -n 20 --dtype f16" "apply rope --in q.npy --pos p.npy" "table rope -n 2 --dtype bf16"; do
  posenc $command -o a.npy 2>/dev/null
  for out in "-o -" "--out -" "--out=-" "-o-"; do
    posenc $command $out >b.npy 2>stderr
    check "$command $out: the file, on stdout" cmp -s a.npy b.npy
  done
  check "$command -o -: the summary is on stderr" grep -q "wrote stdout: (" stderr
  expect 2 "choose" posenc $command -o - --json
done
check "no file is called -" test ! -e ./-
same "--in -: from a pipe" "apply rope --in q.npy --pos p.npy" "apply rope --in - --pos p.npy" < <(cat q.npy)
same "--pos -: from a file" "apply rope --in q.npy --pos p.npy" "apply rope --in q.npy --pos -" <p.npy
posenc table sinusoidal -n 1k -o big.npy 2>/dev/null # past the first read
posenc apply sinusoidal --in big.npy -o a.npy 2>/dev/null
cat big.npy | posenc apply sinusoidal --in - -o - 2>/dev/null | cmp -s - a.npy; check "through and through" test $? = 0
same "--params -" "$learned --params w.npy" "$learned --params -" <w.npy
expect 2 "--in and --pos cannot both be stdin" posenc apply rope --in - --pos -
expect 3 "stdin: is not a .npy file" posenc apply rope --in - </dev/null
expect 3 "stdin: shape and dtype ask for" posenc apply rope --in - <cut.npy
expect 3 "stdin: holds 3 positions" posenc apply rope --in q.npy --pos - <short.npy
if [ -w /dev/full ]; then
  posenc table rope -n 4k -o - >/dev/full 2>stderr; check "a full stdout is exit code 4, said once" test "$?$(wc -l <stderr)" = 41
fi
if script -qec true /dev/null >/dev/null 2>&1; then # a terminal
  script -qec "posenc table rope -n 4 -o -" /dev/null >stdout 2>&1; code=$?
  check "no array on a terminal" test $code = 2 -a "$(grep -c 'stdout is a terminal' stdout)" = 1 -a "$(wc -l <stdout)" = 1
fi

# ---- text of a model: exact in files and pipes; on a terminal without orders to it
tiny_model "$root/tests/story.txt"
printf 'é \033[31m \302\233' >orders
posenc eval stories.bin --tokenizer tok.bin --generate 30 --prompt "$(cat orders)" >stdout
check "a pipe gets the bytes" env LC_ALL=C grep -qaF "$(cat orders)" stdout
if script -qec true /dev/null >/dev/null 2>&1; then
  script -qec 'posenc eval stories.bin --tokenizer tok.bin --generate 30 --prompt "$(cat orders)"' /dev/null >stdout
  check "a terminal gets text" grep -qF "é ?[31m ?" stdout
fi

# ---- Ctrl-C within a window of an eval that takes long: the second ends it at once
for ((i = 0; i < 30; i++)); do cat "$root/tests/story.txt"; done >long.txt
env --default-signal=INT posenc eval stories.bin --text long.txt --tokenizer tok.bin --lengths 128k --extend none >/dev/null 2>&1 &
job=$!
await $job worked $job 60
kill -INT $job; await $job took_signal $job; kill -INT $job; wait $job; code=$?
check "the second Ctrl-C ends an eval by the signal, code 130, not $code" test $code = 130

# ---- make, set-up, conformance
mkdir few-tools
for tool in bash cat id; do ln -s "$(command -v $tool)" few-tools/; done
expect 1 "missing: cc make cmake" env PATH="$dir/few-tools" CC=cc bash "$root/scripts/setup.sh" --check run
check "a race wants OpenBLAS" grep -q "cmake openblas" stderr
expect 1 "missing: cc make cmake" env PATH="$dir/few-tools" CC=cc bash "$root/scripts/setup.sh" --check build
check "library and tool do not" test -z "$(grep openblas stderr)"
check "make asks for what it needs, and no more" grep -qF 'setup.sh --check build' <(make -C "$root" -n)
check "make run for OpenBLAS too" grep -qF 'setup.sh run' <(make -C "$root" -n run)
check "which make command it is for is not guessed" test -z "$(grep 'make run' stderr)"
check "make conformance: a folder with spaces" grep -qF 'posenc-conformance "a b"' <(make -C "$root" -n conformance DIR="a b")
check "make install: a folder with spaces" grep -qF -- '--prefix "a b"' <(make -C "$root" -n install PREFIX="a b")
conformance=$(dirname "$POSENC")/posenc-conformance
if [ -x "$conformance" ]; then
  mkdir strange && echo '{}' >strange/vectors.json
  known="rope_types, rope_layouts, sinusoidal, biases, relative_attention, rope_census, layer_census, table_census"
  expect 2 "$known" "$conformance" strange
  cp "$root"/tests/golden/sinusoidal.* strange/
  expect 0 "SKIP: vectors (this program knows $known)" "$conformance" strange
fi

# ---- dogs
expect 0 "blind to order" posenc dogs
expect 0 "made for a causal mask" posenc bias alibi -n 4
expect 0 '"needs_causal_mask": false' posenc bias alibi:form=symmetric -n 4 --json
check "dogs: a line per row" test "$(posenc dogs | grep -cE 'blind$|apart$|\(\*\)$')" = "$(wc -w <<<"$names")"
check "dogs: one is blind" test "$(posenc dogs | grep -c 'blind$')" = 1

finish
