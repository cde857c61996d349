#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: browser; timeout: 600; sanitize: no
# web/posenc.html in Chromium, as people use it. Playwright drives it where `npm ci` brings it; else Chromium's own pipe.
set -uo pipefail
posenc=$(realpath "${POSENC:-build/posenc}")
build=$(realpath "${POSENC_BUILD:-build-test}")
skip() { echo "SKIP: $1"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no chromium (Debian: chromium)"
command -v node >/dev/null || skip "no node (Debian: nodejs)"
if [ ! -e web/node_modules/playwright-core/package.json ] && command -v npm >/dev/null; then
  (cd web && timeout 120 npm ci --silent >/dev/null 2>&1) || echo "npm reaches no registry: Chromium is driven over its pipe"
fi
[ -n "$(fc-list :lang=zh 2>/dev/null)" ] ||
  echo "no font for Chinese (Debian: fonts-wqy-microhei): screenshots in Chinese show boxes"
POSENC_BUILD=$build node web/tests/page.spec.mjs "$posenc" "$chromium" "${SCREENS:-$build/screens}"
