"""Noticing what PyTorch no longer tells: names that are only missed where what they give stays away.

A block that has seen one thing of a compilation must have seen another. What did not come is told by its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from depyf.compat import private
from depyf.session import Frame

_SHOWN = {
    "Captured_Graph": "dynamo_output_graph",
    "Forward_graph": "aot_forward_graph",
    "Backward_graph": "aot_backward_graph",
}
_OF_INDUCTOR = {
    "BEFORE_PRE_GRAD": "before_pre_grad_graph",
    "AFTER_PRE_GRAD": "after_pre_grad_graph",
    "BEFORE_POST_GRAD": "before_post_grad_graph",
    "AFTER_POST_GRAD": "inductor_post_grad_graph",
    "kernel": "inductor_output_code",
}
_NEVER = "was not told of in a block where it must have been"


class Compile(Protocol):
    """What a block saw of a compilation: see `depyf.capture.compilation`."""

    frame: Frame
    number: int | None
    elsewhere: bool
    ended: bool
    original: Any
    graphs: dict[str, Any]
    resumes: dict[str, Any]


def notice(compiles: Sequence[Compile]) -> None:
    """Tells of what stayed away in a block that has ended."""
    compiled = [one for one in compiles if one.frame.status == "compiled"]
    resumes = {id(code) for one in compiled for code in one.resumes.values() if code is not None}
    if not compiled or any(path.startswith("torch.__trace") for path in private.losses):
        return
    if not any(one.ended or one.frame.artifacts or one.frame.guards for one in compiled):
        private.not_found("torch.__trace", "tells nothing")
        return
    if not any(one.ended for one in compiled):
        private.not_found("compilation_metrics", _NEVER)
    for one in compiled:
        _of_frame(one, any(other.frame.is_resume for other in compiled), resumes)


def _of_frame(one: Compile, any_resume: bool, resumes: set[int]) -> None:
    frame = one.frame
    for kind, record in _SHOWN.items():
        if kind in one.graphs:  # shown by a name, and its text never came
            private.not_found(record, _NEVER)
    if frame.files("ir_post_fusion") and not one.elsewhere:
        for kind, record in _OF_INDUCTOR.items():
            if not frame.files(kind):
                private.not_found(record, _NEVER)
    if not frame.guards:
        private.not_found("dynamo_cpp_guards_str", _NEVER)
    if frame.resume_calls and not frame.breaks:
        private.not_found("dynamo_graph_break_reason", _NEVER)
    if one.number is None and frame.files("Captured_Graph"):
        private.not_found("__compiled_fn_", "is no name that transformed code calls")
    if frame.breaks and not frame.resume_calls and any_resume:
        private.not_found("__resume_at_", "is no name that transformed code calls")
    if not frame.is_resume and id(one.original) in resumes:
        private.not_found("torch_dynamo_resume_in_", f"is not how the name {frame.function} begins")


__all__ = ["notice"]
