#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: browser; timeout: 600; sanitize: no
# web/posenc.html in Chromium, as people use it.
exec bash web/tests/run.sh opens controls numbers reads keyboard copy model claims work screens
