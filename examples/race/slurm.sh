#!/bin/bash
# SPDX-License-Identifier: MIT
# One race, an array of 16 tasks, in a folder that all nodes share. A task that is preempted or runs out of time finishes
# its step, saves, and goes on when it is started again.
#     sbatch examples/race/slurm.sh --encodings none,rope,alibi --steps 400 --seeds 3
#SBATCH --job-name=race
#SBATCH --array=0-15
#SBATCH --cpus-per-task=2
#SBATCH --time=02:00:00
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
exec posenc race --out "${FOLDER:-shared}" --shard auto --threads "${SLURM_CPUS_PER_TASK:-2}" "$@"
