"""Finds out what works with which PyTorch and Python: makes each environment, runs the checks, writes
docs/compatibility.md.

    run.py [TORCH/PYTHON...]      those combinations; none: all of `COMBINATIONS`
    run.py --page                 only writes the page, from the results that are there
    run.py --stamp                says what the sources of depyf, the examples and the checks are called

One environment at a time, taken away afterwards unless KEEP=1 (about 1 GB each; the kernels' machine code stays with it,
which is most of the time); ENVIRONMENTS=DIR has them elsewhere than in build/combinations. Results are saved there
after each few cells, so an interrupted run continues where it was. They are made anew with AGAIN=1, and if depyf, the
examples or the checks have changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import cells
import page

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from interpreters import interpreter  # noqa: E402

# PyTorch, CPython. CPython 3.14 of the last pair is the interpreter in DEPYF_PYTHON_3_14, or that of Debian unstable
# (see `_python`).
COMBINATIONS = (
    ("2.2.2", "3.11"),
    ("2.4.1", "3.12"),
    ("2.6.0", "3.13"),
    ("2.7.1", "3.12"),
    ("2.9.1", "3.13"),
    ("2.11.0", "3.12"),
    ("2.13.0", "3.11"),
    ("2.14.1", "3.13"),
    ("2.15.0", "3.13"),
    ("2.15.0", "3.14"),
)
WORK = ROOT / "build" / "combinations"
_SOURCES = ("pyproject.toml", "CMakeLists.txt", "cmake", "include", "src", "python", "examples")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "combination",
        nargs="*",
        metavar="TORCH/PYTHON",
        help="a pair of a release of PyTorch and a version of Python, such as 2.6.0/3.13 (default: all pairs)",
    )
    parser.add_argument("--page", action="store_true", help="only write the page, and try no combination")
    parser.add_argument("--stamp", action="store_true", help="only print the stamp of the sources")
    arguments = parser.parse_args()
    if arguments.stamp:
        print(_stamp())
        return
    wanted = [tuple(one.split("/")) for one in arguments.combination] or list(COMBINATIONS)
    unknown = [one for one in wanted if one not in COMBINATIONS]
    if unknown:
        parser.error(f"unknown combination {'/'.join(unknown[0])}: there are {', '.join(map('/'.join, COMBINATIONS))}")
    WORK.mkdir(parents=True, exist_ok=True)
    failed = []
    if not arguments.page:
        for torch, python in wanted:
            failed += _combination(torch, python)
    page.write(ROOT / "docs" / "compatibility.md", {one: {"cells": {}, **_load(*one)} for one in COMBINATIONS})
    for line in failed:
        print(line)
    sys.exit(1 if failed else 0)


def _combination(torch: str, python: str) -> list[str]:
    """Runs the checks of a combination that have no result yet; returns the names of the cells that fail."""
    key = f"{torch}/{python}"
    result = _load(torch, python)
    stamp = _stamp()
    if result.get("stamp") != stamp or os.environ.get("AGAIN"):
        result = {"stamp": stamp, "cells": {}}
    missing = [name for name in cells.names() if name not in result["cells"]]
    if missing:
        print(f"{key}: {len(missing)} cells", flush=True)
        environment, made = _environment(torch, python)
        try:
            site = _site(environment)
            result.update(_facts(environment, site))
            cache = WORK / f"cache-{torch}-{python}"
            for found in cells.run(str(environment / "bin" / "python"), site, cache, missing):
                result["cells"].update(found)
                _file(torch, python).write_text(json.dumps(result, indent=1))
                for name, cell in found.items():
                    print(f"{key}: {name}: {cell['verdict']}{': ' * bool(cell['reason'])}{cell['reason']}", flush=True)
            if not os.environ.get("KEEP"):
                shutil.rmtree(cache, ignore_errors=True)
        finally:
            if made and not os.environ.get("KEEP"):
                shutil.rmtree(environment, ignore_errors=True)
    return [f"{key}: {name}: {cell['reason']}" for name, cell in result["cells"].items() if cell["verdict"] == "fails"]


def _file(torch: str, python: str) -> Path:
    return WORK / f"result-{torch}-{python}.json"


def _load(torch: str, python: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(_file(torch, python).read_text())
        return found
    except (OSError, ValueError):
        return {}


def _stamp() -> str:
    """Returns a hash of everything that the results depend on."""
    files = [Path(__file__).with_name(name) for name in ("cells.py", "check.py")]
    for name in _SOURCES:
        top = ROOT / name
        files += [top] if top.is_file() else [path for path in top.rglob("*") if path.is_file()]
    digest = hashlib.sha256()
    for path in sorted(files):
        if path.suffix not in (".so", ".pyc"):
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _python(version: str) -> str:
    found = interpreter(tuple(map(int, version.split("."))))
    if found is not None:
        return found
    own = WORK / f"python-{version}"
    path = own / "bin" / f"python{version}"
    if not path.exists():
        subprocess.run([str(ROOT / "tools/combinations/debian_python.sh"), version, str(own)], check=True)
    return str(path)


def _environment(torch: str, python: str) -> tuple[Path, bool]:
    """Returns (the folder of the environment, True if this call created it)."""
    have = ROOT / ".venv"
    facts = subprocess.run(
        [have / "bin/python", "-c", "import sys, torch; print(torch.__version__, '%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    if facts and (facts[0].partition("+")[0], facts[1]) == (torch, python):
        return have, False
    environment = Path(os.environ.get("ENVIRONMENTS", WORK)) / f"torch-{torch}-{python}"
    works = [environment / "bin/python", "-W", "ignore", "-c", "import torch"]
    if not environment.exists() or subprocess.run(works, capture_output=True, check=False).returncode:
        started = time.monotonic()
        command = [ROOT / "tools/combinations/torch_env.sh", torch, _python(python), environment]
        subprocess.run(command, check=True)
        print(f"{torch}/{python}: an environment in {time.monotonic() - started:.0f} s", flush=True)
    return environment, True


def _site(environment: Path) -> Path:
    """Returns a copy of the checkout's package with the extension module for the interpreter of an environment.

    tools/wheel.sh checks that a wheel contains the same files as this copy.
    """
    python = environment / "bin" / "python"
    site = ROOT / "python"
    ask = "import sys; print('%d%d' % sys.version_info[:2])"
    version = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
    # The extension of 3.12 serves all newer versions.
    name = "_core.abi3.so" if int(version) >= 312 else f"_core.cpython-{version}-*.so"
    built = [path.stat().st_mtime for path in (site / "depyf").glob(name)]
    sources = [ROOT / "build" / "dev" / "libdepyf_core.a", *(ROOT / "src" / "bind").iterdir()]
    if not built or built[0] < max(path.stat().st_mtime for path in sources):
        extension = [ROOT / "tools" / "extension.sh", python]
        subprocess.run(extension, check=True, stdout=subprocess.DEVNULL)
    # The checks run on a copy, so that edits of the checkout during a run do not change the results.
    copy = WORK / f"site-{_stamp()}-{version}"
    if not copy.exists():  # an existing copy stays, since a running check may have loaded its files
        made = copy.with_name(f"{copy.name}.{os.getpid()}")
        shutil.copytree(site, made, ignore=shutil.ignore_patterns("__pycache__"))
        made.rename(copy)
    return copy


def _facts(environment: Path, site: Path) -> dict[str, str]:
    ask = "import platform, torch, depyf; print(torch.__version__, platform.python_version(), depyf.__version__)"
    done = subprocess.run(
        [environment / "bin/python", "-W", "ignore", "-c", ask],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    torch, python, depyf = done.stdout.split()
    return {"torch": torch, "python": python, "depyf": depyf, "date": time.strftime("%Y-%m-%d")}


if __name__ == "__main__":
    main()
