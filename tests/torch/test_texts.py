"""Tests of texts for users: their links, names, limits and errors."""

from __future__ import annotations

import dataclasses
import functools
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import depyf
import torch
from depyf import function_names, program
from depyf.guards import breaks
from torch_helpers import ENVIRONMENT, check_dump, pages

GOLDEN = Path(__file__).parent / "golden_texts"


@pytest.mark.skipif(
    (torch.__version__.partition("+")[0], platform.python_version().rpartition(".")[0]) != ("2.13.0", "3.11"),
    reason="the golden files are those of PyTorch 2.13.0 and CPython 3.11",
)
def test_golden_files(tmp_path):
    writer = Path(__file__).parents[1] / "golden_texts.py"
    subprocess.run([sys.executable, str(writer), str(tmp_path)], check=True, timeout=300, env=ENVIRONMENT)
    expected = {path.name: path.read_text() for path in GOLDEN.iterdir()}
    assert set(expected) == {f"{path.stem}.txt" for path in (Path(__file__).parent / "programs").glob("*.py")}
    again = "it differs; `python tests/golden_texts.py` writes it anew"
    for name, text in expected.items():
        assert (tmp_path / name).read_text() == text, f"{name}: {again}"


def test_each_compilation_that_ends_at_a_break_links_to_what_goes_on(tmp_path):
    def ends_twice(x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    compiled = torch.compile(ends_twice, backend="eager", dynamic=False)
    with depyf.prepare_debug(tmp_path) as session:
        for size in (2, 3, 4):
            compiled(torch.ones(size))
    beginnings = [frame for frame in session.frames if not frame.is_resume]
    resumed = [frame for frame in session.frames if frame.is_resume]
    called = [name for frame in beginnings for name in frame.resume_calls]
    assert len(beginnings) == 3 and len(set(called)) == 3
    for frame in resumed:
        assert frame.resume_names == called and frame.resume_name == called[0]
    (story,) = session.full_code
    text = (tmp_path / story.file).read_text()
    assert "not compiled in this block" not in text and text.count("continues after the graph break; see") == 3
    check_dump(tmp_path)


class Language:
    class Model(torch.nn.Module):
        def forward(self, x):
            for _ in range(2):
                torch._dynamo.graph_break()
            return x + 1


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@decorated
def inside(x):
    return x * 2


def test_what_runs_eagerly_is_named_with_its_place_and_cause(tmp_path):
    with pytest.warns(UserWarning, match=r"Dynamo gave up Language.Model.forward \(test_texts.py"):
        with depyf.prepare_debug(tmp_path) as session:
            torch.compile(Language.Model(), backend="eager")(torch.ones(2))
    assert len(session.frames) == 1
    line = Language.Model.forward.__code__.co_firstlineno
    expected = f"Language.Model.forward (test_texts.py:{line})"
    for text in (program.summary(tmp_path), pages(tmp_path).replace("`", "")):
        sentence = next(one for one in text.splitlines() if one.strip().startswith(f"{expected} runs eagerly, because"))
        assert f"a graph break at test_texts.py:{line + 2}" in sentence
    assert f"{expected} has no cache entries: Dynamo no longer compiles it: it runs eagerly, because" in str(
        depyf.explain(Language.Model.forward)
    )


def test_a_wrapper_is_named_with_what_it_wraps(tmp_path):
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(inside, backend="eager")(torch.ones(2))
    assert session.frames[0].name == "decorated.<locals>.wrapper around inside"


@dataclasses.dataclass
class Pair:
    left: object
    right: object

    def __post_init__(self):
        torch._dynamo.graph_break()


def test_the_initialiser_of_a_dataclass_has_the_name_of_its_class(tmp_path):
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(lambda x: Pair(x + 1, x - 1).left, backend="eager")(torch.ones(2))
    assert "Pair.__init__" in {frame.name for frame in session.frames}


def test_names_without_qualified_names_in_code_objects():
    # Code objects of CPython 3.10 have no qualified name.
    class Code:
        def __init__(self, code):
            self._code = code

        def __getattr__(self, name):
            if name == "co_qualname":
                raise AttributeError(name)
            return getattr(self._code, name)

    def named(function, **local):
        code = Code(function.__code__)
        real = function_names._in_class(function.__code__, *_receiver_and_scope(function, local))
        assert function_names.of_code(code) == function.__name__
        return real

    def _receiver_and_scope(function, local):
        return function_names._receiver(function.__code__, local), function.__globals__

    assert named(Language.Model.forward, self=Language.Model()) == "Language.Model.forward"
    assert named(Language.Model.forward) == "Language.Model.forward"  # found in the module, in a class within a class
    assert named(test_a_wrapper_is_named_with_what_it_wraps) is None


def callee(x):
    return x.sin()


def test_at_the_limit_what_is_said_of_later_calls_is_true(tmp_path):
    ran = []

    def backend(graph, inputs):
        def run(*args):
            ran.append(graph)
            return graph(*args)

        return run

    def scales(x, factor):
        x = x * factor
        torch._dynamo.graph_break()
        return callee(x)

    with torch._dynamo.config.patch(recompile_limit=2), depyf.prepare_debug(tmp_path) as session:
        compiled = torch.compile(scales, backend=backend, dynamic=False)
        for factor in (1.0, 2.0, 3.0, 4.0):
            compiled(torch.ones(2), str(factor) and factor)
        (reached,) = [frame for frame in session.frames if frame.exceeded is not None]
        assert (reached.exceeded.limit, reached.exceeded.value) == ("recompile_limit", 2)
        assert len(reached.exceeded.compile_ids) == 2 and not reached.raised
        frames = len(session.frames)
        ran.clear()
        compiled(torch.ones(2), 5.0)
        assert not ran and len(session.frames) == frames  # the call runs eagerly, with all functions that it calls
        compiled(torch.ones(2), 1.0)
        assert ran and len(session.frames) == frames
    text = program.summary(tmp_path)
    assert "has reached torch._dynamo.config.recompile_limit (2): from now on, every call runs eagerly" in text
    assert "factor: expected 1.0, was 2.0" in text and "The call that exceeded the limit" in text
    assert "compiled ? again" not in text and "3 recompilations" not in text


def test_errors_are_shown_to_the_last_line_and_said_to_be_raised(tmp_path):
    def refuses(graph, inputs):
        raise RuntimeError("\n".join(f"line {number}" for number in range(200)))

    def doubles(x):
        return x * 2

    with pytest.warns(UserWarning), depyf.prepare_debug(tmp_path) as session:
        with pytest.raises(Exception, match="line 199"):
            torch.compile(doubles, backend=refuses)(torch.ones(2))
        with torch._dynamo.config.patch(suppress_errors=True):
            torch.compile(callee, backend=refuses)(torch.ones(2))
    assert [frame.raised for frame in session.frames] == [True, False]
    for text in (program.summary(tmp_path), pages(tmp_path), str(depyf.explain(doubles))):
        assert "line 199" in text and "line 0" in text and "line 100" not in text
    assert "doubles (test_texts.py" in program.summary(tmp_path)


def test_a_break_of_a_full_graph_has_its_line_and_is_raised(tmp_path):
    def branches(x):
        if x.sum() > 0:
            return x
        return -x

    with pytest.warns(UserWarning), depyf.prepare_debug(tmp_path) as session:
        with pytest.raises(torch._dynamo.exc.Unsupported):
            torch.compile(branches, backend="eager", fullgraph=True)(torch.ones(2))
    (frame,) = session.frames
    assert frame.raised and frame.stopped_by.line.line == branches.__code__.co_firstlineno + 1
    assert frame.stopped_by.hints and "its call raised an error" in program.summary(tmp_path)


def test_a_break_that_cannot_be_resumed_from_says_what_failed_first(tmp_path):
    class Attends(torch.nn.Module):
        def forward(self, query):
            for _ in range(2):
                query = torch.nn.functional.scaled_dot_product_attention(
                    query, query, query, is_causal=query.shape[1] > 4
                )
            return query

    with pytest.warns(UserWarning), depyf.prepare_debug(tmp_path) as session:
        torch.compile(Attends(), backend="eager", dynamic=True)(torch.ones(1, 8, 2))
    (frame,) = session.frames
    assert frame.stopped_by.reason == "TypeError when making fake tensor call"
    assert "argument 'is_causal' must be bool, not SymBool" in frame.stopped_by.explanation
    assert "in a for/while loop" in frame.stopped_by.then
    for text in (program.summary(tmp_path), pages(tmp_path)):
        assert "must be bool, not SymBool" in text and "Graph break encountered" not in text


REPORT = """\
Graph break in user code at /lib/torch/optim/optimizer.py:79
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Call to `torch._dynamo.graph_break()`
  Explanation: User-inserted graph break. Message: None
  Hint: Remove the `torch._dynamo.graph_break()` call.
  Hint: Set something.

User code traceback:
  File "train.py", line 12, in <module>
    main()
  File "/lib/torch/nn/modules/module.py", line 1, in _call_impl
    return forward_call(*args)
  File "/dump/code.py", line 6, in step
    optimizer.step()
  File "/lib/torch/optim/optimizer.py", line 79, in _use_grad
    torch._dynamo.graph_break()

Traceback (most recent call last):
  File "/lib/torch/_dynamo/exc.py", line 1, in unimplemented
    raise Unsupported
"""


def test_a_break_inside_pytorch_names_its_line_first_and_asks_for_nothing_that_cannot_be_done():
    from depyf.source_line import Line

    users = Line("train.py", 8, "optimizer.step()")
    found = breaks.read(REPORT, "/lib/torch/", translate=lambda line: users if line.file.startswith("/dump/") else None)
    assert found.inside.line == 79 and found.line == users
    assert str(found).index("optimizer.py:79 in _use_grad") < str(found).index("train.py:8 `optimizer.step()`")
    assert found.hints == ["Set something."] and "User-inserted" not in str(found)


def test_a_call_that_pytorch_only_passes_on_is_no_break_inside_it():
    report = REPORT.replace("optim/optimizer.py", "nn/modules/module.py").replace("_use_grad", "_call_impl")
    found = breaks.read(report.replace("graph_break()`", "disable()`d function"), "/lib/torch/")
    assert found.inside is None and found.hints[0].startswith("Remove the")


INTERRUPTED = """
import os, signal, time
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1

torch.compile(Model(), backend="eager")(torch.ones(2))
print("compiled", flush=True)
os.kill(os.getpid(), signal.SIGINT)
time.sleep(60)
"""


def test_an_interrupted_program_still_has_its_summary(tmp_path):
    (tmp_path / "interrupted.py").write_text(INTERRUPTED)
    commands = (["interrupted.py"], ["-m", "depyf", "run", "-o", "dump", "interrupted.py"])
    plain, done = (
        subprocess.run(
            [sys.executable, *one], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=300
        )
        for one in commands
    )
    assert done.returncode == plain.returncode == -signal.SIGINT and done.stdout == plain.stdout
    assert "1 function, 1 compilation" in done.stderr and "Model.forward (interrupted.py:6)" in done.stderr
    assert done.stderr.count("KeyboardInterrupt") == 1 and "depyf/program.py" not in done.stderr
    check_dump(tmp_path / "dump")


def test_an_export_in_the_block_is_said_to_be_out_of_scope(tmp_path):
    with depyf.prepare_debug(tmp_path) as session:
        torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
    (note,) = session.notes
    assert note.startswith("torch.export.export(ReLU) at test_texts.py:") and "out of scope" in note


def test_values_known_only_at_run_time_are_told(tmp_path):
    def counts(x):
        count = x.sum().item()
        torch._check(count >= 3)
        return torch.ones(count)

    with torch._dynamo.config.patch(capture_scalar_outputs=True), depyf.prepare_debug(tmp_path) as session:
        torch.compile(counts, backend="eager")(torch.tensor([2, 2]))
    (frame,) = session.frames
    (value,) = frame.runtime_values
    assert value.name == "u0" and value.range.startswith("[3, ") and value.line.text == "count = x.sum().item()"
    assert [check for check in frame.runtime_asserts if check.condition == "u0 >= 3" and "_check" in check.line.text]
    for text in (pages(tmp_path), str(depyf.explain(counts))):
        assert "Values that are known only when the graph runs:" in text and "u0 >= 3" in text


def test_what_fails_after_its_code_was_made_is_not_compiled(tmp_path):
    def specialises(x):
        return x * 2 if x.shape[0] == 2 else x

    x = torch.ones(2, 3)
    torch._dynamo.mark_dynamic(x, 0)
    with pytest.warns(UserWarning), depyf.prepare_debug(tmp_path) as session:
        with pytest.raises(torch.fx.experimental.symbolic_shapes.ConstraintViolationError):
            torch.compile(specialises, backend="eager")(x)
    (frame,) = session.frames
    assert (
        frame.status == "not compiled" and frame.raised and not any("not available" in note for note in session.notes)
    )
    assert "maybe_mark_dynamic" in program.summary(tmp_path)


def test_an_error_of_the_program_is_no_graph_break(tmp_path):
    def mismatched(x):
        return x @ x

    with pytest.warns(UserWarning), depyf.prepare_debug(tmp_path):
        with pytest.raises(RuntimeError):
            torch.compile(mismatched, backend="eager")(torch.ones(2, 3))
    line = mismatched.__code__.co_firstlineno + 1
    assert f"because of TorchRuntimeError at test_texts.py:{line}: " in program.summary(tmp_path)


@pytest.mark.skipif(not hasattr(torch.compile(callee), "aot_compile"), reason="this PyTorch has no aot_compile")
def test_what_is_captured_ahead_of_time_is_named_and_no_failure(tmp_path):
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(callee, fullgraph=True, backend="eager").aot_compile(((torch.ones(2),), {}))
    (frame,) = session.frames
    assert frame.name == "callee" and frame.error is None and "ahead of time" in frame.notes[0]
    assert "not compiled" not in program.summary(tmp_path)


class Caller(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Called()

    def forward(self, x):
        for _ in range(2):
            torch._dynamo.graph_break()
        return self.inner(x)


class Called(torch.nn.Module):
    def forward(self, x):
        return x * 2


def test_what_an_eager_function_calls_is_still_compiled_and_said_to_be(tmp_path):
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(Caller(), backend="eager")(torch.ones(2))
    assert [(frame.name, frame.status) for frame in session.frames] == [
        ("Caller.forward", "not compiled"),
        ("Called.forward", "compiled"),
    ]
    assert "the functions that it calls are still compiled" in program.summary(tmp_path)
