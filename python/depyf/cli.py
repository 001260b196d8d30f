"""The command `depyf`, also `python -m depyf`."""

from __future__ import annotations

import argparse
import importlib.util
import marshal
import sys
import types
from collections.abc import Sequence
from pathlib import Path

import depyf

_EXAMPLES = """\
examples:
  depyf decompile json.decoder:JSONDecoder.decode     a method of a module
  depyf decompile script.py:main script.py:helper     functions of a file
  depyf decompile __pycache__/script.cpython-311.pyc  all of a compiled file
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit status: 0, or 1 if a target could not be found or read."""
    parser = argparse.ArgumentParser(prog="depyf", description="See what torch.compile makes, as Python.")
    parser.add_argument("--version", action="version", version=f"depyf {depyf.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    decompile = commands.add_parser(
        "decompile",
        help="print Python source for compiled code",
        description="Prints Python source for the code of modules, files and the functions in them. Runs none of it.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    decompile.add_argument(
        "targets",
        nargs="+",
        metavar="TARGET",
        help="a module or a file (.py, or .pyc of this Python); one function of it with :FUNCTION or :CLASS.METHOD",
    )
    parsed = parser.parse_args(arguments)
    failed = False
    for target in parsed.targets:
        try:
            source = depyf.decompile(_code(target))
        except (OSError, ValueError, SyntaxError, ImportError, EOFError, TypeError) as error:
            print(f"depyf: {target}: {error}", file=sys.stderr)
            failed = True
            continue
        if len(parsed.targets) > 1:
            print(f"# {target}")
        print(source.rstrip("\n"))
    return int(failed)


def _code(target: str) -> types.CodeType:
    """The code object that a target names.

    Raises:
        ValueError, OSError, SyntaxError, ImportError, EOFError, TypeError: there is none, or it cannot be read.
    """
    where, _, function = target.partition(":")
    code = _code_of_file(Path(where)) if Path(where).is_file() else _code_of_module(where)
    if not function:
        return code
    found = _functions(code)
    if function not in found:
        raise ValueError(f"no function {function} in {where}")
    return found[function]


def _code_of_file(path: Path) -> types.CodeType:
    data = path.read_bytes()
    if path.suffix != ".pyc":
        return compile(data, str(path), "exec", dont_inherit=True)
    if data[:4] != importlib.util.MAGIC_NUMBER:
        raise ValueError("made by another version of Python: depyf-decompile reads those of every version")
    code = marshal.loads(data[16:])
    if not isinstance(code, types.CodeType):
        raise ValueError("holds no code")
    return code


def _code_of_module(name: str) -> types.CodeType:
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:
        spec = None
    if spec is None:
        raise ValueError("neither a file nor a module")
    get_code = getattr(spec.loader, "get_code", None)
    code = get_code(name) if get_code is not None else None
    if not isinstance(code, types.CodeType):
        raise ValueError("the module has no Python code")
    return code


def _functions(code: types.CodeType) -> dict[str, types.CodeType]:
    """The functions and classes in a module's code, by qualified name without `<locals>`; of equal names the first."""
    found: dict[str, types.CodeType] = {}

    def visit(one: types.CodeType, prefix: str) -> None:
        for const in one.co_consts:
            if type(const) is types.CodeType:
                name = prefix + const.co_name
                found.setdefault(name, const)
                visit(const, name + ".")

    visit(code, "")
    return found


if __name__ == "__main__":
    sys.exit(main())
