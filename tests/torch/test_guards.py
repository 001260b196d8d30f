"""Tests that the Python function that depyf writes for guards decides like PyTorch's own guard manager."""

from __future__ import annotations

import contextlib

import pytest
import torch._dynamo.guards

import depyf.guards
import torch
from depyf.compat import dynamo, guard_tree
from depyf.guards import leaf_forms, value_paths
from depyf.printing import guards as guards_printer
from depyf.printing import hooks
from guard_functions import CASES, MODULE
from guard_inputs import Inputs
from torch_helpers import example

ACCEPTED, REFUSED = 20, 50


def guard_function(guards):
    """Returns the function `f(L, G)` that the source of guards defines."""
    space = {}
    exec(depyf.guards.source(guards, "guard"), space)
    live = [one.live for one in guards]
    return (lambda L, G: space["guard"](L, G, live)) if any(live) else space["guard"]


def compare(manager, local, most=None, fixed=()):
    """Tries all inputs. Returns (the number of accepted inputs, the number of refused inputs, the guards that never
    failed)."""
    guards = depyf.guards.read(manager, local)
    scope = manager.global_scope["G"]
    function = guard_function(guards)
    assert manager.check(local), manager.check_verbose(local).verbose_code_parts
    inputs = Inputs(guards.tree, local, scope, most, fixed)
    counts = {True: 0, False: 0}
    failed = set()
    for entered in inputs:
        with entered as one:
            expected = manager.check(one.local)
            found = function(one.local, scope)
            verdict = guards.check(one.local, scope)
        assert found is expected, one.name
        assert bool(verdict) is expected, (one.name, verdict)
        counts[expected] += 1
        failing = [guard for guard, _ in verdict.failing]
        failed |= {id(guard) for guard in failing}
        if not expected and one.kind is not None:
            assert one.kind in {guard.kind for guard in failing}, one.name
        elif not expected:
            # At least one of the failing guards reads the value that was changed.
            assert not one.paths or any(
                guard.live or path in text + (guard.value or "")
                for guard, text in verdict.failing
                for path in one.paths
            ), (one.name, verdict)
    return counts[True], counts[False], [guard for guard in guards if id(guard) not in failed]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_same_verdicts(case):
    local = case.compile()
    [entry] = torch._dynamo.eval_frame._debug_get_cache_entry_list(case.code())
    with torch.set_grad_enabled(case.grad):
        accepted, refused, never_failed = compare(entry.guard_manager, local, fixed=case.fixed)
    assert accepted >= ACCEPTED and refused >= REFUSED, (accepted, refused)
    # Each guard failed for some input, except guards on values that a test cannot change and restore.
    assert not [guard for guard in never_failed if not (case.fixed and guard.source.startswith(case.fixed))]


def test_every_kind_of_guard_is_in_the_cases():
    seen = set()
    for case in CASES:
        case.compile()
        for entry in torch._dynamo.eval_frame._debug_get_cache_entry_list(case.code()):
            guards = depyf.guards.read(entry.guard_manager)
            seen |= {guard.kind for guard in guards}
            # Every guard has conditions in Python, or a live object that the function calls.
            assert all(guard.conditions or guard.live for guard in guards)
    assert set(guard_tree.leaf_types()) <= seen


def test_a_new_kind_of_guard_or_accessor_fails_here():
    assert set(guard_tree.leaf_types()) == leaf_forms.known_types()
    assert set(guard_tree.accessor_types()) <= value_paths.known_steps()


@contextlib.contextmanager
def compilations():
    """Yields a list to which (the guard manager, the local variables) of each compilation are appended."""
    found = []
    module = torch._dynamo.guards

    def hook(manager, local, builder):
        found.append((manager, dict(local)))

    before, module.guard_manager_testing_hook_fn = module.guard_manager_testing_hook_fn, hook
    try:
        yield found
    finally:
        module.guard_manager_testing_hook_fn = before


def tried(found, most=None):
    """Tries the guards of the compilations in the list, and empties the list."""
    while found:
        manager, local = found.pop(0)
        accepted, refused, _ = compare(manager, local, most)
        assert accepted >= ACCEPTED and refused >= REFUSED


def test_toy():
    toy = example("toy")
    with compilations() as found:
        function = torch.compile(toy.toy_example, backend="eager")
        for sign in (1, -1):
            function(torch.ones(10), sign * torch.ones(10))
            assert found
            tried(found)


def test_train(capsys):
    train = example("train")
    torch.manual_seed(0)
    net = train.Net()
    compiled = torch.compile(net, backend="eager")
    number = 0
    with compilations() as found:
        for i, batch in enumerate([8, 16, 24, 32, 8]):
            if i == 4:
                net.scale = 0.5
            compiled(torch.randn(batch, 64))
            number += len(found)
            tried(found, most=3)
    assert number == 7


def test_hard():
    hard = example("hard")
    number = 0
    for _, function, make in hard.cases():
        torch._dynamo.reset()
        with compilations() as found:
            arguments, keywords = make()
            torch.compile(function, backend="eager")(*arguments, **keywords)
            # The function has changed some of its arguments, so they are not the values that it was compiled with.
            number += len(found)
            for manager, local in list(found):
                if manager.check(local):
                    tried([(manager, local)])
    assert number >= 15


def test_guards_name_the_line_and_the_members():
    case = next(case for case in CASES if case.name == "tensors")
    case.compile()
    [entry] = torch._dynamo.eval_frame._debug_get_cache_entry_list(case.code())
    guards = depyf.guards.read(entry.guard_manager)
    tensor = next(guard for guard in guards if guard.kind == "TENSOR_MATCH" and guard.source == "L['x']")
    assert tensor.line.file.endswith("guard_functions.py") and tensor.line.text == "return x + y + z.sum()"
    assert "guard_functions.py" in depyf.guards.source(guards)
    alias = next(guard for guard in guards if guard.kind == "NO_TENSOR_ALIASING")
    assert set(alias.members) == {"L['x']", "L['y']", "L['z']"}
    assert tensor.read({"x": 5}, {}) == 5


def test_a_guard_without_a_python_form_asks_pytorch():
    torch._dynamo.reset()
    torch.compile(MODULE, backend="eager")(torch.ones(2, 3))
    [entry] = dynamo.entries(MODULE.forward.__code__)
    manager = torch._dynamo.eval_frame._debug_get_cache_entry_list(MODULE.forward.__code__)[0].guard_manager
    manager.root.add_lambda_guard(lambda local: local["x"].size(0) < 9, ["x is small (as someone says)"], None)
    guards = depyf.guards.read(manager)
    mine = next(guard for guard in guards if "someone" in guard.text)
    assert mine.expression is None and mine.live is not None
    source = depyf.guards.source(guards)
    assert "(L, G, live)" in source and "PyTorch's own object decides: x is small" in source
    scope = manager.global_scope["G"]
    small, large = ({"self": MODULE, "x": torch.ones(n, 3)} for n in (2, 10))
    function = guard_function(guards)
    assert function(small, scope) and not function(large, scope)
    assert mine in [guard for guard, _ in guards.check(large, scope).failing]
    assert entry.compile_id == "0/0"


def test_the_text_of_a_tree_is_pytorchs_own(monkeypatch):
    printer = guards_printer.Printer()
    learner = printer._learner
    monkeypatch.setattr(hooks, "_guards", printer)
    managers = []
    for case in CASES:
        case.compile()
        managers += [entry.guard_manager for entry in torch._dynamo.eval_frame._debug_get_cache_entry_list(case.code())]
    texts = [str(manager) for manager in managers]
    take_away = hooks.add_guard_hook()
    try:
        assert [str(manager) for manager in managers] == texts  # learns
        # the learner must not need more facts from here on
        monkeypatch.setattr(learner, "_known", frozenset(learner._known))
        printed = []
        for manager in managers:
            printed.append(printer.text(manager.root, str))
    finally:
        take_away()
    assert printed == texts and learner._wrong == 0
