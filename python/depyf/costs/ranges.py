"""Substitutes functions of output code by copies that open a range of the profiler around each kernel and library call.

    cpp_fused_gelu_0(arg0, buf1)      becomes      with open_range("depyf:17"):
                                                       cpp_fused_gelu_0(arg0, buf1)

The whole body stands in a range too, so that allocations and checks between the calls are seen. Positions stay those
of the file that ran before.
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
"""The number of ranges that PyTorch itself records in an average call of a kernel or library, about."""


@dataclass
class Site:
    """A statement of output code, or all of its function."""

    file: str
    """Inductor's file, also if another file runs in its place."""
    line: int
    callee: str
    """The kernel or library function; "" for the whole function."""


@dataclass
class Substitutes:
    """The functions that run with ranges, from `put` to `take_away`."""

    count: Callable[[int], None]
    """Is called with the number of ranges, about, that the call of a function is going to record."""
    sites: list[Site] = field(default_factory=list)
    """The range `depyf:N` belongs to the N-th site."""
    without: dict[str, str] = field(default_factory=dict)
    """File -> why its functions run without ranges."""
    _put: dict[types.FunctionType, types.CodeType] = field(default_factory=dict)

    def put(self, function: types.FunctionType) -> None:
        """Has a function run with ranges, unless it does so already."""
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
        """Puts ranges into code that replaces that of a function with ranges, until the function that it returns is
        called."""

        def again(function: types.FunctionType) -> None:
            if function in self._put:
                self.put(function)

        instrumented.listeners.append(again)
        return lambda: instrumented.listeners.remove(again)

    def take_away(self) -> None:
        """Has all functions run as they did before."""
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
    """Returns the definition of a function in the file that it runs from.

    Raises:
        OSError, SyntaxError, ValueError: the file cannot be read, or does not contain the function.
    """
    return _definition_in(code.co_filename, code.co_name, code.co_firstlineno)


def _definition_in(file: str, name: str, line: int | None = None) -> ast.FunctionDef:
    """Returns the first definition with a name in a file, at a line if one is given.

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
