"""Tests that real pdb and debugpy stop in the dumped files, forward and backward, at the line of a breakpoint."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from debug.sessions import PROGRAM, Adapter, Pdb, stop
from torch_helpers import BACKENDS

# The results of work(), calculated by hand: x @ w is [[-3, -2], [11, 4]].
PRODUCT = [[-3.0, -2.0], [11.0, 4.0]]
X_GRADIENT, W_GRADIENT = [[0.0, 0.0], [3.0, 9.0]], [[9.0, 9.0], [12.0, 12.0]]
RESULT = f"RESULT True {(45.0, X_GRADIENT, W_GRADIENT)}"
PAUSE = next(n for n, line in enumerate(PROGRAM.read_text().splitlines(), 1) if "debug() stops at" in line)

# (file, a pattern of the line to stop at that captures the name of the tensor, the value of the tensor).
FORWARD = {
    "eager": ("__compiled_fn_1.Captured_Graph.0.py", r"^ *(\w+).* = .* @ ", [PRODUCT]),
    "aot_eager": ("__compiled_fn_1.Forward_graph.0.py", r"^ *(\w+).* = torch\.ops\.aten\.mm", [PRODUCT]),
    "inductor": ("__compiled_fn_1.kernel_0.py", r"^ *extern_kernels\.mm\(.*out=(\w+)\)", [PRODUCT]),
}
BACKWARD = {
    "aot_eager": ("__compiled_fn_1.Backward_graph.0.py", FORWARD["aot_eager"][1], [X_GRADIENT, W_GRADIENT]),
    "inductor": ("__compiled_fn_1.kernel_1.py", FORWARD["inductor"][1], [X_GRADIENT, W_GRADIENT]),
}
TRANSFORMED = "__transformed_code_0_for_work.py"


def places(directory, backend):
    """Yields (file, line, next line, tensor, its possible values) for each stop in a graph or kernel."""
    for table in (FORWARD, BACKWARD):
        if backend in table:
            name, pattern, values = table[backend]
            path = Path(directory, name)
            lines = path.read_text().splitlines()
            line, match = next((n, m) for n, text in enumerate(lines, 1) if (m := re.search(pattern, text)))
            after = next(n for n in range(line + 1, len(lines)) if re.match(r" *[^#\s]", lines[n - 1]))
            yield str(path), line, after, match[1], values


def first_line(directory):
    """Returns the line of the first statement in the transformed code."""
    tree = ast.parse(Path(directory, TRANSFORMED).read_text())
    return tree.body[0].body[0].lineno


@pytest.mark.parametrize("backend", BACKENDS)
def test_pdb(backend, tmp_path):
    with Pdb(PROGRAM, tmp_path, backend) as pdb:
        assert stop(pdb.greeting) == (str(PROGRAM), PAUSE, "main")
        assert str(tmp_path) in pdb.greeting and TRANSFORMED in pdb.greeting
        begin = first_line(tmp_path)
        wanted = list(places(tmp_path, backend))
        assert len(wanted) == (1 if backend == "eager" else 2)
        pdb.say(f"b {tmp_path / TRANSFORMED}:{begin}")
        for path, line, *_ in wanted:
            assert "Breakpoint" in pdb.say(f"b {path}:{line}")
        answer = pdb.say("c")
        assert stop(answer) == (str(tmp_path / TRANSFORMED), begin, "work")
        assert ast.literal_eval(pdb.say("p x.tolist()")) == [[1, -2], [3, 4]]
        assert "def __transformed_code_0_for_work(x, w):" in pdb.say("ll")
        assert "compilation 0/0 of work" in pdb.say("p str(__import__('depyf').here())")
        for path, line, after, tensor, values in wanted:
            answer = pdb.say("c")
            assert stop(answer)[:2] == (path, line)
            answer = pdb.say("n")
            assert stop(answer)[:2] == (path, after)
            assert ast.literal_eval(pdb.say(f"p {tensor}.tolist()")) in values
        answer = pdb.say("c")
        assert RESULT in answer and "AFTER True" in answer
        assert pdb.process.returncode == 0


@pytest.mark.parametrize("backend, launch", [("eager", True), *((backend, False) for backend in BACKENDS)])
def test_debugpy(backend, launch, tmp_path):
    with Adapter(PROGRAM, tmp_path, backend, launch=launch) as debugger:
        assert debugger.stopped() == (str(PROGRAM), PAUSE)
        begin = first_line(tmp_path)
        wanted = list(places(tmp_path, backend))
        debugger.break_at(tmp_path / TRANSFORMED, begin)
        for path, line, *_ in wanted:
            debugger.break_at(path, line)
        debugger.resume()
        assert debugger.stopped() == (str(tmp_path / TRANSFORMED), begin)
        assert ast.literal_eval(debugger.evaluate("x.tolist()")) == [[1, -2], [3, 4]]
        for path, line, after, tensor, values in wanted:
            debugger.resume()
            assert debugger.stopped() == (path, line)
            assert debugger.next() == (path, after)
            assert ast.literal_eval(debugger.evaluate(f"{tensor}.tolist()")) in values
        debugger.resume()
        printed = debugger.output()
        assert RESULT in printed and "fits no compilation" not in printed


def test_python_m_pdb_stops_in_the_block_and_quits_only_when_told(tmp_path):
    with Pdb("-m", "pdb", PROGRAM, tmp_path, "eager") as pdb:
        answer = pdb.say("c")
        assert stop(answer) == (str(PROGRAM), PAUSE, "main")
        path, line, *_ = next(places(tmp_path, "eager"))
        pdb.say(f"tbreak {path}:{line}")
        assert stop(pdb.say("c"))[:2] == (path, line)
        assert RESULT in pdb.say("c")


def test_q_in_the_middle_ends_the_debugging_not_the_program(tmp_path):
    with Pdb(PROGRAM, tmp_path, "eager") as pdb:
        path, line, *_ = next(places(tmp_path, "eager"))
        pdb.say(f"b {path}:{line}")
        assert stop(pdb.say("c"))[:2] == (path, line)
        answer = pdb.say("q")
        assert RESULT in answer and "AFTER True" in answer
        assert pdb.process.returncode == 0


@pytest.mark.parametrize("value", ["0", "builtins.id"])
def test_pythonbreakpoint_is_honoured(value, tmp_path):
    with Pdb(PROGRAM, tmp_path, "eager", environment={"PYTHONBREAKPOINT": value}) as pdb:
        # With the value 0, the program never pauses. With builtins.id, depyf calls id without an argument, as
        # breakpoint() does, and id raises a TypeError.
        assert (RESULT in pdb.greeting) == (value == "0")
        assert ("TypeError: id() takes exactly one argument" in pdb.greeting) == (value != "0")
