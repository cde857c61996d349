#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: browser; tier: all; cost: 60 s; needs: node chromium; sanitize: no
# web/posenc.html in Chromium, as people use it.
exec bash web/tests/run.sh opens controls numbers reads keyboard copy model claims sheet trained held work screens
