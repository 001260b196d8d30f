"""The links from a line of source to the kernels that it became, forward and backward kept apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from depyf.compat.fx_nodes import NodeRow, Source
from depyf.compat.inductor import Operation
from depyf.provenance import kernels
from depyf.provenance.collect import Collected, Direction
from depyf.source_line import Line


@dataclass
class Link:
    """What a captured node became in one direction: the names at each stage, in order."""

    graph: list[str] = field(default_factory=list)
    """Nodes of the forward or backward graph."""
    post_grad: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    kernels: list[str] = field(default_factory=list)
    """Kernels and library calls in the output code."""
    not_recorded: list[str] = field(default_factory=list)
    """The stages whose link is not known, and why."""

    def to_dict(self) -> dict[str, Any]:
        """As `provenance.json` has it."""
        return dict(vars(self))


class Place(NamedTuple):
    """Where something that a kernel computes comes from."""

    module: str
    """The path of the module, `blocks.9.attn`; "" of the model itself, or if none is noted."""
    line: Line

    def __str__(self) -> str:
        where = f"{self.line.name}:{self.line.line}"
        return f"{self.module} ({where})" if self.module else where


@dataclass
class Chain:
    """What became of one captured node."""

    node: str
    target: str
    line: Line | None
    joint: list[str]
    decomposed: dict[str, list[str]]
    """By direction, the core operators that it was decomposed into."""
    directions: dict[str, Link]
    not_recorded: list[str] = field(default_factory=list)
    """Why there is no direction, where there is none."""

    @property
    def why_no_kernel(self) -> str:
        """In one line; "" where a kernel is linked."""
        if any(one.kernels for one in self.directions.values()):
            return ""
        told = [*self.not_recorded, *(why for one in self.directions.values() for why in one.not_recorded)]
        return "; ".join(dict.fromkeys(told))


@dataclass
class Links:
    """All chains of one compilation, and the way back by name."""

    chains: list[Chain]
    lines: dict[str, dict[str, Line]]
    """By direction, the user's line of each node after post-grad passes."""
    captured: dict[str, dict[str, list[str]]]
    """By direction, the captured nodes of each node of its graphs."""
    kernel_of: dict[str, dict[str, str]]
    """By direction, the kernel of each operation."""
    calls: dict[str, kernels.Kernels]
    places: dict[str, dict[tuple[str, str], list[Place]]]
    """By direction, for a kernel and a buffer that it writes the places of all that was fused with it, in the graph's order."""

    def captured_anywhere(self, name: str) -> list[str]:
        """The captured nodes of a node of the joint graph."""
        for own in self.captured.values():
            if name in own:
                return own[name]
        return []


Replaced = Callable[[str | None], dict[str, list[str]]]
"""From a direction, None for what AOTAutograd made, to the nodes that each node of a pass stands for, by name."""


def _replaced_unknown(direction: str | None) -> dict[str, list[str]]:
    return {}


def link(seen: Collected, replaced: Replaced = _replaced_unknown) -> Links:
    """Links what was seen of one compilation.

    Args:
        seen: the compilation.
        replaced: says what the nodes of passes stand for. It is asked only if there are nodes of which PyTorch notes nothing.
    """
    sources = _Sources(seen)
    captured = sources.of_graphs()
    graphs = [row for direction in seen.directions.values() for row in direction.graph]
    _add_replaced(graphs, captured, replaced, None)
    links = Links([], {}, {}, {}, {}, {})
    for name, direction in seen.directions.items():
        own = dict(captured)
        for row in direction.post_grad:
            found = sources.of(row) or captured.get(row.name) or sources.of_number(row)
            if found:
                own[row.name] = found
        _add_replaced(direction.post_grad, own, replaced, name)
        links.captured[name] = own
        links.lines[name] = {
            row.name: row.line for row in [*direction.graph, *direction.post_grad] if row.line is not None
        }
        links.calls[name] = kernels.read(direction.code) if direction.code else kernels.Kernels((), {})
        links.kernel_of[name] = _kernels(direction, links.calls[name])
    stages = {name: _Stages(direction, links.captured[name]) for name, direction in seen.directions.items()}
    joint = _inverted(seen.joint, links.captured_anywhere)
    for node in seen.captured:
        links.chains.append(_chain(node, joint.get(node.name, []), stages, links))
    for name, direction in seen.directions.items():
        if direction.operations:
            links.places[name] = _places(direction, links.kernel_of[name], links.captured[name], seen.captured)
    return links


class _Sources:
    """The captured nodes that nodes of later graphs were made from, as PyTorch notes them.

    It notes them for nodes of the forward; a node of the backward has the sequence number of its forward.
    """

    def __init__(self, seen: Collected) -> None:
        self._rows = [*seen.joint, *(row for one in seen.directions.values() for row in one.graph)]
        self._line_of = {row.name: row.line for row in seen.captured}
        # The graphs that AOTAutograd ran: passes of Inductor's come later.
        run = {source.graph for row in seen.joint or self._rows for source in row.sources}
        self._graphs = {seen.graph} if seen.graph in run else run
        self._of_number: dict[int, list[str]] = {}

    def of(self, row: NodeRow) -> list[str]:
        """Those that are noted of the node itself."""
        return [source.name for source in row.sources if self._is_captured(source, row)]

    def of_number(self, row: NodeRow) -> list[str]:
        """Those that nodes of the same sequence number come from."""
        return self._of_number.get(row.seq_nr, []) if row.seq_nr is not None else []

    def of_graphs(self) -> dict[str, list[str]]:
        """Those of each node of the joint, forward and backward graphs, by name."""
        of_forward: dict[int, list[str]] = {}
        found: dict[str, list[str]] = {}
        for row in self._rows:
            sources = [] if row.backward else self.of(row)
            if sources:
                found[row.name] = sources
                if row.seq_nr is not None:
                    known = of_forward.setdefault(row.seq_nr, [])
                    known += [one for one in sources if one not in known]
        by_number: dict[int, dict[str, None]] = {}
        for row in self._rows:
            if row.seq_nr is not None:
                if row.name not in found and row.seq_nr in of_forward:
                    found[row.name] = of_forward[row.seq_nr]
                of_number = by_number.setdefault(row.seq_nr, {})
                for one in found.get(row.name, ()):
                    of_number[one] = None
        self._of_number = {number: list(one) for number, one in by_number.items()}
        return found

    def _is_captured(self, source: Source, row: NodeRow) -> bool:
        """Returns whether a source is a captured node, and not one of the same name in another graph."""
        if source.name not in self._line_of:
            return False
        if source.graph:
            return source.graph in self._graphs
        return row.line == self._line_of[source.name]


def _add_replaced(
    rows: list[NodeRow], captured: dict[str, list[str]], replaced: Replaced, direction: str | None
) -> None:
    """Adds the captured nodes of those nodes that a pass put in the place of others."""
    unknown = [row.name for row in rows if row.name not in captured]
    by_name = replaced(direction) if unknown else {}
    for name in unknown:
        found = [one for old in by_name.get(name, ()) for one in captured.get(old, ())]
        if found:
            captured[name] = list(dict.fromkeys(found))


def _kernels(direction: Direction, calls: kernels.Kernels) -> dict[str, str]:
    """The kernel of each operation: the one that writes a buffer of it, or of what was fused with it."""
    found: dict[str, str] = {}
    for group in direction.operations:
        written = [calls.writer[one].name for op in group for one in op.writes if one in calls.writer]
        for op in group:
            own = [calls.writer[one].name for one in op.writes if one in calls.writer]
            # What is written to memory that another operation of the group made has that one's kernel.
            if op.kind != "nothing" and (own or written):
                found[op.name] = own[0] if own else max(written, key=written.count)
    return found


def _places(
    direction: Direction, kernel_of: dict[str, str], captured_of: dict[str, list[str]], captured: list[NodeRow]
) -> dict[tuple[str, str], list[Place]]:
    """The places of what each kernel computes for each buffer that it writes."""
    rows = [*direction.graph, *direction.post_grad]
    place_of = {row.name: Place(row.module, row.line) for row in rows if row.line is not None}
    position = {row.name: i for i, row in enumerate(rows)}
    place_of_captured = {row.name: Place(row.module, row.line) for row in captured if row.line is not None}
    places: dict[tuple[str, str], list[Place]] = {}
    for group in direction.operations:
        origins = {origin for op in group if op.name in kernel_of for origin in op.origins if origin in position}
        of_group = []
        for origin in sorted(origins, key=position.__getitem__):
            if origin in place_of:
                of_group.append(place_of[origin])
            else:  # nodes that a pass of Inductor's made have no line of their own
                sources = captured_of.get(origin, ())
                of_group += [place_of_captured[source] for source in sources if source in place_of_captured]
        for op in group:
            for buffer in op.writes if op.name in kernel_of else ():
                places[kernel_of[op.name], buffer] = list(dict.fromkeys(of_group))
    return places


def _inverted(rows: list[NodeRow], captured: Callable[[str], Sequence[str] | None]) -> dict[str, list[NodeRow]]:
    """The nodes of a graph by each of their captured nodes."""
    found: dict[str, list[NodeRow]] = {}
    for row in rows:
        names = captured(row.name)
        for one in () if not names else names if len(names) == 1 else dict.fromkeys(names):
            found.setdefault(one, []).append(row)
    return found


class _Stages:
    """What one direction has of each captured node, at each stage."""

    def __init__(self, direction: Direction, captured: dict[str, list[str]]) -> None:
        self.direction = direction
        self.graph = _inverted(direction.graph, captured.get)
        self.post_grad = _inverted(direction.post_grad, captured.get)
        self._operations = [op for group in direction.operations for op in group]
        self._made_of: dict[str, list[int]] = {}
        for i, op in enumerate(self._operations):
            for origin in op.origins:
                self._made_of.setdefault(origin, []).append(i)

    def operations(self, nodes: list[str]) -> list[Operation]:
        """Those made of any of these nodes, in order."""
        return [self._operations[i] for i in sorted({i for one in nodes for i in self._made_of.get(one, ())})]


def _chain(node: NodeRow, joint: list[NodeRow], stages: dict[str, _Stages], links: Links) -> Chain:
    chain = Chain(node.name, node.target, node.line, [row.name for row in joint], {}, {})
    for name, stage in stages.items():
        graph = stage.graph.get(node.name, [])
        one = Link()
        one.graph = [row.name for row in graph]
        one.post_grad = [row.name for row in stage.post_grad.get(node.name, ())]
        operations = stage.operations(one.post_grad)
        one.operations = [op.name for op in operations]
        of = links.kernel_of[name]
        one.kernels = list(dict.fromkeys(of[op.name] for op in operations if op.name in of))
        one.not_recorded = _gaps(one, stage.direction, operations, of)
        decomposed = [row for row in graph if row.backward == (name == "backward")]
        if decomposed:
            chain.decomposed[name] = list(dict.fromkeys(row.target for row in decomposed))
        if one.graph or one.post_grad:
            chain.directions[name] = one
    if not chain.directions:
        chain.not_recorded.append(_nowhere(chain, stages))
    return chain


def _nowhere(chain: Chain, stages: dict[str, _Stages]) -> str:
    """Why no direction has anything of a captured node."""
    if not any(stage.direction.graph or stage.direction.post_grad for stage in stages.values()):
        return "graph: no graph was seen with its nodes: the result came from a cache, or from another backend"
    if chain.joint:
        return "graph: the joint graph has it, and neither forward nor backward: nothing needs what it computes"
    return "graph: no node names it: it computes nothing of its own, or what it computed became part of others"


def _gaps(one: Link, direction: Direction, operations: list[Operation], of: dict[str, str]) -> list[str]:
    found = []
    if one.graph and not direction.post_grad:
        found.append(
            "post_grad: the graph after Inductor's passes was not seen: another backend, another process, or a cache"
        )
    elif one.graph and not one.post_grad:
        found.append("post_grad: no node after the passes names it: it was folded, merged or removed")
    if one.post_grad and not direction.operations:
        found.append("operations: Inductor's IR was not seen: the result came from a cache, or from another process")
    elif one.post_grad and not operations:
        found.append("operations: Inductor made no operation of it: a view, or computed where it is used")
    if operations and not any(op.name in of for op in operations):
        found.append("kernels: no kernel of the output code writes what it makes")
    return found
