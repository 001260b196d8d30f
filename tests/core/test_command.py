"""Tests of depyf-decompile: arguments, outputs, errors, exit status."""

import dis
import json
import marshal
import os
import py_compile
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from interpreters import interpreter

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")


def run(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([COMMAND, *map(str, arguments)], input=stdin, capture_output=True, timeout=60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with a.pyc, b/__pycache__/c.cpython-311.pyc, and a file that is no bytecode."""
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
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"2 files: 2 without a mark, 0 marked, 0 failed; 0 state machines, 0 stubs\n"
    written = {path.relative_to(out).as_posix(): path.read_text() for path in out.rglob("*") if path.is_file()}
    assert written == {"a.py": "x = 1\n", "b/c.py": "y = 2\n"}


def test_inputs_of_one_name_do_not_overwrite_each_other(folder: Path, tmp_path: Path) -> None:
    pycache = folder / "b" / "__pycache__"
    (pycache / "c.cpython-310.pyc").write_bytes((folder / "a.pyc").read_bytes())
    out = tmp_path / "out"
    done = run(
        pycache / "c.cpython-310.pyc", pycache / "c.cpython-311.pyc", pycache / "c.cpython-311.pyc", "-q", "-o", out
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(path.read_text() for path in out.iterdir()) == ["x = 1\n", "y = 2\n", "y = 2\n"]


def test_errors_name_file_and_offset_and_the_others_are_still_done(folder: Path) -> None:
    cut = folder / "cut.pyc"
    cut.write_bytes((folder / "a.pyc").read_bytes()[:40])
    done = run(cut, folder / "a.pyc", folder / "missing.pyc", folder / "other.txt")
    assert done.returncode == 1
    assert done.stdout.decode() == f"# {folder / 'a.pyc'}\nx = 1\n"
    truncated, *others, counts = done.stderr.decode().splitlines()
    assert counts == "4 files: 1 without a mark, 0 marked, 3 failed; 0 state machines, 0 stubs"
    assert re.fullmatch(re.escape(str(cut)) + r": (3\d|40): truncated", truncated)
    assert others == [
        f"{folder / 'missing.pyc'}: cannot be read: No such file or directory",
        f"{folder / 'other.txt'}: 0: the file is not a .pyc file",
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
    assert b"other.txt" in done.stderr and b": cannot be written: " in done.stderr
    assert (folder / "other.txt").read_text() == "no bytecode"


def test_disassembly(folder: Path) -> None:
    done = run("--dis", folder / "a.pyc")
    assert done.returncode == 0
    rows = done.stdout.decode().splitlines()
    assert rows[0] == "# <module>, line 1"
    assert [row.split()[-2] for row in rows[2:]] == ["load_const", "store_name", "load_const", "return_value"]


def test_wrong_options_are_refused(folder: Path) -> None:
    pyc = folder / "a.pyc"
    wrong = [
        [],
        ["-j", 0, pyc],
        ["--dis", "--dump-load", pyc],
        ["--no-such", pyc],
        ["-x", pyc],
        [pyc, "--check"],
        ["diff", pyc],
    ]
    wrong += [
        ["--json=1", pyc],
        ["--python", "2.7", pyc],
        ["--force", pyc],
        ["completion", "fish"],
        ["--max-size", "-1", pyc],
    ]
    for arguments in wrong:
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (2, b""), arguments
        assert re.fullmatch(rb"depyf-decompile: .+\nTry depyf-decompile --help.\n", done.stderr), done.stderr


def test_options_are_spelled_in_each_usual_way(folder: Path, tmp_path: Path) -> None:
    pyc = folder / "a.pyc"
    ways = (["-o", "{}"], ["-o{}"], ["--output", "{}"], ["--output={}"], ["-qo", "{}"])
    for number, way in enumerate(ways):
        out = tmp_path / f"out{number}"
        done = run(*(argument.format(out) for argument in way), "-j2", "--", pyc)
        assert done.returncode == 0 and (out / "a.py").read_text() == "x = 1\n"


def test_help_manual_and_completion_name_every_option(folder: Path) -> None:
    help_text = run("--help")
    assert help_text.returncode == 0 and b"examples:" in help_text.stdout
    names = set(re.findall(rb"--[a-z-]+", help_text.stdout))
    assert len(names) >= 16
    manual, bash, zsh = run("man"), run("completion", "bash"), run("completion", "zsh")
    assert manual.stdout.startswith(b".TH DEPYF") and zsh.stdout.startswith(b"#compdef depyf-decompile\n")
    for name in names:
        assert name.replace(b"-", b"\\-") in manual.stdout and name in bash.stdout and name in zsh.stdout
    script = bash.stdout.decode() + (
        'COMP_WORDS=(depyf-decompile --ch) COMP_CWORD=1; _depyf_decompile; echo "${COMPREPLY[@]}"\n'
        'COMP_WORDS=(depyf-decompile --stop-after el) COMP_CWORD=2; _depyf_decompile; echo "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "--check\nelif_chain\n"


def test_output_destroys_nothing(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.py").write_text("mine")
    done = run(folder / "a.pyc", "-o", out)
    assert (
        done.returncode == 1
        and b"a.py: cannot be written: the file exists already (--force overwrites the file)" in done.stderr
    )
    assert (out / "a.py").read_text() == "mine"
    assert run(folder / "a.pyc", "--force", "-o", out).returncode == 0
    assert (out / "a.py").read_text() == "x = 1\n" and [path.name for path in out.iterdir()] == ["a.py"]


@pytest.mark.parametrize("force", [False, True])
def test_output_follows_no_link(folder: Path, tmp_path: Path, force: bool) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    (out / "sub").mkdir(parents=True)
    elsewhere.mkdir()
    (elsewhere / "target.py").write_text("mine")
    (out / "a.py").symlink_to(elsewhere / "target.py")
    (out / "b").symlink_to(elsewhere)  # the output b/c.py would be written below this link
    done = run(folder, "-o", out, *(["--force"] if force else []))
    assert done.returncode == 1 and f"{out / 'b'} is a symbolic link".encode() in done.stderr
    assert (elsewhere / "target.py").read_text() == "mine" and len(list(elsewhere.iterdir())) == 1
    assert (out / "a.py").is_symlink() != force
    if force:
        assert (out / "a.py").read_text() == "x = 1\n"


def test_each_input_has_an_output_of_its_own(folder: Path, tmp_path: Path) -> None:
    data = (folder / "a.pyc").read_bytes()
    names = ["m.pyc", "m.cpython-311.pyc", "__pycache__/m.cpython-311.pyc", "__pycache__/m.cpython-312.pyc", "m-1.pyc"]
    names += ["__pycache__/m.pyc", "m.py/x.pyc", "m-1.py/y.pyc"]  # folders with the names of output files
    source = tmp_path / "in"
    for name in names:
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    first, second = tmp_path / "first", tmp_path / "second"
    for out in (first, second):
        done = run(source, source / "m.pyc", source / "m.pyc", "-j", 4, "-o", out)
        assert done.returncode == 0, done.stderr
    written = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert len(written) == len(names) + 2
    assert written == sorted(path.relative_to(second) for path in second.rglob("*") if path.is_file())


def archive(path: Path, members: dict[str, bytes], method: int) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def test_archives(folder: Path, tmp_path: Path) -> None:
    code = compiled(tmp_path, "\n".join(f"def f{i}(a):\n    return a + {i}\n" for i in range(300)), "long").read_bytes()
    members = {
        "p/m.pyc": (folder / "a.pyc").read_bytes(),
        "p/long.pyc": code,
        "p/m.py": b"x = 0\n",
        "../../up.pyc": code,
    }
    for name, method in (
        ("a.whl", zipfile.ZIP_DEFLATED),
        ("a.zip", zipfile.ZIP_STORED),
        ("a.egg", zipfile.ZIP_DEFLATED),
        ("a.pyz", zipfile.ZIP_DEFLATED),
    ):
        out = tmp_path / f"of-{name}"
        path = archive(tmp_path / name, members, method)
        if name == "a.pyz":  # zipapp writes the path of an interpreter in front
            path.write_bytes(b"#!/usr/bin/env python3\n" + path.read_bytes())
        done = run(path, "-o", out)
        assert done.returncode == 0, done.stderr
        written = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
        assert sorted(written) == ["p/long.py", "p/m.py", "up.py"]
        assert written["p/m.py"].read_text() == "x = 1\n"
        assert written["p/long.py"].read_text().count("def f") == 300


def test_archives_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_bytes(b"no archive")
    done = run(tmp_path / "no.zip")
    assert done.returncode == 1 and b"no.zip: 10: the zip archive has no directory" in done.stderr
    done = run(archive(tmp_path / "empty.zip", {"a.txt": b""}, zipfile.ZIP_STORED))
    assert done.returncode == 1 and b"empty.zip: the archive contains no .pyc files" in done.stderr
    bomb = archive(tmp_path / "bomb.zip", {"a.pyc": bytes(3 << 20)}, zipfile.ZIP_DEFLATED)
    done = run("--max-size", 1, bomb)
    assert done.returncode == 1 and b"is larger than the limit of 1048576 bytes" in done.stderr
    data = bytearray(archive(tmp_path / "b.zip", {"a.pyc": bytes(range(256)) * 9}, zipfile.ZIP_DEFLATED).read_bytes())
    for at in range(35, 200, 7):  # a damaged archive causes an error message, and no crash
        damaged = bytearray(data)
        damaged[at] ^= 0x55
        (tmp_path / "damaged.zip").write_bytes(damaged)
        assert run(tmp_path / "damaged.zip").returncode == 1


def test_raw_marshal_data(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(compiled(tmp_path, "def f(a):\n    return a\n").read_bytes()[16:])
    for options in ([], ["--python", "%d.%d" % sys.version_info[:2]]):
        done = run(*options, tmp_path / "raw")
        assert (done.returncode, done.stdout) == (0, b"def f(a):\n    return a\n")
    done = run("--python", "3.8", tmp_path / "raw")
    assert done.returncode == 1 and done.stderr


def test_versions_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    for magic, name in (
        (62211, "Python 2.7"),
        (3394, "Python 3.7"),
        (3550, "a pre-release of Python 3.13"),
        (240, "PyPy"),
    ):
        (tmp_path / "old.pyc").write_bytes(magic.to_bytes(2, "little") + b"\r\n" + bytes(30))
        done = run(tmp_path / "old.pyc")
        assert done.returncode == 1 and f"old.pyc: 0: the file contains bytecode of {name}".encode() in done.stderr


def test_files_beyond_the_limit_are_refused(tmp_path: Path) -> None:
    with (tmp_path / "large.pyc").open("wb") as file:
        file.truncate(1 << 40)
    done = run(tmp_path / "large.pyc")
    assert (
        done.returncode == 1
        and b"large.pyc: cannot be read: larger than the limit of 64 MB (set by --max-size)" in done.stderr
    )


def test_the_report_is_json(folder: Path, tmp_path: Path) -> None:
    cut = folder / "cut.pyc"
    cut.write_bytes((folder / "a.pyc").read_bytes()[:40])
    marked = with_dead_code(compiled(tmp_path, "def f(a):\n    return a\n"))
    done = run("--json", "--check", sys.executable, folder / "a.pyc", cut, marked)
    report = json.loads(done.stdout)
    assert done.returncode == 1 and report["version"] == 1
    assert [file["status"] for file in report["files"]] == ["equal", "failed", "marked"]
    assert report["counts"] == {
        "files": 3, "equal": 1, "unchecked": 0, "marked": 1, "text": 0, "failed": 1, "state_machines": 0, "stubs": 0,
        "proved": 0, "not_proved": 0,
    }  # fmt: skip
    equal, failed, other = report["files"]
    assert equal["source"] == "x = 1\n" and equal["python"] == "%d.%d" % sys.version_info[:2]
    assert "truncated" in failed["error"] and "source" not in failed
    assert other["marks"][0]["line"] == 2 and other["marks"][0]["what"].startswith("load_const became ")
    assert done.stderr.decode().splitlines()[-1] == "3 files: 1 equal, 1 marked, 1 failed; 0 state machines, 0 stubs"
    written = json.loads(run("--json", folder / "a.pyc", "-o", tmp_path / "out").stdout)["files"][0]
    assert written["output"] == str(tmp_path / "out" / "a.py") and "source" not in written


def test_check_finds_the_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyc = compiled(tmp_path, "def f(a):\n    return a\n")
    monkeypatch.setenv("DEPYF_PYTHON_%d_%d" % sys.version_info[:2], sys.executable)
    done = run("--check", "auto", pyc)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"def f(a):\n    return a\n", b"")
    monkeypatch.delenv("DEPYF_PYTHON_%d_%d" % sys.version_info[:2])
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    done = run("--check", "auto", pyc)
    assert done.returncode == 1 and b"--check auto: no interpreter of Python 3." in done.stderr
    (tmp_path / ("python%d.%d" % sys.version_info[:2])).symlink_to(sys.executable)
    assert run("--check", "auto", pyc).returncode == 0


def test_diff_names_what_changed(tmp_path: Path) -> None:
    one = "class C:\n    def same(self):\n        return 1\n\n    def other(self):\n        return 2\n\ndef gone():\n    pass\n"
    two = "# moved down\n" + one.replace("return 2", "return 3").replace("gone", "new")
    first, second = compiled(tmp_path, one, "one"), compiled(tmp_path, two, "two")
    done = run("diff", first, second)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 1
    assert [line for line in lines if line.startswith(("-", "+"))] == ["- gone, line 8", "+ new, line 9"]
    assert [line.partition(":")[0] for line in lines if line.startswith("!")][-1] == "! C.other, line 5"
    assert not any("same" in line for line in lines)
    done = run("diff", first, first)
    assert (done.returncode, done.stdout) == (0, b"")
    assert run("diff", first, tmp_path / "missing.pyc").returncode == 1


def compiled(folder: Path, source: str, name: str = "checked") -> Path:
    path = folder / f"{name}.py"
    path.write_text(source)
    return Path(py_compile.compile(str(path), cfile=str(folder / f"{name}.pyc"), doraise=True))


# Changes compiled bytecode so that it pushes two constants and pops both, which no statement is compiled to.
def with_dead_code(pyc: Path) -> Path:
    data = pyc.read_bytes()
    code = marshal.loads(data[16:])
    function = next(constant for constant in code.co_consts if hasattr(constant, "co_code"))
    nop = bytes([dis.opmap["NOP"], 0])
    load, pop = bytes([dis.opmap["LOAD_CONST"], 0]), bytes([dis.opmap["POP_TOP"], 0])
    useless = load + load + pop + pop
    other = function.replace(co_code=function.co_code[:2] + nop + useless + function.co_code[2:], co_exceptiontable=b"")
    constants = tuple(other if constant is function else constant for constant in code.co_consts)
    pyc.write_bytes(data[:16] + marshal.dumps(code.replace(co_consts=constants)))
    return pyc


def test_check_says_nothing_where_all_comes_back(tmp_path: Path) -> None:
    source = "def f(a):\n    return [x for x in a if x]\n"
    done = run("--check", sys.executable, compiled(tmp_path, source))
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, source, b"")


VERSIONS = [(3, minor) for minor in range(8, 16)]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: "%d.%d" % version)
def test_check_with_each_interpreter(version: tuple[int, int], tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    source = 'class C:\n    x: int = 3\n\n    def f(self, a=None):\n        return self.x + a if a else print(self.x, end="")\n'
    (tmp_path / "c.py").write_text(source)
    script = "import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2], doraise=True)"
    subprocess.run([python, "-c", script, tmp_path / "c.py", tmp_path / "c.pyc"], check=True)
    done = run("--check", python, tmp_path / "c.pyc")
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, source, b"")


def test_check_marks_the_one_function_that_does_not_come_back(tmp_path: Path) -> None:
    pyc = with_dead_code(compiled(tmp_path, "def f(a):\n    return a\n\n\ndef g(a):\n    return a\n"))
    plain, done = run(pyc), run("--check", sys.executable, pyc)
    assert b"not equal" not in plain.stdout
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0 and [line for line in lines if "not equal" in line] == [lines[1]]
    assert lines[0] == "def f(a):" and lines[1].startswith("    # depyf: not equal: load_const became ")


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="bytecode of 3.11, put together by hand")
def test_a_module_that_no_statements_make_still_runs(tmp_path: Path) -> None:
    pyc = compiled(tmp_path, "a\nb\n")
    data = pyc.read_bytes()
    code = marshal.loads(data[16:])
    loop_with_two_entries = [
        ("RESUME", 0),
        ("LOAD_NAME", 0),
        ("POP_JUMP_FORWARD_IF_FALSE", 2),  # to the second LOAD_NAME 0
        ("LOAD_NAME", 1),
        ("POP_TOP", 0),
        ("LOAD_NAME", 0),
        ("POP_JUMP_BACKWARD_IF_TRUE", 4),  # to LOAD_NAME 1
        ("LOAD_CONST", 0),
        ("RETURN_VALUE", 0),
    ]
    code = code.replace(co_code=b"".join(bytes([dis.opmap[name], arg]) for name, arg in loop_with_two_entries))
    pyc.write_bytes(data[:16] + marshal.dumps(code))
    text = run(pyc).stdout.decode()
    assert "depyf: not equal: shown as a state machine" in text

    class Once(dict):
        read: list[str] = []

        def __getitem__(self, name: str) -> object:
            if name in ("a", "b"):
                self.read.append(name)
                return self.read.count("a") < 2
            return super().__getitem__(name)

    exec(compile(text, "made", "exec"), {}, Once())
    assert Once.read == ["a", "b", "a"]


def test_check_with_another_version_says_so(tmp_path: Path) -> None:
    pyc = compiled(tmp_path, "x = 1\n")
    data = bytearray(pyc.read_bytes())
    other = {13: 12, 12: 13}.get(sys.version_info[1], 12)
    data[:2] = {12: b"\xcb\x0d", 13: b"\xf3\x0d"}[other]
    pyc.write_bytes(data)
    done = run("--check", sys.executable, pyc)
    assert done.returncode == 1
    assert (
        f"compiled by Python 3.{other}, but the interpreter {sys.executable} of --check is Python 3.".encode()
        in done.stderr
    )


def test_check_with_no_interpreter_names_it(tmp_path: Path) -> None:
    done = run("--check", tmp_path / "python", compiled(tmp_path, "x = 1\n"))
    assert done.returncode == 1 and f"--check {tmp_path / 'python'}: ".encode() in done.stderr
    assert b"x = 1\n" in done.stdout  # the source is printed nevertheless
    done = run("--check", "/bin/true", compiled(tmp_path, "x = 1\n"))
    assert done.returncode == 1 and b"--check /bin/true: the interpreter has ended" in done.stderr


def test_lines_lead_to_bytecode(tmp_path: Path) -> None:
    pyc = compiled(tmp_path, "x = 1\n\ny = 2\n")
    found = json.loads(run("--lines", pyc).stdout)
    assert found["version"] == 1
    starts = {line: offset for offset, line in dis.findlinestarts(marshal.loads(pyc.read_bytes()[16:]))}
    assert found["lines"] == [
        {"line": 1, "offset": 0, "original": 1},
        {"line": 2, "offset": starts[3], "original": 3},
    ]


def test_lines_of_nested_code(tmp_path: Path) -> None:
    source = "class C:\n    def f(self):\n        a = 1\n        return lambda: a\n\n\ndef g():\n    return 2\n"
    pyc = compiled(tmp_path, source)
    assert run(pyc).stdout.decode() == source
    module = marshal.loads(pyc.read_bytes()[16:])
    nested = json.loads(run("--lines", pyc).stdout)["nested"]
    assert [one["name"].rpartition(".")[2] for one in nested] == ["C", "f", "g"]
    for one in nested[1:]:
        code = module
        for index in one["path"]:
            code = code.co_consts[index]
        assert code.co_name == one["name"].rpartition(".")[2]
        starts = [(offset, line) for offset, line in dis.findlinestarts(code) if line > code.co_firstlineno]
        for found in one["lines"]:  # instructions before the first statement, such as MAKE_CELL, have no line
            assert next(line for offset, line in starts if offset >= found["offset"]) == found["line"]
        assert [line["line"] for line in one["lines"]] == ([3, 4] if code.co_name == "f" else [8])


def test_control_flow_is_a_graph_in_dot(tmp_path: Path) -> None:
    text = run(
        "--cfg", compiled(tmp_path, "def f(a):\n    try:\n        a()\n    finally:\n        b()\n")
    ).stdout.decode()
    assert text.startswith("digraph bytecode {") and text.endswith("}\n")
    assert 'label="f"' in text and "try, finally" in text and "raises" in text and text.count("->") >= 3


def test_passes_can_be_looked_into(tmp_path: Path) -> None:
    pyc = compiled(tmp_path, "def f(a):\n    if a:\n        b()\n    elif c:\n        d()\n")
    nodes = run("--dump-after", "lift", pyc).stdout.decode()
    assert "# f after lift\n" in nodes and "if a: go to " in nodes and "# <module> after lift" in nodes
    early = run("--stop-after", "structure", pyc).stdout.decode()
    assert "elif" not in early and "elif" in run(pyc).stdout.decode()
    assert "elif" in run("--stop-after", "elif_chain", pyc).stdout.decode()
    assert "    elif c:" in run("--dump-after", "docstring", pyc).stdout.decode()
    wrong = run("--stop-after", "nothing", pyc)
    assert wrong.returncode != 0 and b"elif_chain" in wrong.stderr  # the message lists the names of the passes


def test_only_one_thing_in_place_of_the_source(tmp_path: Path) -> None:
    done = run("--dis", "--cfg", compiled(tmp_path, "x = 1\n"))
    assert done.returncode != 0 and done.stderr
