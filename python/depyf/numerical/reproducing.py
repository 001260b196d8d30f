"""A program of plain PyTorch that shows a finding."""

from __future__ import annotations

from depyf.numerical.diagnosis import Diagnosis


def reproduce(diagnosis: Diagnosis) -> str:
    """Returns the text of a program that shows a finding; "" if it cannot be cut out of the compilation."""
    return ""
