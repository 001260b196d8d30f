"""Names, reasons and conditions in Markdown: whatever they hold is what a reader sees."""

from __future__ import annotations

import random
import re

import pytest

from depyf import markdown

CHARACTERS = 'a b`*_|<>[]()\\!&#~-+=.1:;"x/'


def span_of(text):
    """The content of a code span by CommonMark's rules; None if the text is not one code span."""
    fence = re.match("`+", text)[0]
    runs = [run for run in re.finditer("`+", text) if run[0] == fence]
    if len(runs) != 2 or runs[1].end() != len(text):
        return None
    content = text[len(fence) : -len(fence)]
    padded = content.startswith(" ") and content.endswith(" ") and content.strip()
    return content[1:-1] if padded else content


def test_a_code_span_holds_any_text():
    chance = random.Random(5)
    for _ in range(20_000):
        text = "".join(chance.choices(CHARACTERS, k=chance.randrange(1, 12))).strip()
        if text:
            assert span_of(markdown.code(text)) == text
    assert markdown.code("f") == "`f`" and markdown.code("a`b") == "``a`b``" and markdown.code("`") == "`` ` ``"
    assert markdown.code("a\nb") == "`a\\nb`"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a break at f.py:3: `x`. See torch._dynamo.config", "a break at f.py:3: `x`. See torch._dynamo.config"),
        ("f.<locals>.g of <b>", "f.\\<locals>.g of \\<b>"),
        ("*bold* and __init__ and 2 * 3", "\\*bold\\* and __init\\_\\_ and 2 * 3"),
        ("[here](http://x)", "\\[here]\\(http://x)"),
        ("one ` backtick", "one \\` backtick"),
        ("a \\n and a \\*", "a \\n and a \\\\\\*"),
        ("# no heading", "\\# no heading"),
        ("1. no list", "1\\. no list"),
        ("a\nb", "a\\nb"),
    ],
)
def test_prose_is_shown_character_by_character(text, shown):
    assert markdown.prose(text) == shown
