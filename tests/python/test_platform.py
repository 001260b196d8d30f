"""Systems and interpreters that depyf is not made for are refused with sentences, before the extension is built or loaded.

No free-threaded CPython, macOS or Windows is available to the tests, so a program sets the attributes by which depyf
recognises them. A PyPy is used where it is on the path, or where DEPYF_PYPY names it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "python"
FAKES = {
    "macOS": ("sys.platform = 'darwin'", "depyf needs Linux, and this Python runs on macOS", "Linux container"),
    "Windows": ("sys.platform = 'win32'", "depyf needs Linux, and this Python runs on Windows", "WSL 2"),
    "PyPy": ("sys.implementation.name = 'pypy'", "depyf needs CPython, and this is pypy", "Use CPython 3.10 or later"),
    "free-threaded": ("sys.abiflags = 't'", "this is a free-threaded build", "Use the default build of CPython"),
}
IMPORT = """
import sys
{fake}
try:
    import depyf
except ImportError as error:
    print(error)
print("depyf._core" in sys.modules)
"""


def words(text: str) -> str:
    """Returns the text with each run of white space as one space: CMake breaks the lines of its messages."""
    return " ".join(text.split())


def build(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    cmake = shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if not cmake:
        pytest.skip("there is no cmake")
    command = [cmake, "-S", str(ROOT), "-B", str(folder), *options]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("kind", FAKES)
def test_import_is_refused_before_the_extension_is_loaded(kind: str) -> None:
    fake, reason, alternative = FAKES[kind]
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(fake=fake)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )
    assert done.returncode == 0, done.stderr
    message, loaded = done.stdout.splitlines()
    assert reason in message and alternative in message
    assert loaded == "False"


def test_this_interpreter_is_accepted() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(fake="")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.parametrize("system", ["Darwin", "Windows", "FreeBSD"])
def test_a_build_for_another_system_is_refused(tmp_path: Path, system: str) -> None:
    done = build(tmp_path, f"-DCMAKE_SYSTEM_NAME={system}")
    assert done.returncode
    assert f"depyf needs Linux, and this build is for {system}" in words(done.stderr)
    assert "Use a Linux container" in words(done.stderr)


@pytest.mark.parametrize("kind", ["PyPy", "free-threaded"])
def test_a_build_for_another_interpreter_is_refused_without_a_compiler(tmp_path: Path, kind: str) -> None:
    fake, reason, alternative = FAKES[kind]
    (tmp_path / "sitecustomize.py").write_text(f"import sys\n{fake}\n")
    interpreter = tmp_path / "python"
    interpreter.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}" exec "{sys.executable}" "$@"\n')
    interpreter.chmod(0o755)
    done = build(tmp_path / "build", f"-DPython_EXECUTABLE={interpreter}", "-DCMAKE_CXX_COMPILER=/no/compiler")
    assert done.returncode
    assert reason in words(done.stderr) and alternative in words(done.stderr)
    assert "CMAKE_CXX_COMPILER" not in done.stderr


def test_a_real_pypy_is_refused(tmp_path: Path) -> None:
    pypy = os.environ.get("DEPYF_PYPY") or shutil.which("pypy3")
    if not pypy:
        pytest.skip("there is no pypy3 on the path, and DEPYF_PYPY does not name one")
    _, reason, alternative = FAKES["PyPy"]
    done = subprocess.run(
        [pypy, "-c", "import depyf"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)}
    )
    assert done.returncode
    message = done.stderr.splitlines()[-1]
    assert message.startswith("ImportError: ") and reason in message and alternative in message
    built = build(tmp_path, f"-DPython_EXECUTABLE={pypy}")
    assert built.returncode and reason in words(built.stderr)
