#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: browser; sanitize: no
# The guided tour and the glossary in Chromium, in both languages: every choice, slider, claim and link of them works.
exec bash web/tests/run.sh tour
