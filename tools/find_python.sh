#!/bin/bash
# Prints the path of the CPython of a version, such as 3.12, that lies in no environment; nothing if there is none here.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHONPATH=tests .venv/bin/python -c "
import sys, interpreters
version = tuple(map(int, '$1'.split('.')))
print(sys._base_executable if version == sys.version_info[:2] else interpreters.interpreter(version) or '')"
