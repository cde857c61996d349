#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh STORY...: stories of web/posenc.html in Chromium, which Playwright drives (playwright-core by npm, Debian's Chromium).
set -uo pipefail
posenc=$(realpath "${POSENC:-build/posenc}")
build=$(realpath "${POSENC_BUILD:-build-test}")
skip() { echo "SKIP: $1"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no chromium (Debian: chromium)"
command -v node >/dev/null || skip "no node (Debian: nodejs)"
(
  flock 9 # test_page and test_story may run at the same time
  [ -e web/node_modules/playwright-core/package.json ] ||
    { command -v npm >/dev/null && cd web && timeout 120 npm ci --silent >/dev/null 2>&1; }
) 9<web/package.json || skip "no playwright-core, and npm cannot bring it (npm ci in web/)"
[ -n "$(fc-list :lang=zh 2>/dev/null)" ] ||
  echo "no font for Chinese (Debian: fonts-wqy-microhei): screenshots in Chinese show boxes"
POSENC_BUILD=$build exec node --no-warnings web/tests/page.spec.mjs "$posenc" "$chromium" "${SCREENS:-$build/screens}" "$@"
