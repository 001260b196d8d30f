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
from depyf import program

_EXAMPLES = """\
examples:
  depyf decompile json.decoder:JSONDecoder.decode     a method of a module
  depyf decompile script.py:main script.py:helper     functions of a file
  depyf decompile __pycache__/script.cpython-311.pyc  all of a compiled file
"""

_EDIT_EXAMPLES = """\
examples:
  depyf edit train.py:Model.forward --file entry.py         run train.py, write an entry
  depyf edit train.py:Model.forward --apply entry.py --then 'main()'
                                                            run it, register the edited file, go on
  depyf edit train.py:Model.forward --editor --then 'main()'
                                                            all in one, with $EDITOR in between
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
    edit = commands.add_parser(
        "edit",
        help="run a program, and edit a cache entry that Dynamo made meanwhile",
        description="Runs a program, writes source and guards of a cache entry as one file, and registers the edited file.",
        epilog=_EDIT_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_edit_arguments(edit)
    run = commands.add_parser(
        "run",
        help="run a program under prepare_debug",
        description="Runs a program as python would, dumps what torch.compile makes in it, and prints a summary at the "
        "end (to standard error). The exit status is the program's.",
    )
    run.add_argument(
        "-o", metavar="DIR", default=program.DIRECTORY, help=f"of the dump; {program.DIRECTORY} if not given"
    )
    run.add_argument("-m", action="store_true", dest="module", help="the program is a module's name, as for python -m")
    run.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="SCRIPT [ARG...]", help="the script, and its arguments"
    )
    explain = commands.add_parser("explain", help="print the summary of a finished dump")
    explain.add_argument("directory", type=Path, metavar="DIR", help="that prepare_debug or depyf run wrote to")
    parsed = parser.parse_args(arguments)
    if parsed.command == "run":
        if not parsed.program:
            run.error("no program is given")
        try:
            return program.run(parsed.program, module=parsed.module, directory=parsed.o)
        except (OSError, SyntaxError) as error:
            print(f"depyf: {parsed.program[0]}: {error}", file=sys.stderr)
            return 1
    if parsed.command == "explain":
        try:
            print(program.summary(parsed.directory))
        except (OSError, ValueError) as error:
            print(f"depyf: {parsed.directory}: {error}", file=sys.stderr)
            return 1
        return 0
    if parsed.command == "edit":
        from depyf.toolkit import command

        return command.run(parsed)
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


def _add_edit_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares what the command takes."""
    parser.add_argument(
        "target", metavar="TARGET", help="FILE.py:FUNCTION or MODULE:FUNCTION; a function, method, module or result"
    )
    parser.add_argument("arguments", nargs="*", metavar="ARG", help="what the program gets in sys.argv")
    parser.add_argument("--first", metavar="CODE", help="run after the program, so that something is compiled")
    parser.add_argument("--entry", type=int, metavar="N", help="which entry, in Dynamo's order; 0 if not given")
    parser.add_argument("--file", type=Path, metavar="FILE", help="where the entry is written")
    parser.add_argument("--editor", action="store_true", help="open it in $EDITOR, and register what comes back")
    parser.add_argument("--apply", type=Path, metavar="FILE", help="register this file; nothing is written")
    parser.add_argument("--then", metavar="CODE", help="run at the end; the value of an expression is printed")


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
