"""Compares the stack effects of every opcode of every version with `dis.stack_effect` of an interpreter of the
version."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from pathlib import Path

from compare_dis import BEFORE_CALL, DROPPED, Rows, stack_effect_differs
from depyf import _core

OFFSET = 80  # the offset of the tested opcode in each code object (see dump_effects.py)
# For these opcodes, depyf refuses arguments without a meaning as malformed code; `dis` returns an effect for most of
# them.
STRICT = {
    "BINARY_OP", "BUILD_INTERPOLATION", "BUILD_SLICE", "CALL_INTRINSIC_1", "CALL_INTRINSIC_2", "COMPARE_OP",
    "CONVERT_VALUE", "COPY", "DICT_MERGE", "DICT_UPDATE", "LIST_APPEND", "LIST_EXTEND", "LOAD_COMMON_CONSTANT",
    "LOAD_SPECIAL", "MAP_ADD", "RAISE_VARARGS", "ROT_N", "SET_ADD", "SET_UPDATE", "SWAP",
}  # fmt: skip


def test_stack_effects(python: tuple[tuple[int, int], str], tmp_path: Path) -> None:
    version, path = python
    script = Path(__file__).with_name("dump_effects.py")
    subprocess.run([path, "-I", str(script), str(tmp_path)], check=True)
    decoded = {name.decode(): rows for name, rows in _core.decode_pyc((tmp_path / "effects.pyc").read_bytes())}
    wrong = []
    compared: dict[str, int] = defaultdict(int)
    for case, fall, jump in json.loads((tmp_path / "effects.json").read_text()):
        name, arg = case.split("/")
        compared[name] += 0
        if isinstance(decoded[case], str):
            # From 3.12 on, FOR_ITER must jump to END_FOR, as in the loops that test_decode.py tests.
            if name not in STRICT and name != "FOR_ITER":
                wrong.append(f"{case}: {decoded[case]}")
            continue
        compared[name] += 1
        if name in DROPPED | BEFORE_CALL or stack_effect_differs(name, version):
            continue
        if version == (3, 11) and name == "CALL":
            fall = jump = fall - int(arg)  # the effect of popping the arguments is PRECALL's
        rows = Rows(row for row in decoded[case] if row[3] == OFFSET)
        if (rows.effect(), rows.jump_effect()) != (fall, jump):
            wrong.append(f"{case}: {fall} and {jump}, not {rows.effect()} and {rows.jump_effect()}")
    assert not wrong, "\n".join(wrong)
    assert len(compared) > 100
    assert {name for name, count in compared.items() if not count} <= {"FOR_ITER"}
