"""Keeps track of the dumped files from which code runs, and replaces code by code compiled from a file.

Code replaces other code only if both code objects are proved equivalent.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Iterable, Iterator, Mapping

from depyf import _core, instrumented, weak
from depyf.compat import dynamo
from depyf.decompilation import Decompilation
from depyf.dumped_files import RunningFile, known
from depyf.proof import Proof, prove
from depyf.recompile import signature

__all__ = [
    "RunningFile",
    "Swap",
    "files",
    "first_line",
    "from_decompilation",
    "functions_in",
    "known",
    "reason_against",
]


class _Functions:
    """Represents the functions that run from one file. Only the entries of a table whose keys are the functions refer
    to a `_Functions` object, so the object is freed together with the last of the functions."""


class _Compiled:
    """Transformed code in Dynamo's cache. Dynamo's cache is searched on demand, because nothing reports that code is
    removed from it."""

    def __init__(self, original: types.CodeType, code: types.CodeType) -> None:
        self._original, self._code = weak.reference(original), weak.reference(code)
        self.holders: list[weak.Reference] = []
        """References to further objects that contain the code: cache entries that the user's program keeps, and
        registered copies of the code."""

    def is_called(self) -> bool:
        """True as long as the code can be called."""
        self.holders = [holder for holder in self.holders if holder() is not None]
        original, code = self._original(), self._code()
        return bool(self.holders) or (original is not None and code is not None and dynamo.is_in_cache(original, code))


class _Files(Mapping[str, RunningFile]):
    """Maps the path of each dumped file from which code runs to the file's description.

    A file that was announced with functions runs as long as one of these functions lives. A file from which transformed
    code runs counts as running as long as the transformed code can be called.
    """

    def __init__(self) -> None:
        self._files: dict[str, RunningFile] = {}
        self._functions: weak.Table[_Functions] = weak.Table()
        self._functions_of: dict[str, weak.Reference] = {}
        self._compiled: weak.Table[_Compiled] = weak.Table()
        self._compiled_of: dict[str, _Compiled] = {}

    def announce(self, file: RunningFile, function: types.FunctionType | None = None) -> None:
        """Records that a file runs. A file that is announced with functions runs as long as one of these functions
        lives."""
        if self._files.get(file.path) is not file:
            self.forget(file.path)
        self._files[file.path] = known[file.path] = file
        if function is not None:
            functions = self._functions_of.get(file.path, weak.NOTHING)() or _Functions()
            self._functions_of[file.path] = weak.reference(functions)
            self._functions.set(function, functions)

    def tie(self, paths: Iterable[str], original: types.CodeType, code: types.CodeType) -> None:
        """Records that the files at `paths` run only as long as Dynamo calls `code` in place of `original`."""
        compiled = self._compiled.get(code)
        if compiled is None:
            compiled = _Compiled(original, code)
            self._compiled.set(code, compiled)
        self._compiled_of.update(dict.fromkeys(paths, compiled))

    def hold(self, holder: object, code: types.CodeType) -> None:
        """Records that the files from which `code` runs also count as running as long as `holder` lives. `holder` is a
        cache entry, or a copy of the code."""
        compiled = self._compiled.get(code)
        if compiled is not None and holder is not code:
            compiled.holders.append(weak.reference(holder))
            if isinstance(holder, types.CodeType):
                self._compiled.set(holder, compiled)

    def forget(self, path: str) -> None:
        """Records that no code runs from a file any more."""
        for table in (self._files, self._functions_of, self._compiled_of):
            table.pop(path, None)

    def clear(self) -> None:
        """Forgets all files."""
        for path in list(self._files):
            self.forget(path)

    def __getitem__(self, path: str) -> RunningFile:
        file = self._files[path]
        functions, compiled = self._functions_of.get(path), self._compiled_of.get(path)
        if (functions is not None and functions() is None) or (compiled is not None and not compiled.is_called()):
            self.forget(path)
            raise KeyError(path)
        return file

    def __iter__(self) -> Iterator[str]:
        return (path for path in list(self._files) if path in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


files = _Files()
"""The dumped files from which code of this process runs, by path. `files` has no lock, because each write is one
assignment. A `prepare_debug` block that discards a dumped file clears the file's entry; a forked child continues with
its copy of `files`."""

Pair = tuple[types.FunctionType, types.CodeType]


class Swap:
    """Functions whose code is replaced by code compiled from a file. A `Swap` does not keep these functions alive."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self.pairs: list[tuple[weak.Reference, types.CodeType]] = [
            (weak.reference(function), code) for function, code in pairs
        ]
        self.before: list[tuple[weak.Reference, types.CodeType]] = []

    def _alive(self) -> Iterator[Pair]:
        for refers, code in self.pairs:
            function = refers()
            if function is not None:
                yield function, code

    def function(self, code: types.CodeType) -> types.FunctionType | None:
        """Returns the function whose code is replaced by `code`; None if the function was freed."""
        return next((function for function, its in self._alive() if its is code), None)

    def codes(self) -> dict[str, types.CodeType]:
        """Returns a dict from the qualified name of each function to the code that replaces the function's own code."""
        return {function.__qualname__: code for function, code in self._alive()}

    def do(self, path: str) -> None:
        """Replaces the code of each function by its new code, which gets the file name `path`."""
        for function, code in self._alive():
            self.before.append((weak.reference(function), instrumented.plain(function)))
            instrumented.replace(function, _core.moved(code, path))

    def again(self, function: types.FunctionType | None) -> Swap | None:
        """Returns a `Swap` of `function`, if this `Swap` has only one function, and the code of `function` equals the
        code that this function had before the first call of `do`; otherwise None."""
        if (
            len(self.pairs) != 1
            or not self.before
            or function is None
            or instrumented.plain(function) != self.before[0][1]
        ):
            return None
        return Swap([(function, self.pairs[0][1])])

    def undo(self) -> None:
        """Restores the code that each function had before the call of `do`."""
        while self.before:
            refers, code = self.before.pop()
            function = refers()
            if function is not None:
                instrumented.replace(function, code)


def from_decompilation(result: Decompilation, text: str, path: str) -> types.CodeType | None:
    """Returns code, compiled from a file's text, that can run in the place of the decompiled code; None if the
    equivalence of both code objects is not proved.

    Nested functions keep the code objects of the user's program, because Dynamo finds the compilations of a function by
    its code object. If a nested function cannot keep its code object, None is returned.
    """
    moved = _moved(result, text, path)
    code = moved or result.compile_text(text, path)
    if code is None:
        return None
    if not _variables(result.original) <= _variables(code):
        return None  # Dynamo of PyTorch 2.2 stores a frame's values by name, so each variable must exist.
    return _with_nested(code, result, None if moved is None else result.proof)


def _moved(result: Decompilation, text: str, path: str) -> types.CodeType | None:
    """Returns the proved code, moved to the lines that its source has at the end of `text`; None if `text` does not end
    with this source, or if the code may not run."""
    body = result.body.rstrip("\n") + "\n"
    if result.code is None or not result.can_run or not text.endswith(f"\n{body}"):
        return None
    return _core.moved(result.code, path, text.count("\n", 0, len(text) - len(body)))


def _variables(code: types.CodeType) -> set[str]:
    return {*code.co_varnames, *code.co_cellvars, *code.co_freevars}


def _with_nested(code: types.CodeType, decompiled: Decompilation, proof: Proof | None) -> types.CodeType | None:
    """Returns a copy of `code` in which each nested code object is replaced by the nested code object of the original
    that the proof pairs with it. Returns None if the result is not proved equivalent, or if two nested code objects of
    the original are paired with the same nested code object of `code`.

    Nested code that no execution reaches stays unchanged, because the proof pairs no other code with it.
    """
    original = decompiled.original
    if not any(type(const) is types.CodeType for const in code.co_consts):
        return code
    if proof is None:
        proof = prove(original, code, assumptions=decompiled.assumptions)
    kept: dict[int, types.CodeType] = {}
    for index_in_original, index in proof.nested:
        own = original.co_consts[index_in_original]
        if kept.setdefault(index, own) is not own:
            return None
    result = _core.with_nested(code, kept)
    return result if prove(original, result, assumptions=decompiled.assumptions) else None


def functions_in(code: types.CodeType, prefix: str = "") -> Iterator[tuple[str, types.CodeType]]:
    """Yields (qualified name, code) of each function and method that the code of a module or class defines, but not of
    functions inside of functions."""
    for const in code.co_consts:
        if type(const) is not types.CodeType:
            continue
        if _is_class_body(const):
            yield from functions_in(const, f"{prefix}{const.co_name}.")
        else:
            yield prefix + const.co_name, const


def _is_class_body(code: types.CodeType) -> bool:
    """True if a code object, nested in the code of a module or class, is the body of a class."""
    return not code.co_flags & 0x3  # CO_OPTIMIZED, CO_NEWLOCALS


def reason_against(code: types.CodeType, original: types.CodeType) -> str:
    """Returns the reason why `code` may not run in the place of `original`; "" if `code` may run. `reason_against`
    never raises an exception."""
    if signature(code) != signature(original) or code.co_freevars != original.co_freevars:
        return f"the arguments differ: {signature(code)} instead of {signature(original)}"
    try:
        proof = prove(original, code)
    except Exception as error:
        return f"the proof failed: {type(error).__name__}: {error}"
    return "" if proof else f"not proved: {proof.reason}"


def first_line(code: types.CodeType) -> int:
    """Returns the first line with bytecode behind the first line of a function; the first line of the function if no
    later line has bytecode."""
    first = code.co_firstlineno
    lines = filter(None, map(operator.itemgetter(2), code.co_lines()))  # A row without a line has None.
    return min(filter(first.__lt__, lines), default=first)
