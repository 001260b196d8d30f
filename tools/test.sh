#!/bin/bash
# What `make test` runs after the build: lint, the C++ tests, the Python tests. Ends with pytest's closing line.
# Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
for file in build/dev/depyf_tests build/dev/depyf-decompile; do
  [ -x "$file" ] || { echo "test: $file was not built: doctest-dev is missing" >&2; exit 1; }
done
echo "== lint"
tools/lint.sh
echo "== C++ tests"
build/dev/depyf_tests
echo "== Python tests"
exec .venv/bin/python -m pytest "$@"
