#!/bin/bash
# Measures how many code objects per second depyf-decompile decompiles on one thread: runs bench/decompile.py with a
# release build that is compiled with a profile, as in the wheels.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/profiled.sh build/profiled depyf-decompile
.venv/bin/python bench/decompile.py build/profiled/depyf-decompile "$@"
