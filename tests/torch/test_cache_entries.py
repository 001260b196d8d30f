"""Tests of copies of cache entries: their contents, the verdicts of their guards, and the effects of their code."""

from __future__ import annotations

import functools
import gc

import pytest

import depyf
import torch
from toolkit_helpers import CASES, Scale, broken, broken_with_free_variables, cases, compiles, toy, with_free_variables
from torch_helpers import BACKENDS

X = torch.tensor([1.0, 2.0, 3.0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_fields(backend):
    f = torch.compile(toy, backend=backend)
    want = f(X, X)
    f(X, X + 1)
    first, second = depyf.cache_entries(f)
    assert first.kind == second.kind == "ordinary" and {first.compile_id, second.compile_id} == {"0/0", "0/1"}
    entry = first if first.check(X, X + 1) else second
    assert "def toy(a, b):" in entry.source and "__compiled_fn_" in entry.source
    assert entry.code.co_varnames[:2] == ("a", "b")
    kinds = [guard.kind for guard in entry.guards]
    assert kinds.count("TENSOR_MATCH") == 2 and "NO_TENSOR_ALIASING" in kinds
    tensor = next(guard for guard in entry.guards if guard.source == "L['b']" and guard.kind == "TENSOR_MATCH")
    assert tensor.value == "L['b']" and tensor.line.line == toy.__code__.co_firstlineno + 2
    assert eval(tensor.expression, {"torch": torch, "L": {"b": X}})
    assert not eval(tensor.expression, {"torch": torch, "L": {"b": X.double()}})
    (graph,) = entry.graphs
    assert graph.name in entry.source.replace(graph.full_name, "") and graph.full_name in entry.code.co_names
    if backend != "inductor":  # Inductor frees some graphs
        assert graph.graph_module is not None
    if graph.graph_module is not None:
        assert [source for _, source in graph.placeholders] == ["L['a']", "L['b']"]
    assert len(entry.resume_functions) == 2
    assert torch.equal(entry.run(X, X + 1), toy(X, X + 1))
    assert torch.equal(want, toy(X, X))


@pytest.mark.parametrize("name", CASES)
def test_check_and_run_of_every_kind_of_function(name):
    call, asked = cases("eager")[name]
    want = call()
    entries = depyf.cache_entries(asked)
    assert len(entries) == 1 and entries[0].code is not entries[0].target.code
    assert [guard for guard in entries[0].guards if guard.line is not None] or name == "lambda"
    before = compiles()
    assert torch.equal(call(), want) and compiles() == before


def test_never_compiled_and_not_python():
    def never(x):
        return x

    assert depyf.cache_entries(never) == []
    for wrong in (len, 3, torch.nn.Module, "toy"):
        with pytest.raises(TypeError, match="no Python function behind"):
            depyf.cache_entries(wrong)


def test_check_lists_every_failing_guard():
    f = torch.compile(toy, backend="eager")
    f(X, X + 1)
    (entry,) = depyf.cache_entries(f)
    report = entry.check(X.double(), X[:2])
    assert not report and len(report.failures) == 2
    first, second = report.failures
    assert (first.expected, first.actual) == ("torch.float32", "torch.float64")
    assert (second.expected, second.actual) == ("(3,)", "torch.Size([2])")
    assert "2 of" in str(report) and "torch.float64" in str(report)
    assert report.would_take.entry is None and report.would_take.action == "would compile"
    same = entry.check(X, X)
    assert [one.guard.kind for one in same.failures] == ["NO_TENSOR_ALIASING"]
    with torch.no_grad():
        assert [one.guard.kind for one in entry.check(X, X + 1).failures] == ["GLOBAL_STATE"]
    accepted = entry.check(a=X, b=X + 1)
    assert accepted and not accepted.failures and accepted.would_take.entry.compile_id == entry.compile_id


def test_arguments_are_bound_as_the_function_binds_them():
    inner, set_offset = with_free_variables()
    f = torch.compile(inner, backend="eager")
    f(X, q=2)
    (entry,) = depyf.cache_entries(f)
    assert entry.check(X, q=2)
    assert not entry.check(X, q=3)
    with pytest.raises(TypeError, match=r"inner\(\) missing 1 required keyword-only argument: 'q'"):
        entry.check(X)
    with pytest.raises(TypeError):
        entry.run(q=2)
    assert torch.equal(entry.run(X, q=2), X * 6 + 2)
    set_offset(5.0)
    (failure,) = entry.check(X, q=2).failures
    assert (failure.expected, failure.actual) == ("2.0", "5.0") or "5.0" in str(failure)


def test_partial_and_defaults():
    def scaled(x, y=2, *, z=3):
        return x * y * z

    f = torch.compile(scaled, backend="eager")
    f(X)
    (entry,) = depyf.cache_entries(functools.partial(f, X))
    assert entry.check() and entry.check(2, z=3) and not entry.check(3) and not entry.check(z=4)
    assert torch.equal(entry.run(), X * 6)


def test_a_missing_key_is_a_failure_with_its_exception():
    def get(d):
        return d["a"] * 2

    f = torch.compile(get, backend="eager")
    f({"a": X})
    (entry,) = depyf.cache_entries(f)
    report = entry.check({"b": X})
    assert not report and "KeyError" in str(report)


def test_dispatch_names_the_entry_and_why_the_others_refuse():
    f = torch.compile(toy, backend="eager", dynamic=False)
    f(X, X + 1)
    f(X[:2], X[:2] + 1)
    found = depyf.dispatch(f, X, X + 1)
    assert found.entry is not None and found.entry.check(X, X + 1)
    assert [str(report) for _, report in found.refused if not report] and "size" in str(found)
    none = depyf.dispatch(f, X.double(), X.double() + 1)
    assert none.entry is None and none.action == "would compile" and len(none.refused) == 2
    before = compiles()
    depyf.dispatch(f, X.int(), X)
    assert compiles() == before


def test_dispatch_says_what_the_call_then_does():
    f = torch.compile(toy, backend="eager", dynamic=False)
    calls = [(X, X + 1), (X[:2], X[:2] + 1), (X.double(), X + 1), (X, X), (X, X + 1), (X[:2], X[:2]), (X.double(), X)]
    for call in calls * 2:
        said = depyf.dispatch(f, *call)
        ids = {entry.compile_id for entry in depyf.cache_entries(f)}
        f(*call)
        after = depyf.cache_entries(f)
        if said.entry is None:
            assert {entry.compile_id for entry in after} != ids
        else:
            assert {entry.compile_id for entry in after} == ids
            assert after[0].compile_id == said.entry.compile_id  # Dynamo moves the entry that it used last to the front


def test_dispatch_of_limits_stances_and_backends():
    f = torch.compile(toy, backend="eager")
    f(X, X + 1)
    other = torch.compile(toy, backend="aot_eager")
    found = depyf.dispatch(other, X, X + 1)
    assert found.entry is None and found.refused[0][1] == "compiled by a different backend"
    with torch.compiler.set_stance("force_eager"):
        assert "force_eager" in depyf.dispatch(f, X, X + 1).action
    with torch.compiler.set_stance("fail_on_recompile"):
        assert "would raise" in depyf.dispatch(f, X.double(), X).action
        assert depyf.dispatch(f, X, X + 1).entry is not None
    with torch._dynamo.config.patch(recompile_limit=1):
        assert "limit" in depyf.dispatch(f, X.double(), X).action


def test_copies_outlive_the_cache():
    f = torch.compile(broken, backend="eager")
    f(X)
    (entry,) = depyf.cache_entries(f)
    torch._dynamo.reset()
    gc.collect()
    f(X + 1)
    torch._dynamo.reset()
    gc.collect()
    assert entry.check(X) and not entry.check(X.double())
    assert torch.equal(entry.run(X), broken(X)) and "__compiled_fn_" in entry.source


def test_resume_functions_with_free_variables():
    fn = broken_with_free_variables()
    f = torch.compile(fn, backend="eager")
    f(X)
    (resume,) = depyf.cache_entries(f)[0].resume_functions
    assert resume.function is None and resume.code.co_freevars == ("factor",)
    (entry,) = depyf.cache_entries(resume)
    arguments = [None] * resume.code.co_argcount
    with pytest.raises(ValueError, match="free variables"):
        entry.run(*arguments)
    with pytest.raises(ValueError, match="factor"):
        resume.with_free_variables(other=1)
    made = resume.with_free_variables(factor=torch.ones(3) * 3)
    (entry,) = depyf.cache_entries(made)
    names = resume.code.co_varnames[: resume.code.co_argcount]
    given = {name: [] if name.startswith("__nested") else None for name in names}
    given["y"] = X
    assert torch.equal(entry.run(**given), X * 3)
    assert entry.check(**given)


def test_instances_share_code_and_entries():
    one, other = Scale(2), Scale(3)
    f = torch.compile(one, backend="eager")
    f(X)
    assert [entry.compile_id for entry in depyf.cache_entries(other)] == ["0/0"]
    assert depyf.cache_entries(f)[0].check(X)


class Holder(torch.nn.Module):
    """A module that a backend may return instead of a function. In PyTorch 2.2, Dynamo wraps a graph that a backend
    returns in a module like this class."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph

    def forward(self, *args):
        return self.graph(*args)


def test_the_graph_in_a_module_that_a_backend_gives():
    fn = torch.compile(lambda x: x * 2 + 1, backend=lambda graph, inputs: Holder(graph))
    fn(torch.ones(3))
    (entry,) = depyf.cache_entries(fn)
    assert isinstance(entry.graphs[0].graph_module, torch.fx.GraphModule)
    assert [name for _, name in entry.graphs[0].placeholders] == ["L['x']"]


def test_what_a_debugger_shows_of_them_is_short():
    class Deep(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(*[torch.nn.Linear(3, 3) for _ in range(20)])

        def forward(self, x):
            return self.layers(x)

    module = Deep()
    compiled = torch.compile(module, backend="eager")
    compiled(torch.ones(2, 3))
    (entry,) = entries = depyf.cache_entries(compiled)
    assert repr(entries) == f"[<ordinary entry {entry.compile_id} of {entry.target.name}: {len(entry.guards)} guards>]"
    assert repr(entry.check(torch.ones(2, 3))) == f"entry {entry.compile_id} of {entry.target.name} accepts the call"
    module.double()
    refused = entry.check(torch.ones(2, 3).double())
    few = repr(refused).splitlines()
    assert (
        len(refused.failures) > 40
        and len(few) == 7
        and few[-1] == f"  and {len(refused.failures) - 5} more: print shows them"
    )
    assert max(map(len, few)) < 200 and len(str(refused)) > len(repr(refused))
    told = depyf.dispatch(compiled, torch.ones(2, 3).double())
    assert repr(told).splitlines()[0].endswith("would compile") and len(repr(told)) < 1500
    assert len(repr(refused.failures[0])) < 200


def test_an_entry_that_dynamo_invalidated_is_no_entry_and_no_drift(recwarn):
    from torch._dynamo.guards import DeletedGuardManagerWrapper

    def doubled(x):
        return x * 2

    compiled = torch.compile(doubled, backend="eager")
    compiled(torch.ones(3))
    (entry,) = torch._dynamo.eval_frame._debug_get_cache_entry_list(doubled.__code__)
    manager = entry.guard_manager
    # Dynamo calls `invalidate` when an object that the guards refer to is freed.
    manager.extra_state.invalidate(manager.cache_entry, DeletedGuardManagerWrapper("it got deallocated"))
    (entry,) = torch._dynamo.eval_frame._debug_get_cache_entry_list(doubled.__code__)
    assert entry.code is None
    assert depyf.cache_entries(compiled) == [] and depyf.explain(compiled).entries == []
    assert not [str(warning.message) for warning in recwarn if "depyf" in str(warning.message)]
