"""Pickles that do harm when they are unpickled: each of them writes a file, fills the memory, or does not end."""

from __future__ import annotations

import io
import os
import pickle
import struct
from pathlib import Path


class Call:
    """An object whose pickle calls a function when it is unpickled."""

    def __init__(self, function, *arguments, state=None):
        self.parts = (function, arguments) if state is None else (function, arguments, state)

    def __reduce__(self):
        return self.parts


def _sized(size: int, *, width: str = "<Q") -> bytes:
    return struct.pack(width, size)


def running_code(canary: Path) -> dict[str, bytes]:
    """Returns pickles by name, each of which runs code that creates the file `canary`."""
    shell = f"touch {canary}"
    python = f"open({str(canary)!r}, 'w')"
    calls = {
        "system": Call(os.system, shell),
        "eval": Call(eval, python),
        "exec": Call(exec, python),
        "open": Call(open, str(canary), "w"),
        "nested": Call(list, Call(map, Call(eval, "lambda _: " + python), (1,))),
        "state": Call(dict, state=Call(eval, python)),
        "in a dict": {Call(str, Call(eval, python)): 1},
        "in a list": [1, [2, (3, Call(os.system, shell))]],
    }
    found = {
        f"{name}, protocol {protocol}": pickle.dumps(call, protocol)
        for name, call in calls.items()
        for protocol in range(6)
    }
    quoted = shell.encode()
    found |= {
        "import alone": b"c" + b"antigravity\nfly\n.",
        "instance of Python 2": b"(S'" + quoted + b"'\nios\nsystem\n.",
        "object of Python 2": b"(cos\nsystem\nS'" + quoted + b"'\no.",
        "new object": b"csubprocess\nPopen\n(]S'touch'\naS'" + str(canary).encode() + b"'\nat\x81.",
        "new object with keywords": b"csubprocess\nPopen\n)}S'args'\n]S'touch'\naS'"
        + str(canary).encode()
        + b"'\nass\x92.",
        "name of two strings": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c" + bytes([len(quoted)]) + quoted + b"\x85R.",
        "name by getattr": b"cbuiltins\ngetattr\n(cos\ngetpid\nS'__globals__'\ntR.",
        "extension": b"\x82\x01.",
        "persistent id": b"Pcanary\n.",
        "persistent object": b"cos\nsystem\n(S'" + quoted + b"'\ntRQ.",
        "buffer": b"\x80\x05\x97\x98.",
        "setitem of an object": b"cos\n_Environ\n)\x81S'a'\nS'b'\ns.",
        "append of an object": b"cos\nsystem\n(S'" + quoted + b"'\ntRS'a'\na.",
        "build of a class": b"cos\nsystem\n}S'x'\nI1\nsb.",
    }
    return found


def _artifact(canary: Path) -> dict[str, bytes]:
    """Returns files like those of aot_compile, by name, whose parts are harmful pickles."""
    bad = pickle.dumps(Call(os.system, f"touch {canary}"))
    parts = {"original_code": 1, "runtime_env": 2, "guards_state": bad, "compiled_fn": (Call(eval, "1"), bad)}
    return {
        "guards of an artifact": pickle.dumps(parts),
        "code of an artifact": pickle.dumps({**parts, "original_code": Call(os.system, f"touch {canary}")}),
        "model": pickle.dumps([bad, pickle.dumps(parts), b"\x80\x04cut"]),
    }


def _plain(value: object) -> bytes:
    """Returns the opcodes of a value without a memo, so that they can be put into another pickle."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, 2)
    pickler.fast = True
    pickler.dump(value)
    return buffer.getvalue()[2:-1]


def _instance(name: str, **state: bytes) -> bytes:
    entries = b"".join(_plain(key) + value for key, value in state.items())
    module, _, last = name.rpartition(".")
    return b"c" + f"{module}\n{last}\n".encode() + b")\x81}(" + entries + b"ub"


def _bytes(content: bytes) -> bytes:
    return b"B" + _sized(len(content), width="<I") + content


def artifact_with_guards(words: list[list[str]], line: str) -> bytes:
    """Returns a file of aot_compile with guards of the given texts."""
    frame = _instance("traceback.FrameSummary", filename=_plain("f.py"), lineno=b"K\x01", _line=_plain(line))
    stack = b"ctraceback\nStackSummary\n)\x81(" + frame + b"e"
    source = b"ctorch._dynamo.source\nLocalSource\n(Vx\ntR"
    create = b"ctorch._dynamo.guards\nGuardBuilder.EQUALS_MATCH\n"
    guards = [
        _instance(
            "torch._guards.Guard", create_fn=create, originating_source=source, code_list=_plain(each), user_stack=stack
        )
        for each in words
    ]
    graph = _instance("torch.X", _guards=_instance("torch.G", inner=b"(" + b"".join(guards) + b"l"))
    state = b"\x80\x02" + _instance("torch._dynamo.guards.GuardsState", output_graph=graph) + b"."
    parts = {"original_code": b"N", "runtime_env": b"N", "guards_state": _bytes(state)}
    return b"\x80\x02}(" + b"".join(_plain(key) + value for key, value in parts.items()) + b"u."


def _endless_artifact() -> bytes:
    """Returns a file of aot_compile in which all guards share long lists, so that a walk over all items would not
    end."""
    word = _plain("L['x'] == " + "x" * 10_000)
    words = b"(" + word + b"2" * 100_000 + b"lq\x01"
    frame = _instance("traceback.FrameSummary", filename=_plain("f" * 10_000), lineno=b"K\x01")
    stack = b"ctraceback\nStackSummary\n)\x81(" + frame + b"2" * 100_000 + b"eq\x02"
    guard = _instance("torch._guards.Guard", create_fn=_plain(None), code_list=b"h\x01", user_stack=b"h\x02")
    guards = b"(" + guard + b"2" * 1_000_000 + b"l"
    table = b"(" + b"K\x01N" * 100_000 + b"d"
    graph = _instance(
        "torch.X",
        local_scope=table,
        input_source_to_sizes_strides=table,
        a=words,
        b=stack,
        _guards=_instance("torch.G", inner=guards),
    )
    state = b"\x80\x02" + _instance("torch._dynamo.guards.GuardsState", output_graph=graph) + b"."
    source = _instance(
        "torch.InlinedSource",
        module=b"Vm\n",
        firstlineno=b"K\x01",
        lastlineno=b"J\xff\xff\xff\x7f",
        content=_plain("\n" * 1_000_000),
    )
    info = _instance("torch.SourceInfo", inlined_sources=b"(" + source + b"2" * 100_000 + b"l")
    parts = {
        "original_code": b"N",
        "runtime_env": b"N",
        "guards_state": _bytes(state),
        "source_info": info,
    }
    entries = b"".join(_plain(key) + value for key, value in parts.items())
    return b"\x80\x02}(" + entries + b"u."


def exhausting() -> dict[str, bytes]:
    """Returns pickles that would need unlimited memory or time."""
    shared = b"K\x01" + b"2\x86" * 2000 + b"."
    laughs = (
        b"]"
        + b"".join(b"q%c]%s" % (n % 200, b"h%c" % (n % 200) * 10) for n in range(200)).replace(b"]h", b"](h")
        + b"."
    )
    recursive: list = []
    recursive.append(recursive)
    return {
        "string of 16 EiB": b"\x8d" + _sized(2**64 - 1) + b"a.",
        "bytes of 16 EiB": b"\x8e" + _sized(2**64 - 1) + b"a.",
        "bytearray of 8 EiB": b"\x96" + _sized(2**63) + b"a.",
        "bytes of 4 GiB": b"B" + _sized(2**32 - 1, width="<I") + b"a.",
        "integer of 4 GiB": b"\x8b" + _sized(2**32 - 1, width="<I") + b"a.",
        "integer of a megabyte": b"\x8b" + _sized(2**20, width="<I") + b"\x7f" * 2**20 + b".",
        "memo of 4 billion entries": b"Nr\xff\xff\xff\xff.",
        "memo out of order": b"N" + b"".join(b"r" + _sized(7919 * n + 1, width="<I") for n in range(200_000)) + b".",
        "frame of 16 EiB": b"\x80\x04\x95" + _sized(2**64 - 1) + b"N.",
        "ten million lists": b"]" * 10_000_000 + b".",
        "ten million copies": b"N" + b"2" * 10_000_000 + b".",
        "ten million marks": b"(" * 10_000_000 + b".",
        "nested a million times": b"N" + b"\x85" * 1_000_000 + b".",
        "doubled two thousand times": shared,
        "billion laughs": laughs,
        "recursive": pickle.dumps(recursive),
        "recursive state": b"cm\nC\n)\x81q\x00h\x00b.",
        "recursive call": b"cm\nC\nq\x00(h\x00tRq\x01h\x01b.",
        "long name": b"c" + b"a" * 1_000_000 + b"\nb\n.",
        "artifact without end": _endless_artifact(),
        "names without end": b"".join(b"cm\nf%d\n0" % n for n in range(300_000)) + b"N.",
    }


def broken() -> dict[str, bytes]:
    """Returns bytes that are no pickle, and truncated pickles."""
    whole = pickle.dumps({"a": [1, 2.5, "text", b"bytes", (1, 2), {3}]}, 4)
    found = {f"cut at {size}": whole[:size] for size in range(2, len(whole), 7)}
    found |= {
        "empty": b"",
        "no opcode": b"\xff",
        "protocol 255": b"\x80\xff.",
        "stack under": b"0.",
        "no mark": b"t.",
        "no end": b"N",
        "no text": b"X\x01\x00\x00\x00\xff.",
        "bundle cut": struct.pack(">IQ", 0, 1) + struct.pack(">Q", 2**63),
    }
    return found


def all_kinds(canary: Path) -> dict[str, bytes]:
    return {**running_code(canary), **_artifact(canary), **exhausting(), **broken()}
