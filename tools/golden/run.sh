#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tools/golden/run.sh                     rebuilds the golden vectors with the pinned transformers and torch, compares
#                                         them with tests/golden, and the rows of src/zoo with the config classes
# tools/golden/run.sh --store             does the same, and copies the new files into tests/golden
# tools/golden/run.sh --against 5.17.0    shows what changed from that transformers to the pinned one
# Exit: 0 nothing differs, 1 something does, 2 the build failed. Virtual environments (some GB each) and built files go
# into build-golden/; with GOLDEN_VENVS=folder the environments go into that folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tools/golden
out=build-golden
venvs=${GOLDEN_VENVS:-$out/venvs}
pinned=$(sed -n 's/^transformers==//p' $here/requirements.txt)

venv() { # venv VERSION: prints the python of the environment with this transformers; makes it if needed
  local python=$venvs/$1/bin/python
  if ! "$python" -c 'import einops, safetensors, torch, transformers' 2>/dev/null; then
    echo "making $venvs/$1 (torch is large)" >&2
    python3 -m venv "$venvs/$1"
    sed "s/^transformers==.*/transformers==$1/" $here/requirements.txt >"$venvs/$1/requirements.txt"
    "$venvs/$1/bin/pip" install --quiet --disable-pip-version-check -r "$venvs/$1/requirements.txt" >&2
  fi
  echo "$python"
}

build() { # build VERSION: builds the files into build-golden/VERSION
  local python
  python=$(venv "$1")
  rm -rf "${out:?}/$1"
  "$python" $here/golden.py build "$out/$1" tests/golden src/zoo
}

case ${1:-} in
"" | --store)
  build "$pinned" || exit 2
  python=$(venv "$pinned")
  status=0
  echo "== tests/golden -> transformers $pinned"
  "$python" $here/golden.py compare tests/golden "$out/$pinned" || status=$?
  echo "== src/zoo"
  "$python" $here/golden.py facts src/zoo || status=$?
  if [ "${1:-}" = --store ]; then
    cp "$out/$pinned"/*.json "$out/$pinned"/*.safetensors tests/golden/
    chmod 644 tests/golden/*
  fi
  exit "$status"
  ;;
--against)
  [ -n "${2:-}" ] || { echo "run.sh --against VERSION" >&2; exit 2; }
  build "$2" || exit 2
  build "$pinned" || exit 2
  echo "== transformers $2 -> $pinned"
  "$(venv "$pinned")" $here/golden.py compare "$out/$2" "$out/$pinned"
  ;;
*)
  sed -n '3,8s/^# //p' "$0" >&2
  exit 2
  ;;
esac
