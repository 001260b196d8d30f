"""Decompile every code object of some modules and compile it back, each by itself.

    functions.py [--json FILE] [-j N] MODULE...       modules of the standard library

Functions (methods, nested ones, lambdas, comprehensions) are compiled back as stand-ins of the original by
depyf.compile_like, and functions and methods compared by compare.py. Code objects that no `def` can produce (lambdas,
comprehensions, bodies of modules and classes) are compiled only; `roundtrip.py` compares them within their module.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import inspect
import json
import sys
import sysconfig
import types
import warnings
from pathlib import Path

import compare
import depyf


def code_objects(code: types.CodeType):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from code_objects(const)


def judge(code: types.CodeType) -> tuple[str, str]:
    """Returns (verdict, reason). The verdict is raises, no-compile, differs, equal, or compiles (for code objects that
    are not compared)."""
    try:
        source = depyf.decompile(code)
    except BaseException as error:
        return "raises", f"{type(error).__name__}: {error}"
    try:
        if not code.co_flags & inspect.CO_NEWLOCALS:
            compile(source, code.co_filename, "exec", dont_inherit=True, flags=code.co_flags & 0x1000000)
            return "compiles", ""
        new = depyf.compile_like(source, code)
    except Exception as error:
        return "no-compile", f"{type(error).__name__}: {error}"
    if code.co_name.startswith("<"):
        return "compiles", ""
    compare.GRAPHS.clear()
    equal, _, reason, _ = compare.compare_code(code, new)
    return ("equal", "") if equal else ("differs", reason)


def module_source(name: str) -> Path:
    base = Path(sysconfig.get_path("stdlib"), *name.split("."))
    source = base / "__init__.py" if base.is_dir() else base.with_name(base.name + ".py")
    if not source.is_file():
        raise ValueError(f"{name} is no module of the standard library")
    return source


def run_module(name: str) -> list[dict]:
    """Returns one row for each code object of a module."""
    path = module_source(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(path.read_bytes(), path.name, "exec", dont_inherit=True, optimize=0)
        rows = []
        for one in code_objects(code):
            verdict, reason = judge(one)
            name_of = getattr(one, "co_qualname", one.co_name)
            rows.append(
                {"module": name, "name": name_of, "line": one.co_firstlineno, "verdict": verdict, "reason": reason}
            )
        return rows


def run(modules: list[str], jobs: int = 2) -> list[dict]:
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        return [row for rows in pool.map(run_module, modules, chunksize=1) for row in rows]


def summary(rows: list[dict]) -> str:
    count = collections.Counter(row["verdict"] for row in rows)
    compared = count["equal"] + count["differs"]
    share = 100 * count["equal"] / compared if compared else 0.0
    return (
        f"code objects {len(rows)}: raised {count['raises']}, did not compile {count['no-compile']}; "
        f"functions equal to the original {count['equal']} of {compared} ({share:.1f} %)"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write all results to this file")
    parser.add_argument("-j", type=int, default=2, help="run this number of processes (default: 2)")
    parser.add_argument("modules", nargs="+", help="a module of the standard library")
    args = parser.parse_args()
    rows = run(args.modules, args.j)
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1))
    for verdict in ("raises", "no-compile", "differs"):
        reasons = collections.Counter(row["reason"][:80] for row in rows if row["verdict"] == verdict)
        for reason, number in reasons.most_common(12):
            example = next(row for row in rows if row["verdict"] == verdict and row["reason"][:80] == reason)
            print(f"{verdict} {number}: {reason}  (such as {example['module']}:{example['line']} {example['name']})")
    print(summary(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
