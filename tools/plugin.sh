#!/bin/bash
# Builds a wheel, installs it into a fresh environment that sees this checkout's PyTorch and pytest, and runs the tests of the
# pytest plugin there.
set -euo pipefail
cd "$(dirname "$0")/.."
unset PYTHONPATH
if [ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] && command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
.venv/bin/python -m venv "$work/venv"
packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
# Python does not read .pth files in a folder that packages.pth adds, so the checkout itself is not on sys.path.
echo "$packages" > "$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/packages.pth"
echo "plugin: building the wheel"
"$work/venv/bin/python" -m pip wheel --quiet --no-deps --wheel-dir "$work" .
"$work/venv/bin/python" -m pip install --quiet --no-deps "$work"/depyf-*.whl
(cd "$work" && venv/bin/python -c "
import importlib.metadata, depyf_pytest
from pathlib import Path
assert Path(depyf_pytest.__file__).is_relative_to('$work'), depyf_pytest.__file__
assert [point.value for point in importlib.metadata.entry_points(group='pytest11') if point.name == 'depyf'] == ['depyf_pytest']")
DEPYF_PLUGIN_PYTHON="$work/venv/bin/python" .venv/bin/python -m pytest -q -m 'long or not long' tests/report/test_pytest_plugin.py
