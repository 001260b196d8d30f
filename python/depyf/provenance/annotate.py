"""The links as comments at the lines of a dump's files. No line moves: breakpoints in the files stay where they are."""

from __future__ import annotations

import re
from collections.abc import Callable

from depyf.provenance import fusion
from depyf.provenance.chain import Links
from depyf.provenance.collect import Collected
from depyf.source_line import Line

MARK = "#~ "
"""Begins each comment, so that a text without them can be had."""
_COMMENT = re.compile(r"(?:  )?#~ .*$", re.MULTILINE)
_NODE = re.compile(r"^\s+(?P<name>[A-Za-z_]\w*)(?::| =)")
_OPERATION = re.compile(r"^(?P<name>op\w+?): ")


def plain(text: str) -> str:
    """A text without the comments."""
    return _COMMENT.sub("", text) if MARK in text else text


def places(kind: str, text: str) -> dict[str, int]:
    """The line of each node, operation or kernel in a file, from 1."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        one = (_OPERATION if kind.startswith("ir_") else _NODE).match(line)
        if one is not None:
            found.setdefault(one["name"], number)
    return found


def annotated(kind: str, direction: str | None, text: str, seen: Collected, links: Links) -> str:
    """A file's text with the links at its lines.

    Args:
        kind: of the artifact: "Captured_Graph", "AFTER_POST_GRAD", "ir_post_fusion", "kernel", ...
        direction: of the artifact.
        text: of the file; comments that it has already are replaced.
        seen, links: of the compilation.
    """
    text = plain(text)
    own = "backward" if direction == "backward" else "forward"
    if kind == "kernel":
        return _kernel_file(text, own, links)
    note: Callable[[str], str]
    if kind in ("Captured_Graph", "BEFORE_PRE_GRAD", "AFTER_PRE_GRAD"):
        by_node = {chain.node: chain for chain in links.chains}

        def note(name: str) -> str:
            chain = by_node.get(name)
            if chain is None:
                return ""
            found = {d: one.kernels for d, one in chain.directions.items() if one.kernels}
            return "; ".join(f"{d}: {', '.join(kernels)}" for d, kernels in found.items())

    elif kind.startswith("ir_"):
        operations = {op.name: op for one in [seen.direction(own)] for group in one.operations for op in group}
        kernel_of = links.kernel_of.get(own, {})

        def note(name: str) -> str:
            parts = [operations[one] for one in name.split("_") if one in operations]
            if not parts:
                return ""
            kernels = dict.fromkeys(kernel_of[op.name] for op in parts if op.name in kernel_of)
            return f"{fusion.subject(parts, links, own)}" + (f" -> {', '.join(kernels)}" if kernels else "")

    else:
        of = _kernels_of_nodes(seen, links, own if kind != "Joint_graph" else None)

        def note(name: str) -> str:
            captured = (
                links.captured_anywhere(name) if kind == "Joint_graph" else links.captured.get(own, {}).get(name, [])
            )
            kernels = of.get(name, [])
            return (f"<- {', '.join(captured)}" if captured else "") + (f" -> {', '.join(kernels)}" if kernels else "")

    at = {number: name for name, number in places(kind, text).items()}
    lines = text.splitlines()
    for number, name in at.items():
        told = note(name).strip()
        if told:
            lines[number - 1] += f"  {MARK}{told}"
    return "\n".join(lines) + "\n"


def _kernels_of_nodes(seen: Collected, links: Links, direction: str | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, one in seen.directions.items():
        if direction is not None and name != direction:
            continue
        for group in one.operations:
            for op in group:
                kernel = links.kernel_of.get(name, {}).get(op.name)
                for origin in op.origins if kernel is not None else ():
                    kernels = found.setdefault(origin, [])
                    if kernel not in kernels:
                        kernels.append(str(kernel))
    return found


def lines_of_kernels(seen: Collected, links: Links, direction: str) -> dict[str, dict[str, Line]]:
    """Of each kernel the captured nodes that it computes, with the user's lines."""
    found: dict[str, dict[str, Line]] = {}
    by_node = {chain.node: chain for chain in links.chains}
    for chain in by_node.values():
        one = chain.directions.get(direction)
        for kernel in one.kernels if one is not None else ():
            if chain.line is not None:
                found.setdefault(kernel, {})[chain.node] = chain.line
    return found


def _kernel_file(text: str, direction: str, links: Links) -> str:
    kernels = links.calls.get(direction)
    if kernels is None:
        return text
    what: dict[str, list[str]] = {}
    for chain in links.chains:
        one = chain.directions.get(direction)
        for kernel in one.kernels if one is not None else ():
            where = f" ({chain.line.name}:{chain.line.line} {chain.line.text})" if chain.line is not None else ""
            what.setdefault(kernel, []).append(f"{chain.node}{where}")
    lines = text.splitlines()
    # The file has a head that Inductor's text has not.
    for number, line in enumerate(lines):
        start = re.match(r"(?P<name>\w+) = async_compile\.", line)
        if start is not None and start["name"] in what:
            # The code of a kernel begins in its own line, inside a string: the blank line above takes the comment.
            if number and not lines[number - 1].strip():
                lines[number - 1] = MARK + "; ".join(what[start["name"]])
            continue
        called = re.match(r"\s+(?:buf\d+ = )?(?P<name>[\w.]+?)(?:\.run)?\(", line)
        if called is not None and called["name"].startswith("extern_kernels.") and called["name"] in what:
            buffers = set(re.findall(r"\bbuf\d+\b", line))
            mine = _of_call(called["name"], buffers, direction, links)
            if mine:
                lines[number] += f"  {MARK}" + "; ".join(mine)
        elif called is not None and called["name"] in what:
            lines[number] += f"  {MARK}" + "; ".join(what[called["name"]])
    return "\n".join(lines) + "\n"


def _of_call(name: str, buffers: set[str], direction: str, links: Links) -> list[str]:
    """Of a library call, which has the name of others, what this one computes."""
    return [one for buffer in sorted(buffers) for one in links.of_buffer.get(direction, {}).get((name, buffer), [])]
