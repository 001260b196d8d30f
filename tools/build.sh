#!/bin/bash
# Compiles the `dev` preset (or the one given) in build/; the extension module is written into python/depyf, which is on
# sys.path of .venv.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-dev}
export PATH="$PWD/.venv/bin:$PATH"
mkdir -p .cache
exec 9> .cache/build.lock
flock 9
if ! grep -qs "^Python_EXECUTABLE:.*=$PWD/.venv/bin/python" "build/$preset/CMakeCache.txt" || [ ! -f "build/$preset/build.ninja" ]; then
  echo "build: configuring build/$preset"
  cmake --preset "$preset" -DPython_EXECUTABLE="$PWD/.venv/bin/python" --log-level=STATUS >/dev/null
fi
cmake --build --preset "$preset"
