"""Dumped files that are the running code: which there are, and putting code that was compiled from one in its place.

Code takes the place of other code only where both are proved equivalent.
"""

from __future__ import annotations
import __future__

import types
from collections.abc import Iterator
from dataclasses import dataclass, field

from depyf import names
from depyf.compat import bytecode
from depyf.decompilation import Decompilation
from depyf.proof import Proof, prove
from depyf.recompile import qualname, signature

__all__ = [
    "RunningFile",
    "Swap",
    "files",
    "first_line",
    "from_decompilation",
    "functions_in",
    "like",
    "reason_against",
    "shifted",
]


@dataclass(frozen=True)
class RunningFile:
    """A file whose lines debuggers stop at."""

    path: str
    kind: str
    """"transformed code", "Captured_Graph", "Forward_graph", "Backward_graph" or "kernel"."""
    direction: str | None
    """"forward" or "backward", where that has a meaning."""
    function: str
    """The user's function, or the resume function, that it was made for."""
    compile_id: str
    first_line: int
    """The first line that does something."""


files: dict[str, RunningFile] = {}
"""Path -> what runs from there. The name of the file that a code object tells leads to its entry."""


@dataclass
class Swap:
    """Functions whose code is to be that of a file, or is."""

    pairs: list[tuple[types.FunctionType, types.CodeType]]
    before: list[tuple[types.FunctionType, types.CodeType]] = field(default_factory=list)

    def do(self, path: str) -> None:
        """Puts the code in place, under the file's name."""
        for function, code in self.pairs:
            self.before.append((function, function.__code__))
            function.__code__ = named(code, path)

    def again(self, function: types.FunctionType | None) -> Swap | None:
        """The same for another function that has the code that the one function of this had; None where it has other code."""
        if len(self.pairs) != 1 or not self.before or function is None or function.__code__ != self.before[0][1]:
            return None
        return Swap([(function, self.pairs[0][1])])

    def undo(self) -> None:
        """Puts the code back that was there."""
        while self.before:
            function, code = self.before.pop()
            function.__code__ = code


def from_decompilation(result: Decompilation, text: str, path: str) -> types.CodeType | None:
    """Returns code that can run in place of what was decompiled, compiled from a file's text; None if that is not proved.

    Functions that it makes keep the code objects that they have: these are the user's own, of the user's files, and
    Dynamo finds what it compiled of a function by its code object. Where one cannot keep its own, there is no code.
    """
    moved = _moved(result, text, path)
    code = moved or result.compile_text(text, path)
    if code is None:
        return None
    if not _variables(result.original) <= _variables(code):
        return None  # Dynamo of PyTorch 2.2 puts the values of a frame in place by name
    return _with_nested(code, result.original, None if moved is None else result.proof)


def _moved(result: Decompilation, text: str, path: str) -> types.CodeType | None:
    """The code that was proved, with its positions in a text that ends with the same source; None where that does not."""
    body = result.body.rstrip("\n") + "\n"
    if result.code is None or not result.proved or not text.endswith(f"\n{body}"):
        return None
    return named(shifted(result.code, text.count("\n", 0, len(text) - len(body))), path)


def _variables(code: types.CodeType) -> set[str]:
    return {*code.co_varnames, *code.co_cellvars, *code.co_freevars}


def _with_nested(code: types.CodeType, original: types.CodeType, proof: Proof | None) -> types.CodeType | None:
    """Returns `code` with the nested code objects of `original` in place of those that the proof pairs with them; None if
    the result would not do the same, or if two of the original's take the part of the same one.

    Code that no execution reaches, which the proof pairs with nothing, stays as it is.
    """
    if not any(type(const) is types.CodeType for const in code.co_consts):
        return code
    if proof is None:
        proof = prove(original, code)
    kept: dict[int, types.CodeType] = {}
    for index_in_original, index in proof.nested:
        own = original.co_consts[index_in_original]
        if kept.setdefault(index, own) is not own:
            return None
    result = bytecode.with_nested(code, kept)
    return result if prove(original, result) else None


def functions_in(code: types.CodeType, prefix: str = "") -> Iterator[tuple[str, types.CodeType]]:
    """(qualified name, code) of the functions and methods that a module's or class's code defines itself, in order."""
    for const in code.co_consts:
        if type(const) is not types.CodeType:
            continue
        if _is_class_body(const):
            yield from functions_in(const, f"{prefix}{const.co_name}.")
        else:
            yield prefix + const.co_name, const


def _is_class_body(code: types.CodeType) -> bool:
    """Is it the body of a class that a module's or a class's code holds?"""
    return not code.co_flags & 0x3  # CO_OPTIMIZED, CO_NEWLOCALS


def reason_against(code: types.CodeType, original: types.CodeType) -> str:
    """Why `code` may not run in place of `original`; empty where it may. Never raises."""
    if signature(code) != signature(original) or code.co_freevars != original.co_freevars:
        return f"the arguments differ: {signature(code)} instead of {signature(original)}"
    try:
        proof = prove(original, code)
    except Exception as error:
        return f"the proof failed: {type(error).__name__}: {error}"
    return "" if proof else f"not proved: {proof.reason}"


def named(code: types.CodeType, path: str) -> types.CodeType:
    """`code`, and what is of the same file in it, under the name of another file."""
    old = code.co_filename
    return names.map_codes(code, lambda one: one.replace(co_filename=path) if one.co_filename == old else one)


def like(code: types.CodeType, other: types.CodeType) -> types.CodeType:
    """A function's code under the qualified name of another's, and without the mark of `from __future__ import annotations`
    if the other has it not: annotations are no part of a function's code."""
    mark = __future__.annotations.compiler_flag
    flags = code.co_flags & ~mark | other.co_flags & mark
    return code.replace(co_flags=flags, **qualname(getattr(other, "co_qualname", "")))


def shifted(code: types.CodeType, lines: int) -> types.CodeType:
    """`code`, and what is of the same file in it, that many lines further down."""
    file = code.co_filename
    return names.map_codes(
        code,
        lambda one: one.replace(co_firstlineno=one.co_firstlineno + lines) if one.co_filename == file else one,
    )


def first_line(code: types.CodeType) -> int:
    """The first line of a function's code that does something."""
    rows = [line for _, _, line in code.co_lines() if line is not None and line > code.co_firstlineno]
    return min(rows, default=code.co_firstlineno)
