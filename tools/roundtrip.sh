#!/bin/bash
# Round trips over the standard library of each interpreter at hand; one line each, records in build/roundtrip.
# VERSIONS="3.11 3.12" and SAMPLE=150 (0: all files) narrow it down; CHECK=... adds options of depyf-decompile.
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONPATH=tests
mkdir -p build/roundtrip
for version in ${VERSIONS:-3.8 3.9 3.10 3.11 3.12 3.13 3.14 3.15}; do
  python=$(.venv/bin/python -c "
import interpreters
print(interpreters.interpreter(tuple(map(int, '$version'.split('.')))) or '')")
  if [ -z "$python" ]; then
    echo "$version: no such interpreter here"
    continue
  fi
  .venv/bin/python tools/roundtrip/roundtrip.py --python "$python" --sample "${SAMPLE:-150}" --label "$version" \
    --command "build/dev/depyf-decompile ${CHECK:-} {pyc}" --json "build/roundtrip/$version.json"
done
