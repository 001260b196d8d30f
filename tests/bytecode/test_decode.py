"""Compares decoded standard library modules with the `dis` module of the interpreter that compiled them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from compare_dis import compare_module
from depyf import _core

# Modules that are large or have many rare constructs.
MODULES = """
    ast asyncio/base_events asyncio/streams asyncio/tasks base64 bdb calendar collections/__init__
    contextlib copy dataclasses datetime difflib enum functools heapq http/client json/decoder logging/__init__ random
    shutil socket sqlite3/dump string subprocess textwrap threading traceback typing uuid zipapp
    test/test_asyncgen test/test_except_star test/test_generators test/test_grammar test/test_patma test/test_tstring
    test/test_type_params test/test_with
""".split()


def library(path: str) -> Path:
    command = [path, "-I", "-c", "import os; print(os.path.dirname(os.__file__))"]
    return Path(subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip())


def test_decoded_is_what_dis_says(python: tuple[tuple[int, int], str], tmp_path: Path) -> None:
    version, path = python
    folder = library(path)
    sources = [folder / f"{name}.py" for name in MODULES if (folder / f"{name}.py").exists()]
    assert len(sources) > 30
    script = Path(__file__).with_name("dump_dis.py")
    subprocess.run([path, "-I", str(script), str(tmp_path), *map(str, sources)], check=True)
    stems = [file.with_suffix("") for file in sorted(tmp_path.glob("*.json"))]
    assert len(stems) > 30
    wrong = [what for stem in stems for what in compare_module(_core, version, stem)]
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:40])
