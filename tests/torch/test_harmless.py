"""Tests that a program behaves under prepare_debug as it does without, even if parts of depyf fail."""

from __future__ import annotations

import contextlib
import functools
import gc
import subprocess
import sys
import threading
import warnings
import weakref
from pathlib import Path

import pytest
import torch._dynamo.utils
from torch._dynamo import convert_frame

import depyf
import torch
from depyf import weak
from depyf.compat import intercept
from torch_helpers import ENVIRONMENT, check_dump, hooks, names_in, runs_in


def double(x):
    return x * 2


def triple(x):
    return x * 3


def test_a_directory_that_cannot_be_written_is_an_error_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("in the way")
    before, ran = hooks(), []
    with pytest.raises(OSError, match="depyf cannot write to the directory"):
        with depyf.prepare_debug(tmp_path / "file" / "dump"):
            ran.append(1)
    with pytest.raises(OSError, match="depyf cannot write to the directory"):
        with depyf.prepare_debug("/proc/depyf"):
            ran.append(1)
    assert not ran and hooks() == before


@pytest.mark.parametrize("arguments", [(), (1,), ("a", "b", "c"), (double, 3), (len, "dir"), ("dir", double)])
def test_wrong_arguments(arguments):
    with pytest.raises(TypeError):
        depyf.prepare_debug(*arguments)


@pytest.mark.filterwarnings("ignore:depyf. Nothing was compiled")
def test_hooks_are_there_in_the_block_and_gone_after_it(tmp_path):
    before = hooks()
    with depyf.prepare_debug(tmp_path):
        during = hooks()
    after = hooks()
    assert after == before
    assert all(one != other for one, other in zip(before[:3], during[:3]))


def test_an_exception_in_the_block_reaches_the_caller_and_the_dump_is_written(tmp_path):
    before, error = hooks(), ValueError("the user's own")
    with pytest.raises(ValueError) as caught, depyf.prepare_debug(tmp_path) as session:
        torch.compile(double, backend="eager")(torch.ones(3))
        raise error
    assert caught.value is error and hooks() == before
    assert session.full_code[0].file == "full_code_for_double_0.py"
    check_dump(tmp_path)


@pytest.mark.parametrize("path", [str, Path])
def test_by_hand_and_with_the_older_arguments(path, tmp_path):
    block = depyf.prepare_debug(path(tmp_path), clean_wild_fx_code=True, log_bytecode=False)
    session = block.__enter__()
    torch.compile(double, backend="eager")(torch.ones(3))
    block.__exit__(None, None, None)
    assert session.frames[0].function == "double"
    check_dump(tmp_path)
    with depyf.prepare_debug(dump_src_dir=path(tmp_path / "keyword")):
        torch._dynamo.reset()
        torch.compile(double, backend="eager")(torch.ones(3))
    check_dump(tmp_path / "keyword")


def test_as_a_decorator(tmp_path):
    @depyf.prepare_debug(tmp_path)
    def run():
        return torch.compile(double, backend="eager")(torch.ones(3))

    assert run().sum().item() == 6
    check_dump(tmp_path)
    assert "__transformed_code_0_for_double.py" in names_in(tmp_path)


def test_a_block_that_is_never_left_gets_its_index(tmp_path):
    code = """
import sys, torch, depyf
depyf.prepare_debug(sys.argv[1]).__enter__()
torch.compile(lambda x: x * 2, backend="eager")(torch.ones(3))
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=300, env=ENVIRONMENT)
    check_dump(tmp_path)
    assert runs_in(tmp_path)[0]["frames"][0]["status"] == "compiled"


def test_nested_blocks_both_get_their_files(tmp_path):
    with depyf.prepare_debug(tmp_path / "outer") as outer:
        torch.compile(double, backend="eager")(torch.ones(3))
        with depyf.prepare_debug(tmp_path / "inner") as inner, depyf.prepare_debug(tmp_path / "outer") as same:
            torch.compile(triple, backend="eager")(torch.ones(3))
        torch.compile(lambda x: x * 4, backend="eager")(torch.ones(3))
    assert [frame.function for frame in outer.frames] == ["double", "triple", "<lambda>"]
    assert [frame.function for frame in inner.frames] == ["triple"]
    assert [frame.transformed_file for frame in same.frames] == [outer.frames[1].transformed_file]
    check_dump(tmp_path / "outer")
    check_dump(tmp_path / "inner")


@pytest.mark.filterwarnings("ignore:depyf. Nothing was compiled")
def test_blocks_that_end_in_another_order(tmp_path):
    before = hooks()
    one, two = depyf.prepare_debug(tmp_path / "one"), depyf.prepare_debug(tmp_path / "two")
    one.__enter__()
    second = two.__enter__()
    one.__exit__(None, None, None)
    torch.compile(double, backend="eager")(torch.ones(3))
    two.__exit__(None, None, None)
    assert hooks() == before
    assert [frame.function for frame in second.frames] == ["double"]


@pytest.mark.filterwarnings("ignore:depyf. Compiled before the block")
def test_threads_with_blocks_of_their_own(tmp_path):
    # Each thread compiles its own functions in blocks of its own, some of which write to a shared directory.
    errors, results = [], {}

    def work(name, factor):
        try:
            namespace = {}
            exec(f"def scaled_{name}(x):\n    return x * {factor}", namespace)
            for round in range(3):
                with depyf.prepare_debug(tmp_path / name), depyf.prepare_debug(tmp_path / "shared"):
                    compiled = torch.compile(namespace[f"scaled_{name}"], backend="aot_eager", dynamic=False)
                    results[name, round] = compiled(torch.ones(round + 2)).sum().item()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(name, factor)) for name, factor in (("a", 2.0), ("b", 3.0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert results == {(n, r): f * (r + 2) for n, f in (("a", 2.0), ("b", 3.0)) for r in range(3)}
    for name in ("a", "b"):
        check_dump(tmp_path / name)
        files = [file for file in names_in(tmp_path / name) if file.startswith("__transformed_code_")]
        assert {f"__transformed_code_{n}_for_scaled_{name}.py" for n in range(3)} <= set(files)
    check_dump(tmp_path / "shared")


def test_a_block_that_ends_while_another_thread_compiles(tmp_path):
    """Tests that data which PyTorch has not reported yet, for a compilation of another thread, is not called missing."""
    paused, may_continue = threading.Event(), threading.Event()

    def pause(code, _):  # Dynamo calls this hook after depyf's own, and before it reports the guards.
        if code.co_name == "triple":
            paused.set()
            may_continue.wait(3)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with depyf.prepare_debug(tmp_path / "dump"):
            assert torch.compile(double, backend="eager")(torch.ones(2)).sum() == 4
            hook = convert_frame.register_bytecode_hook(pause)
            thread = threading.Thread(target=lambda: torch.compile(triple, backend="eager")(torch.ones(2)))
            thread.start()
            assert paused.wait(60)
        may_continue.set()
        thread.join()
        hook.remove()
    check_dump(tmp_path / "dump")
    (run,) = runs_in(tmp_path / "dump")
    assert [frame["function"] for frame in run["frames"]] == ["double", "triple"]
    assert not [note for note in run["notes"] if "missing" in note], run["notes"]


def test_two_processes_and_one_directory(tmp_path):
    # Two processes write files with the same names at the same time, but with different contents.
    code = """
import sys, pathlib, time, torch, depyf
directory, mine, other = sys.argv[1:]
namespace = {}
exec(f"def scaled(x):\\n    return x * {mine}", namespace)
parent = pathlib.Path(directory).parent
(parent / f"ready{mine}").touch()
while not (parent / f"ready{other}").exists():
    time.sleep(0.01)
with depyf.prepare_debug(directory):
    for size in range(2, 6):
        torch.compile(namespace["scaled"], backend="aot_eager", dynamic=False)(torch.ones(size))
"""
    dump = tmp_path / "dump"
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(dump), mine, other], env=ENVIRONMENT)
        for mine, other in (("111", "222"), ("222", "111"))
    ]
    assert [process.wait(300) for process in processes] == [0, 0]
    check_dump(dump)
    runs = runs_in(dump)
    assert len(runs) == 2
    factors = []
    for run in runs:
        assert len(run["frames"]) == 4
        text = "".join((dump / a["file"]).read_text() for frame in run["frames"] for a in frame["artifacts"])
        (factor,) = [one for one in ("111", "222") if f", {one})" in text]
        factors.append(factor)
        captured = [a["file"] for frame in run["frames"] for a in frame["artifacts"] if a["kind"] == "Captured_Graph"]
        assert len(set(captured)) == 4
        assert all(f"* {factor}" in (dump / file).read_text() for file in captured)
        (story,) = run["full_code"]
        assert f"* {factor}" in (dump / story["file"]).read_text()
    assert sorted(factors) == ["111", "222"]


FAULTS = [
    "depyf.dump.artifact_text",
    "depyf.dump.transformed_text",
    "depyf.decompilation.decompile",
    "depyf.guards.texts.tree",
]
FAULTS += ["depyf.guards.read", "depyf.dump.story.guard_source", "depyf.provenance.dumped.write"]
FAULTS += ["depyf.files.claim", "depyf.dump.full_code", "depyf._core.index_files", "depyf.dump.missing_artifacts"]


@pytest.mark.parametrize("as_errors", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_ours_is_told_once_and_goes_no_further(fault, as_errors, tmp_path, monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise RuntimeError("a fault in depyf")

    before = hooks()
    monkeypatch.setattr(fault, broken)
    x = torch.ones(3, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error" if as_errors else "always")
        with depyf.prepare_debug(tmp_path) as session:
            result = torch.compile(double, backend="aot_eager")(x)
            torch.compile(triple, backend="aot_eager")(x)
        result.sum().backward()
    monkeypatch.undo()
    assert x.grad.tolist() == [2, 2, 2] and hooks() == before
    told = [str(one.message) for one in caught] if not as_errors else [one.getMessage() for one in caplog.records]
    told = [text for text in told if "depyf" in text]
    assert len(told) == 1 and "a fault in depyf" in told[0]
    assert any("a fault in depyf" in note for note in session.notes)
    if fault != "depyf._core.index_files":
        assert "a fault in depyf" in (tmp_path / "index.md").read_text()


def test_a_disk_that_is_full_does_not_stop_the_program(tmp_path, monkeypatch):
    def full(path, data):
        raise OSError(28, "No space left on device")

    with pytest.warns(UserWarning, match="No space left"), depyf.prepare_debug(tmp_path) as session:
        monkeypatch.setattr(depyf.files, "_write", full)
        assert torch.compile(double, backend="eager")(torch.ones(3)).sum().item() == 6
    assert any("No space left" in note for note in session.notes)


def test_a_directory_that_is_removed_in_the_block(tmp_path):
    import shutil

    with pytest.warns(UserWarning, match="depyf failed"), depyf.prepare_debug(tmp_path / "dump"):
        shutil.rmtree(tmp_path / "dump")
        assert torch.compile(double, backend="eager")(torch.ones(3)).sum().item() == 6


def test_code_of_the_user_is_not_replaced_and_dynamos_only_by_what_is_proved(tmp_path):
    own = double.__code__
    compiled = torch.compile(double, backend="eager")
    codes = []
    from torch_helpers import bytecode_hook

    with bytecode_hook(lambda old, new: codes.append(new)), depyf.prepare_debug(tmp_path):
        compiled(torch.ones(3))
    (entry,) = torch._dynamo.eval_frame._debug_get_cache_entry_list(double)
    assert double.__code__ is own
    assert entry.code is not codes[0] and depyf.prove(codes[0], entry.code)


def test_dynamo_compiles_the_same_functions(tmp_path):
    # In compiled autograd, Dynamo traces every function that is called, including hooks.
    from torch_helpers import bytecode_hook

    def step(x):
        (x * 2).sum().backward()

    def functions():
        torch._dynamo.reset()
        found = []
        with bytecode_hook(lambda old, new: found.append(old.co_name)):
            with torch._dynamo.config.patch(compiled_autograd=True):
                torch.compile(step, backend="aot_eager")(torch.ones(3, requires_grad=True))
        return found

    plain = functions()
    with depyf.prepare_debug(tmp_path):
        watched = functions()
    assert "forward" in plain
    assert watched == plain
    check_dump(tmp_path)


def compilations(run):
    """Returns (function, file, line) of each compilation that Dynamo begins in `run()`, and PyTorch's own counters."""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    begun, original = [], convert_frame._compile

    def noting(code, *args, **kwargs):
        begun.append((code.co_name, code.co_filename, code.co_firstlineno))
        return original(code, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convert_frame, "_compile", noting)
        run()
    return begun, {kind: dict(table) for kind, table in torch._dynamo.utils.counters.items()}


class Dropped:
    """An object that can be referred to weakly."""


def test_what_a_compiled_call_frees_counts_as_no_frame(tmp_path):
    table, held = weak.Table(), [Dropped()]
    table.set(held[0], "a value")

    def run(x):
        held.clear()  # runs in the transformed code, while Dynamo's frame hook is active
        return x + 1

    torch._dynamo.utils.counters.clear()
    with depyf.prepare_debug(tmp_path):
        torch.compile(run, backend="eager")(torch.ones(2))
    assert not held and len(table) == 0
    assert torch._dynamo.utils.counters["frames"] == {"total": 1, "ok": 1}


def two_lambdas(x, y, flag):
    total = x.sin() + y.sum()
    with contextlib.suppress(ValueError, KeyError):
        y.add_(1)
        if flag:
            if functools.reduce(lambda p, q: p + q, [y, x]).sum() < 0:
                x = x + 1
            x = x + total
        else:
            x = functools.reduce(lambda p, q: p + q, [x, total])
    return x


def two_lambdas_on_a_line(x, y, flag):
    total = x.sin() + y.sum()
    with contextlib.suppress(ValueError):
        y.add_(1)
        x = (lambda p: p + y)(x) if functools.reduce(lambda p, q: p + q, [y, x]).sum() < 0 else (lambda p: p + y)(x)  # noqa: RUF034
        x = x + total
    return x


def functions_in_functions(z, a, flag):
    total = z.sin() + a.sum()
    with contextlib.suppress(ValueError):
        a.add_(1)
        if flag:
            if functools.reduce(lambda p, q: (lambda r: r + a + z)(p) + q, [a, z]).sum() < 0:
                z = z + total
        else:
            z = functools.reduce(lambda p, q: (lambda r: r + z)(p) + (lambda r: r + z)(q), [a, z])
    return z


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [two_lambdas, two_lambdas_on_a_line, functions_in_functions])
def test_functions_that_transformed_code_makes_stay_the_users(function, backend, tmp_path):
    def calls():
        compiled = torch.compile(function, backend=backend)
        for size in (4, 5, 3, 4):
            compiled(torch.ones(size), torch.ones(size), True)
            compiled(-torch.ones(size), torch.ones(size), False)

    def watched():
        with depyf.prepare_debug(tmp_path) as session:
            calls()
        calls()
        sessions.append(session)

    def plain():
        calls()
        calls()

    sessions = []
    expected = compilations(plain)
    assert len(expected[0]) > 2
    assert compilations(watched) == expected
    assert all(frame.running for frame in sessions[0].frames if frame.status == "compiled")


@pytest.mark.filterwarnings("ignore:depyf. Nothing was compiled")
def test_torch_prints_graphs_as_before(tmp_path):
    from torch._dynamo.utils import lazy_format_graph_code

    graph = torch.fx.symbolic_trace(double)
    plain = str(lazy_format_graph_code("name", graph, 3, include_stride=True))
    with depyf.prepare_debug(tmp_path) as session:
        watched = str(lazy_format_graph_code("name", graph, 3, include_stride=True))
        with pytest.raises(TypeError):
            lazy_format_graph_code()
    assert watched == plain
    assert [artifact.file for artifact in session.other_artifacts] == ["__no_compile_id.name.0.py"]
    check_dump(tmp_path)


def test_an_event_that_comes_after_the_end_leaves_no_file(tmp_path, monkeypatch):
    # Another thread can still send an event to a block that has just ended.
    from depyf.capture import hub

    kept = []
    monkeypatch.setattr(hub, "remove", kept.append)
    with depyf.prepare_debug(tmp_path):
        torch.compile(double, backend="eager")(torch.ones(3))
    monkeypatch.undo()
    try:
        torch.compile(triple, backend="eager")(torch.ones(3))
    finally:
        hub.remove(kept[0])
    assert not [name for name in names_in(tmp_path) if "triple" in name]
    check_dump(tmp_path)


def test_a_call_that_is_heard_keeps_no_variable_of_its_caller():
    class Thing:
        pass

    def asked(x):
        return x

    def caller():
        thing = Thing()
        asked(1)
        return weakref.ref(thing)

    heard = []
    take_away = intercept.around(asked, lambda original: lambda args, kwargs, caller: heard.append(original(*args)))
    gc.collect()
    gc.disable()
    try:
        assert caller()() is None and heard == [1]
    finally:
        gc.enable()
        take_away()


class Counted(dict):
    created = 0

    def __init__(self, *items):
        Counted.created += 1
        super().__init__(*items)


def test_explain_calls_no_constructor_of_the_program():
    def scaled(tables):
        return tables["inner"]["scale"] + tables["shift"]

    compiled = torch.compile(scaled, backend="eager")
    for size in (2, 3):
        compiled(Counted({"inner": Counted({"scale": torch.ones(size)}), "shift": size}))
    before = Counted.created
    assert "scale" in str(depyf.explain(compiled))
    assert Counted.created == before
