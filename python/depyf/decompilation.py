"""A code object with its source, the code that the source compiles to, and the proof that both code objects are
equivalent."""

from __future__ import annotations

import os
import types
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from depyf import _core, lifetimes, names
from depyf.compat import at_work
from depyf.proof import NOTHING, Assumptions, Proof, assumptions_of, prove
from depyf.recompile import compile_back

__all__ = ["PROVED", "STYLES", "Decompilation", "decompile", "describe", "type_name"]

PROVED = "# proved equivalent to the bytecode"
"""The comment with which source begins if it is proved equivalent to its bytecode."""
# Maps each requested style to the styles that are tried one after the other, until the source in a style is proved
# equivalent to the bytecode.
_FORMS = {"readable": ("readable", "plain", "exact"), "exact": ("exact", "plain")}
STYLES = ("readable", "exact")
# The maximum number of rounds in which statements that release values are added to the source; after each round, the
# proof lists the values that the source still keeps alive too long.
_RELEASES_MAX = 6


@dataclass(frozen=True)
class Decompilation:
    """The result of decompiling one code object.

    Only source that is `proved` and that keeps no value alive longer than the bytecode does (`keeps` is empty) may run
    in place of the code object.
    """

    original: types.CodeType
    """The code object that was decompiled."""
    source: str
    """Python source, whose first lines are comments that state the result of the proof and explain the constants
    without a literal."""
    style: str
    """The style of `source`: "readable", "exact", or "plain", which is readable without folding. The style differs from
    the requested one if the source in the requested style could not be proved."""
    level: str
    """The form of `source`: "structured", "state machine" (a loop that executes block after block) or "stub" (a body
    that only raises an exception)."""
    code: types.CodeType | None
    """The code that `source` compiles to, which can replace `original` (see `compile_like`); None if `source` does not
    compile."""
    proof: Proof | None
    """The proof that `original` and `code` are equivalent; None if there is no `code`."""
    reason: str
    """One line with the place and the reason why the source is not proved; empty if it is proved."""
    lines: list[tuple[int, int]] = field(repr=False)
    """Pairs of a line of `source`, counted from 1, and the byte offset of an instruction of this line, in the order of
    the source."""
    head: int = field(default=0, repr=False)
    """The number of comment lines at the head of `source`."""
    keeps: str = ""
    """One line on the values that the source keeps alive longer than the bytecode does; empty if there are none."""
    assumptions: Assumptions = field(default=NOTHING, repr=False)
    """The assumptions on which the proof relies."""

    @property
    def proved(self) -> bool:
        """True if the source is proved to do what the bytecode does."""
        return not self.reason

    @property
    def can_run(self) -> bool:
        """True if `code` may run in the place of `original`: `code` does the same, and keeps no value alive longer than
        `original`."""
        return not self.reason and not self.keeps

    @property
    def body(self) -> str:
        """`source` without the comments at its head."""
        return self.source.split("\n", self.head)[-1]

    def named(self, name: str) -> Decompilation:
        """Returns the decompilation with another name for the function in its source; the proof stays valid, because it
        does not compare names of functions."""
        same = _decompilation(self.original, name, self.style, self.assumptions)
        return replace(self, source=same.source, lines=same.lines, head=same.head)

    def compile_text(self, text: str, filename: str) -> types.CodeType | None:
        """Compiles a text that contains `source`, such as a file of a dump, so that the positions in the code are those
        of the file.

        Returns None if the source is not proved, or keeps values alive longer than the bytecode, because such source
        must not run.
        """
        if not self.can_run:
            return None
        code, proof, reason = _check(text, self.original, filename, self.assumptions)
        return None if reason or (proof is not None and proof.kept) else code


def decompile(
    code: types.CodeType, *, name: str | None = None, style: str | None = None, standalone: bool = False
) -> Decompilation:
    """Decompiles a code object, compiles the source back, and proves that both code objects do the same.

    If the source in the requested style is not proved, other styles are tried. If no style results in proved source,
    the source in the requested style is returned, and its first line states that it is not proved. For code from
    Dynamo, source that keeps values alive longer than the bytecode does is returned only if no style results in source
    without this defect. A comment at the head of the source states which values the source keeps alive longer than the
    bytecode does.

    Args:
        code: the code object to decompile.
        name: the name for the function in the source; None means the function's own name.
        style: one of `STYLES`; None means "readable", or "exact" if the environment has `DEPYF_REMOVE_TEMP=0`, with
            which the original depyf kept its temporaries.
        standalone: if true, the source binds the function's free variables in an enclosing function, and imports the
            features of `__future__` with which the function was compiled.

    Raises:
        ValueError: the style is unknown.
    """
    if style is None:
        style = "exact" if os.environ.get("DEPYF_REMOVE_TEMP") == "0" else "readable"
    if style not in STYLES:
        raise ValueError(f"unknown style {style!r}: the styles are {' and '.join(map(repr, STYLES))}")
    assumptions = assumptions_of(code)
    results = []
    for form in _FORMS[style]:
        result = _decompilation(code, name, form, assumptions, standalone=standalone)
        if result.can_run or (result.proved and not assumptions.hooked):
            return result
        results.append(result)
    return next((result for result in results if result.proved), results[0])


def without_encoding(comment: str) -> str:
    """Returns a comment changed so that it cannot declare an encoding, as "coding: x" would in the first two lines of a
    file (PEP 263)."""
    return comment.replace("coding:", "coding :").replace("coding=", "coding =")


def _decompilation(
    code: types.CodeType, name: str | None, style: str, assumptions: Assumptions, *, standalone: bool = False
) -> Decompilation:
    parameters = at_work.parameters(code)
    result = _decompile(code, name, style, assumptions, parameters=parameters, standalone=standalone)
    checked = _Checked(result.source, list(range(1, result.source.count("\n") + 2)), code, assumptions)
    if assumptions.hooked:  # Source of other code than Dynamo's gets no statements that its author did not write.
        short = _core.short_names(code)
        checked = checked.released({short.get(full, full): given for full, given in parameters.items()})
    keeps = checked.keeps
    head = [f"# not proved: {checked.reason}" if checked.reason else PROVED]
    head += [f"# keeps values alive longer than the bytecode: {keeps}"] if keeps else []
    if assumptions.outputs:
        head += [f"# {sentence}" for sentence in assumptions.in_words(_core.short_names(code))]
    head += [f"# {const}: {describe(names.constant_at(code, path))}" for const, path in result.constants.items()]
    head += [f"# not exact: {line}" for note in result.notes for line in note.splitlines()]
    head = [without_encoding(line) for line in head]
    new_lines = {origin: line for line, origin in enumerate(checked.origins, len(head) + 1) if origin}
    return Decompilation(
        code,
        "\n".join([*head, checked.source]),
        style,
        result.level,
        checked.code,
        checked.proof,
        checked.reason,
        [(new_lines[line], offset) for line, offset in result.lines],
        len(head),
        keeps,
        assumptions,
    )


def _decompile(
    code: types.CodeType,
    name: str | None,
    style: str,
    assumptions: Assumptions,
    *,
    parameters: Mapping[str, tuple[str, ...]],
    standalone: bool,
) -> _core.Decompiled:
    """Decompiles a code object in one style; `decompile` and `at_work.parameters` describe the arguments."""
    return _core.decompile(
        code,
        name=name,
        style=style,
        parameters={function: list(given) for function, given in parameters.items()},
        installed=set(assumptions.installed),
        outputs={function: list(items) for function, items in assumptions.outputs.items()},
        short_names=True,
        standalone=standalone,
    )


class _Checked:
    """A source with the code that it compiles to and the proof that this code is equivalent to the original code."""

    def __init__(self, source: str, origins: list[int], original: types.CodeType, assumptions: Assumptions) -> None:
        self.source = source
        self.origins = origins
        """For each line of `source`, its number in the source before statements were added; 0 for an added line."""
        self._original = original
        self._assumptions = assumptions
        self.code, self.proof, self.reason = _check(source, original, None, assumptions)

    @property
    def keeps(self) -> str:
        """Returns one line that lists the values that the source keeps alive longer than the bytecode does; "" if there
        are none."""
        kept = [] if self.proof is None or self.reason else self.proof.kept
        locals_ = {value.local or "the value stack": value.line for value in reversed(kept)}
        return ", ".join(f"{local} (line {line})" for local, line in reversed(locals_.items()))

    def released(self, parameters: Mapping[str, tuple[str, ...]]) -> _Checked:
        """Returns the source with added statements that release the values that the source keeps alive too long.
        Statements are added only as far as the resulting source is proved."""
        best = self
        for to_none in (False, True):
            checked = self
            for _ in range(_RELEASES_MAX):
                if checked.reason or checked.proof is None or not checked.proof.kept:
                    break
                edited = lifetimes.released(checked.source, checked.proof.kept, parameters, to_none=to_none)
                if edited is None:
                    break
                origins = [checked.origins[line - 1] if line else 0 for line in edited.origins]
                checked = _Checked(edited.source, origins, self._original, self._assumptions)
            if not checked.reason and len(checked.keeps) < len(best.keeps):
                best = checked
            if not best.keeps:
                break
        return best


def _check(
    source: str, code: types.CodeType, filename: str | None, assumptions: Assumptions = NOTHING
) -> tuple[types.CodeType | None, Proof | None, str]:
    """Returns the compiled source or None, the proof or None, and the reason why the source is not proved ("" if it is
    proved). `_check` never raises an exception, because the user's program must go on."""
    try:
        back = compile_back(source, code, filename=filename)
    except Exception as error:  # Compiling can raise any error, such as RecursionError or MemoryError.
        return None, None, _one_line(f"the source does not compile back: {type(error).__name__}: {error}")
    try:
        proof = prove(code, back, lifetimes=False, assumptions=assumptions)
    except Exception as error:
        return back, None, _one_line(f"the proof failed: {type(error).__name__}: {error}")
    return back, proof, "" if proof else _one_line(str(proof).removeprefix("<not proved: ").removesuffix(">"))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _class_name(kind: type) -> str:
    """Returns a class's full name without calling its metaclass, which could execute any code."""
    return f"{type.__getattribute__(kind, '__module__')}.{type.__getattribute__(kind, '__qualname__')}"


def type_name(value: object) -> str:
    return f"an object of type {_class_name(type(value))}"


def describe(value: object) -> str:
    """Returns one line that describes a constant, without running any code of the constant (no repr, hash or
    comparison)."""
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
        name = types.ModuleType.__getattribute__(value, "__dict__").get("__name__")
        return f"the module {name}" if type(name) is str else "a module"
    if kind is types.CodeType:
        return f"the code of {value.co_name}"  # type: ignore[attr-defined]
    if kind in (list, set, frozenset, tuple):
        return f"a {kind.__name__} of {len(value)}"  # type: ignore[arg-type]
    if _class_name(kind) in ("torch.dtype", "torch.device", "torch.layout", "torch.memory_format"):
        return repr(value)
    return type_name(value)
