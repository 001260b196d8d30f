#!/bin/bash
# What `make test` runs after the build: lint, the C++ tests, the Python tests. Ends with pytest's closing line.
# Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "== lint"
tools/lint.sh
echo "== C++ tests"
build/dev/depyf_tests
echo "== Python tests"
exec .venv/bin/python -m pytest "$@"
