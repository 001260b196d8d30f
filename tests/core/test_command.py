"""depyf-decompile: arguments, outputs, errors, exit status."""

import os
import py_compile
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")


def run(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([COMMAND, *map(str, arguments)], input=stdin, capture_output=True, timeout=60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """a.pyc, b/__pycache__/c.cpython-311.pyc, and a file that is none."""
    for name, source in (("a", "x = 1\n"), ("b/__pycache__/c.cpython-311", "y = 2\n")):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        py_compile.compile(str(path), cfile=str(path.with_suffix(".pyc")), dfile="source.py", doraise=True)
        path.unlink()
    (tmp_path / "other.txt").write_text("no bytecode")
    return tmp_path


def test_one_file_goes_to_standard_output(folder: Path) -> None:
    done = run(folder / "a.pyc")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"x = 1\n", b"")


def test_several_files_are_told_apart_and_keep_their_order(folder: Path) -> None:
    first, second = folder / "b" / "__pycache__" / "c.cpython-311.pyc", folder / "a.pyc"
    done = run("-j", 4, first, second)
    assert done.stdout.decode() == f"# {first}\ny = 2\n# {second}\nx = 1\n"


def test_standard_input(folder: Path) -> None:
    done = run("-", stdin=(folder / "a.pyc").read_bytes())
    assert (done.returncode, done.stdout) == (0, b"x = 1\n")


def test_a_folder_into_a_folder(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run(folder, "-o", out)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    written = {path.relative_to(out).as_posix(): path.read_text() for path in out.rglob("*") if path.is_file()}
    assert written == {"a.py": "x = 1\n", "b/c.py": "y = 2\n"}


def test_inputs_of_one_name_do_not_overwrite_each_other(folder: Path, tmp_path: Path) -> None:
    pycache = folder / "b" / "__pycache__"
    (pycache / "c.cpython-310.pyc").write_bytes((folder / "a.pyc").read_bytes())
    out = tmp_path / "out"
    done = run(pycache / "c.cpython-310.pyc", pycache / "c.cpython-311.pyc", pycache / "c.cpython-311.pyc", "-o", out)
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(path.read_text() for path in out.iterdir()) == ["x = 1\n", "y = 2\n", "y = 2\n"]


def test_errors_name_file_and_offset_and_the_others_are_still_done(folder: Path) -> None:
    cut = folder / "cut.pyc"
    cut.write_bytes((folder / "a.pyc").read_bytes()[:40])
    done = run(cut, folder / "a.pyc", folder / "missing.pyc", folder / "other.txt")
    assert done.returncode == 1
    assert done.stdout.decode() == f"# {folder / 'a.pyc'}\nx = 1\n"
    truncated, *others = done.stderr.decode().splitlines()
    assert re.fullmatch(re.escape(str(cut)) + r": (3\d|40): truncated", truncated)
    assert others == [
        f"{folder / 'missing.pyc'}: cannot be read",
        f"{folder / 'other.txt'}: 0: not a .pyc file",
    ]


def test_empty_file_and_empty_folder_are_errors(tmp_path: Path) -> None:
    (tmp_path / "empty.pyc").touch()
    done = run(tmp_path / "empty.pyc")
    assert (done.returncode, done.stderr.decode()) == (1, f"{tmp_path / 'empty.pyc'}: 0: truncated\n")
    (tmp_path / "folder").mkdir()
    assert run(tmp_path / "folder").returncode == 1


def test_an_output_that_cannot_be_written_is_an_error(folder: Path) -> None:
    done = run(folder / "a.pyc", "-o", folder / "other.txt")
    assert done.returncode == 1
    assert b"other.txt" in done.stderr and done.stderr.endswith(b": cannot be written\n")


def test_disassembly(folder: Path) -> None:
    done = run("--dis", folder / "a.pyc")
    assert done.returncode == 0
    rows = done.stdout.decode().splitlines()
    assert rows[0] == "# <module>, line 1"
    assert [row.split()[-2] for row in rows[2:]] == ["load_const", "store_name", "load_const", "return_value"]


def test_wrong_options_are_refused(folder: Path) -> None:
    assert run().returncode != 0
    assert run("-j", 0, folder / "a.pyc").returncode != 0
    assert run("--dis", "--dump-load", folder / "a.pyc").returncode != 0
    done = run("--help")
    assert done.returncode == 0 and b"--output" in done.stdout
