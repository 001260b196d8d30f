#!/bin/bash
# Measures round trips of the standard library and CPython's tests on each installed interpreter, and of six packages of
# PyPI on 3.12 and 3.13, and prints the table of tools/roundtrip/README.md. The records are written to build/roundtrip.
#
# The script takes an hour. VERSIONS="3.11 3.12", SAMPLE=150 (files of the standard library, with a seed; 0, the
# default: all) and PACKAGES="rich" or PACKAGES= (none) select less; CHECK= (empty) leaves out `--check`. With
# CORPUS=world, the script measures other code, without `--check`: packages of PyPI that are chosen with a seed, torch,
# and CPython's tests. COUNT=1000 (modules of each corpus for each version) and SEED=1 are the defaults with
# CORPUS=world.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${CORPUS:-}" = world ]; then
  versions=${VERSIONS:-3.8 3.9 3.10 3.11 3.12 3.13 3.14 3.15}
  exec .venv/bin/python tools/roundtrip/world.py --versions "${versions// /,}" --count "${COUNT:-1000}" --seed "${SEED:-1}" \
    --json build/roundtrip/world.json
fi
export PYTHONPATH=tests
records=build/roundtrip
mkdir -p "$records"
check=${CHECK---check {python\}}

interpreter() {
  .venv/bin/python -c "
import interpreters
print(interpreters.interpreter(tuple(map(int, '$1'.split('.')))) or '')"
}

measure() {  # label, interpreter, more options
  .venv/bin/python tools/roundtrip/roundtrip.py --label "$1" --python "$2" "${@:3}" \
    --command "build/dev/depyf-decompile $check {pyc}" --json "$records/$1.json"
}

for version in ${VERSIONS:-3.8 3.9 3.10 3.11 3.12 3.13 3.14 3.15}; do
  python=$(interpreter "$version")
  if [ -z "$python" ]; then
    echo "$version: no such interpreter here"
    continue
  fi
  measure "$version" "$python" --corpus stdlib,tests --sample "${SAMPLE:-0}"
  case $version in 3.12 | 3.13) ;; *) continue ;; esac
  for package in ${PACKAGES-sympy networkx django sqlalchemy rich pydantic}; do
    site=$records/site-$version
    [ -d "$site/$package" ] || "$python" -m pip install -q --no-compile --target "$site" "$package"
    measure "$version-$package" "$python" --corpus "$site/$package"
  done
done
.venv/bin/python tools/roundtrip/table.py "$records"
