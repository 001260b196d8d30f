#!/bin/bash
# Runs the tests of `make test` after the build: lint, the C++ tests, the Python tests. The output ends with the last
# lines of pytest. Arguments go to pytest, which then runs once; without any, the tests are run in groups, two groups at
# a time.
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

# A group is a process of pytest of its own, so that each test always meets the same tests before it. The longest groups
# are first: the end comes when both processors have nothing left to do.
groups=()
for letters in e-h r-z; do groups+=("$(echo tests/torch/test_[$letters]*.py)"); done
groups+=(tests/report/)
for letters in p i-o a-d; do groups+=("$(echo tests/torch/test_[$letters]*.py)"); done
for folder in tests/*/; do
  case "$folder" in tests/torch/ | tests/report/) continue ;; esac
  [ -z "$(find "$folder" -name 'test_*.py' -print -quit)" ] || groups+=("$folder")
done
groups+=("$(echo tests/test_*.py)")
logs=.cache/tests
rm -rf $logs && mkdir -p $logs

run_group() {  # NUMBER FILES...: its output comes in one piece
  local log=.cache/tests/$1.log status=0
  shift
  .venv/bin/python -m pytest --durations=8 "$@" >"$log" 2>&1 || status=$?
  flock .cache/tests cat "$log"
  return $status
}
export -f run_group
status=0
for number in "${!groups[@]}"; do echo "$number ${groups[$number]}"; done |
  xargs -P 2 -d '\n' -I{} bash -c 'run_group {}' || status=$?
echo "== all groups"
grep -hE '^(FAILED|ERROR) ' $logs/*.log || true
for number in "${!groups[@]}"; do
  printf '%-28s %s\n' "$(echo "${groups[$number]}" | cut -d' ' -f1)" "$(tail -n 1 "$logs/$number.log" 2>/dev/null || echo 'did not run')"
done
exit $status
