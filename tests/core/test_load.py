"""Compares the C++ loader with marshal.loads of each installed interpreter, in every field of every code object."""

import inspect
import os
import random
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from interpreters import VERSIONS, interpreter

HERE = Path(__file__).parent
COMMAND = os.environ.get("DEPYF_DECOMPILE") or HERE.parent.parent / "build" / "dev" / "depyf-decompile"
# Modules of every version; constants.py adds constants that are rare in the standard library.
MODULES = """abc argparse ast asyncio/base_events base64 calendar cmath_like codecs collections/__init__ contextlib copy
    dataclasses datetime decimal difflib dis email/_header_value_parser enum fractions functools heapq html/entities
    inspect json/decoder locale logging/__init__ opcode pickle platform pprint re sre_compile statistics string
    subprocess tarfile tempfile textwrap token tokenize turtle typing unittest/mock uuid warnings zipfile""".split()


def run(*command: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


def by_set_order(text: str) -> str:
    """Returns the text with the items of each frozenset sorted, since marshal.loads does not keep their order."""

    def ordered(match: re.Match) -> str:
        items = re.findall(r'"(?:[^"\\]|\\.)*"|[^,"]+', match[1])
        return "frozenset(%s)" % ", ".join(sorted(item.strip() for item in items))

    return re.sub(r"frozenset\(((?:\"(?:[^\"\\]|\\.)*\"|[^\")])*)\)", ordered, text)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: "%d.%d" % version)
def test_fields_equal_those_of_the_interpreter(version: tuple[int, int], tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        assert version != sys.version_info[:2]
        pytest.skip("no such interpreter here")
    stdlib = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").strip())
    sources = [path for name in MODULES if (path := stdlib / f"{name}.py").exists()]
    assert len(sources) > 30
    sources.append(HERE / "constants.py")
    pycs = run(python, HERE / "dump_load.py", "compile", tmp_path, *sources).split()
    assert len(pycs) == len(sources)
    expected = run(python, HERE / "dump_load.py", "dump", *pycs).splitlines()
    actual = run(COMMAND, "--dump-load", "-j", 2, *pycs).splitlines()
    for number, (want, have) in enumerate(zip(expected, actual)):
        assert by_set_order(have) == by_set_order(want), f"line {number}"
    assert len(actual) == len(expected)


def test_damaged_files_give_errors_with_an_offset(tmp_path: Path) -> None:
    rng = random.Random(0)
    folder, damaged = tmp_path / "whole", tmp_path / "damaged"
    folder.mkdir()
    damaged.mkdir()
    sources = [str(HERE / "constants.py"), textwrap.__file__, inspect.__file__]
    pycs = run(sys.executable, HERE / "dump_load.py", "compile", folder, *sources).split()
    for number in range(600):
        data = bytearray(Path(pycs[number % len(pycs)]).read_bytes())
        if number % 3 == 0:
            del data[rng.randrange(len(data)) :]
        else:
            for _ in range(rng.randint(1, 8)):
                data[rng.randrange(16, len(data))] = rng.randrange(256)
        (damaged / f"{number:04}.pyc").write_bytes(data)
    command = [str(COMMAND), "--dump-load", "-q", "-j", "2", str(damaged)]
    done = subprocess.run(command, capture_output=True, timeout=300)
    assert done.returncode == 1, done.stderr[-2000:]
    messages = done.stderr.decode().splitlines()
    assert 200 <= len(messages) < 600
    wrong = [line for line in messages if not re.fullmatch(r".*/\d{4}\.pyc: \d+: [^:]+", line)]
    assert not wrong, wrong[:5]
