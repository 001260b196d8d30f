"""Noticing what PyTorch no longer tells: names that are only missed where what they give stays away.

A block that has seen one thing of a compilation must have seen another. What did not come is told by its name.
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
_NEVER = "was not told of in a block where it must have been"


class Direction(Protocol):
    """See `depyf.provenance.collect`."""

    graph: list[NodeRow]


class Seen(Protocol):
    """The nodes of the graphs that PyTorch showed by name."""

    captured: list[NodeRow]
    joint: list[NodeRow]

    @property
    def directions(self) -> Mapping[str, Direction]: ...


class Compile(Protocol):
    """What a block saw of a compilation: see `depyf.capture.compilation`."""

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
    """Tells of what stayed away in a block that has ended."""
    compiled = [one for one in compiles if one.frame.status == "compiled"]
    resumes = {number for one in compiled for number in one.resumes.values() if number is not None}
    if not compiled or any(path.startswith("torch.__trace") for path in private.losses):
        return
    if not any(one.ended or one.frame.artifacts or one.frame.guards for one in compiled):
        private.not_found("torch.__trace", "tells nothing")
        return
    if not any(one.ended for one in compiled):
        private.not_found("compilation_metrics", _NEVER)
    elif not any(one.started for one in compiled):
        private.not_found("dynamo_start", _NEVER)
    for one in compiled:
        _of_frame(one, resumes)
    # Not of each frame: a graph break can be one of an attempt that Dynamo gave up.
    frames = [one.frame for one in compiled]
    if any(one.breaks for one in frames) and any(one.is_resume for one in frames):
        if not any(one.resume_calls for one in frames):
            private.not_found("__resume_at_", "is no name that transformed code calls")


def _of_frame(one: Compile, resumes: set[int]) -> None:
    frame = one.frame
    for kind, record in _SHOWN.items():
        if kind in one.graphs:  # shown by a name, and its text never came
            inference = kind == "Forward_graph" and not one.seen.joint and private.expected(_INFERENCE)
            private.not_found(_INFERENCE if inference else record, _NEVER)
    if one.seen.joint and not frame.files("Joint_graph"):
        private.not_found("aot_joint_graph", _NEVER)
    if any(frame.files(kind) for kind in _IR) and not one.elsewhere:
        for kind, record in {**_IR, **_OF_INDUCTOR}.items():
            if not frame.files(kind):
                private.not_found(
                    _OTHERWISE if record == _POST_GRAD and private.expected(_OTHERWISE) else record, _NEVER
                )
    _of_nodes(one.seen)
    if not frame.guards:
        private.not_found("dynamo_cpp_guards_str", _NEVER)
    if frame.resume_calls and not frame.breaks:
        private.not_found("dynamo_graph_break_reason", _NEVER)
    if one.number is None and frame.files("Captured_Graph"):
        private.not_found("__compiled_fn_", "is no name that transformed code calls")
    if not frame.is_resume and one.number_of_original in resumes:
        private.not_found("torch_dynamo_resume_in_", f"is not how the name {frame.function} begins")


def _of_nodes(seen: Seen) -> None:
    """What PyTorch notes of nodes it notes of at least one in each graph that computes something."""
    backward = seen.directions.get("backward")
    graphs = [one.graph for one in seen.directions.values()]
    trained = [seen.joint, *graphs] if backward is not None and backward.graph else []
    noted: dict[str, list[list[NodeRow]]] = {
        _STACK: [seen.captured],
        _FROM: graphs if seen.captured else [],
        _ATEN: graphs,
        _NUMBER: trained,
        _TAG: [seen.joint] if trained else [],
    }
    for path, those in noted.items():
        nodes = [one for graph in those for one in graph]
        if nodes and not any(path in one.notes for one in nodes):
            private.not_found(path, "is noted of no node")


__all__ = ["notice"]
