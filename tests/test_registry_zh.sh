#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; sanitize: no
# Every English text of `posenc list --json` has its Chinese on the page, and the page says nothing in Chinese that the
# registry no longer says in English.
set -euo pipefail
if ! command -v node >/dev/null; then
  echo "SKIP: no node here (apt install nodejs)"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
test=web/tests/registry.test.mjs

"$POSENC" list --json >"$work/list.json"
node "$test" "$work/list.json"

# The check itself: a sentence that changed is both missing and stale; a new claim has no words; a help that went is stale.
must_say() { # must_say WHAT SED
  sed "$2" "$work/list.json" >"$work/other.json"
  if node "$test" "$work/other.json" >"$work/log" || ! grep -qF -- "$1" "$work/log"; then
    echo "FAILED: not seen: $1"; cat "$work/log"; exit 1
  fi
}
must_say "no Chinese for: The octets of the position." 's/The bits of the position\./The octets of the position./'
must_say "nobody says: The bits of the position." 's/The bits of the position\./The octets of the position./'
must_say "claimWords: no Chinese for: unheard" 's/"claims": *\["unique"/"claims":["unheard","unique"/'
must_say "nobody says: g: how slowly the slowest pair decays" 's/"g: how slowly the slowest pair decays"/"c: where the magnitude is 1"/'
echo "5 passed, 0 failed"
