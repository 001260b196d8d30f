#!/bin/bash
# What `make test` runs after the build: lint, the C++ tests, the Python tests. Ends with the closing lines of pytest.
# Arguments go to pytest, which then runs once; without any, the tests of tests/torch run beside all others.
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
if [ $# -gt 0 ]; then exec .venv/bin/python -m pytest "$@"; fi
# Two processes: the tests with PyTorch take about half of the time, and each kind always meets the same tests before it.
log=.cache/tests-with-torch.log
set -m  # without job control what runs in the background ignores SIGINT, and its tests of interrupted programs fail
.venv/bin/python -m pytest tests/torch --durations=15 > $log 2>&1 &
with_torch=$!
set +m
trap 'kill $with_torch 2>/dev/null' EXIT
status=0
.venv/bin/python -m pytest --ignore=tests/torch --durations=15 || status=$?
echo "== Python tests with PyTorch"
wait $with_torch || status=$?
trap - EXIT
cat $log
exit $status
