"""Tests that depyf keeps no objects alive: objects are freed at the same time as with PyTorch alone.

Each public call, and each kind of block while it is open, is compared with the same program without depyf.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import gc
import io
import os
import sys
import threading
import weakref

import pytest

import depyf
import kept
import torch
from depyf import debugging, running, toolkit
from depyf.toolkit import registration
from torch_helpers import BACKENDS

NEW = "def forward(self, x):\n    return x + 1\n"


def nothing(net, compiled, x):
    pass


def explain(net, compiled, x):
    assert "forward" in str(depyf.explain(compiled))


def decompile(net, compiled, x):
    assert "def forward" in depyf.decompile(compiled)


def cache_entries(net, compiled, x):
    entry = depyf.cache_entries(compiled)[0]
    assert entry.source and entry.graphs and entry.resume_functions


def check(net, compiled, x):
    entry = depyf.cache_entries(compiled)[0]
    assert entry.check(x) and not entry.check(torch.ones(2, 5)) and str(entry.check(torch.ones(3, 3, 3)).would_take)


def dispatch(net, compiled, x):
    assert depyf.dispatch(compiled, x).entry is not None


def run(net, compiled, x):
    assert depyf.cache_entries(compiled)[0].run(x) is not None


def edit(net, compiled, x):
    entry = depyf.cache_entries(compiled)[0]
    edited = entry.edit(source=entry.source + "\n# edited\n", add=["L['x'].dim() == 2", "L['self'].nothing_there"])
    assert not edited.check(x)


def register(net, compiled, x):
    entry = depyf.cache_entries(compiled)[0]
    with entry.edit(source=entry.source, add="L['x'].dim() == 2").register() as handle:
        assert handle.active and compiled(x) is not None


def stays_registered(net, compiled, x):
    entry = depyf.cache_entries(compiled)[0]
    entry.edit(source=entry.source, add="L['x'].dim() == 2").register()
    assert [one.kind for one in depyf.cache_entries(compiled)][:2] == ["registered", "ordinary"]
    assert compiled(x) is not None and depyf.registered()[0].entry.check(net, x)


def new_entry(net, compiled, x):
    with depyf.new_entry(compiled).edit(source=NEW, add="True").register():
        assert torch.equal(compiled(x), x + 1)


def save_and_load(net, compiled, x, path):
    depyf.cache_entries(compiled)[0].save(path)
    entry = depyf.load_entry(path, fn=compiled)
    # `entry.run` is called instead of `compiled`, because PyTorch 2.13 never frees code in whose frame it compiles
    # another function, here the loaded one.
    with entry.register() as handle:
        assert handle.active and entry.run(x) is not None


def edit_in_editor(net, compiled, x, path):
    edited = depyf.edit(compiled, path, editor=True)
    assert edited.registration.active
    edited.registration.remove()


def step(net, compiled, x):
    stops = []

    def callback(stop):
        stops.append(stop.offset)
        return "ni"

    with depyf.step(compiled, callback=callback):
        compiled(x)
    assert len(stops) > 5


def debug(net, compiled, x):
    with contextlib.redirect_stdout(io.StringIO()), depyf.debug():
        compiled(x)


def here(net, compiled, x):
    seen = []
    hook = net.inner.register_forward_hook(lambda *_: seen.append(str(depyf.here())))
    compiled(x)
    hook.remove()
    assert depyf.here() is None


USES = (explain, decompile, cache_entries, check, dispatch, run, edit, register, stays_registered, new_entry)
USES += (save_and_load, edit_in_editor, step, debug, here)


@functools.cache
def plain(backend):
    """Returns the objects that PyTorch alone keeps. The objects are those of a second run, because the first run loads
    parts of PyTorch."""
    kept.states(backend, nothing, contextlib.nullcontext())
    return kept.states(backend, nothing, contextlib.nullcontext())


def assert_freed(found, backend):
    longer = kept.kept_longer(found, plain(backend))
    assert len(longer) == 5 and not any(longer.values()), longer


def with_path(use, tmp_path, monkeypatch):
    """Returns the function `use`, bound to a path if it takes one, with PYTHONBREAKPOINT set so that no debugger
    starts."""
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")
    monkeypatch.setenv("EDITOR", "true")
    return functools.partial(use, path=tmp_path / "entry.py") if use.__code__.co_argcount == 4 else use


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_public_calls_keep_nothing(use, backend, tmp_path, monkeypatch):
    if backend != "eager" and use not in (explain, register, stays_registered, save_and_load):
        pytest.skip("what it refers to does not depend on the backend")
    plain(backend)  # runs first, because the first run loads parts of PyTorch, which stay loaded
    found = kept.states(backend, with_path(use, tmp_path, monkeypatch), contextlib.nullcontext())
    assert_freed(found, backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_open_block_keeps_nothing(backend, tmp_path):
    plain(backend)  # runs first, because the first run loads parts of PyTorch, which stay loaded
    found = kept.states(backend, nothing, depyf.prepare_debug(tmp_path))
    assert_freed(found, backend)
    assert (tmp_path / "full_code_for_forward_0.py").exists()


@pytest.mark.parametrize("use", [use for use in USES if use is not debug], ids=lambda use: use.__name__)
def test_public_calls_in_an_open_block_keep_nothing(use, tmp_path, monkeypatch):
    plain("eager")  # runs first, because the first run loads parts of PyTorch, which stay loaded
    found = kept.states("eager", with_path(use, tmp_path, monkeypatch), depyf.prepare_debug(tmp_path / "dump"))
    assert_freed(found, "eager")


def test_an_open_step_block_keeps_nothing():
    assert_freed(kept.states("eager", nothing, depyf.step(callback=lambda stop: "ni")), "eager")


def test_a_watch_that_keeps_something_is_told():
    """Tests the comparison itself: a held object is reported at each checkpoint."""
    held = []
    plain("eager")  # runs first, because the first run loads parts of PyTorch, which stay loaded
    found = kept.states("eager", lambda net, compiled, x: held.append(net.scale), contextlib.nullcontext())
    assert set(map(tuple, kept.kept_longer(found, plain("eager")).values())) == {("parameter",)}


def test_functions_given_to_a_block_may_go(tmp_path):
    def is_freed(block_of):
        net = kept.new_net(breaks=False)
        compiled = torch.compile(net, backend="eager")
        compiled(torch.ones(2, 4))
        code = weakref.ref(type(net).forward.__code__)
        with block_of(compiled):
            del net, compiled
            torch._dynamo.reset()
            gc.collect()
            return code() is None

    for _ in range(3):  # without depyf, PyTorch also keeps the code of the first functions
        is_freed(lambda compiled: contextlib.nullcontext())
    assert is_freed(lambda compiled: depyf.prepare_debug(compiled, tmp_path))


def test_a_user_may_hold_an_entry_and_drop_it():
    net = kept.new_net(breaks=False)
    compiled = torch.compile(net, backend="eager")
    x = torch.ones(2, 4)
    want = compiled(x)
    entry = depyf.cache_entries(compiled)[0]
    graph = weakref.ref(entry.graphs[0].graph_module)
    torch._dynamo.reset()
    gc.collect()
    assert graph() is not None and torch.equal(entry.run(x), want)
    del entry
    gc.collect()
    assert graph() is None


def test_rounds_of_edit_register_and_remove_leave_nothing():
    net = kept.new_net()
    compiled = torch.compile(net, backend="eager")
    x = torch.ones(2, 4)
    compiled(x)
    kinds = (registration.Registration, registration._Record, toolkit.CacheEntry)

    def counts():
        gc.collect()
        return [sum(type(one) is kind for one in gc.get_objects()) for kind in kinds], len(gc.get_objects())

    def rounds(number):
        for _ in range(number):
            entry = depyf.cache_entries(compiled)[0]
            edited = entry.edit(source=entry.source, add="L['x'].dim() == 2")
            with edited.register():
                compiled(x)

    rounds(5)
    before, objects = counts()
    rounds(50)
    after, more = counts()
    assert before == after == [0, 0, 0] and depyf.registered() == []
    assert more - objects < 50, "less than one object a round"


@pytest.mark.parametrize("is_inside", [False, True])
def test_the_method_that_a_backend_returns_is_freed_as_ever(is_inside, tmp_path):
    # Dynamo replaces the returned method by another function unless the graph's function exists when the backend gets
    # the graph.
    freed = []

    def backend(graph, inputs):
        method = graph.forward
        weakref.finalize(method, freed.append, True)
        return method

    with depyf.prepare_debug(tmp_path) if is_inside else contextlib.nullcontext():
        torch.compile(lambda x: x + 1, backend=backend)(torch.ones(3))
        assert freed


def test_a_reset_is_noticed():
    net = kept.new_net()
    compiled = torch.compile(net, backend="eager")
    compiled(torch.ones(2, 4))
    handle = depyf.cache_entries(compiled)[0].edit(add="True").register()
    assert depyf.registered() == [handle]
    torch._dynamo.reset()
    assert depyf.registered() == [] and not handle.active and len(registration._loaded) == 0


def test_what_was_removed_while_a_thread_ran_a_compiled_call_goes_later():
    net = kept.new_net()
    compiled = torch.compile(net, backend="eager")
    compiled(torch.ones(2, 4))
    entered, end = threading.Event(), threading.Event()

    @torch.compile(backend="eager")
    def waiting(x):
        torch._dynamo.graph_break()
        wait()
        return x + 1

    @torch._dynamo.disable
    def wait():
        entered.set()
        end.wait()

    thread = threading.Thread(target=waiting, args=(torch.ones(2),), daemon=True)
    thread.start()
    try:
        assert entered.wait(60)
        entry = depyf.cache_entries(compiled)[0]
        entry.edit(add="True").register().remove()
        code = entry.target.code
        assert len(registration._known(code)) == 1 and registration._known(code)[0].code is None
    finally:
        end.set()
        thread.join()
    assert depyf.registered() == [] and registration._known(code) == []


def test_threads_outside_compiled_calls_keep_nothing_of_what_was_removed():
    """Threads that are not in compiled calls exist in notebooks, servers and Inductor's pools. This test has a thread
    that waits, a thread that computes, and a thread of a pool."""
    net = kept.new_net()
    compiled = torch.compile(net, backend="eager")
    compiled(torch.ones(2, 4))
    end = threading.Event()

    def compute():
        while not end.is_set():
            sum(range(100))

    threads = [threading.Thread(target=target, daemon=True) for target in (end.wait, compute)]
    for thread in threads:
        thread.start()
    try:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pool.submit(int).result()  # the pool's thread waits for work from now on
            entry = depyf.cache_entries(compiled)[0]
            entry.edit(add="True").register().remove()
            assert registration._known(entry.target.code) == []
    finally:
        end.set()
        for thread in threads:
            thread.join()


def test_a_guard_that_removes_its_own_entry_is_not_freed_below_itself():
    net = kept.new_net()
    compiled = torch.compile(net, backend="eager")
    x = torch.ones(2, 4)
    want = compiled(x)
    entry = depyf.cache_entries(compiled)[0]
    seen = []

    def remove():
        handle.remove()
        seen.append(len(registration._known(entry.target.code)))
        return True

    compiled._orig_mod.remove_entry = remove
    handle = entry.edit(add="L['self'].remove_entry()").register()
    assert torch.equal(compiled(x), want) and seen == [1]
    assert depyf.registered() == [] and registration._known(entry.target.code) == []


def test_an_exception_in_a_guard_keeps_no_frame():
    net = kept.new_net()
    compiled = torch.compile(net, backend="eager")
    compiled(torch.ones(2, 4))
    entry = depyf.cache_entries(compiled)[0].edit(add="L['x'].nothing_there")
    with entry.register():
        x = torch.ones(2, 4)
        freed = weakref.ref(x)
        compiled(x)
        assert type(entry.guards[-1].error) is AttributeError
        del x
        assert freed() is None


# Code that runs from files


def hits(call, path, line):
    """True if `call` executes a line of a file."""
    reached = []

    def local(frame, event, argument):
        if event == "line" and frame.f_lineno == line:
            reached.append(line)
        return local

    def trace(frame, event, argument):
        return local if frame.f_code.co_filename == path else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return bool(reached)


def listed(directory):
    """Returns the files of a directory that `depyf.debug` lists."""
    text = debugging.message()
    return [file for file in running.files.values() if file.path.startswith(str(directory)) and file.path in text]


@pytest.mark.parametrize("backend", BACKENDS)
def test_breakpoints_hit_in_each_file_that_debug_lists(backend, tmp_path):
    net = kept.new_net()
    compiled = torch.compile(net, backend=backend)
    x = torch.ones(2, 4)

    def call():
        compiled(x).sum().backward()

    with depyf.prepare_debug(tmp_path):
        call()
    files = listed(tmp_path)
    # Each of the two parts has a file for the transformed code, one for the graph, and one for the backward if it is a
    # graph of its own.
    assert len(files) == (4 if backend == "eager" else 6)
    assert [file.path for file in files if not hits(call, file.path, file.first_line)] == []


def test_a_graph_that_does_not_run_says_what_does(tmp_path):
    compiled = torch.compile(kept.new_net(), backend="aot_eager")
    with depyf.prepare_debug(tmp_path) as session:
        compiled(torch.ones(2, 4)).sum().backward()
    for frame in session.frames:
        running_kinds = [one.kind for one in frame.artifacts if one.running]
        assert running_kinds == ["Forward_graph", "Backward_graph"]
        text = (tmp_path / frame.files("Captured_Graph")[0]).read_text()
        assert "Does not run from this file: the graphs that AOTAutograd made of it run in its place." in text


def test_a_backend_of_the_users_that_uses_aot_autograd(tmp_path):
    from torch._dynamo.backends.common import aot_autograd

    mine = aot_autograd(fw_compiler=lambda graph, inputs: graph.forward)

    def of_the_user(graph, inputs):
        return mine(graph, inputs)

    compiled = torch.compile(kept.new_net(), backend=of_the_user)
    x = torch.ones(2, 4)
    with depyf.prepare_debug(tmp_path) as session:
        compiled(x)
    for frame in session.frames:
        assert [one.kind for one in frame.artifacts][:1] == ["Captured_Graph"]
        assert "Captured_Graph" not in [one.kind for one in frame.artifacts if one.running]
    for file in listed(tmp_path):
        assert hits(lambda: compiled(x), file.path, file.first_line) or file.direction == "backward"


@pytest.mark.parametrize("backend", BACKENDS)
def test_files_of_what_is_gone_are_forgotten(backend, tmp_path):
    first, second = (torch.compile(kept.new_net(breaks=False), backend=backend) for _ in range(2))
    with depyf.prepare_debug(tmp_path):
        first(torch.ones(2, 4))
        mine = {file.path for file in listed(tmp_path)}
        second(torch.ones(3, 4))
    both = {file.path for file in listed(tmp_path)}
    assert mine and mine < both
    del first
    gc.collect()
    assert {file.path for file in listed(tmp_path)} == both - mine
    torch._dynamo.reset()
    gc.collect()
    assert not any(path.startswith(str(tmp_path)) for path in running.files)
    assert str(tmp_path) not in debugging.message()  # files that other tests wrote may still run


def test_an_entry_that_is_held_keeps_its_file_listed(tmp_path):
    net = kept.new_net()
    compiled = torch.compile(net, backend="eager")
    x = torch.ones(2, 4)
    with depyf.prepare_debug(tmp_path):
        compiled(x)
    entry = depyf.cache_entries(compiled)[0]
    torch._dynamo.reset()
    gc.collect()
    file = next(file for file in listed(tmp_path) if file.kind == "transformed code")
    assert hits(functools.partial(entry.run, x), file.path, file.first_line)
    del entry
    gc.collect()
    assert listed(tmp_path) == []


# Forks


def in_child(work, seconds=60):
    """Runs `work` in a forked child process. Returns True if the child ended without an error within `seconds`."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    alarm = threading.Timer(seconds, os.kill, (child, 9))
    alarm.start()
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        alarm.cancel()


def locks_of_the_package(recorder):
    from torch._dynamo.convert_frame import compile_lock

    from depyf.capture import hub, memory

    return {
        "registration": registration._lock,
        "memory": memory._lock,
        "hub": hub._lock,
        "recorder": recorder._lock,
        "PyTorch": compile_lock,
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("name", ["registration", "memory", "hub", "recorder", "PyTorch"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_does_not_wait_for_a_thread_of_its_parent(name, tmp_path):
    from depyf.capture import hub

    net = kept.new_net()
    compiled = torch.compile(net, backend="eager")
    x = torch.ones(2, 4)
    compiled(x)
    held, end = threading.Event(), threading.Event()

    def hold(lock):
        with lock:
            held.set()
            end.wait()

    def work():
        entry = depyf.cache_entries(compiled)[0]
        with entry.edit(add="True").register():
            compiled(x)
        assert depyf.registered() == [] and str(depyf.explain(compiled))
        if name == "PyTorch":
            return  # PyTorch cannot compile in a child that was forked with this lock held, even without depyf
        with depyf.prepare_debug(tmp_path / "child") as session:
            torch.compile(kept.new_net(), backend="eager")(x)
        assert len(session.frames) == 2

    with depyf.prepare_debug(tmp_path / "parent"):
        lock = locks_of_the_package(hub._listeners[0])[name]
        thread = threading.Thread(target=hold, args=(lock,), daemon=True)
        thread.start()
        held.wait()
        try:
            assert in_child(work)
        finally:
            end.set()
            thread.join()


def test_every_lock_of_the_package_is_one_that_a_child_can_take():
    from torch_helpers import ROOT

    makers = [
        path.name
        for path in (ROOT / "python" / "depyf").rglob("*.py")
        if "threading.Lock(" in (text := path.read_text()) or "threading.RLock(" in text
    ]
    assert makers == ["locks.py"]
