#!/bin/bash
# Measures how many code objects per second depyf-decompile decompiles on one thread: runs bench/decompile.py with the
# release build.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release
.venv/bin/python bench/decompile.py build/release/depyf-decompile "$@"
