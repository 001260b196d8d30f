"""Tests of the facts in the session: the compilations with their names and reasons, and the missing artifacts."""

from __future__ import annotations

import logging
import re
import threading

import pytest

import depyf
import torch
from depyf.guards import texts
from depyf.session import Session
from torch_helpers import ENVIRONMENT, bytecode_hook, check_dump, example, names_in, pages, runs_in


def double(x):
    return x * 2


def breaks(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y.cos()


RESUME = f"torch_dynamo_resume_in_breaks_at_{breaks.__code__.co_firstlineno + 2}"


def test_resume_functions_are_told_of_with_the_function_that_leads_to_them(tmp_path):
    toy = example("toy")
    with depyf.prepare_debug(tmp_path) as session:
        toy.main("eager")
    top, *resumes = session.frames
    assert top.function == "toy_example" and not top.is_resume
    assert len(resumes) == 2 and all(frame.is_resume for frame in resumes)
    assert sorted(frame.resume_name for frame in resumes) == sorted(top.resume_calls)
    assert len({frame.compiled_fn for frame in session.frames}) == 3
    (story,) = session.full_code
    assert story.file == "full_code_for_toy_example_0.py" and story.compile_ids == ["0/0", "1/0", "2/0"]
    text = (tmp_path / story.file).read_text()
    for frame in session.frames:
        assert f"def {frame.transformed_file.removesuffix('.py')}(" in text
        assert f"class __compiled_fn_{frame.compiled_fn}(" in text
    assert "def toy_example(a, b):" in text
    assert "graph break" in text.lower() and "if b.sum() < 0" in text


def test_recompilation_has_its_reason(tmp_path):
    compiled = torch.compile(double, backend="eager", dynamic=False)
    with depyf.prepare_debug(tmp_path) as session:
        compiled(torch.ones(3))
        compiled(torch.ones(4))
    assert [frame.compile_id for frame in session.frames] == ["0/0", "0/1"]
    assert "size mismatch at index 0. expected 3, actual 4" in session.frames[1].recompile_reasons[0]
    assert "x.shape: expected (3,), was (4,)" in pages(tmp_path)


def test_graph_break_is_told_of(tmp_path):
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(breaks, backend="eager")(torch.ones(3))
    (reason,) = session.frames[0].graph_breaks
    assert "User-inserted graph break" in reason and "Traceback" not in reason
    assert "test_session.py" in pages(tmp_path)


def test_numbers_survive_a_reset_in_the_block(tmp_path):
    # After a reset, compile ids start again at 0/0, but compilations before and after it must not be mixed.
    x = torch.ones(3, requires_grad=True)
    with depyf.prepare_debug(tmp_path) as session:
        first = torch.compile(double, backend="aot_eager")(x)
        torch._dynamo.reset()
        torch.compile(breaks, backend="aot_eager")(x)
        first.sum().backward()
    assert [frame.function for frame in session.frames] == ["double", "breaks", RESUME]
    assert [frame.compile_id for frame in session.frames] == ["0/0", "0/0", "1/0"]
    for frame in session.frames:
        assert len(frame.files("Backward_graph")) == 1
    assert "mul.Tensor" in (tmp_path / session.frames[0].files("Backward_graph")[0]).read_text()
    check_dump(tmp_path)


def contents_of(directory):
    """Returns the text of each file by its name, without times, and without the ids of objects, with which guards
    compare."""
    files = [path for path in directory.iterdir() if path.name != "times.json"]
    contents = {path.name: texts.without_ids(path.read_text()) for path in files}
    contents["index.md"] = re.sub(r"^Compiling took .*", "Compiling took T.", contents["index.md"], flags=re.MULTILINE)
    contents["index.md"] = re.sub(r"(?<=\.md\) \| )[\d.]+ \| (under )?\d+|[\d.]+ s(?=, )", "T", contents["index.md"])
    return contents


def test_names_and_contents_are_the_same_in_the_next_run(tmp_path):
    code = f"""
import sys; sys.path[:0] = {[str(p) for p in (example("toy").__file__.rsplit("/", 1)[0],)]}
import depyf, toy
with depyf.prepare_debug(sys.argv[1]):
    toy.main("aot_eager")
"""
    import subprocess
    import sys

    contents = []
    for run in ("one", "two"):
        subprocess.run([sys.executable, "-c", code, str(tmp_path / run)], check=True, timeout=300, env=ENVIRONMENT)
        contents.append(contents_of(tmp_path / run))
    assert contents[0] == contents[1]
    assert len(contents[0]) == 20
    # A second run with the same dump directory adds nothing.
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "two")], check=True, timeout=300, env=ENVIRONMENT)
    assert contents_of(tmp_path / "two") == contents[0]


def test_other_content_gets_the_next_number(tmp_path):
    for factor in (2, 3):
        torch._dynamo.reset()
        namespace = {}
        exec(f"def scaled(x):\n    return x * {factor}", namespace)
        with depyf.prepare_debug(tmp_path) as session:
            torch.compile(namespace["scaled"], backend="eager")(torch.ones(3))
        (graph,) = session.frames[0].files("Captured_Graph")
        assert f"* {factor}" in (tmp_path / graph).read_text()
    assert len(runs_in(tmp_path)) == 2
    assert "2 runs" in pages(tmp_path)
    check_dump(tmp_path)


@pytest.mark.slow
def test_warm_cache_names_what_is_missing_and_the_remedy(tmp_path):
    from torch._inductor.utils import fresh_cache

    def run(directory):
        torch._dynamo.reset()
        with depyf.prepare_debug(directory) as session:
            torch.compile(double)(torch.ones(5))
        return session.frames[0]

    with (
        fresh_cache(),
        torch._inductor.config.patch(fx_graph_cache=True),
        torch._functorch.config.patch(enable_autograd_cache=True),
    ):
        cold, warm = run(tmp_path / "cold"), run(tmp_path / "warm")
        with torch._inductor.config.patch(force_disable_caches=True):
            forced = run(tmp_path / "forced")
    assert cold.missing == [] and forced.missing == []
    missing = {one.kind for one in warm.missing}
    assert missing == {"BEFORE_PRE_GRAD", "AFTER_PRE_GRAD", "BEFORE_POST_GRAD", "ir_pre_fusion", "ir_post_fusion"}
    assert all("force_disable_caches = True" in one.why for one in warm.missing)
    assert "force_disable_caches = True" in pages(tmp_path / "warm")
    assert warm.files("kernel") and warm.files("Forward_graph") and warm.files("AFTER_POST_GRAD")


@pytest.mark.slow
def test_a_cache_that_has_one_direction_only_is_told_of_by_direction(tmp_path):
    from torch._inductor.utils import fresh_cache

    def run(directory, *, backward):
        torch._dynamo.reset()
        with depyf.prepare_debug(directory) as session:
            result = torch.compile(double)(torch.ones(5, requires_grad=True))
            if backward:
                result.sum().backward()
        return session.frames[0]

    with (
        fresh_cache(),
        torch._inductor.config.patch(fx_graph_cache=True),
        torch._functorch.config.patch(enable_autograd_cache=False),
    ):
        cold = run(tmp_path / "cold", backward=False)
        # The forward is in the cache, but not the backward, which is compiled when it is first called.
        warm = run(tmp_path / "warm", backward=True)
    assert [(one.kind, one.direction) for one in cold.missing] == [("backward kernel", None)]
    missing = {(one.kind, one.direction) for one in warm.missing}
    assert missing == {(kind, "forward") for kind in ("BEFORE_POST_GRAD", "ir_pre_fusion", "ir_post_fusion")}
    assert all("came from a cache" in one.why and "force_disable_caches = True" in one.why for one in warm.missing)
    there = {(one.kind, one.direction) for one in warm.artifacts}
    assert {("ir_post_fusion", "backward"), ("kernel", "forward"), ("kernel", "backward")} <= there
    assert "missing: ir_pre_fusion (forward)" in pages(tmp_path / "warm")
    # The output code of both directions runs from its file, also the forward's, which was loaded from the cache.
    assert all(one.running for one in warm.artifacts if one.kind == "kernel")


def test_backward_that_was_not_called_is_said_to_be_missing(tmp_path):
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(double)(torch.ones(5, requires_grad=True))
    assert [one.kind for one in session.frames[0].missing] == ["backward kernel"]


@pytest.mark.filterwarnings("ignore:depyf. Nothing was compiled")
def test_a_failing_backend_leaves_the_graph_that_it_failed_on(tmp_path):
    def backend(graph, inputs):
        raise RuntimeError("no such machine")

    with pytest.raises(Exception, match="no such machine"), depyf.prepare_debug(tmp_path) as session:
        torch.compile(double, backend=backend)(torch.ones(3))
    (frame,) = session.frames
    assert frame.status == "not compiled" and "no such machine" in frame.error
    assert len(frame.files("Captured_Graph")) == 1 and frame.transformed_file is None
    check_dump(tmp_path)


def test_an_attempt_that_is_given_up_leaves_nothing(tmp_path):
    # Dynamo starts again after the first attempt, and calls the backend in each attempt.
    from torch._dynamo.exc import TensorifyScalarRestartAnalysis

    attempts = []

    def backend(graph, inputs):
        attempts.append(1)
        if len(attempts) == 1:
            raise TensorifyScalarRestartAnalysis(restart_reason="to see what is left")
        return graph

    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(double, backend=backend)(torch.ones(3))
    assert len(attempts) == 2
    (frame,) = session.frames
    assert frame.attempt == 1 and frame.status == "compiled"
    assert frame.files("Captured_Graph") == [f"__compiled_fn_{frame.compiled_fn}.Captured_Graph.0.py"]
    assert [name for name in names_in(tmp_path) if "Captured" in name] == frame.files("Captured_Graph")
    check_dump(tmp_path)


def test_graphs_that_others_show_are_kept(tmp_path):
    from torch._dynamo.utils import lazy_format_graph_code

    def backend(graph, inputs):
        shown = lazy_format_graph_code("before split", graph)
        assert "TRACED GRAPH" in str(shown) and "before split" in str(shown)
        return graph

    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(double, backend=backend)(torch.ones(3))
    (frame,) = session.frames
    assert frame.files("before_split") == [f"__compiled_fn_{frame.compiled_fn}.before_split.0.py"]
    check_dump(tmp_path)


def test_session_json_is_the_session(tmp_path):
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(breaks, backend="aot_eager")(torch.ones(3))
    (run,) = runs_in(tmp_path)
    assert Session.from_dict(run, str(tmp_path)) == session


def test_no_names_that_differ_from_run_to_run(tmp_path):
    with depyf.prepare_debug(tmp_path):
        torch.compile(breaks, backend="aot_eager")(torch.ones(3))
    for path in tmp_path.iterdir():
        assert not re.search(r"[0-9a-f]{8}", path.name)
        assert not re.search(r"0x[0-9a-f]{6}|graph id", path.read_text())


def test_install_shows_source_in_the_bytecode_log(caplog):
    import logging

    from torch._dynamo.convert_frame import bytecode_log

    shown = []

    class Handler(logging.Handler):
        def emit(self, record):
            shown.append(record.getMessage())

    handler = Handler()
    level = bytecode_log.level
    bytecode_log.addHandler(handler)
    bytecode_log.setLevel(logging.DEBUG)
    try:
        depyf.install()
        depyf.install()
        torch.compile(double, backend="eager")(torch.ones(3))
        depyf.uninstall()
        depyf.uninstall()
        torch.compile(breaks, backend="eager")(torch.ones(3))
    finally:
        bytecode_log.removeHandler(handler)
        bytecode_log.setLevel(level)
    sources = [text for text in shown if text.startswith("possible source code:\n")]
    assert len(sources) == 1 and "def double(x):" in sources[0]


def test_a_hook_that_changes_the_code_after_ours_is_respected(tmp_path):
    def triple(x):
        return x + x + x

    with depyf.prepare_debug(tmp_path), bytecode_hook(lambda old, new: triple.__code__):
        assert torch.compile(double, backend="eager")(torch.ones(1)).item() == 3


def test_the_direction_is_that_of_the_own_thread():
    # Several threads may compile at the same time, and one of them may compile a backward.
    from types import SimpleNamespace

    from torch._functorch._aot_autograd.logging_utils import track_graph_compiling
    from torch._guards import TracingContext, tracing

    from depyf.compat import graphs

    seen = {}
    backward_began, forward_seen = threading.Event(), threading.Event()
    config = SimpleNamespace(aot_id=0)

    def other():
        with tracing(TracingContext(None)), track_graph_compiling(config, "backward"):
            backward_began.set()
            forward_seen.wait(60)
            seen["backward"] = graphs.direction()

    thread = threading.Thread(target=other)
    with tracing(TracingContext(None)), track_graph_compiling(config, "inference"):
        thread.start()
        assert backward_began.wait(60)
        seen["forward"] = graphs.direction()
        forward_seen.set()
    thread.join()
    assert seen == {"forward": "forward", "backward": "backward"} and graphs.direction() is None


def test_the_first_record_behind_a_handler_that_takes_itself_away(tmp_path, recwarn):
    # If TORCH_TRACE is not set, PyTorch's own handler removes itself at the first record, so that the next handler does
    # not get this record.
    logger = logging.getLogger("torch.__trace")

    class Once(logging.Handler):
        def emit(self, record):
            logger.removeHandler(self)

    once = Once()
    logger.handlers.insert(0, once)
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(lambda x: x * 2, backend="eager")(torch.ones(3))
    assert once not in logger.handlers and session.frames[0].status == "compiled"
    assert not [str(one.message) for one in recwarn if str(one.message).startswith("depyf")]
