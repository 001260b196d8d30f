#!/bin/bash
# Checks formatting, style, types and the figures of `make house`. With --all, the script also runs clang-tidy on files
# that changed since they last passed.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
tracked() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do [ -f "$file" ] && echo "$file"; done; }

mkdir -p .cache
status=0
check() { echo "lint: $1"; shift; "$@" || status=1; }

tracked '*.h' '*.cpp' > .cache/cpp-files
check clang-format xargs -r -n 20 clang-format --dry-run -Werror < .cache/cpp-files
# The fuzz targets are built with clang alone, which few builds use.
check 'fuzz targets' sh -c 'printf "%s\n" fuzz/*.cpp | xargs -P 2 -n 1 c++ -std=c++20 -fsyntax-only -Wall -Wextra -Iinclude -Isrc'
check 'ruff check' ruff check --quiet
check 'ruff format' ruff format --quiet --check
check mypy mypy --no-error-summary
check shell sh -c 'for file in tools/*.sh .ci/run; do bash -n "$file" || exit 1; done'
check house python tools/house/house.py
if [ "${1:-}" = --all ]; then
  check clang-tidy tools/tidy.sh
fi
exit $status
