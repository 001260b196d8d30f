"""Writes PyTorch's file of a function that was compiled ahead of time, with changed guards and changed code.

In PyTorch's file, the guards are stored as a pickle. To change the guards of a file, depyf appends opcodes to the
pickle. The appended opcodes look up the guards that stay in the unpickler's memo. All bytes of the original pickle stay
the same, except the size that its last FRAME opcode states.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Collection, Iterable
from io import BytesIO
from pickletools import genops
from struct import pack, pack_into, unpack_from
from typing import Any

from depyf.compat import private

_AHEAD = "torch._dynamo.aot_compile"
_PACKAGE = "torch._dynamo.package"
_SHAPES = "SHAPE_ENV"
_STOP = b"."
_FRAME_SIZE = 8
"""The number of bytes that follow the pickle opcode FRAME and contain the size of the frame."""


class NotPossible(Exception):
    """Raised if PyTorch, or a file of PyTorch's, is not as expected; the message states what differs."""


def guards_state(result: Any) -> bytes:
    """Returns the pickled guards of a function that was compiled ahead of time."""
    state: bytes = _artifacts(result).guards_state
    return state


def is_graph_name(result: Any, name: str) -> bool:
    """True if `name` is the global name under which the transformed code of a compiled function calls its graph."""
    return bool(_artifacts(result).backend_id == name)


def with_guards(state: bytes, unguarded: Collection[str], conditions: list[str]) -> bytes:
    """Returns the pickled guards in `state` without the guards on the values in `unguarded`, and with `conditions`
    added.

    Args:
        unguarded: Dynamo's names of the values that lose all guards; the empty name stands for the state of the
            process, and for relations between sizes.
        conditions: expressions over `L`, `G` and `torch`, which PyTorch checks after all other guards.
    """
    unpickler = private.get("pickle:_Unpickler")(BytesIO(state))
    root = unpickler.load()
    number_of = {id(value): number for number, value in unpickler.memo.items()}
    listed = root.output_graph._guards
    kept = [guard for guard in listed.inner if guard.name not in unguarded]
    members = b"".join(_recalled(number_of, guard) for guard in kept)
    parts = root.shape_code_parts
    keeps_sizes = "" not in unguarded
    exprs = [] if parts is None or not keeps_sizes else list(parts.python_code_parts.exprs)
    tail = b""
    if conditions or not keeps_sizes:
        if conditions and all(guard.create_fn_name() != _SHAPES for guard in kept):
            members += _shape_guard()
        tail += b"}" + _text("shape_code_parts") + _shape_parts([*exprs, *conditions]) + b"sb"
    new_set = b"\x8f(" + members + b"\x90"
    tail = _recalled(number_of, listed) + b"}" + _text("inner") + new_set + b"sb0" + tail
    return _appended(state, tail)


def _recalled(number_of: dict[int, int], value: Any) -> bytes:
    number = number_of.get(id(value))
    if number is None:
        raise NotPossible("its guards are pickled in a way that depyf does not know")
    return b"j" + pack("<I", number)


def _text(value: str) -> bytes:
    encoded = value.encode("utf-8", "surrogatepass")
    return b"X" + pack("<I", len(encoded)) + encoded


def _object(module: str, name: str, fields: dict[str, bytes]) -> bytes:
    """Returns pickle opcodes that create an object with these fields without calling its `__init__`."""
    state = b"}(" + b"".join(_text(key) + value for key, value in fields.items()) + b"u"
    return _named(module, name) + b")\x81" + state + b"b"


def _named(module: str, name: str) -> bytes:
    return _text(module) + _text(name) + b"\x93"


def _shape_parts(exprs: Iterable[str]) -> bytes:
    texts = b"](" + b"".join(map(_text, exprs)) + b"e"
    # `_ShapeGuardsHelper` is a dataclass with slots, whose state in a pickle is the list of its fields.
    helper = _named("torch.fx.experimental.symbolic_shapes", "_ShapeGuardsHelper") + b")\x81](" + texts + b"eb"
    fields = {"python_code_parts": helper, "verbose_code_parts": helper, "cpp_code_parts": b"N"}
    return _object(
        "torch._dynamo.guards", "ShapeCodeParts", {**fields, "python_fallback": b"\x88", "shape_env_sources": b"]"}
    )


def _shape_guard() -> bytes:
    source = _named("torch._dynamo.source", "ShapeEnvSource") + b")R"
    create = _named("torch._dynamo.guards", f"GuardBuilder.{_SHAPES}")
    return _named("torch._guards", "Guard") + b"(" + source + create + b"tR"


def _appended(state: bytes, tail: bytes) -> bytes:
    """Returns the pickle `state` with the opcodes `tail` inserted before its STOP opcode. The size that the pickle's
    last FRAME opcode states grows by the length of `tail`."""
    if not state.endswith(_STOP):
        raise NotPossible("its guards are pickled in a way that depyf does not know")
    frames = [offset for opcode, _, offset in genops(state) if opcode.name == "FRAME" and offset is not None]
    changed = bytearray(state[: -len(_STOP)] + tail + _STOP)
    if frames:
        start = frames[-1] + 1
        (size,) = unpack_from("<Q", state, start)
        if start + _FRAME_SIZE + size == len(state):
            pack_into("<Q", changed, start, size + len(tail))
    return bytes(changed)


def manager_of(result: Any, state: bytes) -> Any:
    """Returns the guard manager that PyTorch builds from pickled guards when it loads a file."""
    loaded = private.get(f"{_PACKAGE}:load_guards_state")(state)
    return private.get(f"{_PACKAGE}:load_guard_manager")(
        loaded, _artifacts(result).original_code, result.fn.__globals__
    )


def serialized(result: Any, code: types.CodeType, state: bytes, names: dict[str, Any], graph: Any) -> bytes:
    """Returns the bytes of a file for a function that was compiled ahead of time, with other code and guards.

    The bytes are loaded once with PyTorch as a check; exceptions that PyTorch raises are passed on.

    Args:
        result: PyTorch's object for the function.
        code: the transformed code to run.
        state: the pickled guards.
        names: the globals that `code` reads and that PyTorch's own code did not read.
        graph: a graph module that replaces the compiled graph; None keeps the compiled graph.
    """
    artifacts = _artifacts(result)
    environment = artifacts.runtime_env
    used_globals = {**environment.used_globals, **names}
    environment = dataclasses.replace(environment, bytecode=code, used_globals=used_globals)
    compiled = artifacts.compiled_fn
    if graph is not None:
        make = private.get(f"{_AHEAD}_types:GraphModuleSerializableCallable")
        if make is None:
            raise NotPossible("this release of PyTorch does not save a graph without a backend")
        compiled = make(graph)
    changed = dataclasses.replace(
        artifacts, guards_state=state, guard_manager=None, runtime_env=environment, compiled_fn=compiled
    )
    kind = type(result)
    content: bytes = kind.serialize(kind(changed, _extra_globals=result._extra_globals)).serialized_data
    kind.deserialize(content, result._extra_globals)
    return content


def _artifacts(result: Any) -> Any:
    artifacts = private.of(result, f"{_AHEAD}:AOTCompiledFunction._artifacts")
    if artifacts is None:
        raise NotPossible("this release of PyTorch stores functions that are compiled ahead of time in a different way")
    return artifacts
