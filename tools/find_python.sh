#!/bin/bash
# Prints the path of a CPython of a version, such as 3.12, that is not in a virtual environment; nothing if there is
# none.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHONPATH=tests .venv/bin/python -c "
import sys, interpreters
version = tuple(map(int, '$1'.split('.')))
print(sys._base_executable if version == sys.version_info[:2] else interpreters.interpreter(version) or '')"
