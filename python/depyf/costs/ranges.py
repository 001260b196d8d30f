"""Replaces functions of output code by copies that open a profiler range around each kernel and library call.

    cpp_fused_gelu_0(arg0, buf1)      becomes      with open_range("depyf:17"):
                                                       cpp_fused_gelu_0(arg0, buf1)

A further range encloses the whole body, so that allocations and checks between the calls are measured too. The source
positions of a copy are those of the replaced function.
"""

from __future__ import annotations

import ast
import linecache
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from depyf import _core, instrumented, output_statements
from depyf.costs import recording

PREFIX = "depyf:"
_OPEN, _COUNT = "_depyf_open_range", "_depyf_count"
_RANGES_OF_A_CALL = 6
"""The approximate number of ranges that PyTorch itself records in an average call of a kernel or library."""


@dataclass
class Site:
    """A statement of output code that has a range, or a whole function of output code."""

    file: str
    """Inductor's file of the output code, even if another file runs in its place."""
    line: int
    callee: str
    """The kernel or library function that the statement calls; "" if the site is a whole function."""


@dataclass
class Substitutes:
    """The functions of output code that run with ranges, each from `put` to `take_away`."""

    count: Callable[[int], None]
    """Receives the approximate number of ranges that a call of a function is about to record."""
    sites: list[Site] = field(default_factory=list)
    """The sites of all ranges: the range `depyf:N` belongs to `sites[N]`."""
    without: dict[str, str] = field(default_factory=dict)
    """Maps a file to the reason why its functions run without ranges."""
    _put: dict[types.FunctionType, types.CodeType] = field(default_factory=dict)

    def put(self, function: types.FunctionType) -> None:
        """Replaces the code of a function by a copy with ranges, unless the function already runs with ranges."""
        before = function.__code__
        if instrumented.plain(function) is not before:
            return
        file = str(function.__globals__.get("__file__"))
        try:
            code = self._with_ranges(before, file)
        except (OSError, SyntaxError, ValueError) as error:
            self.without[file] = str(error)
            return
        instrumented.note(code, before)
        self._put[function] = function.__code__ = code

    def follow(self) -> Callable[[], None]:
        """Adds ranges anew whenever other code replaces the code of a function with ranges, until the returned function
        is called."""

        def again(function: types.FunctionType) -> None:
            if function in self._put:
                self.put(function)

        instrumented.listeners.append(again)
        return lambda: instrumented.listeners.remove(again)

    def take_away(self) -> None:
        """Replaces the code with ranges of all functions by the code without ranges."""
        for function, code in self._put.items():
            if function.__code__ is code:
                function.__code__ = instrumented.plain(function)
        self._put.clear()

    def _with_ranges(self, code: types.CodeType, file: str) -> types.CodeType:
        definition = _definition(code)
        lines = _lines_of_calls(definition if code.co_filename == file else _definition_in(file, code.co_name))
        first = len(self.sites)
        self.sites.append(Site(file, next(iter(lines), code.co_firstlineno), ""))

        def ranged(statement: ast.stmt, callee: str) -> list[ast.stmt]:
            number = len(self.sites) - first - 1
            line = lines[number] if number < len(lines) else 0
            self.sites.append(Site(file, line, callee))
            return [_range(len(self.sites) - 1, [statement])]

        body = output_statements.replaced(definition.body, ranged)
        number = len(self.sites) - first
        [counting] = ast.parse(f"{_COUNT}({number * _RANGES_OF_A_CALL})").body
        definition.body = [ast.increment_lineno(counting, definition.lineno - 1), _range(first, body)]
        module = ast.fix_missing_locations(ast.Module([definition], []))
        compiled = compile(module, code.co_filename, "exec", dont_inherit=True)
        with_ranges = next(const for const in compiled.co_consts if isinstance(const, types.CodeType))
        if (
            with_ranges.co_freevars != code.co_freevars
            or with_ranges.co_varnames[: with_ranges.co_argcount] != code.co_varnames[: code.co_argcount]
        ):
            raise ValueError(f"{code.co_filename} does not contain the function that runs")
        bound: dict[str, Any] = {_OPEN: recording.open_range(), _COUNT: self.count}
        return _core.named_like(_core.bind_names(with_ranges, bound), code)


def _range(site: int, body: list[ast.stmt]) -> ast.With:
    opened = ast.Call(ast.Name(_OPEN, ast.Load()), [ast.Constant(f"{PREFIX}{site}")], [])
    return ast.copy_location(ast.With([ast.withitem(opened)], body), body[0])


def _definition(code: types.CodeType) -> ast.FunctionDef:
    """Returns the syntax tree of a function, from the source file of its code object.

    Raises:
        OSError, SyntaxError, ValueError: the file cannot be read, or does not contain the function.
    """
    return _definition_in(code.co_filename, code.co_name, code.co_firstlineno)


def _definition_in(file: str, name: str, line: int | None = None) -> ast.FunctionDef:
    """Returns the syntax tree of the first function with a name in a file; if `line` is given, of the function at this
    line.

    Raises:
        OSError, SyntaxError, ValueError: the file cannot be read, or does not contain the function.
    """
    linecache.checkcache(file)
    text = "".join(linecache.getlines(file))
    if not text:
        raise OSError(f"{file} cannot be read")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == name and line in (None, node.lineno):
            return node
    raise ValueError(f"{file} does not contain the function that runs")


def _lines_of_calls(definition: ast.FunctionDef) -> list[int]:
    """Returns the lines of the calls of kernels and libraries in a function, in their order."""
    lines: list[int] = []

    def note(statement: ast.stmt, callee: str) -> list[ast.stmt]:
        lines.append(statement.lineno)
        return [statement]

    output_statements.replaced(definition.body, note)
    return lines
