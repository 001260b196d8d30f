"""What is seen of one compilation: nodes, operations and kernels, each under its direction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from depyf import _core
from depyf.compat.fx_nodes import NodeRow
from depyf.compat.inductor import Operation

NAMES = {"joint graph", "forward graph", "backward graph", "after post grad"}
"""The names, in lower case, under which PyTorch shows the graphs that are of use here."""


@dataclass
class Direction:
    """One direction of a graph: "forward" or "backward"."""

    graph: list[NodeRow] = field(default_factory=list)
    """The graph that AOTAutograd made."""
    post_grad: list[NodeRow] = field(default_factory=list)
    """After Inductor's post-grad passes."""
    operations: list[list[Operation]] = field(default_factory=list)
    """Inductor's IR, those together that were fused."""
    not_fused: dict[tuple[str, str], str] = field(default_factory=dict)
    """The names of two nodes, fused ones `op0_op1`, and Inductor's last reason for not fusing them."""
    code: str = ""
    """Inductor's output code."""


@dataclass
class Collected:
    """What was seen of one compilation."""

    captured: list[NodeRow] = field(default_factory=list)
    graph: int = 0
    """What tells the captured graph from others (`fx_nodes.identity`); 0 if it is unknown."""
    has_modules: bool = False
    """True if a captured node has a note of its module."""
    inputs: list[tuple[str, str]] = field(default_factory=list)
    """The name of each input of the captured graph, and where it is taken from: `L['self']._modules['0']`, or "". Empty where
    AOTAutograd may be given another graph."""
    input_names: dict[str, str] = field(default_factory=dict)
    """Those of the graphs that AOTAutograd makes, by PyTorch's names."""
    joint: list[NodeRow] = field(default_factory=list)
    directions: dict[str, Direction] = field(default_factory=dict)

    def direction(self, name: str | None) -> Direction:
        """One direction; a graph without backward has "forward" only."""
        return self.directions.setdefault("backward" if name == "backward" else "forward", Direction())

    def to_json(self) -> str:
        """All that links follow from, for the core; nodes and operations are arrays of their fields."""
        directions: list[dict[str, Any]] = [
            {
                "name": name,
                "graph": direction.graph,
                "post_grad": direction.post_grad,
                "operations": direction.operations,
                "not_fused": [[*pair, reason] for pair, reason in direction.not_fused.items()],
                "code": direction.code,
            }
            for name, direction in self.directions.items()
        ]
        data = {"captured": self.captured, "graph": self.graph, "joint": self.joint, "directions": directions}
        return _core.json_text(data, 0)

    def add_graph(self, name: str, direction: str | None, rows: list[NodeRow]) -> None:
        """A graph that PyTorch shows under a name."""
        match name.lower():
            case "joint graph":
                self.joint = rows
            case "forward graph":
                self.direction("forward").graph = rows
            case "backward graph":
                self.direction("backward").graph = rows
            case "after post grad":
                self.direction(direction).post_grad = rows
