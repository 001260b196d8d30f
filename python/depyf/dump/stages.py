"""The stages of a compilation, each with an artifact of its own."""

from __future__ import annotations

from typing import Any

from depyf.session import Frame

# In the order in which they are made, which is the order to read them in.
KINDS = {
    "Captured_Graph": "the graph that Dynamo captured, in the user's own torch functions",
    "BEFORE_PRE_GRAD": "the captured graph as Inductor gets it, before its pre-grad passes",
    "AFTER_PRE_GRAD": "the same after Inductor's pre-grad passes",
    "Joint_graph": "forward and backward in one graph, in ATen operators",
    "Forward_graph": "the forward half, in ATen operators",
    "Backward_graph": "the backward half, in ATen operators",
    "BEFORE_POST_GRAD": "one direction as Inductor gets it from AOTAutograd, before its post-grad passes",
    "AFTER_POST_GRAD": "the same after Inductor's post-grad passes",
    "ir_pre_fusion": "Inductor's IR before fusion",
    "ir_post_fusion": "Inductor's IR after fusion",
    "kernel": "Inductor's output code: kernels, and the code that calls them",
}


def in_order(frame: Frame) -> list[Any]:
    """The artifacts of a compilation in the order to read them in: as the stages come, forward before backward."""
    place = {kind: i for i, kind in enumerate(KINDS)}
    late = ("BEFORE_POST_GRAD", "AFTER_POST_GRAD", "ir_pre_fusion", "ir_post_fusion", "kernel")

    def key(artifact: Any) -> tuple[int, int, int]:
        backward = artifact.kind in late and artifact.direction == "backward"
        return (1 if artifact.kind in late else 0, int(backward), place.get(artifact.kind, -1))

    return sorted(frame.artifacts, key=key)
