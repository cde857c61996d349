#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# readme-table.sh [--check]: the tables of encodings between two markers: docs/encodings.md's is what `posenc list --as md`
# prints; docs/encodings.zh-CN.md's is made from the registry and its Chinese (web/registry-zh.mjs; without node it stays as it is).
# --check changes nothing and fails where they differ; a row that a table does not have yet is told, and no failure.
# POSENC names the tool (build/posenc unless told).
set -euo pipefail
cd "$(dirname "$0")/.."
posenc=${POSENC:-build/posenc}
check=${1:-}
table=$(mktemp) wanted=$(mktemp)
trap 'rm -f "$table" "$wanted"' EXIT

known() { # known FILE: the table less the rows that the file's has not
  local line name rows
  rows=$(sed -n '/^<!-- encodings -->$/,/^<!-- \/encodings -->$/s/^| `\([^`]*\)` .*/\1/p' "$1")
  while IFS= read -r line; do
    name=$(sed -n 's/^| `\([^`]*\)` .*/\1/p' <<<"$line")
    if [ -z "$name" ] || grep -qxF -- "$name" <<<"$rows"; then echo "$line"
    else echo "note: $1 lacks the row $name: make docs" >&2; fi
  done <"$table"
}

put() { # put FILE: the table between the file's markers
  [ -s "$table" ] || { echo "no table for $1" >&2; exit 1; }
  for marker in '<!-- encodings -->' '<!-- /encodings -->'; do
    grep -qxF -- "$marker" "$1" || { echo "$1: no line '$marker'" >&2; exit 1; }
  done
  if [ "$check" = --check ]; then known "$1" >"$wanted" && cp "$wanted" "$table"; fi
  awk -v table="$table" '
    $0 == "<!-- /encodings -->" { inside = 0 }
    !inside { print }
    $0 == "<!-- encodings -->" { inside = 1; while ((getline line < table) > 0) print line }
  ' "$1" >"$wanted"
  if [ "$check" = --check ]; then
    diff -u "$1" "$wanted" || { echo "$1: the table is out of date; type: make docs" >&2; exit 1; }
  else
    cat "$wanted" >"$1"
  fi
}

"$posenc" list --as md | sed -n '/^## /,$p' | sed '/^posenc list NAME/d' >"$table"
put docs/encodings.md
if command -v node >/dev/null; then
  "$posenc" list --json | node web/registry-zh.mjs >"$table"
  put docs/encodings.zh-CN.md
else
  echo "SKIP: docs/encodings.zh-CN.md: no node here (apt install nodejs)"
fi
