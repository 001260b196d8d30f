"""The links as comments at the lines of a dump's files. No line moves: breakpoints in the files stay where they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from depyf import _core
from depyf.compat.inductor import Operation
from depyf.provenance import fusion
from depyf.provenance.chain import Links, Place
from depyf.provenance.collect import Collected
from depyf.source_line import Line

MARK = "#~ "
"""Begins each comment, so that a text without them can be had."""
_COMMENT = re.compile(r"(?:  )?#~ .*$", re.MULTILINE)
_DEFINED = " = async_compile."
# What stands in the line before the name of a kernel that is called.
_BEFORE_CALL = re.compile(r"[ \t]+(?:buf\d+ = )?")
_BUFFER = re.compile(r"\bbuf\d+\b")
_MOST_TEXT = 100
"""Of a source line, the characters that stand above a kernel's definition."""
# What Inductor writes above each call: all nodes and operators of what was fused, and what it assumes of a buffer.
_SOURCE_NODES = re.compile(
    r"^([ \t]*# )Topologically Sorted (Source Nodes: \[)([^\]\n]*)\](?:, Original ATen: \[[^\]\n]*\])?$", re.MULTILINE
)
_NOT_ALIGNED = re.compile(r"^([ \t]*# buffer \w+) \(op: [^()\n]*\) (is assumed to be not aligned)$", re.MULTILINE)
_MOST_NODES = 2
"""The source nodes that stay in such a line; of more only the last does, which the others lead to."""


class Names(NamedTuple):
    """A part of a comment: names, of which the first ones stand for all where there is no room."""

    before: str
    names: list[str]
    noun: str
    """What each of them is."""
    after: str = ""


Note = tuple[Names, ...] | str
"""What a comment says: names, or a sentence; "" if there is nothing to say."""


def plain(text: str) -> str:
    """A text without the comments."""
    return _COMMENT.sub("", text) if MARK in text else text


class Annotator:
    """Writes the links of one compilation at the lines of its files' texts.

    Args:
        seen, links: of the compilation.
    """

    def __init__(self, seen: Collected, links: Links) -> None:
        self._seen, self._links = seen, links
        self._by_node = {chain.node: chain for chain in links.chains}
        # What is told of a node or operation is the same in the files of several stages.
        self._told: dict[tuple[str, str], dict[str, Note]] = {}
        self._kernels_of: dict[str | None, dict[str, list[str]]] = {}
        self._operations: dict[str, dict[str, Operation]] = {}
        self._has_kernels = any(links.kernel_of.values())

    def annotated(self, kind: str, direction: str | None, text: str) -> tuple[str, dict[str, int]]:
        """A file's text with the links at its lines, and the line of each node or operation in it, from 1.

        Args:
            kind: of the artifact: "Captured_Graph", "AFTER_POST_GRAD", "ir_post_fusion", "kernel", ...
            direction: of the artifact.
            text: of the file; comments that it has already are replaced.
        """
        text = plain(text)
        own = "backward" if direction == "backward" else "forward"
        if kind == "kernel":
            return _kernel_file(text, own, self._links), {}
        if kind in ("Captured_Graph", "BEFORE_PRE_GRAD", "AFTER_PRE_GRAD"):
            note, stage = self._of_captured, "captured"
        elif kind.startswith("ir_"):
            note, stage = self._of_operation, "operations"
        else:
            note, stage = self._of_node, "joint" if kind == "Joint_graph" else "graph"
        notes = self._told.setdefault((stage, own), {})
        of_direction = own if stage != "joint" else None
        return _core.with_remarks(text, stage == "operations", MARK, notes, lambda name: note(name, of_direction))

    def _of_captured(self, name: str, direction: str | None) -> Note:
        chain = self._by_node.get(name)
        if chain is None:
            return ""
        found = {d: one.kernels for d, one in chain.directions.items() if one.kernels}
        if not found and chain.directions and not self._has_kernels:
            return ""  # what holds of each node of a backend without kernels stands in the index
        if not found:
            return f"no kernel: {chain.why_no_kernel}"
        return tuple([Names(f"{'; ' if i else ''}{d}: ", found[d], "kernel") for i, d in enumerate(found)])

    def _of_operation(self, name: str, direction: str | None) -> Note:
        own = str(direction)
        if own not in self._operations:
            groups = self._seen.direction(own).operations
            self._operations[own] = {op.name: op for group in groups for op in group}
        operations, kernel_of = self._operations[own], self._links.kernel_of.get(own, {})
        parts = [operations[one] for one in name.split("_") if one in operations]
        if not parts:
            return ""
        kernels = list(dict.fromkeys(kernel_of[op.name] for op in parts if op.name in kernel_of))
        nodes, places = fusion.subjects(parts, self._links, own)
        note = [Names("", nodes, "node")]
        if places:
            note.append(Names(" (", places, "line", ")"))
        if kernels:
            note.append(Names(" -> ", kernels, "kernel"))
        return tuple(note)

    def _of_node(self, name: str, direction: str | None) -> Note:
        """Of a node of AOTAutograd's or Inductor's graphs; without a direction of the joint one."""
        if direction not in self._kernels_of:
            self._kernels_of[direction] = _kernels_of_nodes(self._seen, self._links, direction)
        links, kernels = self._links, self._kernels_of[direction].get(name, [])
        captured = (
            links.captured_anywhere(name) if direction is None else links.captured.get(direction, {}).get(name, [])
        )
        note = [Names("<- ", captured, "node")] if captured else []
        if kernels:
            note.append(Names(" -> " if note else "-> ", kernels, "kernel"))
        return tuple(note) or ""


def _with(line: str, told: str) -> str:
    return f"{line}  {MARK}{told}" if told else line


def _kernels_of_nodes(seen: Collected, links: Links, direction: str | None) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for name, one in seen.directions.items():
        if direction is not None and name != direction:
            continue
        of = links.kernel_of.get(name, {})
        for group in one.operations:
            for op in group:
                kernel = of.get(op.name)
                for origin in op.origins if kernel is not None else ():
                    found.setdefault(origin, {})[str(kernel)] = None
    return {origin: list(kernels) for origin, kernels in found.items()}


def lines_of_kernels(links: Links, direction: str) -> dict[str, dict[str, Line]]:
    """Of each kernel the captured nodes that it computes, with the user's lines."""
    found: dict[str, dict[str, Line]] = {}
    for chain in links.chains:
        one = chain.directions.get(direction)
        for kernel in one.kernels if one is not None else ():
            if chain.line is not None:
                found.setdefault(kernel, {})[chain.node] = chain.line
    return found


def _kernel_file(text: str, direction: str, links: Links) -> str:
    """Output code with a place at each call, and above each definition that of the first call.

    The comments that Inductor writes there are shortened: each line stays in its place.
    """
    text = _NOT_ALIGNED.sub(r"\1 \2", _SOURCE_NODES.sub(_shortened_nodes, text))
    kernels, places_of = links.calls.get(direction), links.places.get(direction)
    if kernels is None or not places_of:
        return text
    names = {name for name, _ in places_of}
    of_kernel: dict[str, list[Place]] = {}
    written: set[str] = set()
    parts, done = [], 0
    for start, end, name in sorted(_calls(text, names)):
        # The first call that names a buffer writes it.
        own = [one for one in _BUFFER.findall(text, start, end) if one not in written and (name, one) in places_of]
        written.update(own)
        # What was computed last leads: the values before are also what the kernel reads.
        places = list(dict.fromkeys(place for buffer in own for place in reversed(places_of[name, buffer])))
        of_kernel.setdefault(name, []).extend(places)
        if places:
            parts.append(_with(text[done:end], _shortly(places)))
            done = end
    text = "".join([*parts, text[done:]])
    return _with_definitions(text, {name: _shortly(of, with_text=True) for name, of in of_kernel.items() if of})


def _shortened_nodes(comment: re.Match[str]) -> str:
    nodes = comment[3].split(", ")
    if len(nodes) > _MOST_NODES:
        nodes = ["...", nodes[-1]]
    return f"{comment[1]}{comment[2]}{', '.join(nodes)}]"


def _shortly(places: list[Place], *, with_text: bool = False) -> str:
    """Returns the first place in a module, and how many more there are: `provenance.json` lists the nodes of all."""
    first = next((place for place in places if place.module), places[0])
    more = len(set(places)) - 1
    text = f" {first.line.text}" if with_text and first.line.text else ""
    if len(text) > _MOST_TEXT:
        text = f"{text[:_MOST_TEXT]} ..."
    return f"{first}{text} and {more} more" if more else f"{first}{text}"


def _with_definitions(text: str, told: dict[str, str]) -> str:
    """What a kernel computes stands above its definition, if there is a blank line: its code begins inside a string."""
    parts, done = [], 0
    at = text.find(_DEFINED)
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        above = text.rfind("\n", 0, max(start - 1, 0)) + 1
        name = text[start:at]
        if name in told and above > 0 and not text[above:start].strip():
            parts += [text[done:above], MARK, told[name]]
            done = start - 1
        at = text.find(_DEFINED, at + 1)
    return "".join([*parts, text[done:]])


def _calls(text: str, names: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of the lines that call one of them."""
    for name in names:
        at = text.find(name)
        while at >= 0:
            after = at + len(name)
            start = text.rfind("\n", 0, at) + 1
            if text.startswith(("(", ".run("), after) and _BEFORE_CALL.fullmatch(text, start, at):
                end = text.find("\n", after)
                yield start, len(text) if end < 0 else end, name
            at = text.find(name, after)
