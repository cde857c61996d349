#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# python.sh wheel              makes dist/posenc-*.tar.gz, and dist/posenc-*.whl from it; KERNELS=1: the usual kernels for
#                              GPUs are compiled (with NVIDIA's nvrtc package; minutes) and become part of it
# python.sh test [PYTEST...]   makes an environment in build-python/ (torch and transformers: some GB, once), installs the
#                              wheel there, checks style and types, runs python/tests; then installs the source in an
#                              environment that has NumPy alone and runs the tests of that
# PYTHON=python3.13 selects the Python, VENV=folder another place for the large environment.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh python
python=${PYTHON:-python3} out=build-python
venv=${VENV:-$PWD/$out/venv}
# Needs a Python that can make virtual environments, of version 3.11 or later.
"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' || {
  echo "$python cannot be used; needs 3.11 or later with its venv module (Debian: python3-venv), or set PYTHON" >&2
  exit 2
}

environment() { # environment FOLDER REQUIREMENT...: made anew where its requirements changed
  local folder=$1
  shift
  [ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

wheel() {
  local kernels=()
  environment $out/wheel build
  if [ -n "${KERNELS:-}" ]; then
    environment $out/wheel nvidia-cuda-nvrtc
    kernels=(-C "cmake.define.POSENC_NVRTC=$(ls "$PWD/$out"/wheel/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.1?)")
  fi
  rm -rf dist
  $out/wheel/bin/python -m build "${kernels[@]}" --outdir dist . >$out/build.log 2>&1 || { tail -40 $out/build.log; exit 1; }
  ls -1 dist/*
}

lint() {
  "$venv/bin/ruff" check python bench/python.py bench/gpu.py bench/scale.py
  "$venv/bin/ruff" format --check python bench/python.py bench/gpu.py bench/scale.py
  "$venv/bin/python" -m mypy --strict -p posenc
  "$venv/bin/python" -m mypy.stubtest posenc._core --ignore-unused-allowlist \
    --allowlist <(echo 'posenc\._core\.Encoding\.__buffer__') # Python 3.11 has buffers without it
  "$venv/bin/pyright" --pythonpath "$venv/bin/python"
}

case ${1:-} in
wheel) wheel ;;
test)
  shift
  wheel
  echo "== types and tests with NumPy, PyTorch and transformers"
  environment "$venv" -r python/requirements.txt
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps dist/*.whl
  [ $# -gt 0 ] || lint
  "$venv/bin/python" -m pytest -q -p no:cacheprovider "${@:-python/tests}"
  [ $# -eq 0 ] || exit 0
  echo "== the source in an environment with NumPy alone"
  environment $out/plain numpy pytest
  $out/plain/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps dist/*.tar.gz
  $out/plain/bin/python -m pytest -q -p no:cacheprovider python/tests
  $out/plain/bin/posenc --version
  ;;
*)
  sed -n '3,9s/^# //p' "$0"
  exit 2
  ;;
esac
