#!/bin/bash
# Runs the tests of `make test` after the build: lint, the C++ tests, the Python tests. The output ends with the last
# lines of pytest. Arguments are passed to pytest, which then runs once; without arguments, the tests are run in groups,
# two groups at a time, and at the end the timed tests by themselves.
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

# Each group runs in a pytest process of its own, so that the tests that run before a test in its process are always the
# same. The longest groups start first, so that the two processors finish at nearly the same time.
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

run_group() {  # arguments: NUMBER FILES...; prints the output of the group in one piece
  local log=.cache/tests/$1.log status=0
  shift
  .venv/bin/python -m pytest --durations=8 "$@" >"$log" 2>&1 || status=$?
  flock .cache/tests cat "$log"
  return $status
}
export -f run_group
status=0
for number in "${!groups[@]}"; do echo "$number -m 'not long and not timed' ${groups[$number]}"; done |
  xargs -P 2 -d '\n' -I{} bash -c 'run_group {}' || status=$?
# A test beside a timed test would share the processor's caches and execution units with it.
timed=$(grep -rl --include='test_*.py' 'pytest\.mark\.timed' tests)
groups+=("$timed")
run_group $((${#groups[@]} - 1)) -m timed $timed || status=$?
echo "== all groups"
grep -hE '^(FAILED|ERROR) ' $logs/*.log || true
for number in "${!groups[@]}"; do
  printf '%-28s %s\n' "$(echo "${groups[$number]}" | cut -d' ' -f1)" "$(tail -n 1 "$logs/$number.log" 2>/dev/null || echo 'did not run')"
done
exit $status
