#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: all; cost: 240 s
# test_shards with 100 schedules: 2 to 8 processes of one race, killed, stopped and short of disk at random moments.
set -uo pipefail
POSENC_FIRST=1 POSENC_SCHEDULES=100 "${POSENC_BUILD:-build-test}/tests/test_shards" 2>stderr.$$
code=$?
[ $code = 0 ] || cat stderr.$$
rm -f stderr.$$
[ $code = 0 ] && echo "1 passed, 0 failed, 0 skipped" || echo "0 passed, 1 failed, 0 skipped"
exit $code
