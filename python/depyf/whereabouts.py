"""`depyf.here`: describes the compilation, guards and values at the place where a debugger has stopped, or at which the
program is."""

from __future__ import annotations

import ast
import sys
import types
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from depyf import names, running
from depyf.compat import ahead, dynamo
from depyf.compat.dynamo import Entry
from depyf.running import RunningFile

__all__ = ["Here", "here"]
_FEW = 10
"""The number of lines in the `repr` of `Here`, each of which has at most `_LINE` characters."""
_LINE = 200


@dataclass(frozen=True)
class Here:
    """The compilation that a place in running code belongs to."""

    function: str
    """The name of the user's function, or of the resume function, that was compiled."""
    compile_id: str | None
    file: str
    line: int
    entry: Entry | None
    """The cache entry in Dynamo's cache: transformed code, guards, compile id; None if the entry does not exist any
    more."""
    guards_held: bool | None
    """True if transformed code is on the call stack, because transformed code is called only if its guards hold; None
    if no transformed code is on the call stack, as in a backward."""
    guards_hold: bool | None
    """True if the guards would hold for the current locals of the transformed code's frame; None in graphs and kernels
    of AOTAutograd, which changes the grad mode around them."""
    guard_failure: str | None
    """The guard that would fail now, in Dynamo's own form; None if no guard would fail, or if `guards_hold` is None."""
    graph: RunningFile | None
    """The graph or kernel that is running, or that the transformed code calls."""
    inputs: dict[str, Any] = field(default_factory=dict)
    """The inputs of the running graph that still have values, by name."""
    outputs: dict[str, Any] = field(default_factory=dict)
    """The outputs of the running graph that are already computed, by the names of the variables in its return
    statement."""

    def __repr__(self) -> str:
        """Returns the description in a few lines, for the prompt of a debugger."""
        lines = str(self).splitlines()
        shown = [line if len(line) <= _LINE else f"{line[:_LINE]}..." for line in lines[:_FEW]]
        left = len(lines) - _FEW
        return "\n".join([*shown, f"and {left} more inputs and outputs: print shows them"] if left > 0 else shown)

    def __str__(self) -> str:
        guards = "; its guards held" if self.guards_held else ""
        if self.guards_hold is not None:
            guards += ", and hold" if self.guards_hold else f", and would fail now: {self.guard_failure}"
        lines = [f"compilation {self.compile_id} of {self.function}, at {self.file}:{self.line}{guards}"]
        if self.graph is not None:
            lines.append(f"graph: {self.graph.path}")
        for role, values in (("input", self.inputs), ("output", self.outputs)):
            lines += [f"{role} {name}: {_brief(value)}" for name, value in values.items()]
        return "\n".join(lines)


def here(frame: types.FrameType | None = None) -> Here | None:
    """Returns the compilation, cache entry, guards, graph inputs and outputs at a place in code that torch.compile
    generated.

    `here` can be called at a debugger's prompt, in a callback of `depyf.step`, or in code that compiled code calls.

    Args:
        frame: the frame at which the search begins; by default, the caller of `here`. `here` searches `frame`,
            the caller of `frame` and so on for the first frame that runs transformed code or code of a dumped file.

    Returns:
        The description; None if no frame runs transformed code or a dumped file.
    """
    frame_inside: types.FrameType | None = sys._getframe(1) if frame is None else frame
    while (
        frame_inside is not None
        and frame_inside.f_code.co_filename not in running.known
        and not _is_transformed(frame_inside)
    ):
        frame_inside = frame_inside.f_back
    if frame_inside is None:
        return None
    file = running.known.get(frame_inside.f_code.co_filename)
    caller: types.FrameType | None = frame_inside
    while caller is not None and not _is_transformed(caller):
        caller = caller.f_back
    code = dynamo.original_of(caller.f_code) if caller is not None else None
    compiled_ahead = ahead.caller_of(caller) if caller is not None else None
    entry = held = holds = failure = None
    if compiled_ahead is not None and caller is not None:
        held = True
        its_id = "ahead" if file is None else file.compile_id
        entry = Entry(compiled_ahead.code, dynamo.guards_text(compiled_ahead.guard_manager), its_id)
        if file is None or file.kind in ("transformed code", "Captured_Graph"):
            failure = ahead.failure(compiled_ahead, dict(caller.f_locals))
            holds = failure is None
    elif code is not None and caller is not None:
        held = True
        entry = next((entry for entry in dynamo.entries(code) if entry.code is caller.f_code), None)
        if entry is not None and (file is None or file.kind in ("transformed code", "Captured_Graph")):
            failure = dynamo.guard_failure(code, caller.f_code, dict(caller.f_locals))
            holds = failure is None
    compile_id = file.compile_id if file is not None else entry.compile_id if entry is not None else None
    if entry is None and compile_id is not None:
        every = (entry for code in dynamo.compiled_codes() for entry in dynamo.entries(code))
        entry = next((entry for entry in every if entry.compile_id == compile_id), None)
    in_graph = file is not None and file.kind != "transformed code"
    graph = file if in_graph else _called_by(file)
    inputs, outputs = _values(frame_inside) if in_graph else ({}, {})
    function = file.function if file is not None else frame_inside.f_code.co_name
    return Here(
        names.shorten(function),
        compile_id,
        frame_inside.f_code.co_filename,
        frame_inside.f_lineno,
        entry,
        held,
        holds,
        failure,
        graph,
        inputs,
        outputs,
    )


def _is_transformed(frame: types.FrameType) -> bool:
    """True if a frame runs transformed code that is in Dynamo's cache or was compiled ahead of time."""
    return dynamo.original_of(frame.f_code) is not None or ahead.caller_of(frame) is not None


def _called_by(file: RunningFile | None) -> RunningFile | None:
    """Returns the file of a forward graph or kernel from which code runs, and which belongs to the same compilation as
    `file`. If there are several files of this kind, returns the file at the lowest level, such as the file of a kernel.
    Returns None if the compilation has no running file of a forward graph or kernel."""
    if file is None:
        return None
    folder = Path(file.path).parent
    same = [
        known
        for known in running.files.values()
        if known.compile_id == file.compile_id
        and Path(known.path).parent == folder
        and known.kind != "transformed code"
        and known.direction != "backward"
    ]
    return same[-1] if same else None


def _values(frame: types.FrameType) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns (inputs, outputs) of the graph or kernel whose function a frame runs, as far as the frame's locals
    contain them."""
    inputs, outputs = _interface(frame.f_code.co_filename, frame.f_code.co_name, frame.f_code.co_firstlineno)
    # Graphs release a value that they no longer need by assigning None to the variable that holds the value.
    bound = {name: value for name, value in frame.f_locals.items() if value is not None}
    return {name: bound[name] for name in inputs if name in bound}, {n: bound[n] for n in outputs if n in bound}


@lru_cache(maxsize=100)
def _interface(path: str, function: str, line: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns (names of the inputs, names of the outputs) of the function at a line of a file."""
    try:
        tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return (), ()
    definitions = [
        n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == function and n.lineno == line
    ]
    if not definitions:
        return (), ()
    body = definitions[0]
    inputs = [
        argument.arg for argument in (*body.args.posonlyargs, *body.args.args) if argument.arg not in ("self", "args")
    ]
    outputs: list[str] = []
    for statement in body.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name) and statement.value.id == "args":
            # Inductor's functions unpack their inputs from a list.
            inputs += [node.id for node in ast.walk(statement.targets[0]) if isinstance(node, ast.Name)]
        if isinstance(statement, ast.Return) and statement.value is not None:
            outputs = [node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)]
    return tuple(inputs), tuple(outputs)


def _brief(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if shape is not None and hasattr(value, "dtype"):
        return f"{value.dtype} {tuple(shape)}"
    return type(value).__name__
