#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# readme-table.sh [--check]: README.md's table of encodings, between its two markers, as `posenc list --markdown` prints it.
# --check changes nothing and fails where they differ. POSENC names the tool (build/posenc unless told).
set -euo pipefail
cd "$(dirname "$0")/.."
table=$(mktemp) wanted=$(mktemp)
trap 'rm -f "$table" "$wanted"' EXIT

for marker in '<!-- encodings -->' '<!-- /encodings -->'; do
  grep -qxF -- "$marker" README.md || { echo "README.md: no line '$marker'" >&2; exit 1; }
done
"${POSENC:-build/posenc}" list --markdown >"$table"
[ -s "$table" ] || { echo "posenc list --markdown printed nothing" >&2; exit 1; }
awk -v table="$table" '
  $0 == "<!-- /encodings -->" { inside = 0 }
  !inside { print }
  $0 == "<!-- encodings -->" { inside = 1; while ((getline line < table) > 0) print line }
' README.md >"$wanted"
if [ "${1:-}" = --check ]; then
  diff -u README.md "$wanted" || { echo "README.md: the table is out of date; type: make docs" >&2; exit 1; }
else
  cat "$wanted" >README.md
fi
