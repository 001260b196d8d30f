"""Prepares the texts of graphs for the dumped files: adds the paths of modules as headings, and replaces PyTorch's
names of inputs by the user's names."""

from __future__ import annotations

import itertools
import operator

from depyf import _core
from depyf.compat.fx_nodes import Module, NodeRow
from depyf.provenance.collect import Collected

_TOP = "(top level)"
_CAPTURED = ("Captured_Graph", "BEFORE_PRE_GRAD", "AFTER_PRE_GRAD")
_OF_ALL_INPUTS = ("Joint_graph", "Forward_graph")
_MODULES_OF = operator.attrgetter("modules")
_RENAMED = (*_OF_ALL_INPUTS, "Backward_graph")


def readable(kind: str, direction: str | None, text: str, seen: Collected) -> str:
    """Returns the text of a graph for its file, with the paths of modules as headings and with the user's names of
    inputs.

    Args:
        kind, direction: the kind of the graph, and its direction ("forward" or "backward").
        text: the graph as PyTorch prints it.
        seen: the provenance data of the graph's compilation, with the nodes of the graph.
    """
    if kind in _OF_ALL_INPUTS:
        seen.input_names = _core.input_names(text, seen.inputs) if seen.inputs else {}
    renames = seen.input_names if kind in _RENAMED else {}
    headings = _headings(kind, direction, seen) if seen.has_modules else {}
    return _core.readable_graph(text, renames, headings)


def _headings(kind: str, direction: str | None, seen: Collected) -> dict[str, str]:
    """Returns a dict from the names of a graph's nodes to the paths of their modules; the dict is empty if all nodes
    belong to the top level."""
    if kind in _CAPTURED:
        graphs, forward = [seen.captured], seen.captured
    elif kind == "Joint_graph":
        graphs, forward = [seen.joint], seen.joint
    else:
        own = seen.directions.get("backward" if direction == "backward" else "forward")
        graphs = [own.graph, own.post_grad] if own is not None else []
        forward = seen.directions["forward"].graph if "forward" in seen.directions else []
    lists = (*graphs, forward)
    # PyTorch prints the graphs before and after a stage one after the other, and the headings of the two graphs are
    # computed from the same lists of nodes. The headings are kept until the lists of nodes change.
    if len(lists) != len(seen.headings_of) or not all(map(operator.is_, lists, seen.headings_of)):
        seen.headings_of = lists
        seen.headings = _headings_of(list(itertools.chain(*graphs)), forward)
    return seen.headings


def _headings_of(rows: list[NodeRow], forward: list[NodeRow]) -> dict[str, str]:
    """Returns a dict from the names of the nodes `rows` to the paths of their modules; see `_headings`. The list
    `forward` has the nodes of the forward graph."""
    used = set(map(_MODULES_OF, rows))
    callers = {module.path for modules in used for module in modules[:-1]}
    path_of = {modules: _heading(modules, callers) for modules in used}
    if {*path_of.values()} <= {_TOP}:
        return {}
    # A backward node without a module belongs to the top level if its forward node belongs to the top level. A backward
    # node with neither a module nor a forward node at the top level only sums gradients, and gets no heading.
    at_top = {row.seq_nr for row in forward if not row.modules and not row.backward}
    return {
        row.name: path_of[row.modules]
        for row in rows
        if row.modules or (row.line is not None and (not row.backward or row.seq_nr in at_top))
    }


def _heading(modules: tuple[Module, ...], callers: set[str]) -> str:
    """Returns the path of the innermost module that is used as a heading: a module of the user's own, or a module of
    PyTorch's that calls other modules and is no container.

    A container such as `torch.nn.Sequential` is no heading, because it has no code that helps a reader. A layer such as
    `torch.nn.Linear` is no heading either: its nodes are below the heading of the module that calls the layer.
    """
    for module in modules[::-1]:
        is_layer = module.class_name.startswith("torch.") and module.path not in callers
        if not is_layer and not module.class_name.startswith("torch.nn.modules.container."):
            return module.path or _TOP
    return _TOP
