"""The comments with links in the lines of a dump's files. No line moves: breakpoints in the files stay where they are."""

from __future__ import annotations

import re

MARK = "#~ "
"""Begins each comment, so that a text without them can be had."""
_COMMENT = re.compile(r"(?:  )?#~ .*$", re.MULTILINE)


def plain(text: str) -> str:
    """A text without the comments."""
    return _COMMENT.sub("", text) if MARK in text else text
