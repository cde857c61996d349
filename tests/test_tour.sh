#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: browser; sanitize: no
# The guided tour and the glossary in a real browser, in both languages: every choice, slider, claim and link of them works.
set -uo pipefail
skip() { echo "SKIP: $1"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
command -v node >/dev/null || skip "no node (Debian: nodejs)"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no Chromium (Debian: chromium)"
exec node --no-warnings web/tests/tour.mjs "$PWD/web/posenc.html" "$chromium"
