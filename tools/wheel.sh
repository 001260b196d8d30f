#!/bin/bash
# `pip install .` into a fresh environment of each CPython at hand, without PyTorch, and what must work there. What the
# build needs comes from PyPI. VERSIONS="3.10 3.12" for some of them. Each compiles the core: minutes for the first, seconds
# for the others where there is ccache.
set -euo pipefail
cd "$(dirname "$0")/.."
unset PYTHONPATH  # else the checkout would be found, not what was installed
if [ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] && command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
export CXX=${CXX:-$(command -v g++ || command -v c++)}  # one for all: each CPython names the one that it was built with
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
cat > "$work/check.py" <<'PYTHON'
import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path

import depyf


def gcd(a, b):
    while b:
        a, b = b, a % b
    return [i for i in range(1, a + 1) if not a % i]


assert Path(depyf.__file__).is_relative_to(sys.prefix), depyf.__file__
assert importlib.util.find_spec("torch") is None
source = depyf.decompile(gcd)
code = depyf.compile_like(source, gcd.__code__)
assert "proved equivalent" in source and "while" in source, source
assert depyf.prove(gcd.__code__, code)
before = gcd(84, 36)
gcd.__code__ = code
assert gcd(84, 36) == before == [1, 2, 3, 4, 6, 12]
command = Path(sys.prefix) / "bin" / "depyf"
for one in ([str(command), "--help"], [sys.executable, "-m", "depyf", "--help"]):
    subprocess.run(one, check=True, stdout=subprocess.DEVNULL)
native = Path(sys.prefix) / "bin" / "depyf-decompile"
assert "usage: depyf-decompile" in subprocess.run([str(native), "--help"], check=True, capture_output=True, text=True).stdout
try:
    depyf.explain(gcd)
except ImportError as error:
    assert "torch" in str(error), error
wheel = importlib.metadata.distribution("depyf").read_text("WHEEL")
print(depyf.__version__, *(line.partition(": ")[2] for line in wheel.splitlines() if line.startswith("Tag")))
PYTHON
for version in ${VERSIONS:-3.10 3.11 3.12 3.13 3.14}; do
  python=$(PYTHONPATH=tests .venv/bin/python -c "
import sys, interpreters
version = tuple(map(int, '$version'.split('.')))
print(sys._base_executable if version == sys.version_info[:2] else interpreters.interpreter(version) or '')")
  if [ -z "$python" ]; then
    echo "wheel: $version: no such interpreter here"
    continue
  fi
  environment=$work/$version
  tools/venv.sh "$python" "$environment"
  if .venv/bin/python -W ignore -m pip --disable-pip-version-check --python "$environment/bin/python" install -qq "$root" &&
    (cd "$work" && "$environment/bin/python" check.py > "$version.txt"); then
    echo "wheel: $version: works: depyf $(cat "$work/$version.txt")"
  else
    echo "wheel: $version: fails"
    status=1
  fi
done
exit $status
