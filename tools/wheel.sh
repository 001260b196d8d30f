#!/bin/bash
# Runs `pip install .` in a fresh environment of each CPython at hand, without PyTorch, and tests the result. The
# packages that the build needs come from PyPI. VERSIONS="3.10 3.12" selects some versions. Each installation compiles
# the core, which takes minutes, but seconds from the second version on if ccache is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
unset PYTHONPATH  # otherwise the checkout would be imported, not the installed package
if [ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] && command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
# one compiler for all versions; by default, each CPython would use the compiler that built it
export CXX=${CXX:-$(command -v g++ || command -v c++)}
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for version in ${VERSIONS:-3.10 3.11 3.12 3.13 3.14}; do
  python=$(tools/find_python.sh "$version")
  if [ -z "$python" ]; then
    echo "wheel: $version: no such interpreter here"
    continue
  fi
  environment=$work/$version
  tools/venv.sh "$python" "$environment"
  if .venv/bin/python -W ignore -m pip --disable-pip-version-check --python "$environment/bin/python" install -qq "$root" &&
    (cd "$work" && "$environment/bin/python" "$root/tools/wheels/check.py" "$root/examples/toy.py" > "$version.txt"); then
    echo "wheel: $version: works: depyf $(cat "$work/$version.txt")"
  else
    echo "wheel: $version: fails"
    status=1
  fi
done
exit $status
