#!/bin/bash
# Code objects a second of the whole core, on one thread: the standard library of the running interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release
.venv/bin/python tools/bench.py build/release/depyf-decompile "$@"
