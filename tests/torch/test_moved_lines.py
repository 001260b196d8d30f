"""Graphs from a cache have the line numbers of the program that filled the cache; a dump must show those of the running
program."""

from __future__ import annotations

import subprocess
import sys

import pytest

from depyf.capture.moved_lines import with_present_lines
from torch_helpers import ENVIRONMENT, empty_inductor_cache

SOURCE = "import torch\n\ndef forward(x):\n    y = x.sin()\n    return y + y.sin()\n"


def graph_of(path, *places):
    """Returns the text of a graph with a node for each place; a place is (line number, text of the line)."""
    return "".join(f"# File: {path}:{line} in forward, code: {code}\nnode = aten.sin(x)\n" for line, code in places)


@pytest.mark.parametrize(
    "before, after",
    [
        ([(4, "y = x.sin()"), (5, "return y + y.sin()")], [4, 5]),
        ([(6, "y = x.sin()"), (7, "return y + y.sin()")], [4, 5]),
        ([(1, "y = x.sin()")], [4]),
        # Lines that moved by different distances, and lines that the file does not contain.
        ([(6, "y = x.sin()"), (8, "return y + y.sin()")], [6, 8]),
        ([(6, "y = x.cos()")], [6]),
    ],
)
def test_lines_that_moved_together_have_their_present_numbers(before, after, tmp_path):
    path = tmp_path / "model.py"
    path.write_text(SOURCE)
    texts = [code for _, code in before]
    assert with_present_lines(graph_of(path, *before)) == graph_of(path, *zip(after, texts))


def test_a_file_that_is_not_there_changes_nothing(tmp_path):
    text = graph_of(tmp_path / "gone.py", (3, "return x"))
    assert with_present_lines(text) == text


@pytest.mark.slow
def test_a_dump_of_an_edited_program_has_no_line_of_the_earlier_one(tmp_path):
    program = tmp_path / "program.py"
    text = (
        "import sys\nimport torch\nimport depyf\n\n\ndef scaled(x):\n    x.shape\n    return torch.relu(x * 3).sum()\n\n\n"
        "with depyf.prepare_debug(sys.argv[1]):\n"
        "    torch.compile(scaled)(torch.ones(4, requires_grad=True)).backward()\n"
    )
    environment = {**ENVIRONMENT, "TORCHINDUCTOR_CACHE_DIR": empty_inductor_cache(tmp_path / "cache")}
    for name, source in (("before", text), ("after", text.replace("    x.shape\n", ""))):
        program.write_text(source)
        subprocess.run([sys.executable, str(program), str(tmp_path / name)], env=environment, check=True, timeout=300)
    graphs = list((tmp_path / "after").glob("*AFTER_POST_GRAD*.py"))
    assert len(graphs) == 2
    # The graphs came from the cache; otherwise this test would test nothing.
    assert not list((tmp_path / "after").glob("*BEFORE_POST_GRAD*.py"))
    for graph in graphs:
        assert "program.py:7 in scaled" in graph.read_text()
        assert "program.py:8" not in graph.read_text()
