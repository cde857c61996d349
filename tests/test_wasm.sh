#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: browser; tier: all; cost: 60 s; needs: node clang; sanitize: no
# The tool in WebAssembly says what the native tool says, bit for bit: that inside web/posenc.html, and one compiled now.
set -uo pipefail
posenc=$(realpath "${POSENC:-build/posenc}")
build=$(realpath "${POSENC_BUILD:-build-test}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skipped=0
skip() { echo "SKIP: $1"; skipped=$((skipped + 1)); }
stale=0
scripts/page.sh --check || stale=1
if ! command -v node >/dev/null; then
  skip "no node (Debian: nodejs)"
  echo "$((1 - stale)) passed, $stale failed, 1 skipped"
  exit $stale
fi

cp examples/llama-3.1-8b/config.json "$work/config.json"
cat >"$work/qwen.json" <<'J'
{"model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28, "num_key_value_heads": 4,
 "num_hidden_layers": 28, "max_position_embeddings": 32768, "rope_theta": 1000000.0}
J
cat >"$work/opt.json" <<'J'
{"model_type": "opt", "hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 12,
 "max_position_embeddings": 2048, "word_embed_proj_dim": 768}
J
cat >"$work/broken.json" <<'J'
{"model_type": "llama", "hidden_size": "many"}
J

modules=(web/posenc.html)
if ! missing=$(scripts/setup.sh --check wasm 2>&1); then
  skip "a module compiled now: $(echo "$missing" | head -1)"
elif scripts/page.sh --wasm "$build/wasm"; then modules+=("$build/wasm/posenc.wasm")
else echo "FAILED: the module does not compile"; stale=$((stale + 1)); fi

node --no-warnings web/tests/wasm.mjs "$posenc" "$work" "${modules[@]}" >"$work/log"; grep -v " skipped$" "$work/log"
read -r passed failed < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed,.*/\1 \2/p' "$work/log")
# The compiler that made the page makes the same bytes of the same sources; a page that lacks a row is older, as it said.
if [ ${#modules[@]} = 2 ] && ! grep -q "web/posenc.html lacks the row" "$work/log" && grep -qF "name=\"posenc-compiler\" content=\"$(scripts/page.sh --compiler)\"" web/posenc.html &&
  ! grep -q "the same bytes" "$work/log"; then
  echo "FAILED: web/posenc.html is older than the C it is made from; run: make page"
  stale=$((stale + 1))
fi
echo "${passed:-0} passed, $((${failed:-1} + stale)) failed, $skipped skipped"
[ "${failed:-1}" = 0 ] && [ $stale = 0 ]
