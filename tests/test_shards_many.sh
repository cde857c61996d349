#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: all; cost: 240 s
# test_shards with 100 schedules: 2 to 8 processes of one race, killed, stopped and short of disk at random moments.
set -uo pipefail
. tests/lib.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export POSENC_FIRST=${POSENC_FIRST:-1} POSENC_SCHEDULES=${POSENC_SCHEDULES:-100}
check_quietly "$log" "$POSENC_SCHEDULES schedules" "${POSENC_BUILD:-build-test}/tests/test_shards"
check "all of them ran" test "$(grep -c '^schedule ' "$log")" = "$POSENC_SCHEDULES"
finish
