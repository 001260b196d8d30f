#!/bin/bash
# Formats all C++ and Python of the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' | xargs -r clang-format -i
ruff format --quiet
ruff check --quiet --fix
