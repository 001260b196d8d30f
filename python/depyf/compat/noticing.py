"""Detects private names that the installed PyTorch has stopped using, in cases in which only missing data reveals that
a name is no longer used.

If a `prepare_debug` block received one kind of data for a compilation, it must have received certain other kinds, too.
For each missing kind of data, the user is warned about the private name that the data depends on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from depyf.compat import private
from depyf.compat.fx_nodes import NOTES, NodeRow
from depyf.session import Frame

_SHOWN = {
    "Captured_Graph": "dynamo_output_graph",
    "Forward_graph": "aot_forward_graph",
    "Backward_graph": "aot_backward_graph",
}
_POST_GRAD, _OTHERWISE = "inductor_post_grad_graph", "after_post_grad_graph"
_OF_INDUCTOR = {
    "BEFORE_PRE_GRAD": "before_pre_grad_graph",
    "AFTER_PRE_GRAD": "after_pre_grad_graph",
    "BEFORE_POST_GRAD": "before_post_grad_graph",
    "AFTER_POST_GRAD": _POST_GRAD,
    "kernel": "inductor_output_code",
}
_INFERENCE = "aot_inference_graph"
_IR = {"ir_pre_fusion": "__ir_pre_fusion", "ir_post_fusion": "__ir_post_fusion"}
_STACK, _FROM, _NUMBER, _ATEN, _TAG = NOTES
_NEVER = "is missing in a block that must have received it"


class Direction(Protocol):
    """The part of the class `Direction` of `depyf.provenance.collect` that this module reads."""

    graph: list[NodeRow]


class Seen(Protocol):
    """The part of the class `Collected` of `depyf.provenance.collect` that this module reads: the nodes of the graphs
    of one compilation."""

    captured: list[NodeRow]
    joint: list[NodeRow]

    @property
    def directions(self) -> Mapping[str, Direction]: ...


class Compile(Protocol):
    """The part of `depyf.capture.compilation.Compilation` that this module reads."""

    frame: Frame
    number: int | None
    elsewhere: bool
    started: bool
    ended: bool
    number_of_original: int
    graphs: dict[str, Any]
    resumes: dict[str, int | None]

    @property
    def seen(self) -> Seen: ...


def notice(compiles: Sequence[Compile]) -> None:
    """Warns about the private names whose data is missing in a `prepare_debug` block that has ended."""
    compiled = [compilation for compilation in compiles if compilation.frame.status == "compiled"]
    resumes = {number for compilation in compiled for number in compilation.resumes.values() if number is not None}
    if not compiled or any(path.startswith("torch.__trace") for path in private.losses):
        return
    if not any(
        compilation.ended or compilation.frame.artifacts or compilation.frame.guards for compilation in compiled
    ):
        private.not_found("torch.__trace", "emits no records")
        return
    if not any(compilation.ended for compilation in compiled):
        private.not_found("compilation_metrics", _NEVER)
    elif not any(compilation.started for compilation in compiled):
        private.not_found("dynamo_start", _NEVER)
    for compilation in compiled:
        _of_frame(compilation, resumes)
    # All frames are checked together, because the graph break of a single frame can belong to an attempt that Dynamo
    # abandoned.
    frames = [compilation.frame for compilation in compiled]
    if any(frame.breaks for frame in frames) and any(frame.is_resume for frame in frames):
        if not any(frame.resume_calls for frame in frames):
            private.not_found("__resume_at_", "is no name that transformed code calls")


def _of_frame(compilation: Compile, resumes: set[int]) -> None:
    frame = compilation.frame
    kinds = {artifact.kind for artifact in frame.artifacts}
    for kind, record in _SHOWN.items():
        if kind in compilation.graphs:  # PyTorch showed the graph, but sent no record with its text.
            inference = kind == "Forward_graph" and not compilation.seen.joint and private.expected(_INFERENCE)
            private.not_found(_INFERENCE if inference else record, _NEVER)
    if compilation.seen.joint and "Joint_graph" not in kinds:
        private.not_found("aot_joint_graph", _NEVER)
    if not kinds.isdisjoint(_IR) and not compilation.elsewhere:
        for kind, record in {**_IR, **_OF_INDUCTOR}.items():
            if kind not in kinds:
                private.not_found(
                    _OTHERWISE if record == _POST_GRAD and private.expected(_OTHERWISE) else record, _NEVER
                )
    _of_nodes(compilation.seen)
    if not frame.guards:
        private.not_found("dynamo_cpp_guards_str", _NEVER)
    if frame.resume_calls and not frame.breaks:
        private.not_found("dynamo_graph_break_reason", _NEVER)
    if compilation.number is None and "Captured_Graph" in kinds:
        private.not_found("__compiled_fn_", "is no name that transformed code calls")
    if not frame.is_resume and compilation.number_of_original in resumes:
        private.not_found("torch_dynamo_resume_in_", f"is not how the name {frame.function} begins")


def _of_nodes(seen: Seen) -> None:
    """Warns about each key under which PyTorch records the origin of a graph node in the node's `meta`, if not a single
    node has the key. Each key is expected in certain graphs: if these graphs compute something, the `meta` of at least
    one of their nodes has the key."""
    backward = seen.directions.get("backward")
    graphs = [direction.graph for direction in seen.directions.values()]
    trained = [seen.joint, *graphs] if backward is not None and backward.graph else []
    noted: dict[str, list[list[NodeRow]]] = {
        _STACK: [seen.captured],
        _FROM: graphs if seen.captured else [],
        _ATEN: graphs,
        _NUMBER: trained,
        _TAG: [seen.joint] if trained else [],
    }
    for path, graphs_noted in noted.items():
        if any(graphs_noted) and not any(path in node.notes for graph in graphs_noted for node in graph):
            private.not_found(path, "occurs in no node")


__all__ = ["notice"]
