"""Tests that Dynamo uses registered entries from the next call on, until they are removed."""

from __future__ import annotations

import gc
import threading

import pytest

import depyf
import torch
from toolkit_helpers import CASES, Scale, broken, cases, compiles, scaled, toy
from torch_helpers import BACKENDS

X = torch.tensor([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def nothing_stays_registered():
    assert depyf.registered() == []
    yield
    for one in depyf.registered():
        one.remove()


def other(a):
    return a - a


def constant(value, shape=None):
    """Returns an entry of `other`, written without a compilation, that returns `value`."""
    entry = depyf.new_entry(other)
    return entry.edit(
        source=f"def other(a):\n    return {value}", add=f"L['a'].shape[0] == {shape}" if shape else "True"
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
def test_edited_code_runs_and_goes(name, backend):
    if backend == "inductor" and name not in ("function", "module", "resume function"):
        pytest.skip("Inductor's kernels are compiled for three kinds only")
    call, asked = cases(backend)[name]
    want = call()
    before = compiles()
    entry = depyf.cache_entries(asked)[0]
    edited = entry.edit(source=scaled(entry.source))
    assert depyf.cache_entries(asked)[0].kind == "ordinary" and torch.equal(call(), want)
    registration = edited.register()
    assert torch.allclose(call(), want * 100)
    assert [one.kind for one in depyf.cache_entries(asked)][:2] == ["registered", "ordinary"]
    assert depyf.registered() == [registration] and registration.active
    registration.remove()
    assert torch.equal(call(), want) and not registration.active and depyf.registered() == []
    assert compiles() == before


def test_code_object():
    f = torch.compile(toy, backend="eager")
    f(X, X + 1)

    def stand_in(a, b):
        x = a * b - 1
        return x

    (entry,) = depyf.cache_entries(f)
    with entry.edit(code=stand_in.__code__).register():
        assert torch.equal(f(X, X + 1), X * (X + 1) - 1)
        assert torch.equal(f(X.double(), X + 1), toy(X.double(), X + 1))  # the entry keeps Dynamo's own guards


def test_never_compiled():
    f = torch.compile(other, backend="eager")
    before = compiles()
    with constant(7, shape=3).register():
        assert f(X) == 7 and compiles() == before
        assert torch.equal(f(X[:2]), X[:2] * 0) and compiles() == before + 1
        assert f(X) == 7 and compiles() == before + 1
    assert torch.equal(f(X), X * 0)


def test_newest_first_and_removed_in_any_order():
    f = torch.compile(other, backend="eager")
    handles = [constant(i, shape=3).register() for i in range(4)]
    two = constant(22, shape=2).register()
    assert f(X) == 3 and f(X[:2]) == 22
    handles[1].remove()
    assert f(X) == 3
    handles[3].remove()
    assert f(X) == 2 and f(X[:2]) == 22
    assert [one.entry.source[-1] for one in depyf.registered()] == ["2", "2", "0"]
    handles[3].remove()  # a second removal has no effect
    handles[2].remove()
    assert f(X) == 0
    two.remove()
    assert torch.equal(f(X[:2]), X[:2] * 0)
    handles[0].remove()
    assert torch.equal(f(X), X * 0)


def test_one_instance_of_many():
    first, second = Scale(2), Scale(3)
    f, g = torch.compile(first, backend="eager"), torch.compile(second, backend="eager")
    f(X), g(X)
    before = compiles()
    entry = next(one for one in depyf.cache_entries(second) if one.check(X))
    edited = entry.edit(source=scaled(entry.source))
    assert [guard.kind for guard in edited.guards].count("INSTANCE") == 1
    with edited.register():
        assert torch.equal(g(X), X * 300) and torch.equal(f(X), X * 2)
        found = depyf.dispatch(f, X)
        assert found.entry.kind == "ordinary" and "INSTANCE" in str(found)
    assert torch.equal(g(X), X * 3) and compiles() == before


def test_two_instances_each_with_its_own():
    modules = [Scale(i) for i in range(3)]
    compiled = [torch.compile(one, backend="eager") for one in modules]
    for one in compiled:
        one(X)
    handles = []
    for i in (0, 2):
        entry = next(one for one in depyf.cache_entries(modules[i]) if one.check(X))
        handles.append(entry.edit(source=scaled(entry.source, 10 + i)).register())
    assert [one(X)[0].item() for one in compiled] == [0, 1, 24]
    handles[0].remove()
    assert [one(X)[2].item() for one in compiled] == [0, 3, 72]
    handles[1].remove()


def test_reset_takes_all_away_and_leaves_no_dangling_name():
    f = torch.compile(broken, backend="eager")
    f(X)
    (entry,) = depyf.cache_entries(f)
    edited = entry.edit(source=scaled(entry.source))
    handle = edited.register()
    never = constant(5).register()
    torch._dynamo.reset()
    gc.collect()
    assert not handle.active and not never.active and depyf.registered() == []
    assert torch.equal(f(X), broken(X)) and torch.equal(torch.compile(other, backend="eager")(X), X * 0)
    handle = edited.register()
    # the reset also removed the called resume function, which is compiled again
    assert torch.equal(f(X), broken(X) * 100)
    before = compiles()
    assert torch.equal(f(X), broken(X) * 100) and compiles() == before
    torch._dynamo.reset()
    del entry, handle
    gc.collect()
    f(X)
    with edited.register():
        assert torch.equal(f(X), broken(X) * 100)
        # Dynamo compiles another entry, and the registered one stays
        assert torch.equal(f(X.double()), broken(X.double()))
        assert torch.equal(f(X), broken(X) * 100)
    assert torch.equal(edited.run(X), broken(X) * 100)


def test_code_that_dynamo_gave_up_on():
    def loop(x):
        for _ in range(2):
            x = x + 1
            torch._dynamo.graph_break()
        return x

    f = torch.compile(loop, backend="eager")
    f(X)
    assert depyf.cache_entries(f) == []
    with depyf.new_entry(f).edit(source="def loop(x):\n    return x * 0").register():
        assert torch.equal(f(X), X * 0)
    assert torch.equal(f(X), X + 2)


def test_registered_under_other_names_of_the_function():
    f = torch.compile(other, backend="eager")
    with constant(3).register():
        assert f(X) == 3 and torch.compile(other, backend="aot_eager")(X) == 3
        assert torch.equal(other(X), X * 0)  # a call without torch.compile, so Dynamo is not involved


def test_generators_and_coroutines_are_refused_with_a_reason():
    def generator(x):
        yield x

    async def coroutine(x):
        return x

    async def asynchronous(x):
        yield x

    for fn in (generator, coroutine, asynchronous):
        with pytest.raises(ValueError, match="Dynamo runs its frame in pieces"):
            depyf.new_entry(fn).edit(add="True")
        with pytest.raises(ValueError, match="Dynamo runs its frame in pieces"):
            depyf.new_entry(fn).register()


def test_a_block_that_raises_removes_the_entry():
    f = torch.compile(other, backend="eager")
    with pytest.raises(KeyError), constant(3).register():
        assert f(X) == 3
        raise KeyError
    assert depyf.registered() == [] and torch.equal(f(X), X * 0)


def test_an_exception_of_edited_code_shows_its_lines():
    f = torch.compile(other, backend="eager")
    entry = depyf.new_entry(other).edit(source="def other(a):\n    b = a\n    return b.nothing_of_the_kind")
    with entry.register(), pytest.raises(AttributeError) as caught:
        f(X)
    place = caught.traceback[-1]
    assert place.lineno == 2 and "nothing_of_the_kind" in str(place.statement)


def test_guards_that_change_the_cache_that_is_being_searched():
    f = torch.compile(other, backend="eager")
    handles = [constant(1).register()]

    def meddle(L):
        if len(handles) == 2:  # if another thread runs, a guard may be evaluated more than once
            handles[0].remove()
            handles.append(constant(2).register())
        return False

    handles.append(depyf.new_entry(other).edit(source="def other(a):\n    return 3", add=meddle).register())
    assert f(X) == 2
    handles[1].remove()
    assert f(X) == 2 and len(depyf.registered()) == 1
    handles[2].remove()
    assert torch.equal(f(X), X * 0) and depyf.registered() == []


def test_order_is_the_same_beside_another_thread():
    f = torch.compile(other, backend="eager")
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        first = constant(1).register()
        second = constant(2, shape=3).register()
        third = constant(3, shape=2).register()
        assert (f(X), f(X[:2]), f(X[:1])) == (2, 3, 1)
        assert [one.entry.source[-1] for one in depyf.registered()] == ["3", "2", "1"]
        second.remove()
        assert (f(X), f(X[:2])) == (1, 3) and not second.active and len(depyf.registered()) == 2
        fourth = constant(4).register()
        assert (f(X), f(X[:2])) == (4, 4)
        assert depyf.dispatch(f, X).entry.source[-1] == "4"
        fourth.remove()
        third.remove()
        assert f(X[:2]) == 1
        first.remove()
        assert torch.equal(f(X), X * 0)
    finally:
        stop.set()
        thread.join()
    again = constant(5).register()
    assert f(X) == 5
    again.remove()
    assert torch.equal(f(X), X * 0) and depyf.registered() == []


def test_threads_that_register_while_others_call():
    f = torch.compile(other, backend="eager")
    f(X)
    stop, wrong = threading.Event(), []

    def call():
        while not stop.is_set():
            result = f(X)
            if not (torch.is_tensor(result) or result == 9):
                wrong.append(result)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for one in threads:
        one.start()
    try:
        for _ in range(150):
            constant(9, shape=3).register().remove()
    finally:
        stop.set()
        for one in threads:
            one.join()
    assert not wrong and torch.equal(f(X), X * 0) and depyf.registered() == []


def test_a_release_without_precompile_entries_is_named(monkeypatch):
    f = torch.compile(other, backend="eager")
    f(X)
    (entry,) = depyf.cache_entries(f)
    monkeypatch.delattr(torch._C._dynamo.eval_frame, "_load_precompile_entry")
    edited = entry.edit(source=scaled("def other(a):\n    return a + 1"))
    assert edited.check(X) and torch.equal(edited.run(X), (X + 1) * 100)
    with pytest.raises(
        NotImplementedError, match=r"registering cache entries needs PyTorch 2\.9 or later; this is 2\."
    ):
        edited.register()
    assert depyf.registered() == [] and torch.equal(f(X), X * 0) and depyf.dispatch(f, X).entry.kind == "ordinary"
