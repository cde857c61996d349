#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: browser; tier: all; cost: 30 s; needs: node chromium; sanitize: no
# The story and the glossary in Chromium, in both languages: every choice, slider, claim and link of them works.
exec bash web/tests/run.sh scenes
