#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: data; tier: test; cost: 10 s
# The examples in examples/race, run by the programs they are for, where those are installed: make test-mpi installs them.
# Those of Kubernetes and Ray: python/tests/test_engines.py.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
examples=$PWD/examples/race
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/lib.sh
cd "$dir" || exit 1
ln -s "$POSENC" posenc
export PATH=$dir:$PATH
small="--encodings none,rope --layers 1 --width 16 --heads 2 --train-length 16 --test 1x,2x --batch 2 --test-tokens 64 --steps 40 --seeds 2"
table() { tr -d '\r' <"$1/results.csv" | cut -d, -f1-9,11-; }
same() { diff <(table one) <(table "$1"); }
"$POSENC" race $small --out one --quiet >/dev/null

if command -v parallel >/dev/null; then
  FOLDER=parallel check_quietly log "parallel.sh" "$examples/parallel.sh" $small
  check "the result of one process" same parallel
else
  skip "parallel.sh: no GNU parallel here (apt install parallel)"
fi

# Slurm's parser reads the script, then finds that there is no controller.
if command -v sbatch >/dev/null; then
  printf 'ClusterName=none\nSlurmctldHost=localhost\nAuthType=auth/none\n' >slurm.conf
  parsed() { SLURM_CONF=$dir/slurm.conf sbatch --test-only "$1" >log 2>&1; grep -q "slurm controller" log; }
  check "sbatch reads slurm.sh" parsed "$examples/slurm.sh"
  sed 's/--signal=B:TERM@60/--signal=B:TERM@x/' "$examples/slurm.sh" >broken.sh
  check "and not one with a mistake" eval '! parsed broken.sh'
else
  skip "slurm.sh: no sbatch here (apt install slurm-client)"
fi

if command -v snakemake >/dev/null; then
  check_quietly log "Snakefile" snakemake --snakefile "$examples/Snakefile" --cores 2 --config folder=snake options="$small"
  check "the result of one process" same snake
  check "and its report" grep -q "bits per byte" snake.shares/report.txt
else
  skip "Snakefile: no snakemake here (apt install snakemake)"
fi

finish
