#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: browser; tier: test; cost: 1 s; needs: node; sanitize: no
# The page says nothing in Chinese that the registry (`posenc list --json`) does not say in English. A text that has no
# Chinese yet is told, and shown in English.
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

# The check itself, and the table of README.zh-CN.md, on a registry that says something else.
other() { sed "$1" "$work/list.json" >"$work/other.json"; }
says() { # says STATUS LINE COMMAND...
  local status=0
  "${@:3}" >"$work/log" || status=$?
  if [ $status != "$1" ] || ! grep -qF -- "$2" "$work/log"; then
    echo "FAILED: exit code $status, not $1, or not seen: $2"; cat "$work/log"; exit 1
  fi
}
other 's/Adds the binary digits of the position/Adds the octets of the position/'
says 1 "note: registryZh: no Chinese for: Adds the octets of the position" node "$test" "$work/other.json"
says 1 "FAILED: registryZh: nobody says: Adds the binary digits of the position" node "$test" "$work/other.json"
says 0 "| Adds the octets of the position" node web/registry-zh.mjs <"$work/other.json"
other 's/"claims": *\["unique"/"claims":["unheard","unique"/'
says 0 "note: claimWords: no Chinese for: unheard" node "$test" "$work/other.json"
other 's/"hooks": *\["embed"\]/"hooks":["unheard"]/'
says 0 "| unheard |" node web/registry-zh.mjs <"$work/other.json"
other 's/"g: how slowly the lowest-frequency pair decays"/"c: the position at which the magnitude is 1"/'
says 1 "FAILED: registryZh: nobody says: g: how slowly the lowest-frequency pair decays" node "$test" "$work/other.json"
echo "7 passed, 0 failed, 0 skipped"
