#!/bin/bash
# Builds a target in a folder with a profile (cmake/profile.cmake): `tools/profiled.sh FOLDER TARGET [CMAKE ARGUMENT...]`.
# First compiles depyf-decompile so that it writes a profile, runs it on the training data of profile_training.py, and
# compiles TARGET with the profile. Does nothing if no source is newer than the last such build. Another compiler than
# GCC builds without a profile.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1 target=$2
shift 2
mkdir -p "$folder"
if [ -e "$folder/profiled" ] && [ -z "$(find src include cmake CMakeLists.txt -newer "$folder/profiled" -print -quit)" ]; then
  exit
fi
export PATH="$PWD/.venv/bin:$PATH"
configure() {
  cmake -G Ninja -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release -DDEPYF_BUILD_EXTENSION=OFF -DDEPYF_BUILD_TESTS=OFF "$@" >/dev/null
}
if [[ $("${CXX:-c++}" --version) != *"Free Software Foundation"* ]]; then
  echo "profiled: ${CXX:-c++} is not GCC, so the build has no profile" >&2
  configure "$@"
else
  started=$(mktemp)  # the profile describes the sources as they were when the build started
  configure -DDEPYF_PROFILE=write "$@"
  find "$folder" -name '*.gcda' -delete
  echo "profiled: compiling depyf-decompile so that it writes a profile"
  cmake --build "$folder" --target depyf-decompile >/dev/null
  .venv/bin/python tools/profile_training.py "$folder/depyf-decompile"
  configure -DDEPYF_PROFILE=use "$@"
  echo "profiled: compiling $target with the profile"
fi
cmake --build "$folder" --target "$target" >/dev/null
mv "${started:-$(mktemp)}" "$folder/profiled"
