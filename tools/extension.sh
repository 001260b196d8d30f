#!/bin/bash
# Builds the extension module for the interpreter PYTHON into python/depyf, with the core that tools/build.sh has built:
# extension.sh PYTHON. The extension module for 3.12 also works with all newer versions.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
name=$("$python" -c 'import sys; print("py%d%d" % sys.version_info[:2])')
[ -f build/dev/libdepyf_core.a ] || { echo 'extension: run tools/build.sh first' >&2; exit 1; }
nanobind=$(.venv/bin/python -m nanobind --cmake_dir)
export PATH="$PWD/.venv/bin:$PATH"
cmake -G Ninja -S . -B "build/$name" --log-level=ERROR -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 \
  -DPython_EXECUTABLE="$python" -Dnanobind_DIR="$nanobind" -DDEPYF_CORE="$PWD/build/dev/libdepyf_core.a" >/dev/null
cmake --build "build/$name" -- -j2
