"""`depyf decompile`: prints proved source for modules, files and functions, and does everything that the command
depyf-decompile does with .pyc files."""

from __future__ import annotations

import argparse
import importlib.util
import marshal
import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import depyf
from depyf import _core

_EXAMPLES = """\
examples:
  depyf decompile json.decoder:JSONDecoder.decode     decompile a method of a module
  depyf decompile script.py:main script.py:helper     decompile two functions of a file
  depyf decompile __pycache__/script.cpython-311.pyc  decompile a .pyc file, of any Python from 3.8 to 3.15
  depyf decompile build/lib -o sources -j 4           decompile all .pyc files below a folder into another folder
  depyf decompile --check python3.8 old.pyc           mark functions that python3.8 compiles to other bytecode
  depyf decompile - < script.pyc                      decompile a .pyc file that is read from standard input
"""
_DESCRIPTION = """\
Prints Python source for the code of modules and files, or for single functions in them. The code is not executed. If
the code belongs to the running version of Python, a comment at the head of the source states whether the source is
proved equivalent to the code. The exit status is 1 if a target cannot be read, checked or written, and otherwise 0.
"""

_ARCHIVES = (".whl", ".zip", ".egg", ".pyz", ".pyzw", ".pex")
_TEXTS = {
    "dis": "version-neutral instructions",
    "cfg": "the control flow graph of each code object, in DOT",
    "lines": "a map from the lines of the source to the bytecode, as JSON",
    "load": "the fields of the code objects as they were loaded",
}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command `depyf decompile` to the argument parser."""
    parser = commands.add_parser(
        "decompile",
        help="print Python source for compiled code",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="TARGET",
        help="a module, a file (.py or .pyc), a folder or an archive (.whl, .zip, .egg, .pyz) with .pyc files, or - "
        "for a .pyc file on standard input; append :FUNCTION or :CLASS.METHOD to a module or to a file of the running "
        "version of Python to select one function",
    )
    parser.add_argument(
        "-o", "--output", default="", metavar="DIR", help="write the sources to DIR instead of standard output"
    )
    parser.add_argument("--force", action="store_true", help="with -o: overwrite existing files")
    parser.add_argument("--json", action="store_true", help="print a report of all files as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not print the line of counts at the end")
    parser.add_argument(
        "-j", "--jobs", type=_jobs, default=1, metavar="N", help="process N files at a time (default: 1)"
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--check",
        default="",
        metavar="PYTHON",
        help="compile each source with the interpreter PYTHON, which must have the version of the files, and mark "
        "each function whose bytecode differs; the value auto finds an interpreter for each file (from "
        "DEPYF_PYTHON_3_14 and similar variables, pyenv and PATH)",
    )
    for name, text_kind in _TEXTS.items():
        option = "--dump-load" if name == "load" else "--" + name
        instead.add_argument(
            option,
            dest="show",
            action="store_const",
            const=name,
            default="",
            help=f"print {text_kind}, instead of the source",
        )
    names = [name for name, _ in _core.passes() if name not in ("decode", "flow", "print")]
    instead.add_argument(
        "--stop-after",
        default="",
        choices=names[1:],
        metavar="PASS",
        help=f"print the source as it is after PASS, which is one of {', '.join(names[1:])}",
    )
    instead.add_argument(
        "--dump-after",
        default="",
        choices=names,
        metavar="PASS",
        help="print the result of PASS for each code object; PASS is lift, or a pass of --stop-after",
    )


def _jobs(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 256:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 256")


def run(parsed: argparse.Namespace) -> int:
    """Executes `depyf decompile` and returns its exit status: 1 if a target cannot be found or read, or if its source
    cannot be written, and otherwise 0."""
    # The C++ core processes all targets if one of the following options is given; otherwise it processes folders,
    # archives and .pyc files of other Python versions.
    by_core = bool(
        parsed.output
        or parsed.check
        or parsed.show
        or parsed.stop_after
        or parsed.dump_after
        or parsed.json
        or parsed.jobs > 1
    )
    status = 0
    files: list[str | tuple[str, bytes]] = []
    for target in parsed.targets:
        try:
            if by_core:
                files.append(_file(target))
            elif _is_for_core(target):
                status |= _decompile([_file(target)], parsed, heading=len(parsed.targets) > 1)
            else:
                source = depyf.decompile(_code(target))
                if len(parsed.targets) > 1:
                    print(f"# {target}")
                print(source.rstrip("\n"))
        except (OSError, ValueError, SyntaxError, ImportError, EOFError, TypeError) as error:
            print(f"depyf: {target}: {error}", file=sys.stderr)
            status = 1
    return status | _decompile(files, parsed) if files else status


def _decompile(files: list[str | tuple[str, bytes]], parsed: argparse.Namespace, *, heading: bool = False) -> int:
    if heading and not (isinstance(files[0], str) and Path(files[0]).is_dir()):
        print(f"# {files[0] if isinstance(files[0], str) else files[0][0]}")
    return _core.decompile_files(
        files,
        sys.stdout.write,
        sys.stderr.write,
        output=parsed.output,
        jobs=parsed.jobs,
        check=parsed.check,
        show=parsed.show,
        stop_after=parsed.stop_after,
        dump_after=parsed.dump_after,
        force=parsed.force,
        json=parsed.json,
        quiet=parsed.quiet or heading,
    )


def _is_for_core(target: str) -> bool:
    path = Path(target)
    if target == "-" or path.is_dir() or path.suffix in _ARCHIVES:
        return True
    if path.suffix != ".pyc" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) != importlib.util.MAGIC_NUMBER


def _file(target: str) -> str | tuple[str, bytes]:
    """Returns a target in the form that the C++ core accepts: a path, or a pair of a name and the bytes of a .pyc
    file."""
    if target == "-":
        return "-", sys.stdin.buffer.read()
    path = Path(target)
    if path.is_dir() or path.suffix == ".pyc" or path.suffix in _ARCHIVES:
        return os.fspath(path)
    return target, importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(_code(target))


def _code(target: str) -> types.CodeType:
    """Returns the code object that a target names.

    Raises:
        ValueError, OSError, SyntaxError, ImportError, EOFError, TypeError: the target does not exist, or it cannot be
            read.
    """
    where, _, function = target.partition(":")
    code = _code_of_file(Path(where)) if Path(where).is_file() else _code_of_module(where)
    if not function:
        return code
    for name, candidate in _functions(code):
        if name == function:
            return candidate
    raise ValueError(f"{where} has no function {function}")


def _code_of_file(path: Path) -> types.CodeType:
    data = path.read_bytes()
    if path.suffix != ".pyc":
        return compile(data, str(path), "exec", dont_inherit=True)
    if data[:4] != importlib.util.MAGIC_NUMBER:
        raise ValueError(
            "another version of Python compiled this file, so no single function can be selected; name only the file"
        )
    code = marshal.loads(data[16:])
    if not isinstance(code, types.CodeType):
        raise ValueError("the file contains no code object")
    return code


def _code_of_module(name: str) -> types.CodeType:
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:
        spec = None
    if spec is None:
        raise ValueError("there is neither a file nor a module with this name")
    get_code = getattr(spec.loader, "get_code", None)
    code = get_code(name) if get_code is not None else None
    if not isinstance(code, types.CodeType):
        raise ValueError("the module has no Python code that can be decompiled")
    return code


def _functions(code: types.CodeType, prefix: str = "") -> Iterator[tuple[str, types.CodeType]]:
    """Yields (qualified name without `<locals>`, code object) of each function and class in a module's code."""
    for const in code.co_consts:
        if type(const) is types.CodeType:
            yield prefix + const.co_name, const
            yield from _functions(const, prefix + const.co_name + ".")
