"""The stages of a compilation, each of which has an artifact of its own."""

from __future__ import annotations

from depyf import _core

KINDS = {kind: about for kind, about, _ in _core.stages()}
"""Maps the kind of a file to its description, in the order in which the files are made and should be read."""
