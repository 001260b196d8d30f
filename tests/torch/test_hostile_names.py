"""Tests of names, paths and messages that contain line breaks, escape sequences and direction marks."""

from __future__ import annotations

import ast
import contextlib
import re
import sys

import depyf
import torch
from depyf import names, program
from torch_helpers import check_dump, pages

HOSTILE = "\n\tINJECTED()\n\x1b[31m\u202e`|\x85\u2028"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SOURCE = """
def f(x, s):
    y = x.sin() * s
    torch._dynamo.graph_break(msg=message)
    return y.cos() @ y
"""


def test_what_cannot_be_shown_is_escaped():
    assert names.one_line("a\nb\x1b[1m\u202ec\td\ud800\x85") == "a\\nb\\x1b[1m\\u202ec\td\\ud800\\x85"
    assert names.one_line("Größe 漢字 🙂") == "Größe 漢字 🙂"


def test_nothing_of_a_hostile_program_leaves_its_line(tmp_path, capsys):
    file = tmp_path / f"file{HOSTILE}.py"
    file.write_text(SOURCE)
    namespace = {"torch": torch, "message": f"message{HOSTILE}", "__name__": f"module{HOSTILE}"}
    exec(compile(SOURCE, str(file), "exec"), namespace)
    f = namespace["f"]
    f.__code__ = f.__code__.replace(co_name=f"f{HOSTILE}")
    f.__name__ = f.__qualname__ = f"f{HOSTILE}"

    def failing(graph, inputs):
        raise ValueError(f"error{HOSTILE}")

    directory = tmp_path / "dump"
    with depyf.prepare_debug(directory):
        compiled = torch.compile(f, backend="aot_eager")
        for size in (3, 4):
            compiled(torch.ones(size, size, requires_grad=True), size)
        with contextlib.suppress(Exception):
            torch.compile(lambda x: x + 1, backend=failing)(torch.ones(2))
    explanation = depyf.explain(compiled)
    texts = {"explain": str(explanation), "html": explanation._repr_html_(), "summary": program.summary(directory)}
    for path in directory.iterdir():
        texts[path.name] = path.read_bytes().decode()
    assert len(texts) > 10
    check_dump(directory)
    for name, text in texts.items():
        assert "INJECTED" in text or not name.startswith(("index", "summary", "explain", "full_code")), name
        assert not CONTROLS.search(text), (name, CONTROLS.search(text))
        if name.endswith(".py"):
            called = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
            assert "INJECTED" not in [func.id for func in called if isinstance(func, ast.Name)], name
        elif not name.endswith(".json"):
            # Only an error of several lines is shown on several lines.
            lines = [line for line in text.splitlines() if line.strip().startswith("INJECTED")]
            assert len(lines) <= 1 and not [line for line in lines if not line.startswith("    ")], (name, lines)


def code_span(text):
    """Returns the text as a code span of Markdown, between more backticks than any run of backticks in it."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def test_names_with_markdown_in_them_are_shown_in_the_index(tmp_path):
    name = "f`|*x*|<b>`"
    file = tmp_path / "a|b`<i>.py"
    file.write_text(SOURCE)
    namespace = {"torch": torch, "message": "*no* `code | <u>", "__name__": "m"}
    exec(compile(SOURCE, str(file), "exec"), namespace)
    f = namespace["f"]
    qualified = {"co_qualname": name} if sys.version_info >= (3, 11) else {}
    f.__code__ = f.__code__.replace(co_name=name, **qualified)
    f.__name__ = f.__qualname__ = name
    with depyf.prepare_debug(tmp_path / "dump") as session:
        torch.compile(f, backend="eager")(torch.ones(3, 3), 2)
    index = pages(tmp_path / "dump")
    titles = [frame.title for frame in session.frames]
    assert len(titles) == 2 and name in titles[0] and file.name in titles[0]
    for frame in session.frames:
        assert f"# {frame.compile_id}: {code_span(frame.title)}\n" in index
        for limit in frame.frontier:
            assert f"- {code_span(limit.condition)}" in index
    (graph_break,) = session.frames[0].breaks
    place = "a|b\\`\\<i>.py:4: "
    assert graph_break.where == "a|b`<i>.py:4"
    assert (
        f"- {place}Call to `torch._dynamo.graph_break()`. User-inserted graph break. Message: *no\\* \\`code | \\<u>. "
        in index
    )
    assert f" The break occurs in {code_span(name)}, 0/0.\n" in index
    assert "<b>" not in re.sub("(`+).*?[^`]\\1(?!`)", "", index).replace("\\<b>", "")
