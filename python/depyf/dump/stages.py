"""The stages of a compilation, each with an artifact of its own."""

from __future__ import annotations

from typing import Any

from depyf import _core
from depyf.session import Frame

_STAGES = _core.stages()
KINDS = {kind: about for kind, about, _ in _STAGES}
"""What the files of a kind have, in the order in which they are made, which is the order to read them in."""
_LATE = {kind for kind, _, is_late in _STAGES if is_late}


def in_order(frame: Frame) -> list[Any]:
    """Returns the artifacts of a compilation in the order to read them in: as the stages come, forward before
    backward."""
    place = {kind: i for i, kind in enumerate(KINDS)}

    def key(artifact: Any) -> tuple[int, int, int]:
        backward = artifact.kind in _LATE and artifact.direction == "backward"
        return (1 if artifact.kind in _LATE else 0, int(backward), place.get(artifact.kind, -1))

    return sorted(frame.artifacts, key=key)
