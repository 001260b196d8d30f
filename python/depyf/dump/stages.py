"""The stages of a compilation, each with an artifact of its own."""

from __future__ import annotations

from depyf import _core

KINDS = {kind: about for kind, about, _ in _core.stages()}
"""What the files of a kind have, in the order in which they are made, which is the order to read them in."""
