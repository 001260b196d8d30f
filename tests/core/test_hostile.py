"""Tests of files that no compiler wrote: time and memory are bounded, the output is valid Python, and the other files
of a batch are decompiled."""

from __future__ import annotations

import os
import resource
import struct
import subprocess
from pathlib import Path

import pytest

from interpreters import VERSIONS, interpreter

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")
MUTANTS = Path(os.environ.get("DEPYF_MUTANTS") or ROOT / "build" / "dev" / "depyf-mutants")
CORPUS = sorted(path for path in (ROOT / "fuzz" / "corpus").iterdir() if path.name != "README")
MEMORY = 256 << 20  # the limit of the address space, of which a reserved stack takes 32 MiB
SAMPLE = 400  # the number of mutants for each version


def run(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Runs the command with little memory."""
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        capture_output=True,
        timeout=20,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_each_file_of_the_corpus_gives_valid_python(path: Path) -> None:
    done = run("--quiet", "--prove", path)
    assert (done.returncode, done.stderr) == (0, b"")
    done = run(path)
    assert (done.returncode, done.stderr) == (0, b"")
    magic = struct.unpack("<H", path.read_bytes()[:2])[0]
    version = {3413: 8, 3425: 9, 3439: 10, 3495: 11, 3531: 12, 3571: 13, 3627: 14, 3666: 15}[magic]
    python = interpreter((3, version))
    if python is None:
        pytest.skip("no such interpreter here")
    subprocess.run(
        [python, "-W", "ignore", "-c", "import sys; compile(sys.stdin.read(), 'made', 'exec')"],
        input=done.stdout,
        check=True,
    )


def test_the_rest_of_a_batch_goes_on(tmp_path: Path) -> None:
    import py_compile

    (tmp_path / "good.py").write_text("good = 1\n")
    good = py_compile.compile(str(tmp_path / "good.py"), cfile=str(tmp_path / "good.pyc"), doraise=True)
    for jobs in (1, 3):
        done = run("-j", jobs, *CORPUS, good)
        assert done.returncode == 0 and done.stdout.decode().endswith(f"# {good}\ngood = 1\n")


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: "%d.%d" % version)
def test_mutants_give_valid_python_within_bounds(version: tuple[int, int], tmp_path: Path) -> None:
    """Tests a sample of the mutants that `make fuzz-structure` tests."""
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    if not MUTANTS.exists():
        pytest.skip("depyf-mutants is not built")
    tools = ROOT / "tools" / "mutants"
    sources = sorted((ROOT / "tests" / "cases").glob("*/*.py"))[::3]
    subprocess.run([python, tools / "make_seeds.py", tmp_path / "seeds", *sources], check=True, capture_output=True)
    command = [MUTANTS, "--seeds", tmp_path / "seeds", "--count", str(SAMPLE), "--seed", "20", "--sources"]
    made = subprocess.run(command, capture_output=True, timeout=120)
    assert made.returncode == 0, made.stderr.decode()
    compiled = subprocess.run([python, tools / "compile_sources.py"], input=made.stdout, capture_output=True)
    report = compiled.stdout.decode()
    assert compiled.returncode == 0, report
    assert int(report.split()[1]) > SAMPLE / 2  # most mutants still load


def test_a_state_machine_that_is_nested_too_deeply_is_a_stub(tmp_path: Path) -> None:
    """CPython's tokenizer accepts 99 levels of indentation, and a state machine needs more levels than the statements
    in its place."""
    depth = 93
    lines = ["    " * level + f"def f{level}(xs, cm):" for level in range(depth)]
    # A `continue` that leaves two finally clauses.
    inner = (
        "for x in xs:\n    try:\n        cm()\n    finally:\n        try:\n            cm()\n            continue\n"
        "        except E:\n            pass\n        finally:\n            cm()"
    )
    lines += ["    " * depth + line for line in [*inner.splitlines(), "        cm()"]]
    file = tmp_path / "deep.py"
    file.write_text("\n".join(lines) + "\n")
    import py_compile

    pyc = py_compile.compile(str(file), cfile=str(tmp_path / "deep.pyc"), doraise=True)
    shown = run(pyc).stdout.decode()
    assert "nested too deeply" in shown
    compile(shown, "shown", "exec", dont_inherit=True)


def test_functions_that_are_nested_too_deeply(tmp_path: Path) -> None:
    """Each function of a chain adds two levels of indentation, and no parser would have accepted the whole chain."""
    import importlib.util
    import marshal
    import types

    depth = 70
    source = "def outer(items):\n    for item in items:\n        def inner():\n            item.found()\n"
    module = compile(source, "chain", "exec")

    def around(code: types.CodeType, inner: types.CodeType) -> types.CodeType:
        constants = tuple(inner if isinstance(each, types.CodeType) else each for each in code.co_consts)
        return code.replace(co_consts=constants)

    outer = next(each for each in module.co_consts if isinstance(each, types.CodeType))
    chain = outer
    for _ in range(depth):
        chain = around(outer, chain)
    pyc = tmp_path / "chain.pyc"
    pyc.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(around(module, chain)))
    shown = run(pyc).stdout.decode()
    assert "nested too deeply" in shown
    assert shown.count("def outer") + shown.count("def inner") > depth // 3
    compile(shown, "shown", "exec", dont_inherit=True)
