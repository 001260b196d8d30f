"""The files that `pip install .` installs work without the checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import tomllib

ROOT = Path(__file__).parent.parent.parent
CORE = ROOT / "build" / "dev" / "libdepyf_core.a"
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import depyf
assert depyf.__file__.startswith(sys.argv[1]), depyf.__file__
print(depyf.decompile(lambda x: x + 1), end="")
"""


@pytest.mark.slow
def test_wheel(tmp_path: Path) -> None:
    # The wheel is built with the core of the development build, which takes minutes to compile (`make wheel` compiles
    # it as users do), and with the build requirements of the running environment, so that no package registry is
    # needed.
    if not CORE.exists():
        pytest.skip(f"{CORE} has not been built")
    settings = {"SKBUILD_BUILD_DIR": str(tmp_path / "build"), "SKBUILD_CMAKE_DEFINE": f"DEPYF_CORE={CORE}"}
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--wheel-dir", str(tmp_path)]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, str(ROOT)], check=True, env={**os.environ, **settings}
    )
    (wheel,) = tmp_path.glob("depyf-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert "depyf/__init__.py" in names and "depyf/py.typed" in names and "depyf/_core.pyi" in names
    assert [name for name in names if name.startswith("depyf/_core.") and name.endswith((".so", ".pyd"))]
    assert {"depyf_pytest/__init__.py", "depyf_children/startup/sitecustomize.py"} <= set(names)
    packages = ("depyf/", "depyf_pytest/", "depyf_children/", "depyf-")
    assert not [name for name in names if not name.startswith(packages)]
    for command in ("depyf-decompile", "depyf-report"):
        (path,) = (name for name in names if name.endswith(f".data/scripts/{command}"))
        (tmp_path / "site" / path).chmod(0o755)
        done = subprocess.run([tmp_path / "site" / path, "--help"], capture_output=True, text=True)
        assert (done.returncode, f"usage: {command}" in done.stdout) == (0, True), done.stderr
    (entry_points,) = (name for name in names if name.endswith("entry_points.txt"))
    assert "depyf = depyf." in (tmp_path / "site" / entry_points).read_text()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "site")], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "x + 1" in done.stdout


def test_the_page_of_the_package_stands_alone() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    page = (ROOT / settings["project"]["readme"]).read_text()
    # A package registry shows the page without the files beside it.
    assert not re.search(r"\]\((?!https:)|<img|\]:", page)
    python_block = re.compile(r"```python\n.*?```", re.S)
    assert python_block.findall(page) == python_block.findall((ROOT / "README.md").read_text())[:1]


def test_the_metadata_names_each_version_that_is_supported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert versions == ["3.10", "3.11", "3.12", "3.13", "3.14"]
    assert project["requires-python"] == f">={versions[0]}"
    assert all((ROOT / name).is_file() for name in project["license-files"])


def test_the_archive_of_the_source_has_what_is_tracked(tmp_path: Path) -> None:
    program = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (path,) = tmp_path.glob("depyf-*.tar.gz")
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = {name for name in done.stdout.splitlines() if (ROOT / name).is_file()}
    assert len(tracked) > 1000
    assert {name for name in tracked - names if not name.startswith(".ci/")} == set()
