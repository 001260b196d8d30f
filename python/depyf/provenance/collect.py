"""The data that is recorded of one compilation: nodes, operations and kernels of its forward and its backward."""

from __future__ import annotations

from dataclasses import dataclass, field

from depyf.compat.fx_nodes import NodeRow
from depyf.compat.inductor import Operation

NAMES = {"joint graph", "forward graph", "backward graph", "after post grad"}
"""The names, in lower case, under which PyTorch logs the graphs from which the links between source lines and kernels
are computed."""


@dataclass
class Direction:
    """The data that was recorded of one direction of a compilation, which is "forward" or "backward"."""

    graph: list[NodeRow] = field(default_factory=list)
    """The nodes of the graph that AOTAutograd made for this direction."""
    post_grad: list[NodeRow] = field(default_factory=list)
    """The nodes of the graph after Inductor's post-grad passes."""
    operations: list[list[Operation]] = field(default_factory=list)
    """The operations of Inductor's IR; each inner list contains operations that were fused."""
    not_fused: dict[tuple[str, str], str] = field(default_factory=dict)
    """Maps the names of two IR nodes (`op0_op1` for a fused node) to Inductor's last reason for not fusing the two."""
    code: str = ""
    """Inductor's output code."""


@dataclass
class Collected:
    """The data that was recorded of one compilation."""

    captured: list[NodeRow] = field(default_factory=list)
    graph: int = 0
    """The identity of the captured graph (`fx_nodes.identity`); 0 if it is unknown."""
    has_modules: bool = False
    """True if PyTorch recorded a module for a node of the captured graph."""
    inputs: list[tuple[str, str]] = field(default_factory=list)
    """The name of each input of the captured graph, and the expression from which Dynamo takes the input, such as
    `L['self']._modules['0']`; "" if the expression is unknown. The list of inputs is empty if AOTAutograd may receive a
    graph other than the captured graph."""
    input_names: dict[str, str] = field(default_factory=dict)
    """Maps PyTorch's name of each input of AOTAutograd's graphs to the readable name that the files of the dump
    contain."""
    joint: list[NodeRow] = field(default_factory=list)
    directions: dict[str, Direction] = field(default_factory=dict)
    headings: dict[str, str] = field(default_factory=dict)
    """Maps the names of nodes in the lists of `headings_of` to the paths of the nodes' modules."""
    headings_of: tuple[list[NodeRow], ...] = ()
    """The lists of nodes from which `headings` was computed: the nodes of the graphs that were printed last, followed
    by the nodes of the forward graph."""

    def direction(self, name: str | None) -> Direction:
        """Returns the record of one direction, created if it is new; any name but "backward" means forward."""
        key = "backward" if name == "backward" else "forward"
        if key not in self.directions:
            self.directions[key] = Direction()
        return self.directions[key]

    def add_graph(self, name: str, direction: str | None, rows: list[NodeRow]) -> None:
        """Stores the nodes of a graph that PyTorch logs under the name `name`; a graph whose name is not in `NAMES` is
        ignored."""
        match name.lower():
            case "joint graph":
                self.joint = rows
            case "forward graph":
                self.direction("forward").graph = rows
            case "backward graph":
                self.direction("backward").graph = rows
            case "after post grad":
                self.direction(direction).post_grad = rows
