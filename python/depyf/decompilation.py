"""A code object as source, and whether that is proved: source, what it compiles back to, and the proof, in one object."""

from __future__ import annotations

import os
import types
from dataclasses import dataclass, field, replace
from typing import Any

from depyf import _core, names
from depyf.compat import dynamo
from depyf.proof import Proof, prove
from depyf.recompile import compile_back

__all__ = ["PROVED", "STYLES", "Decompilation", "decompile", "describe", "type_name"]

PROVED = "# proved equivalent to the bytecode"
"""The first line of a source that is proved."""
# What is tried for a style, in this order, until one is proved.
_FORMS = {"readable": ("readable", "plain", "exact"), "exact": ("exact", "plain")}
STYLES = ("readable", "exact")


@dataclass(frozen=True)
class Decompilation:
    """What decompiling one code object gave.

    Only what is `proved` may ever run in place of the code object.
    """

    original: types.CodeType
    """What was decompiled."""
    source: str
    """Python, with comments at its head: the result of the proof, and what the constants without a literal are."""
    style: str
    """How `source` is written: "readable", "exact", or "plain", which is readable without folding. Another one than was
    asked for where that could not be proved."""
    level: str
    """"structured", "state machine" or "stub"."""
    code: types.CodeType | None
    """`source` compiled back; it can stand in for `original` (see `compile_like`). None where it does not compile."""
    proof: Proof | None
    """Of `original` against `code`. None where there is no `code`."""
    reason: str
    """Why and where it is not proved, in one line; empty where it is."""
    lines: list[tuple[int, int]] = field(repr=False)
    """(line of `source`, from 1; offset of the bytecode in bytes), in order."""
    head: int = field(default=0, repr=False)
    """How many lines of `source` are the comments at its head."""

    @property
    def proved(self) -> bool:
        """Does the source do what the bytecode does?"""
        return not self.reason

    @property
    def body(self) -> str:
        """`source` without the comments at its head."""
        return self.source.split("\n", self.head)[-1]

    def named(self, name: str) -> Decompilation:
        """The same under another name of the function. The name is no part of what a proof compares."""
        return replace(self, source=_text(_decompile(self.original, name, self.style), self.original, self.reason)[0])

    def compile_text(self, text: str, filename: str) -> types.CodeType | None:
        """Compiles a text that holds `source`, a file of a dump for one, so that positions in the code are the file's.

        Returns None where the result is not proved: then it must not run.
        """
        if not self.proved:
            return None
        code, _, reason = _check(text, self.original, filename)
        return None if reason else code


def decompile(code: types.CodeType, *, name: str | None = None, style: str | None = None) -> Decompilation:
    """Decompiles a code object, compiles the source back, and proves that both do the same.

    Where readable source is not proved, exact source is tried; where nothing is proved, what was asked for is returned,
    and says so.

    Args:
        code: what to decompile.
        name: takes the place of the function's own name.
        style: one of `STYLES`; None is "readable", or "exact" where the environment has `DEPYF_REMOVE_TEMP=0`, by which
            the older tool kept its temporaries.

    Raises:
        ValueError: an unknown style.
    """
    if style is None:
        style = "exact" if os.environ.get("DEPYF_REMOVE_TEMP") == "0" else "readable"
    if style not in STYLES:
        raise ValueError(f"unknown style {style!r}: the styles are {' and '.join(map(repr, STYLES))}")
    first: Decompilation | None = None
    for form in _FORMS[style]:
        result = _decompilation(code, name, form)
        if result.proved:
            return result
        first = first or result
    assert first is not None
    return first


def _decompilation(code: types.CodeType, name: str | None, style: str) -> Decompilation:
    result = _decompile(code, name, style)
    back, proof, reason = _check(result.source, code, None)
    source, shift = _text(result, code, reason)
    lines = [(line + shift, offset) for line, offset in result.lines]
    return Decompilation(code, source, style, result.level, back, proof, reason, lines, shift)


def _decompile(code: types.CodeType, name: str | None, style: str) -> _core.Decompiled:
    short = names.short_names(code)
    parameters = {short.get(full, full): list(given) for full, given in dynamo.parameters(code).items()}
    return _core.decompile(names.rename(code, short), name=name, style=style, parameters=parameters)


def _check(source: str, code: types.CodeType, filename: str | None) -> tuple[types.CodeType | None, Proof | None, str]:
    """(the source compiled back, proof, why it is not proved). Never raises: the user's program must go on."""
    try:
        back = compile_back(source, code, filename=filename)
    except Exception as error:  # RecursionError, MemoryError and what compilers of other versions may raise
        return None, None, _one_line(f"the source does not compile back: {type(error).__name__}: {error}")
    try:
        proof = prove(code, back)
    except Exception as error:
        return back, None, _one_line(f"the proof failed: {type(error).__name__}: {error}")
    return back, proof, "" if proof else _one_line(str(proof).removeprefix("<not proved: ").removesuffix(">"))


def _text(result: _core.Decompiled, code: types.CodeType, reason: str) -> tuple[str, int]:
    """The source with its head, and how many lines that has."""
    head = [f"# not proved: {reason}" if reason else PROVED]
    head += [f"# {const}: {describe(names.constant_at(code, path))}" for const, path in result.constants.items()]
    head += [f"# not exact: {line}" for note in result.notes for line in note.splitlines()]
    return "\n".join([*head, result.source]), len(head)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _class_name(kind: type) -> str:
    """A class's full name, without asking its metaclass, which may be anything."""
    return f"{type.__getattribute__(kind, '__module__')}.{type.__getattribute__(kind, '__qualname__')}"


def type_name(thing: object) -> str:
    return f"an object of type {_class_name(type(thing))}"


def describe(value: object) -> str:
    """One line that says what a constant is. Runs no code of the object: no repr, hash or comparison."""
    kind = type(value)
    if kind is dict:
        table: dict[Any, Any] = value  # type: ignore[assignment]
        if all(type(key) is str for key in table) and type(table.get("__name__")) is str and "__builtins__" in table:
            return f"the globals of module {table['__name__']}"
        return f"a dict of {len(table)}"
    if kind is type:
        return f"the class {_class_name(value)}"  # type: ignore[arg-type]
    if kind is types.FunctionType:
        return f"the function {value.__module__}.{value.__qualname__}"  # type: ignore[attr-defined]
    if kind is types.BuiltinFunctionType:
        return f"the built-in function {value.__name__}"  # type: ignore[attr-defined]
    if kind is types.ModuleType:
        name = types.ModuleType.__getattribute__(value, "__dict__").get("__name__")  # type: ignore[arg-type]
        return f"the module {name}" if type(name) is str else "a module"
    if kind is types.CodeType:
        return f"the code of {value.co_name}"  # type: ignore[attr-defined]
    if kind in (list, set, frozenset, tuple):
        return f"a {kind.__name__} of {len(value)}"  # type: ignore[arg-type]
    if _class_name(kind) in ("torch.dtype", "torch.device", "torch.layout", "torch.memory_format"):
        return repr(value)
    return type_name(value)
