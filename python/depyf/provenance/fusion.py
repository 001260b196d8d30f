"""What was fused into one kernel, and why neighbours were not, in the user's terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from depyf.compat.inductor import Operation
from depyf.provenance.chain import Links
from depyf.provenance.collect import Direction

# Beginnings of Inductor's reasons -> the same for those who do not know its names.
_WORDS = {
    "intermediate nodes between": "another operation has to run between the two: it needs the first's result, and the second needs its own",
    "no shared data": "they have no data in common, so one kernel would save nothing",
    "memory deps did not match": "the second reads the first's result in another order than it is written in",
    "node1 must go before node2": "the second does not use the first's result, and has to wait for something else",
    "node1 is nop": "the first computes nothing",
    "node2 is extern or nop": "the second is a library call, and Inductor fuses nothing before one",
    "node1 is extern": "the first is a library call, and Inductor fuses only simple loops behind one, where its template can take them",
    "node1's triton kernel": "the first is a kernel that was given, which takes nothing behind it",
    "device mismatch": "they run on different devices",
    "fusion for buffer explicit disabled": "fusion was switched off for a buffer between them",
    "nodes numel": "they loop over different numbers of elements",
    "numel/rnumel mismatch": "they loop over different numbers of elements",
    "exceeds max fusion": "the kernel would be larger than torch._inductor.config.max_fusion_size allows",
    "will create cycle": "each would have to run before the other",
    "grouped node": "one is part of a group that stays together",
    "register spilling": "the kernel would need more registers than there are",
}
_LIBRARY = "is a library call ({}), and Inductor writes kernels only around it"


@dataclass(frozen=True)
class Apart:
    """Two neighbours that were not fused: one makes what the other reads."""

    first: str
    second: str
    """Operations, joined by `_`."""
    buffers: tuple[str, ...]
    """What the one writes and the other reads."""
    why: str
    reason: str
    """In Inductor's words; "" where it gave none."""


def apart(direction: Direction, kernel_of: dict[str, str]) -> list[Apart]:
    """Each two operations that pass data to each other and are in different kernels, with the reason."""
    groups = [[op for op in group if op.kind != "nothing"] for group in direction.operations]
    groups = [group for group in groups if group]
    writer = {buffer: i for i, group in enumerate(groups) for op in group for buffer in op.writes}
    tried = _Tried(direction.not_fused)
    found = []
    for j, group in enumerate(groups):
        shared: dict[int, list[str]] = {}
        for buffer in dict.fromkeys(read for op in group for read in op.reads):
            if buffer in writer and writer[buffer] != j:
                shared.setdefault(writer[buffer], []).append(buffer)
        for i, buffers in sorted(shared.items()):
            if _kernel(groups[i], kernel_of) == _kernel(group, kernel_of) is not None:
                continue  # side by side in one kernel after all
            reason = tried.reason(groups[i], group)
            found.append(
                Apart(name_of(groups[i]), name_of(group), tuple(buffers), _in_words(groups[i], group, reason), reason)
            )
    return found


def name_of(group: Iterable[Operation]) -> str:
    """Fused operations as Inductor names them."""
    return "_".join(op.name for op in group)


def subject(group: Iterable[Operation], links: Links, direction: str) -> str:
    """Operations in the user's terms: the captured nodes, with the user's lines."""
    nodes, places = subjects(group, links, direction)
    return ", ".join(nodes) + (f" ({', '.join(places)})" if places else "")


def subjects(group: Iterable[Operation], links: Links, direction: str) -> tuple[list[str], list[str]]:
    """The captured nodes of operations, and the user's lines."""
    lines, captured = links.lines[direction], links.captured[direction]
    nodes: dict[str, None] = {}
    places: dict[tuple[str, int], str] = {}
    for op in group:
        for origin in op.origins:
            for one in captured.get(origin, ()):
                nodes[one] = None
            line = lines.get(origin)
            if line is not None and (line.file, line.line) not in places:
                places[line.file, line.line] = f"{line.name}:{line.line}"
    return list(nodes) or ["code of PyTorch"], list(dict.fromkeys(places.values()))


def _kernel(group: list[Operation], kernel_of: dict[str, str]) -> str | None:
    return next((kernel_of[op.name] for op in group if op.name in kernel_of), None)


class _Tried:
    """What Inductor tried to fuse and did not, by the operations."""

    def __init__(self, not_fused: dict[tuple[str, str], str]) -> None:
        self._pairs = [(set(left.split("_")), set(right.split("_")), why) for (left, right), why in not_fused.items()]
        self._of: dict[str, list[int]] = {}  # by operation the pairs that it is in, in order
        for i, (left, right, _) in enumerate(self._pairs):
            for op in left | right:
                self._of.setdefault(op, []).append(i)

    def reason(self, first: list[Operation], second: list[Operation]) -> str:
        """Inductor's reason for two groups, or for the largest parts of them that it tried; the last one of those."""
        ones, others = {op.name for op in first}, {op.name for op in second}
        best, size = "", 0
        for i in sorted({i for op in ones for i in self._of.get(op, ())}):
            left, right, reason = self._pairs[i]
            fits = (left <= ones and right <= others) or (left <= others and right <= ones)
            if fits and len(left) + len(right) >= size:
                best, size = reason, len(left) + len(right)
        return best


def _in_words(one: list[Operation], other: list[Operation], reason: str) -> str:
    for which, group in (("the first", one), ("the second", other)):
        library = next((op for op in group if op.kind == "library call"), None)
        if library is not None:
            return f"{which} {_LIBRARY.format(library.call or 'not a kernel of its own')}"
    for start, words in _WORDS.items():
        if reason.startswith(start):
            return words
    return reason or "Inductor did not try, or did not say"
