"""Replaces functions of output code by copies that open a profiler range around each kernel and library call.

For example, the statement `cpp_fused_gelu_0(arg0, buf1)` becomes the body of `with open_range("depyf:17"):`. One more
range encloses the whole body of the copy, so that allocations and checks between the kernel calls are measured, too. A
copy of a function has the source positions of the function that it replaces.
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
"""The approximate number of ranges that PyTorch itself records in an average call of a kernel or library function."""


@dataclass
class Site:
    """A place in output code that one range measures: a statement that calls a kernel or library function, or a whole
    function."""

    file: str
    """The file that Inductor wrote the output code to, even if code from another file runs in its place."""
    line: int
    callee: str
    """The kernel or library function that the measured statement calls; "" if a whole function is measured."""


@dataclass
class Substitutes:
    """The functions of output code that run as copies with ranges. `put` replaces the code of a function by a copy with
    ranges, and `take_away` puts the original code back."""

    count: Callable[[int], None]
    """Is called at the beginning of each call of a function with ranges, with the approximate number of ranges that the
    call will record."""
    sites: list[Site] = field(default_factory=list)
    """The places in output code that the ranges measure: the range with the name `depyf:N` measures `sites[N]`."""
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
        """From now on, if the code of a function that runs with ranges is replaced, ranges are put into the new code,
        too. Returns a function that ends the effect of `follow`."""

        def again(function: types.FunctionType) -> None:
            if function in self._put:
                self.put(function)

        instrumented.listeners.append(again)
        return lambda: instrumented.listeners.remove(again)

    def take_away(self) -> None:
        """Puts the code without ranges back into all functions that run with ranges."""
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
    """Returns the syntax tree of the first function in `file` that has the name `name`. If `line` is given, only a
    function whose definition begins at `line` is accepted.

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
    """Returns the line numbers of the calls of kernels and libraries in a function, in the order of the calls."""
    lines: list[int] = []

    def note(statement: ast.stmt, callee: str) -> list[ast.stmt]:
        lines.append(statement.lineno)
        return [statement]

    output_statements.replaced(definition.body, note)
    return lines
