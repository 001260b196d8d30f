"""Compares decoded instructions with those that `dis` of the compiling interpreter returns (see dump_dis.py)."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

# DROPPED and BEFORE_CALL are decoded to no operations. The stack effect of an instruction of BEFORE_CALL is added to
# that of the next CALL.
DROPPED = {"NOT_TAKEN", "GEN_START"}
BEFORE_CALL = {"PRECALL", "KW_NAMES"}
# FUSED instructions may become a part of the operation before them.
FUSED = {"FORMAT_SIMPLE", "POP_TOP"}


def stack_effect_differs(name: str, version: tuple[int, int]) -> bool:
    """True if `dis` intentionally defines another stack effect of an operation than depyf."""
    return (
        (name == "RETURN_VALUE" and version >= (3, 14))  # `dis` counts the value as left on the stack for the caller
        or (name == "RETURN_GENERATOR" and version < (3, 13))  # `dis` does not count the first value that is sent
    )


class Rows(list):
    """The decoded operations of one or more CPython instructions, as rows with named fields."""

    FIELDS = ("op", "arg", "aux", "offset", "target", "line", "pops", "pushes", "jump_pops", "jump_pushes")

    def __init__(self, rows) -> None:
        super().__init__(SimpleNamespace(**dict(zip(self.FIELDS, row, strict=True))) for row in rows)

    def jump(self) -> int | None:
        """Returns the index of the row that jumps; None if there is none."""
        return next((i for i, row in enumerate(self) if row.target >= 0), None)

    def effect(self) -> int:
        return sum(row.pushes - row.pops for row in self)

    def jump_effect(self) -> int:
        at = self.jump()
        if at is None:
            return self.effect()
        return sum(row.pushes - row.pops for row in self[:at]) + self[at].jump_pushes - self[at].jump_pops


# NAME_OPS have an index into co_names as their argument, and SLOT_OPS an index into the slots of variables.
NAME_OPS = {f"{verb}_{kind}" for verb in ("load", "store", "delete") for kind in ("name", "global", "attr")} | {
    "load_method",
    "load_super_attr",
    "import_name",
    "import_from",
    "load_from_dict_or_globals",
}
SLOT_OPS = {
    "load_fast", "load_fast_and_clear", "store_fast", "delete_fast", "load_deref", "store_deref", "delete_deref",
    "load_closure", "load_class_deref", "load_from_dict_or_deref", "make_cell",
}  # fmt: skip


def named(rows, names: list[str], slots: list[str]) -> list[str]:
    found = []
    for row in rows:
        if row.op in NAME_OPS:
            found.append(names[row.arg])
        elif row.op in SLOT_OPS:
            found.append(slots[row.arg])
    return found


def compare_code(
    version: tuple[int, int], names: list[str], slots: list[str], expected: list, decoded: list
) -> list[str]:
    rows = Rows(decoded)
    keys = ("offset", "name", "arg", "kind", "value", "line", "effect", "jump_effect")
    ones = [SimpleNamespace(**dict(zip(keys, one, strict=True))) for one in expected]
    groups: dict[int, Rows] = defaultdict(lambda: Rows([]))
    for row in rows:
        groups[row.offset].append(row)
    wrong = []
    carried = 0  # the stack effect of dropped instructions before a CALL
    for i, one in enumerate(ones):
        group = groups.pop(one.offset, Rows([]))

        def report(what: str, one=one, group=group) -> None:
            shown = "; ".join(f"{row.op} {row.arg} {row.aux}" for row in group)
            wrong.append(f"{one.offset} {one.name} {one.arg}: {what} [{shown}]")

        if not group:
            if one.name in BEFORE_CALL:
                carried += one.effect
            elif one.name not in DROPPED | FUSED:
                report("is missing")
            continue
        if any(row.line != (-1 if one.line is None else one.line) for row in group):
            report(f"line is {one.line}")
        if one.kind in {"name", "local", "free"}:
            value = one.value if isinstance(one.value, list) else [one.value]
            if named(group, names, slots) != value:
                report(f"means {value}, not {named(group, names, slots)}")
        if one.kind == "const" and [row.arg for row in group if row.op == "load_const"] != [one.arg]:
            report("another constant")
        effect = one.effect
        if one.name == "CALL":
            effect += carried
            carried = 0
        if i + 1 < len(ones) and ones[i + 1].name in FUSED and ones[i + 1].offset not in groups:
            effect += ones[i + 1].effect
        total = group.effect()
        if total != effect and not stack_effect_differs(one.name, version):
            report(f"stack effect is {effect}, not {total}")
        at = group.jump()
        if (one.kind == "jump") != (at is not None) and one.name != "END_ASYNC_FOR":
            report("jump or not")
        if at is not None:
            total = group.jump_effect()
            if total != one.jump_effect and not stack_effect_differs(one.name, version):
                report(f"stack effect of the jump is {one.jump_effect}, not {total}")
            target = rows[group[at].target].offset
            between = [other.name for other in ones if one.value <= other.offset < target]
            if target < one.value or any(name not in DROPPED | BEFORE_CALL for name in between):
                report(f"leads to {one.value}, not {target}")
    for offset, group in groups.items():
        if ones and offset > ones[-1].offset and [row.op for row in group] == ["raise"]:
            continue  # unreachable code that runs off the end
        wrong.append(f"{offset}: no such instruction")
    return wrong


def compare_module(core, version: tuple[int, int], stem: Path) -> list[str]:
    expected = json.loads(stem.with_suffix(".json").read_text())
    decoded = core.decode_pyc(stem.with_suffix(".pyc").read_bytes())
    if [name for name, *_ in expected] != [name.decode("utf-8", "surrogatepass") for name, _ in decoded]:
        return ["other code objects"]
    wrong = []
    for (name, names, slots, instructions), (_, rows) in zip(expected, decoded, strict=True):
        if isinstance(rows, str):
            wrong.append(f"{name}: {rows}")
            continue
        wrong += [f"{name}: {what}" for what in compare_code(version, names, slots, instructions, rows)]
    return wrong
