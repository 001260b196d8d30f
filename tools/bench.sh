#!/bin/bash
# Measures the code objects a second of the whole core, on one thread: bench/decompile.py with the command as it is
# shipped.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release
.venv/bin/python bench/decompile.py build/release/depyf-decompile "$@"
