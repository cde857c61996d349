#!/bin/sh
# SPDX-License-Identifier: MIT
# One race, four processes on this machine, with GNU parallel. Start it again after a crash, and it goes on.
#     examples/race/parallel.sh --encodings none,rope,alibi --steps 400 --seeds 3
exec parallel --jobs 4 posenc race --out "${FOLDER:-shared}" --shard {}/4 --threads 1 "$@" ::: 1 2 3 4
