"""The guards of a compilation as one Python function."""

from __future__ import annotations

from collections.abc import Iterable

from depyf import names
from depyf.compat import guard_forms
from depyf.guards.model import Guard

_NO_LINE = "no line of the program is known for these"


def source(guards: Iterable[Guard], name: str = "guard_0") -> str:
    """The source of a function that gives the verdict of the guards.

    `guard(L, G)` says whether the compilation may be used for these local and global variables (mappings from name to
    value). It needs nothing but torch. Where a guard has no Python form the function has a third parameter, `live`, and
    asks PyTorch's own objects: `live[3](L, G)` is `guards[3].live`.

    Args:
        guards: as `read` gives them.
        name: of the function.
    """
    listed = list(enumerate(guards))
    # PyTorch's objects make their own arrangements.
    first = [(i, one) for i, one in listed if not one.quiet or one.live is not None]
    rest = [(i, one) for i, one in listed if one.quiet and one.live is None]
    asks = any(one.live is not None for _, one in listed)
    out = [f"def {name}(L, G{', live' if asks else ''}):", "    try:"]
    if first:
        out += ["        if not (", *_conditions(first, "            "), "        ):", "            return False"]
    if rest:
        out += [
            f"        with {guard_forms.QUIET}:",
            "            return (",
            *_conditions(rest, " " * 16),
            "            )",
        ]
    else:
        out.append("        return True")
    out += ["    except Exception:  # what cannot be read is not as it was", "        return False"]
    return _shortened("\n".join(out) + "\n")


def _shortened(text: str) -> str:
    """The text with its head: imports, and definitions of what stands for long parts that come again and again."""
    imports = ["import torch"]
    definitions: list[str] = []
    for pattern, short, definition in guard_forms.SHORTHANDS:
        text, count = pattern.subn(short, text)
        if count:
            (imports if definition.startswith("import") else definitions).append(definition)
    return "\n".join(imports) + "\n\n\n" + "".join(f"{one}\n\n\n" for one in definitions) + text


def _conditions(guards: list[tuple[int, Guard]], indent: str) -> list[str]:
    """The conditions, a line each, below comments that say where those that follow come from."""
    out: list[str] = []
    is_first, said = True, ""
    for i, one in guards:
        lines = (f"live[{i}](L, G)",) if one.live is not None else one.conditions
        if not lines:
            continue
        comment = _comment(one) or (_NO_LINE if said else "")
        if comment != said:
            out.append(f"{indent}# {comment}")
            said = comment
        for line in lines:
            out.append(f"{indent}{'' if is_first else 'and '}{_bracketed(line)}")
            is_first = False
    return out


def _bracketed(condition: str) -> str:
    # Whatever binds less than `and` does.
    is_loose = " or " in condition or " if " in condition or "lambda " in condition
    return f"({condition})" if is_loose else condition


def _comment(guard: Guard) -> str:
    parts = []
    if guard.live is not None:
        parts.append(f"PyTorch's own object decides: {' '.join(guard.text.split())}")
    if guard.line is not None:
        parts.append(str(guard.line))
    elif guard.kind in ("NO_TENSOR_ALIASING", "OBJECT_ALIASING", "STORAGE_OVERLAPPING"):
        parts.append(" ".join(guard.text.split()))
    return names.one_line("; ".join(parts))
