"""Recognises the comments with links between source lines and kernels, which depyf adds at the ends of lines in a
dump's files. A comment with links names the nodes that a line comes from, or the kernels that the line was compiled to.
A comment with links adds no line, so that breakpoints in the files stay at their lines."""

from __future__ import annotations

import re

MARK = "#~ "
"""The beginning of each comment with links, by which `plain` recognises the comment."""
_COMMENT = re.compile(r"(?:  )?#~ .*$", re.MULTILINE)


def plain(text: str) -> str:
    """Returns a text without the comments with links."""
    return _COMMENT.sub("", text) if MARK in text else text
