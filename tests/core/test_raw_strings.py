"""Tests that strings with backslashes are printed raw if the source's are raw, and always with the same value."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from interpreters import VERSIONS, compiled, interpreter

COMMAND = Path(__file__).resolve().parents[2] / "build" / "dev" / "depyf-decompile"
SOURCE = r'''
import re

DIGITS = re.compile(r"\d+\s*(\w+)")
ONE_BACKSLASH = r"\d"
PATH = "C:\\x"
RAW_BYTES = rb"\d\w"
BYTES = b"\\d\\w"
NOT_ASCII = b"\xc3\xa9\\d"
OTHER_QUOTES = r'a"\d\w'
AT_THE_END = "ends\\"
TWO_AT_THE_END = "\\ends\\\\"
CONTROL = "\x07\\d\\w\\s"
LINES = r"""first \d
second \w"""
QUOTES_AT_THE_END = "first \\d\nsecond \"\"\"\\w\""


def matches(text, prop):
    r"""Matches \d+.

    >>> matches("\n")
    """
    return re.search(
        rf"""(?isx)<meta
        (?=[^>]+(["\']?){re.escape(prop)}\1)
        [^>]+?(["\'])(?P<content>.*?)\2""",
        text,
    )


def escaped(prop):
    """Not raw: \\d and \x07."""
    return f"""first \\d {prop}
    second \\w"""


def on_one_line(x, width):
    return (
        rf"^\(\w+\) {x!r}$",
        rf'"\d\s": {x:>{width}}',
        rf"\d {x}",
        rf"{{\d\w}} \{{{x}\}}",
        f"\\d\\s {x}",
        f"\\(a\t\\) {x}",
        f"C:\\{x}",
        f"{x}\\d\\s\\",
    )


class Documented:
    r"""A class with \w."""
'''


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: "%d.%d" % version)
def test_strings_keep_their_values(version, tmp_path):
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    command = [COMMAND, "-q", "--check", python, compiled(python, SOURCE, tmp_path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "# depyf: not equal" not in text
    assert 'r"""A class with \\w."""' in text
    if version >= (3, 11):
        for line in (
            're.compile(r"\\d+\\s*(\\w+)")',
            'ONE_BACKSLASH = r"\\d"',
            'PATH = "C:\\\\x"',
            'RAW_BYTES = rb"\\d\\w"',
        ):
            assert line in text
        assert 'BYTES = b"\\\\d\\\\w"' in text
        assert "OTHER_QUOTES = r'a\"\\d\\w'" in text
        for line in on_one_line():
            assert f"        {line},\n" in text


def on_one_line() -> list[str]:
    """Return the f-strings of the function `on_one_line` of the source."""
    lines = SOURCE.splitlines()
    start = lines.index("def on_one_line(x, width):") + 2
    return [line.strip().removesuffix(",") for line in lines[start : lines.index("    )", start)]]
