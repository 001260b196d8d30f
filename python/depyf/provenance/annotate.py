"""The links as comments at the lines of a dump's files. No line moves: breakpoints in the files stay where they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from depyf.provenance import fusion
from depyf.provenance.chain import Links
from depyf.provenance.collect import Collected
from depyf.source_line import Line

MARK = "#~ "
"""Begins each comment, so that a text without them can be had."""
_COMMENT = re.compile(r"(?:  )?#~ .*$", re.MULTILINE)
# Whole lines: of a node in a graph, of an operation in the IR, before a kernel's definition, and with its call.
_NODE = re.compile(r"^[ \t]+(?P<name>[A-Za-z_]\w*)(?::| =).*$", re.MULTILINE)
_OPERATION = re.compile(r"^(?P<name>op\w+?): .*$", re.MULTILINE)
_DEFINITION = re.compile(r"^[ \t]*$(?=\n(?P<name>\w+) = async_compile\.)", re.MULTILINE)
_CALL = re.compile(r"^[ \t]+(?:buf\d+ = )?(?P<name>[A-Za-z_][\w.]*?)(?:\.run)?\(.*$", re.MULTILINE)
_BUFFER = re.compile(r"\bbuf\d+\b")


def plain(text: str) -> str:
    """A text without the comments."""
    return _COMMENT.sub("", text) if MARK in text else text


def annotated(kind: str, direction: str | None, text: str, seen: Collected, links: Links) -> tuple[str, dict[str, int]]:
    """A file's text with the links at its lines, and the line of each node or operation in it, from 1.

    Args:
        kind: of the artifact: "Captured_Graph", "AFTER_POST_GRAD", "ir_post_fusion", "kernel", ...
        direction: of the artifact.
        text: of the file; comments that it has already are replaced.
        seen, links: of the compilation.
    """
    text = plain(text)
    own = "backward" if direction == "backward" else "forward"
    if kind == "kernel":
        return _kernel_file(text, own, links), {}
    note: Callable[[str], str]
    if kind in ("Captured_Graph", "BEFORE_PRE_GRAD", "AFTER_PRE_GRAD"):
        by_node = {chain.node: chain for chain in links.chains}

        def note(name: str) -> str:
            chain = by_node.get(name)
            if chain is None:
                return ""
            found = {d: one.kernels for d, one in chain.directions.items() if one.kernels}
            told = "; ".join(f"{d}: {', '.join(kernels)}" for d, kernels in found.items())
            return told or f"no kernel: {chain.why_no_kernel}"

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

    places: dict[str, int] = {}
    number, counted = 1, 0

    def with_note(line: re.Match[str]) -> str:
        nonlocal number, counted
        name = line["name"]
        if name in places:
            return line[0]
        number += text.count("\n", counted, line.start())
        counted = line.start()
        places[name] = number
        return _with(line[0], note(name).strip())

    return (_OPERATION if kind.startswith("ir_") else _NODE).sub(with_note, text), places


def _with(line: str, told: str) -> str:
    return f"{line}  {MARK}{told}" if told else line


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
    told = {name: "; ".join(one) for name, one in what.items()}

    def before(line: re.Match[str]) -> str:
        # The code of a kernel begins in its own line, inside a string: the blank line above takes the comment.
        return MARK + told[line["name"]] if line["name"] in told else line[0]

    def called(line: re.Match[str]) -> str:
        name = line["name"]
        if name.startswith("extern_kernels.") and name in told:
            return _with(line[0], "; ".join(_of_call(name, _BUFFER.findall(line[0]), direction, links)))
        return _with(line[0], told.get(name, ""))

    return _CALL.sub(called, _DEFINITION.sub(before, text))


def _of_call(name: str, buffers: Iterable[str], direction: str, links: Links) -> list[str]:
    """Of a library call, which has the name of others, what this one computes."""
    return [
        one for buffer in sorted(set(buffers)) for one in links.of_buffer.get(direction, {}).get((name, buffer), [])
    ]
