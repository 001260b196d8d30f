#!/bin/bash
# The tests of the core and of the Python package under other versions: CPython 3.10 to 3.14 at hand, each with the
# extension built for it and without torch. (What needs torch runs with the release of `make test`.)
set -euo pipefail
cd "$(dirname "$0")/.."
for version in ${VERSIONS:-3.10 3.12 3.13 3.14}; do
  python=$(PYTHONPATH=tests .venv/bin/python -c "
import interpreters
print(interpreters.interpreter(tuple(map(int, '$version'.split('.')))) or '')")
  if [ -z "$python" ]; then
    echo "compat: $version: no such interpreter here"
    continue
  fi
  venv=build/compat-$version
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
  echo "compat: $version"
  "$venv/bin/python" -m pip install -qq --disable-pip-version-check pytest .
  PYTHONPATH=tests "$venv/bin/python" -m pytest -q -c /dev/null --import-mode=importlib tests/cases || status=1
done
exit ${status:-0}
