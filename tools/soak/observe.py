"""Runs one program of the soak with plain torch.compile and under `depyf.prepare_debug`, and finds every difference
that a user could observe."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import os
import re
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch._dynamo
from torch._dynamo import convert_frame
from torch._dynamo.utils import counters

import depyf
import torch

_DEPTH = 12  # the levels of nested values that are recorded; deeper values are represented by their type
_PLAIN_RUNS = 6  # the number of plain runs before a difference under the block counts as harm


@dataclass
class Observation:
    """The observable behaviour of one run of a program."""

    calls: list[Any] = field(default_factory=list)
    compiled: list[tuple[str, str, int]] = field(default_factory=list)
    """(function, file, line) of each compilation that Dynamo began, in order."""
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    """PyTorch's own counters: frames, graphs, graph breaks with their reasons ..."""
    random_state: str = ""


@dataclass
class Verdict:
    """The result for one program on one backend."""

    seed: int | None
    backend: str
    harmed: list[str] = field(default_factory=list)
    """The differences from plain torch.compile, one line each."""
    unproved: list[str] = field(default_factory=list)
    not_running: list[str] = field(default_factory=list)
    """Frames that are proved, but do not run from their files."""
    not_parsed: list[str] = field(default_factory=list)
    frames: int = 0
    files: int = 0
    unstable: list[str] = field(default_factory=list)
    """The aspects in which plain runs differ among themselves, so that they cannot be compared."""


def _is_constant(value: object) -> bool:
    """True for a constant or a tuple of constants; the identity of such an object is not compared, because Python does
    not define whether two equal ones are the same object.

    "For immutable types, operations that compute new values may actually return a reference to any existing object with
    the same type and value" (The Python Language Reference, 3.1). CPython's compiler creates one object for all equal
    tuple displays of constants in a function, and Dynamo's bytecode builds a new tuple for each.
    """
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return value is None or type(value) in (bool, int, float, complex, str, bytes)


class _Values:
    """Converts the values of a run to data for JSON. An object that occurs again is represented by the number of its
    first occurrence, so that aliases are compared too."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._keep: list[object] = []

    def plain(self, value: Any, depth: int = _DEPTH) -> Any:
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            return _text(value)
        if isinstance(value, (torch.dtype, torch.device, types.ModuleType, type, range)):
            return _text(value)
        if depth == 0:
            return type(value).__name__
        if _is_constant(value):
            return self._content(value, lambda part: self.plain(part, depth - 1))
        if id(value) in self._seen:
            return f"<seen {self._seen[id(value)]}>"
        self._seen[id(value)] = len(self._seen)
        self._keep.append(value)
        return self._content(value, lambda part: self.plain(part, depth - 1))

    def _content(self, value: Any, inner: Callable[[Any], Any]) -> Any:
        kind = type(value).__name__
        if isinstance(value, torch.Tensor):
            data = value.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes() if value.numel() else b""
            grad_function = type(value.grad_fn).__name__ if value.grad_fn is not None else None
            shape = [tuple(value.shape), value.stride(), str(value.dtype), value.requires_grad, grad_function]
            return [kind, shape, data.hex(), inner(value.grad) if value.is_leaf else None]
        if isinstance(value, torch.nn.Module):
            own = {key: item for key, item in vars(value).items() if not key.startswith("_")}
            return [kind, inner(dict(value.state_dict(keep_vars=True))), inner(own)]
        if isinstance(value, BaseException):
            return [
                kind,
                _text(str(value)),
                inner(value.__cause__),
                inner(value.__context__),
                value.__suppress_context__,
            ]
        if isinstance(value, dict):
            return [kind, [[inner(key), inner(item)] for key, item in value.items()]]
        if isinstance(value, (set, frozenset)):
            return [kind, sorted(repr(inner(item)) for item in value)]
        if isinstance(value, (list, tuple)) or kind == "deque":
            return [kind, [inner(item) for item in value]]
        if isinstance(value, types.FunctionType):
            cells = [_cell_content(cell) for cell in value.__closure__ or ()]
            names = [
                value.__qualname__,
                value.__code__.co_name,
                value.__code__.co_firstlineno,
                value.__code__.co_filename,
            ]
            return [kind, names, inner(cells), inner(value.__defaults__), inner(value.__kwdefaults__)]
        if isinstance(value, types.GeneratorType):
            return [kind, value.__qualname__]
        return [kind, inner(vars(value))] if hasattr(value, "__dict__") else [kind, _text(repr(value))]


def _cell_content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "<empty>"


def _text(value: object) -> str:
    """Returns a value's text without the parts that differ from run to run: addresses, and the numbers of
    compilations."""
    text = re.sub(r"0x[0-9a-f]+", "0x", repr(value))
    return re.sub(r"\[\d+/\d+(_\d+)?\]", "[]", re.sub(r"_\d+_c\d+", "_", text))


@contextlib.contextmanager
def _noting_compilations(compiled: list[tuple[str, str, int]]) -> Iterator[None]:
    original = convert_frame._compile

    def noting(code: types.CodeType, *args: Any, **kwargs: Any) -> Any:
        compiled.append((code.co_name, os.path.basename(code.co_filename), code.co_firstlineno))
        return original(code, *args, **kwargs)

    convert_frame._compile = noting
    try:
        yield
    finally:
        convert_frame._compile = original


def _phases(calls: list[Any], seed: int) -> tuple[list[Any], list[Any], list[Any]]:
    """Returns (the calls before the block of prepare_debug, the calls in it, the calls after it). Four of five seeds
    have no call before the block."""
    before = calls[:1] if seed % 5 == 0 else []
    return before, calls, calls[::-1] if seed % 3 else calls[:2]


def run(path: Path, backend: str, seed: int, block: contextlib.AbstractContextManager[Any]) -> Observation:
    """Runs a program once, with calls before, in and after `block` (see `_phases`)."""
    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)
    namespace: dict[str, Any] = {"__name__": "soak_program", "__builtins__": __builtins__}
    module = types.ModuleType("soak_program")
    module.__dict__.update(namespace)
    sys.modules["soak_program"] = module
    exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), module.__dict__)
    observation, values = Observation(), _Values()
    subject = module.subject()
    dynamic = (None, None, True, False)[seed % 4]
    compiled = torch.compile(subject, backend=backend, dynamic=dynamic)
    before, during, after = _phases(list(range(len(module.calls()))), seed)

    def call(index: int) -> None:
        arguments, keywords = module.calls()[index]
        printed, error, result = io.StringIO(), None, None
        with contextlib.redirect_stdout(printed):
            try:
                result = compiled(*arguments, **keywords)
                _backward(result)
            except Exception as raised:
                error = raised
            finally:
                grad = torch.is_grad_enabled()
                torch.set_grad_enabled(True)
        seen = [
            result,
            error,
            arguments,
            keywords,
            module.state(),
            subject if isinstance(subject, torch.nn.Module) else None,
        ]
        observation.calls.append([values.plain(seen), printed.getvalue(), grad])
        if error is not None:
            error.__traceback__ = None

    with _noting_compilations(observation.compiled):
        for index in before:
            call(index)
        with block:
            for index in during:
                call(index)
        for index in after:
            call(index)
    observation.counts = {
        kind: {_text(key): count for key, count in table.items()} for kind, table in counters.items() if table
    }
    observation.random_state = hashlib.sha256(torch.get_rng_state().numpy().tobytes()).hexdigest()
    return observation


def _backward(result: Any) -> None:
    """Calls backward on the first tensor of a result that takes gradients."""
    tensors = (
        [result] if isinstance(result, torch.Tensor) else list(result) if isinstance(result, (tuple, list)) else []
    )
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor) and tensor.requires_grad and tensor.is_floating_point():
            tensor.sum().backward()
            return


def _differences(plain: Observation, watched: Observation) -> dict[str, str]:
    """Returns the differences between two runs: a line for each part of a call, for the compilations and for each kind
    of PyTorch's counters."""
    lines = {}
    for number, (of_plain, of_watched) in enumerate(zip(plain.calls, watched.calls)):
        if of_plain != of_watched:
            names = ("result", "exception", "arguments", "keywords", "state", "module")
            parts = zip(names, of_plain[0][1], of_watched[0][1])
            differing = {part: _shortened(a, b) for part, a, b in parts if a != b}
            if of_plain[1] != of_watched[1]:
                differing["printed"] = f"{of_plain[1]!r} {of_watched[1]!r}"
            lines |= {f"call {number}, {part}": line for part, line in (differing or {"grad mode": ""}).items()}
    if len(plain.calls) != len(watched.calls):
        lines["calls"] = f"{len(plain.calls)} plain, {len(watched.calls)} with depyf"
    if plain.compiled != watched.compiled:
        extra = [function for function in watched.compiled if function not in plain.compiled]
        missing = [function for function in plain.compiled if function not in watched.compiled]
        lines["compilations"] = (
            f"{len(plain.compiled)} plain, {len(watched.compiled)} with depyf; "
            f"with depyf alone: {extra}; plain alone: {missing}"
        )
    for kind in sorted({*plain.counts, *watched.counts}):
        of_plain, of_watched = plain.counts.get(kind, {}), watched.counts.get(kind, {})
        if of_plain != of_watched:
            lines[f"counters[{kind!r}]"] = f"{of_plain} plain, {of_watched} with depyf"
    if plain.random_state != watched.random_state:
        lines["random numbers"] = "their state differs"
    return lines


def _shortened(one: Any, two: Any) -> str:
    """Returns the text of two values at the first place where they differ."""
    while isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        one, two = next((a, b) for a, b in zip(one, two) if a != b)
    return f"{str(one)[:200]} != {str(two)[:200]}"


def _compare(verdict: Verdict, plain: Observation, watched: Observation, run_again: Callable[[], Observation]) -> None:
    """Sets `verdict.harmed` to the differences that a block caused, and `verdict.unstable` to the differences between
    plain runs.

    A plain run is repeated while the run under the block differs from all plain runs before it. Plain runs can differ,
    because Dynamo skips library code for the rest of the process once it has failed at it, and because a guard may
    depend on addresses of memory. A difference from every plain run is harm if the plain runs agree with each other.
    """
    runs = [plain]
    while harmed := _differences(runs[-1], watched):
        if len(runs) == _PLAIN_RUNS:
            break
        runs.append(run_again())
    if not harmed:
        return
    varying = {part: line for other_run in runs[1:] for part, line in _differences(plain, other_run).items()}
    verdict.harmed = [f"{part}: {line}" for part, line in harmed.items() if part not in varying]
    verdict.unstable = [f"{part}: {line}" for part, line in varying.items() if part in harmed]


def observe(path: Path, backend: str, seed: int) -> Verdict:
    """Runs the program of a file plain and under a block of prepare_debug, and returns the verdict on the
    differences."""
    logging.disable(logging.CRITICAL)
    verdict = Verdict(seed, backend)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as directory:
        warnings.simplefilter("ignore")
        plain = run(path, backend, seed, contextlib.nullcontext())
        block = depyf.prepare_debug(directory)
        sessions = []

        @contextlib.contextmanager
        def watched_block() -> Iterator[None]:
            with block as session:
                sessions.append(session)
                yield

        try:
            watched = run(path, backend, seed, watched_block())
        except Exception:
            verdict.harmed = [traceback.format_exc()]
        else:
            _compare(verdict, plain, watched, lambda: run(path, backend, seed, contextlib.nullcontext()))
        for session in sessions:
            _judge_session(verdict, session)
        _judge_files(verdict, Path(directory))
    return verdict


def _judge_session(verdict: Verdict, session: depyf.session.Session) -> None:
    for frame in session.frames:
        if frame.status != "compiled":
            continue
        verdict.frames += 1
        if not frame.proved:
            verdict.unproved.append(f"{frame.function}, line {frame.line}: {frame.not_proved}")
        elif not frame.running:
            verdict.not_running.append(f"{frame.function}, line {frame.line}")
    verdict.harmed += [note for note in session.notes if note.startswith("depyf failed")]


def _judge_files(verdict: Verdict, directory: Path) -> None:
    for path in directory.rglob("*.py"):
        verdict.files += 1
        try:
            compile(path.read_text(encoding="utf-8"), path.name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            verdict.not_parsed.append(f"{path.name}: {error}")
    for path in directory.rglob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))
