# SPDX-License-Identifier: MIT
# The front door. CMake does the work; each command here is one line of it.
PREFIX ?= /usr/local
DIR ?= tests/golden
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
BUILD = MAKEFLAGS=--no-print-directory cmake --build build --parallel $(JOBS)

all: configure              # library and tool, in build/
	@$(BUILD)

MINUTES ?= 3
run: setup-run all          # everything it needs, then the race: four encodings, one report; make run MINUTES=30
	@build/posenc race --minutes $(MINUTES) --batch 4

quick:                      # lint and the fast tests, in under a minute after a build
	@scripts/test.sh quick

test:                       # everything it needs, then what a change must pass: release and sanitizers; 12 minutes on two cores
	@scripts/test.sh test

test-mpi:                   # installs Open MPI, MPICH and what races run on (GNU parallel, Slurm, Snakemake), then the tests of those: RANKS="2 8"
	@scripts/setup.sh mpi
	@RANKS="$(RANKS)" JOBS="$(JOBS)" tests/mpi/run.sh
	@cmake -S . -B build-test -DPOSENC_WERROR=ON -DPOSENC_SANITIZE= --log-level=WARNING >/dev/null
	@MAKEFLAGS=--no-print-directory cmake --build build-test --parallel $(JOBS) --target posenc_tool >/dev/null
	@POSENC=build-test/posenc bash tests/test_race_engines.sh

test-all:                   # every test, the page in a browser, NEON, clang, 32 bits, musl, MSan, TSan, fuzzing: FLAVOURS="m32 musl"
	@FLAVOURS="$(FLAVOURS)" RUNS="$(RUNS)" scripts/test.sh all

wheel:                      # the Python package: dist/posenc-*.whl and .tar.gz
	@scripts/python.sh wheel

test-python:                # makes an environment with torch and transformers, then every test of the Python package
	@scripts/python.sh test $(ARGS)

conformance: configure      # golden vectors: make conformance DIR=folder
	@$(BUILD) --target posenc-conformance
	@build/posenc-conformance "$(DIR)"

golden:                     # rebuilds tests/golden with transformers and says what changed: make golden ARGS="--against 5.17.0"
	@tools/golden/run.sh $(ARGS)

check:                      # every kernel on every rung against its definition: make check ARGS="--kernel gemm --runs 20000"
	@scripts/setup.sh --check test
	@cmake -S . -B build-test -DPOSENC_WERROR=ON -DPOSENC_SANITIZE= --log-level=WARNING >/dev/null
	@MAKEFLAGS=--no-print-directory cmake --build build-test --parallel $(JOBS) --target posenc-kernels >/dev/null
	@build-test/posenc-kernels $(ARGS)

fuzz:                       # the long run, with clang: make fuzz RUNS=1000000 TARGET=npy JOBS=2
	@RUNS="$(RUNS)" TARGET="$(TARGET)" JOBS="$(JOBS)" scripts/fuzz.sh

bench:                      # posenc beside limits and peers: make bench QUICK=1 ONLY=rotate THREADS=2 GGML=folder ARGS=--json
	@QUICK="$(QUICK)" ONLY="$(ONLY)" THREADS="$(THREADS)" GGML="$(GGML)" JOBS="$(JOBS)" scripts/bench.sh $(ARGS)

PYTHON ?= python3
bench-gpu:                  # posenc on a GPU beside its peers; PYTHON has torch and posenc: make bench-gpu ARGS="--json gpu.json"
	@$(PYTHON) bench/gpu.py $(ARGS)

bench-mpi:                  # ring attention on 1, 2, 4 and 8 ranks: RANKS="1 2" TOKENS="4096 65536" ORDERS=zigzag MPI=mpich
	@JOBS="$(JOBS)" RANKS="$(RANKS)" TOKENS="$(TOKENS)" ORDERS="$(ORDERS)" MPI="$(MPI)" scripts/bench_mpi.sh

bench-docs:                 # the same, into docs/performance.md
	@$(MAKE) -s bench ARGS=--docs

install: all                # make install PREFIX=folder
	@cmake --install build --prefix "$(PREFIX)"

docs: all                   # the table of encodings in README.md, from the registry
	@POSENC=build/posenc scripts/readme-table.sh

page: all                   # web/posenc.html: the tool in a page, for any browser; web/build/site/, for any static host
	@scripts/page.sh

claims: all                 # docs/claims.md: what papers say, measured
	@LC_ALL=C build/posenc prove --lang en -o docs/claims.md

screens: all                # docs/screens/*.png: the page as the tests see it (needs node, chromium and a Chinese font)
	@POSENC=build/posenc POSENC_BUILD=build ONLY=screenshots SCREENS=docs/screens bash tests/test_page.sh

clean:
	@rm -rf build build-test build-asan build-clang build-m32 build-musl build-msan build-tsan build-fuzz build-mpi-openmpi build-mpi-mpich web/build

setup-run:
	@scripts/setup.sh run

configure:
	@scripts/setup.sh --check build
	@cmake -S . -B build -DPOSENC_TESTS=OFF --log-level=WARNING >/dev/null

.PHONY: all run quick test test-mpi test-all wheel test-python conformance golden check fuzz bench bench-gpu bench-mpi bench-docs install docs page claims screens clean setup-run configure
.NOTPARALLEL:
