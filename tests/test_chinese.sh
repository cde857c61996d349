#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 8 s
# --lang zh: verbs that speak to people speak Chinese. A sentence that has none is in English behind [en]; the verbs below have
# none of those, so a new sentence needs its Chinese (src/io/chinese_*.c, or a pair of words where it is said).
set -uo pipefail
. tests/lib.sh
POSENC=$(realpath "${POSENC:-build/posenc}")
model=$(realpath examples/llama-3.1-8b/config.json)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export LC_ALL=C.UTF-8

# Four English words in a row, in a line without Chinese: a sentence. Commands and JSON to copy are none.
english() { grep -vP '\p{Han}|\[en\]|^ *(\{|vllm |python |posenc )' | grep -E "(^|[ (\"])[A-Za-z]?[a-z]+ [a-z]+ [a-z]+ [a-z]+([ ,.;:)]|$)"; }
speaks() { # speaks COMMAND...: in Chinese, all of it, in each form for people
  local form
  for form in text md html; do
    "$POSENC" "$@" --as $form --lang zh >said 2>said.err
    check "$* as $form: is Chinese" grep -qP '\p{Han}' said
    check "$* as $form: nothing is left in English: $(cat said said.err | grep -F '[en]' | head -n 3)" test -z "$(cat said said.err | grep -F '[en]')"
    [ $form != text ] || check "$*: no sentence is English without a mark: $(cat said said.err | english | head -n 3)" test -z "$(cat said said.err | english)"
  done
}
rows=$("$POSENC" list --json | sed -n 's|^      "name": "\([^"]*\)",$|\1|p')
speaks list
for row in $rows; do
  "$POSENC" list "$row" --lang zh >said
  check "list $row: all of it is Chinese" test -z "$(grep -F '[en]' said; english <said)"
done
speaks dogs
for verb in $("$POSENC" help --json | sed -n 's|^      "name": "\([a-z]*\)",$|\1|p'); do
  "$POSENC" $verb --help --lang zh >said
  check "$verb --help: Chinese" grep -q '^用法' said
  check "$verb --help: all of it: $(grep -F '[en]' said | head -n 3)" test -z "$(grep -F '[en]' said; grep -F 'default:' said; english <said)"
  check "help $verb: the same" cmp -s said <("$POSENC" help $verb --lang zh)
done
check "the tool's help: Chinese" grep -q '^命令' <("$POSENC" --help --lang zh)
check "names of verbs stay" grep -q '^  dogs ' <(LC_ALL=zh_CN.UTF-8 "$POSENC" --help)
"$POSENC" doctor --lang zh >said
check "doctor: Chinese" bash -c 'grep -q "^自检" said && grep -q "1 的 cos 和 sin  *对" said'
speaks diff rope alibi
speaks diff rope rope:pairs=adjacent
"$POSENC" table normalised -n 4 --model-dim 16 -o x.npy 2>said
"$POSENC" apply rope --in x.npy -o y.npy 2>>said
speaks check rope --before x.npy --after x.npy
speaks check rope --before x.npy --after y.npy
speaks convert x.npy --from half --to adjacent --dry-run
speaks explain "$model"
speaks explain "$model" --for vllm
speaks extend "$model" --to 512k
printf '{"model_type":"llama","hidden_size":64,"num_attention_heads":4,"num_hidden_layers":2,"max_position_embeddings":128,"dual_chunk_attention_config":{"original_max_position_embeddings":64}}' >chunks.json
"$POSENC" explain chunks.json --lang zh >said
check "explain: dual chunks are Chinese" grep -q '训练长度为 64 个位置' said
"$POSENC" show forget inkling --view decay --lang zh >said 2>&1
check "show: inputs per token are Chinese" test -z "$(grep -F '[en]' said)"
speaks prove --list
speaks walk fire --dim 4
"$POSENC" race -e none,rope,learned --steps 2 --layers 1 --width 16 --heads 2 --test 1x,4x --out r --lang zh >said 2>said.err
check "race: Chinese" grep -q '还没有学到东西' said
"$POSENC" race -e none,rope,learned --steps 2 --layers 1 --width 16 --heads 2 --test 1x,4x --out r --lang zh --shard 1/3 >said 2>>said.err
"$POSENC" race -e none,rope --steps 9 --rate 1e30 --layers 1 --width 16 --heads 2 --test 1x --out r2 --lang zh --shard 1/2 2>/dev/null | grep -A9 '缺少' >>said
check "race: what is missing" grep -q '2 项训练中还缺 2 项' said
check "race: all of it" test -z "$(cat said said.err | grep -F '[en]'; cat said said.err | english)"
check "its report.html too" grep -q '损失随长度的变化' r/report.html
check "and its pictures" grep -q '比特/字节随长度的变化' r/extrapolation.svg
speaks report r
for verb in "table binary --start 252 --model-dim 8" "table rope -n 20" "bias alibi -n 4"; do
  "$POSENC" $verb --lang zh >said
  check "$verb: Chinese" test -z "$(grep -F '[en]' said; english <said)"
done

# ---- what has no Chinese says so; programs read the same in both languages
"$POSENC" list nosuch --lang zh 2>said
check "an error without Chinese is marked" grep -qF 'posenc list: [en] unknown encoding' said
"$POSENC" list nosuch 2>said
check "English has no marks" test -z "$(grep -F '[en]' said)"
for verb in list dogs "explain $model" "extend $model --to 512k" "report r"; do
  check "$verb: JSON is the same in both languages" cmp -s <("$POSENC" $verb --json 2>/dev/null) <("$POSENC" $verb --json --lang zh 2>/dev/null)
done
LC_ALL=zh_CN.UTF-8 "$POSENC" dogs >said
check "the locale's language is the default" grep -q '能区分' said
check "dogs: every verdict is Chinese" test -z "$(sed -n '/^none /,/^$/p' said | grep . | grep -vP '\p{Han}')"
finish
