"""Edits of entries (code, guards, graphs): the effect of each is checked by value, and compilations are counted."""

from __future__ import annotations

import copy
import inspect
import re
from pathlib import Path

import pytest

import depyf
import torch
from depyf.compat import kernels
from toolkit_helpers import Scale, broken, cases, compiles, scaled, toy
from torch_helpers import BACKENDS

X = torch.tensor([1.0, 2.0, 3.0])
FEW = ("function", "method", "module", "resume function")


def entry_of(fn, *args, **options):
    compiled = torch.compile(fn, backend=options.pop("backend", "eager"), **options)
    compiled(*args)
    return compiled, depyf.cache_entries(compiled)[0]


def add(a, b):
    return a * 2 + b


def kinds(entry):
    return [guard.kind for guard in entry.guards]


# Guards


@pytest.mark.parametrize("name", FEW)
def test_every_edit_of_guards_on_every_kind_of_function(name):
    call, asked = cases("eager")[name]
    want = call()
    (entry,) = [one for one in depyf.cache_entries(asked) if one.kind == "ordinary"]
    tensor = next(guard for guard in entry.guards if guard.kind == "TENSOR_MATCH" and guard.source.startswith("L"))
    at = entry.guards.index(tensor)
    allowed = [True]
    source = scaled(entry.source)
    edits = {
        "drop object": {"drop": tensor},
        "drop index": {"drop": at},
        "drop predicate": {"drop": lambda guard: guard is tensor},
        "add expression": {"add": f"{tensor.value}.dim() == 1 and torch.is_tensor({tensor.value})"},
        "add callable": {"add": lambda L: allowed[0]},
        "replace": {"replace": [(tensor, f"{tensor.value}.dim() == 1")]},
        "relax": {"relax": {tensor.source: 0}},
        "relax in words": {"relax": f"dimension 0 of {tensor.source} may vary"},
    }
    before = compiles()
    for what, change in edits.items():
        edited = entry.edit(source=source, **change)
        assert (tensor in edited.guards) == what.startswith("add"), what
        assert bool(edited.warnings) == (not what.startswith("add")), what
        with edited.register():
            assert torch.equal(call(), want * 100), what
        assert torch.equal(call(), want), what
    edited = entry.edit(source=source, add=lambda L: allowed[0])
    with edited.register():
        assert torch.equal(call(), want * 100)
        allowed[0] = False
        assert torch.equal(call(), want)
    assert compiles() == before and entry.guards[at] is tensor


def test_a_dropped_guard_is_no_longer_checked_and_all_others_are():
    f, entry = entry_of(toy, X, X + 1)
    dtype = next(one for one in entry.guards if one.source == "L['b']" and one.kind == "TENSOR_MATCH")
    edited = entry.edit(source=scaled(entry.source), drop=dtype)
    with edited.register():
        assert torch.equal(f(X, (X + 1).double()), toy(X, (X + 1).double()) * 100)
        for other in [(X.double(), X + 1), (X[:2], X[:2]), (X, X)]:
            assert not edited.check(*other)
            assert torch.equal(f(*other), toy(*other))
        with torch.no_grad():
            assert [one.guard.kind for one in edited.check(X, X + 1).failures] == ["GLOBAL_STATE"]
    marks = [one for one in edited.guards if one.source == "L['b']"]
    assert len(marks) == 1  # the guard that no dimension is marked dynamic; its kind depends on the release
    b = (X + 1).double()
    torch._dynamo.mark_dynamic(b, 0)
    assert not edited.check(X, b)


def test_relations_survive_and_are_warned_of():
    _f, entry = entry_of(toy, X, X + 1)
    dtype = next(one for one in entry.guards if one.source == "L['b']" and one.kind == "TENSOR_MATCH")
    kept = entry.edit(drop=dtype)
    assert "NO_TENSOR_ALIASING" in kinds(kept) and "alias" not in " ".join(kept.warnings)
    assert [one.guard.kind for one in kept.check(X, X).failures] == ["NO_TENSOR_ALIASING"]
    for _ in range(3):  # each check resets the state of relational guards such as NO_TENSOR_ALIASING
        assert kept.check(X, X + 1) and not kept.check(X, X)
    dropped = entry.edit(drop="L['b']")
    assert "NO_TENSOR_ALIASING" not in kinds(dropped) and dropped.check(X, X)
    assert any(
        "dropping L['b'] also dropped the check that L['a'] and L['b'] do not alias" in one for one in dropped.warnings
    )
    assert "alias" in str(dropped)
    relation = next(one for one in entry.guards if one.kind == "NO_TENSOR_ALIASING")
    alone = entry.edit(drop=relation)
    assert alone.check(X, X) and "do not alias" in alone.warnings[0] and not alone.check(X, X.double())


def test_a_relation_of_three_becomes_one_of_two():
    def three(a, b, c):
        return a + b * c

    _f, entry = entry_of(three, X, X + 1, X + 2)
    edited = entry.edit(drop="L['b']")
    assert kinds(edited).count("NO_TENSOR_ALIASING") == 1
    assert edited.check(X, X, X + 2) and not edited.check(X, X + 1, X)
    assert "L['a'] and L['c'] are still compared" in " ".join(edited.warnings)


def test_the_same_tensor_twice():
    def three(a, b, c):
        return a + b * c

    _f, entry = entry_of(three, X, X, X + 2)
    same = next(guard for guard in entry.guards if guard.expression == "L['b'] is L['a']")
    assert entry.check(X, X, X + 2) and not entry.check(X, X + 1, X + 2)
    tensor = next(guard for guard in entry.guards if guard.kind == "TENSOR_MATCH" and guard.source == "L['b']")
    edited = entry.edit(drop=tensor)
    y = X.double()
    assert edited.check(y, y, X + 2) and not edited.check(X, X + 1, X + 2) and not edited.check(X, X, X)
    edited = entry.edit(drop="L['b']")
    assert same not in edited.guards and edited.check(X, X + 1, X + 2)
    assert any("dropping L['b'] also dropped" in one and "is L['a']" in one for one in edited.warnings)


def test_guards_of_the_process_can_be_dropped():
    f, entry = entry_of(toy, X, X + 1)
    edited = entry.edit(source=scaled(entry.source), drop=lambda guard: guard.kind == "GLOBAL_STATE")
    with edited.register(), torch.no_grad():
        assert torch.equal(f(X, X + 1), toy(X, X + 1) * 100)
        assert not edited.check(X, X) and not edited.check(X.double(), X)


def test_all_guards_dropped():
    f, entry = entry_of(add, X, X + 1)
    edited = entry.edit(drop=lambda guard: True)
    assert edited.guards == [] and edited.check(3, None)
    with edited.register():
        assert torch.equal(f(X.double(), 1), X.double() * 2 + 1)


def test_guards_below_a_value_stay():
    class Box:
        def __init__(self, scale, shift):
            self.scale, self.shift = scale, shift

    def boxed(x, box, d):
        return x * box.scale + box.shift + d["k"]

    _f, entry = entry_of(boxed, X, Box(2, 3), {"k": 4})
    edited = entry.edit(drop=lambda guard: guard.source == "L['box'].scale")
    assert edited.check(X, Box(7, 3), {"k": 4})
    for other in [
        (X, Box(2, 4), {"k": 4}),
        (X, Box(2, 3), {"k": 5}),
        (X, 3, {"k": 4}),
        (X.double(), Box(2, 3), {"k": 4}),
    ]:
        assert not entry.check(*other) and not edited.check(*other), other
    edited = entry.edit(drop=lambda guard: guard.source == "L['box']")
    assert edited.check(X, Box(2, 3), {"k": 4}) and not edited.check(X, Box(2, 4), {"k": 4})
    assert not edited.check(X, Box(2, 3), {"k": 5})


@pytest.mark.parametrize("drop", ["L['a']", "L['b']"])
def test_shapes_with_symbols(drop):
    def symbols(a, b):
        return a.sum() + b[: a.shape[0]].sum()

    f = torch.compile(symbols, backend="eager", dynamic=True)
    f(torch.ones(4), torch.ones(6))
    (entry,) = depyf.cache_entries(f)
    assert entry.check(torch.ones(5), torch.ones(7))
    edited = entry.edit(drop=lambda guard: guard.kind == "TENSOR_MATCH" and guard.source == drop)
    assert edited.check(torch.ones(5), torch.ones(7))
    calls = [(torch.ones(i), torch.ones(j)) for i in range(4) for j in range(4)]
    assert [bool(entry.check(*one)) for one in calls] == [bool(edited.check(*one)) for one in calls]


def test_relaxed_sizes_are_the_only_ones_that_may_vary():
    def double(x):
        return x * 2

    x = torch.ones(4, 3, 2)
    f, entry = entry_of(double, x)
    edited = entry.edit(relax={"L['x']": 1})
    other = torch.ones(4, 5, 2)
    assert edited.check(other) and torch.equal(edited.run(other), other * 2)
    for wrong in (
        torch.ones(4, 3),
        torch.ones(3, 3, 2),
        torch.ones(4, 3, 5),
        x.double(),
        x.transpose(0, 2),
        other[:, ::2],
    ):
        assert not edited.check(wrong), wrong.stride()
    assert "dimension 1 of L['x'] may vary" in edited.warnings[0]
    before = compiles()
    with edited.register():
        assert torch.equal(f(other), other * 2) and torch.equal(f(torch.ones(4, 9, 2)), torch.ones(4, 9, 2) * 2)
    assert compiles() == before
    both = entry.edit(relax=["dimension 0 of L['x'] may vary", {"L['x']": [-1]}])
    assert both.check(torch.ones(9, 3, 7)) and not both.check(torch.ones(9, 4, 7))


def test_a_guard_that_raises_counts_as_failed_and_keeps_its_exception():
    def raises(L):
        raise LookupError("the user's own")

    f, entry = entry_of(add, X, X + 1)
    edited = entry.edit(source=scaled(entry.source), add=[raises, "1 / 0"])
    report = edited.check(X, X + 1)
    assert [type(one.error) for one in report.failures] == [LookupError, ZeroDivisionError]
    assert "raised LookupError: the user's own" in str(report)
    with edited.register():
        assert torch.equal(f(X, X + 1), add(X, X + 1))
        assert type(edited.guards[-1].error) is ZeroDivisionError or type(edited.guards[-2].error) is LookupError
        assert "LookupError" in str(depyf.dispatch(f, X, X + 1))


def test_edits_of_edits():
    f, entry = entry_of(toy, X, X + 1)
    first = entry.edit(source=scaled(entry.source), drop="L['b']", add="L['b'].dim() == 1")
    second = first.edit(source=scaled(first.source), drop=len(first.guards) - 1, relax={"L['a']": 0})
    assert len(second.guards) == len(first.guards) - 1 and len(second.warnings) > len(first.warnings)
    before = compiles()
    with second.register():
        assert torch.equal(f(X, X + 1), toy(X, X + 1) * 10000)
        registered = depyf.cache_entries(f)[0]
        assert registered.kind == "registered" and registered.warnings == second.warnings
    assert compiles() == before


@pytest.mark.parametrize(
    "change, error, says",
    [
        ({"drop": "L['zz']"}, ValueError, r"no guard fits \"L\['zz'\]\": there are guards on L\['a'\]"),
        ({"drop": 99}, ValueError, "no guard 99"),
        ({"drop": lambda guard: False}, ValueError, "no guard fits"),
        ({"drop": [1.5]}, TypeError, "a guard is named by"),
        ({"add": "L['zz'] > 1"}, ValueError, "no argument or free variable 'zz': it has a, b"),
        ({"add": "a > 1"}, ValueError, "a is not defined"),
        ({"add": "L['a'] >"}, SyntaxError, "guard .*invalid syntax"),
        ({"add": "x = 1"}, SyntaxError, "guard"),
        ({"add": 3.5}, TypeError, "'float' object is not iterable|a guard is"),
        ({"replace": {"L['zz']": "True"}}, ValueError, "no guard fits"),
        ({"replace": [1]}, TypeError, "pairs"),
        ({"replace": {0: "nope"}}, ValueError, "nope is not defined"),
        ({"relax": {"L['a']": 1}}, ValueError, "L\\['a'\\] has 1 dimensions: there is no dimension 1"),
        ({"relax": {"L['zz']": 0}}, ValueError, "there are such guards on L\\['a'\\], L\\['b'\\]"),
        ({"relax": "dimension zero of L['a'] may vary"}, ValueError, "cannot read"),
        ({"relax": 3}, TypeError, "relax="),
        ({"graph": {"__compiled_fn_99": len}}, ValueError, "calls no graph '__compiled_fn_99'"),
        ({"graph": 3}, TypeError, "graph module or a callable"),
        ({"graph": lambda a: (a,)}, ValueError, "the code calls it with 2 arguments"),
        ({"source": "def add(a): return a"}, ValueError, r"the arguments differ: \(a\) instead of \(a, b\)"),
        ({"source": "def add(a, b): return nope"}, NameError, "line 1: nope is not defined"),
        ({"source": "def add(a, b)"}, SyntaxError, "expected ':'"),
        ({"source": "def add(a, b): yield a"}, ValueError, "generator"),
        ({"source": 3}, TypeError, "text or a path"),
        ({"source": "missing.py"}, OSError, "missing.py"),
        ({"code": 3}, TypeError, "expected a code object"),
        ({"code": toy.__code__, "source": ""}, ValueError, "not both"),
        ({"code": broken.__code__}, ValueError, "the arguments differ"),
    ],
)
def test_wrong_edits_say_what_is_wrong(change, error, says):
    f, entry = entry_of(add, X, X + 1)
    with pytest.raises(error, match=says):
        entry.edit(**change)
    assert torch.equal(f(X, X + 1), add(X, X + 1)) and len(depyf.cache_entries(f)) == 1


# Code and graphs


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FEW)
def test_graphs_are_replaced_by_callables(name, backend):
    if backend == "inductor" and name != "resume function":
        pytest.skip("one kind of function is enough for Inductor")
    call, asked = cases(backend)[name]
    want = call()
    (entry,) = [one for one in depyf.cache_entries(asked) if one.kind == "ordinary"]
    (graph,) = entry.graphs
    seen = []

    def instead(*inputs):
        seen.append(inputs)
        return tuple(one * 3 if one.dtype.is_floating_point else one for one in graph.function(*inputs))

    before = compiles()
    edited = entry.edit(graph=instead)
    with edited.register():
        got = call()
        assert torch.allclose(got, want * 3) and len(seen) == 1
        if graph.placeholders:
            assert len(seen[0]) == len(graph.placeholders)
    assert torch.equal(call(), want) and len(seen) == 1 and compiles() == before
    with entry.edit(graph={graph.name: instead}).register():
        assert torch.allclose(call(), want * 3)


def test_an_edited_graph_module():
    f, entry = entry_of(add, X, X + 1)
    module = copy.deepcopy(entry.graphs[0].graph_module)
    for node in module.graph.nodes:
        if node.op == "call_function" and node.args[1:] == (2,):
            node.args = (node.args[0], 5)
    before = compiles()
    with entry.edit(graph=module).register():
        assert torch.equal(f(X, X + 1), X * 5 + X + 1)
    assert torch.equal(f(X, X + 1), add(X, X + 1)) and compiles() == before
    for node in list(module.graph.nodes):
        if node.op == "output":
            node.args = (node.args[0][0],)
    with pytest.raises(ValueError, match="does not return a tuple"):
        entry.edit(graph=module)
    with module.graph.inserting_before(next(iter(module.graph.nodes))):
        module.graph.placeholder("one_more")
    with pytest.raises(ValueError, match="has 3 inputs, but the code passes 2"):
        entry.edit(graph=module)


def test_a_graph_that_returns_no_tuple_is_an_error_and_no_wrong_value():
    _f, entry = entry_of(add, X, X + 1)
    edited = entry.edit(graph=lambda a, b: a)
    with pytest.raises(TypeError, match="has to return a tuple of 1, not Tensor"):
        edited.run(X, X + 1)


def test_code_object_with_names_of_its_own():
    f, entry = entry_of(add, X, X + 1)
    edited = entry.edit(source="def add(a, b):\n    return helper(a) - b", bind={"helper": lambda x: x * 10})
    with edited.register():
        assert torch.equal(f(X, X + 1), X * 10 - X - 1)
    assert "helper" not in add.__globals__


def test_edited_file_of_a_dump(tmp_path):
    f = torch.compile(toy, backend="eager")
    with depyf.prepare_debug(tmp_path):
        f(X, X + 1)
    path = tmp_path / "__transformed_code_0_for_toy.py"
    path.write_text(scaled(path.read_text()))
    (entry,) = depyf.cache_entries(f)
    edited = entry.edit(source=path)
    with edited.register():
        assert torch.equal(f(X, X + 1), toy(X, X + 1) * 100)
    assert edited.code.co_filename == str(path)


def test_modules_keep_their_parameters():
    module = Scale(2)
    f, entry = entry_of(module, X)
    with entry.edit(source=scaled(entry.source)).register():
        with torch.no_grad():
            module.weight.mul_(2)
        got = f(X)
        assert torch.equal(got, X * 400)
        got.sum().backward()
        assert torch.equal(module.weight.grad, X * 100)


# Tests of each kind of edit of code on each kind of function.


def graph_times_three(entry):
    """Returns a copy of the entry's graph in which every floating point output is multiplied by 3."""
    (graph,) = entry.graphs
    module = copy.deepcopy(graph.graph_module)
    node = next(one for one in reversed(module.graph.nodes) if one.op == "output")
    with module.graph.inserting_before(node):
        new = [
            module.graph.call_function(torch.mul, (one, 3)) if one.meta["example_value"].is_floating_point() else one
            for one in node.args[0]
        ]
    node.args = (tuple(new),)
    return module


@pytest.mark.parametrize("what", ["source", "path", "code", "graph module", "graph callable"])
@pytest.mark.parametrize("name", FEW)
def test_every_edit_of_code_on_every_kind_of_function(name, what, tmp_path):
    call, asked = cases("eager")[name]
    want = call()
    (entry,) = [one for one in depyf.cache_entries(asked) if one.kind == "ordinary"]
    (tmp_path / "edited.py").write_text(scaled(entry.source, 3))
    edits = {
        "source": lambda: {"source": scaled(entry.source, 3)},
        "path": lambda: {"source": tmp_path / "edited.py"},
        "code": lambda: {"code": depyf.compile_like(scaled(entry.source, 3), entry.code)},
        "graph module": lambda: {"graph": graph_times_three(entry)},
        "graph callable": lambda: {"graph": graph_times_three(entry).forward},
    }
    before = compiles()
    edited = entry.edit(**edits[what]())
    assert torch.allclose(call(), want)  # the edit has no effect before it is registered
    with edited.register():
        assert torch.allclose(call(), want * 3)
        assert torch.allclose(call(), want * 3)
    assert torch.equal(call(), want) and compiles() == before
    assert (edited.code is entry.code) == what.startswith("graph")
    assert [guard.text for guard in edited.guards if guard.kind != "INSTANCE"] == [one.text for one in entry.guards]


# Output code


def stored_twice(text):
    """Returns output code that stores twice the values. Inductor's code stores vectors or single numbers, depending on
    the processor."""
    text, vectors = re.subn(r"(tmp\d+)\.store\(", r"decltype(\1)(\1 + \1).store(", text)
    text, scalars = re.subn(r"(out_ptr\d+\[[^\]]*\] = )(tmp\d+);", r"\1\2 + \2;", text)
    assert vectors or scalars
    return text


def output_code(tmp_path, graph):
    """Returns Inductor's files for a graph, edited so that they store twice the values: direction -> path."""
    out = {}
    for direction, compiled in kernels.compiled_graphs(graph.function).items():
        call = getattr(compiled.current_callable, "original", compiled.current_callable)
        text = Path(inspect.getfile(call)).read_text()
        out[direction] = tmp_path / f"{direction}.py"
        out[direction].write_text(stored_twice(text))
    return out


@pytest.mark.parametrize("name", FEW)
def test_edited_output_code_on_every_kind_of_function(name, tmp_path):
    call, asked = cases("inductor")[name]
    want = call()
    (entry,) = [one for one in depyf.cache_entries(asked) if one.kind == "ordinary"]
    files = output_code(tmp_path, entry.graphs[0])
    before = compiles()
    edited = entry.edit(kernel=files["forward"])
    assert torch.equal(call(), want) and torch.allclose(entry.run(*run_arguments(name)), want)
    with edited.register():
        got = call()
        assert torch.allclose(got, want * 2) and got.requires_grad == want.requires_grad
    assert torch.equal(call(), want) and compiles() == before
    assert torch.allclose(edited.edit(source=scaled(edited.source)).run(*run_arguments(name)), want * 200)


def run_arguments(name):
    return {"function": (X, X + 1), "resume function": ([], [], None, X + 1)}.get(name, (X,))


def test_output_code_of_a_dump_forward_and_backward(tmp_path):
    module = Scale(2)
    f = torch.compile(module, backend="inductor")

    def gradient(result):
        module.weight.grad = None
        result.sum().backward()
        return module.weight.grad

    with depyf.prepare_debug(tmp_path):
        want = gradient(f(X))
    (entry,) = depyf.cache_entries(f)
    (graph,) = entry.graphs
    twice = {}
    for path in tmp_path.glob("*kernel*.py"):
        text = stored_twice(path.read_text())
        path.write_text(text)
        twice["backward" if "tangents" in text else "forward"] = path
    assert set(twice) == {"forward", "backward"}
    with pytest.raises(ValueError, match="the direction 'sideways' is unknown"):
        entry.edit(kernel={graph.name: {"sideways": twice["forward"]}})
    backward = entry.edit(kernel={graph.name: {"backward": twice["backward"]}})
    both = entry.edit(kernel={graph.name: twice})
    plain = f(X)
    with backward.register():
        edited = f(X)
        assert torch.equal(edited, X * 2) and torch.equal(gradient(edited), want * 2)
        assert torch.equal(gradient(plain), want)  # the forward of `plain` ran before the edit
        later = f(X)
    with both.register():
        assert torch.equal(f(X), X * 4)
    assert torch.equal(gradient(later), want * 2) and torch.equal(gradient(f(X)), want)


WRONG_FILES = [
    ("def call(args", SyntaxError, "kernel.py, line 1"),
    ("import torch\n1 / 0", ValueError, "kernel.py, line 2: loading the file raised ZeroDivisionError"),
    ("x = 1", ValueError, r"does not define call\(args\)"),
]


def test_wrong_output_code(tmp_path):
    f, entry = entry_of(add, X, X + 1, backend="inductor")
    path = tmp_path / "kernel.py"
    with pytest.raises(OSError, match=r"kernel\.py"):
        entry.edit(kernel=path)
    for text, error, says in WRONG_FILES:
        path.write_text(text)
        with pytest.raises(error, match=says):
            entry.edit(kernel=path)
    with pytest.raises(TypeError, match="path of a file of output code"):
        entry.edit(kernel=3)
    with pytest.raises(ValueError, match="no backward has been compiled"):
        entry.edit(kernel={"backward": path})
    assert torch.equal(f(X, X + 1), add(X, X + 1))
    _f, eager = entry_of(toy, X, X + 1)
    with pytest.raises(ValueError, match="Inductor did not compile this graph"):
        eager.edit(kernel=path)
