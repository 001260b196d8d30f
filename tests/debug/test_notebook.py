"""Tests of depyf.debug in a notebook, with a real kernel and a client that answers the debugger's prompts like a
notebook's input field."""

from __future__ import annotations

import ast
import re
import time

import pytest

from torch_helpers import ENVIRONMENT

jupyter = pytest.importorskip("jupyter_client")
pytest.importorskip("ipykernel")

TIMEOUT = 300
COMPILE = """
import torch, depyf

def work(x):
    return torch.relu(x) * 3

x = torch.tensor([1.0, -2.0])
compiled = torch.compile(work, backend="eager")
with depyf.prepare_debug({directory!r}):
    compiled(x)
"""
PAUSED = """
import sys
before = sys.gettrace()
with depyf.debug():
    again = compiled(x)
(again.tolist(), sys.gettrace() is before)
"""


class Notebook:
    """A kernel with a client. The method `run` runs a cell; when the cell asks for input, it gets the next item of
    `answers`."""

    def __init__(self):
        self.manager = jupyter.KernelManager(kernel_name="python3")
        self.manager.start_kernel(env=ENVIRONMENT)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=TIMEOUT)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def run(self, cell, answers=()):
        """Returns (the texts printed before each answer and at the end, the value of the cell's last expression)."""
        answers, printed, value = iter(answers), [""], []

        def on_output(message):
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                printed[-1] += content["text"]
            elif kind == "execute_result":
                value.append(content["data"]["text/plain"])

        def on_input(message):
            # Printed text arrives on another channel, before this message or a little later.
            time.sleep(0.2)
            while self.client.iopub_channel.msg_ready():
                on_output(self.client.get_iopub_msg(timeout=1))
            printed.append("")
            self.client.input(next(answers))

        reply = self.client.execute_interactive(
            cell, allow_stdin=True, timeout=TIMEOUT, output_hook=on_output, stdin_hook=on_input
        )
        assert reply["content"]["status"] == "ok", reply["content"]
        assert next(answers, None) is None, "the cell did not ask for all the answers"
        return printed, value[0] if value else None


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """Yields (a kernel in which the function `work` is compiled, the directory of its dump)."""
    directory = tmp_path_factory.mktemp("notebook")
    with Notebook() as notebook:
        notebook.run(COMPILE.format(directory=str(directory)))
        yield notebook, directory


def test_pause_in_a_cell_breakpoint_and_value(notebook):
    notebook, directory = notebook
    (graph,) = directory.glob("__compiled_fn_*.Captured_Graph.0.py")
    text = graph.read_text().splitlines()
    line = next(n for n, one in enumerate(text, 1) if re.search(r"\brelu\b.* = torch\.relu", one))
    answers = ["p x.tolist()", f"b {graph}:{line}", "c", "n", "p relu.tolist()", "c"]
    printed, value = notebook.run(PAUSED, answers)
    greeting, local, set_, at, after, tensor, end = map(plain, printed)
    assert str(directory) in greeting and "----> 4     again = compiled(x)" in greeting
    assert ast.literal_eval(local) == [1.0, -2.0]
    assert "Breakpoint" in set_
    assert f"> {graph}({line})forward()" in at
    assert f"> {graph}({line + 1})forward()" in after
    assert ast.literal_eval(tensor) == [1.0, 0.0]
    assert end == "" and value == "([3.0, 0.0], True)"


def test_q_in_a_cell_ends_the_debugging_not_the_cell(notebook):
    printed, value = notebook[0].run(PAUSED, ["q"])
    assert len(printed) == 2 and value == "([3.0, 0.0], True)"


def test_step_in_a_cell(notebook):
    cell = "with depyf.step():\n    again = compiled(x)\nagain.tolist()"
    printed, value = notebook[0].run(cell, ["p x.tolist()", "x = x + 1", "q"])
    assert "[entry] work" in printed[0] and ast.literal_eval(printed[1]) == [1.0, -2.0]
    assert value == "[6.0, 0.0]"


def plain(text):
    """Returns the text without the escape sequences for colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
