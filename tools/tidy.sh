#!/bin/bash
# Runs clang-tidy on every C++ source; files that passed have a stamp in build/tidy, and are skipped until they or any
# header change.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
newest_header=$(find src include .clang-tidy -name '*.h' -o -name '*.def' -o -name '*.inc' -o -name .clang-tidy | xargs ls -t | sed -n 1p)
todo=()
while read -r file; do
  stamp=build/tidy/$file
  if [ ! "$stamp" -nt "$file" ] || [ ! "$stamp" -nt "$newest_header" ]; then todo+=("$file"); fi
done < <(git ls-files --cached --others --exclude-standard -- 'src/*.cpp')
[ ${#todo[@]} = 0 ] && exit 0
printf '%s\n' "${todo[@]}" | xargs -P "$(nproc)" -I{} sh -c \
  'clang-tidy --quiet -p build/dev "$1" 2>/dev/null && mkdir -p "build/tidy/$(dirname "$1")" && touch "build/tidy/$1"' sh {}
