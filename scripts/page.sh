#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# page.sh: the page from its sources and build/posenc: web/posenc.html, one file with everything inside, and web/build/site/.
# page.sh --check: is web/posenc.html made from the web/ there is? Needs no compiler. page.sh --wasm FOLDER: only the module.
# page.sh --compiler: the one that would make it; the same one makes the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

# Of all that the page is made from in web/, and of the race's table. Of the C it is made from too, tests/test_wasm.sh asks by compiling it.
fingerprint() {
  { find web/src web/wasm -type f; ls web/index.html web/style.css web/build.mjs web/pages.mjs web/tsconfig.json web/package-lock.json; } |
    LC_ALL=C sort | { while read -r file; do printf '%s %s\n' "$file" "$(sha256sum <"$file")"; done; sed -n '/^| encoding | 256 |/,/^$/p' docs/results.md; } |
    sha256sum | cut -c1-16
}

compiler() { clang --version | head -n 1; }

module() { # module FOLDER: posenc.wasm there
  local launcher=''
  command -v ccache >/dev/null && launcher=-DCMAKE_C_COMPILER_LAUNCHER=ccache
  cmake -S web/wasm -B "$1" $launcher --log-level=WARNING >/dev/null
  MAKEFLAGS=--no-print-directory cmake --build "$1" --parallel "${JOBS:-2}" >"$1/log" 2>&1 || { cat "$1/log"; return 1; }
}

case "${1:-}" in
  --check)
    if ! grep -qF "name=\"posenc-sources\" content=\"$(fingerprint)\"" web/posenc.html; then
      echo "web/posenc.html is older than what it is made from; run: make page" >&2
      exit 1
    fi
    exit 0 ;;
  --wasm) module "$2"; exit ;;
  --compiler) compiler; exit ;;
  '') ;;
  *) echo "usage: page.sh [--check | --wasm FOLDER | --compiler]" >&2; exit 2 ;;
esac

scripts/setup.sh --check page
module web/build/wasm
cd web
cmp -s package-lock.json node_modules/.posenc-lock || { npm ci --silent && cp package-lock.json node_modules/.posenc-lock; }
node_modules/.bin/tsc -p .
node build.mjs ../build/posenc build/wasm/posenc.wasm "$(cd .. && fingerprint)" "$(compiler)"
