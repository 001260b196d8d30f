"""Tests of `depyf.guard_costs`: times of guards, and guards that other guards imply."""

from __future__ import annotations

import random
from typing import Any

import pytest

import depyf
import torch
from depyf import guards
from depyf.compat import dynamo
from depyf.guards import Guard
from torch_helpers import hooks

MUTATIONS = 10_000


class Table(torch.nn.Module):
    """A module that reads a long dict, of which Dynamo guards every entry."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.options = {f"option_{i}": i for i in range(count)}

    def forward(self, x: torch.Tensor, scale: int = 3) -> torch.Tensor:
        for value in self.options.values():
            if value < 0:
                x = x + value
        return self.linear(x) * scale


def test_long_dict_is_first() -> None:
    model = Table(5000)
    compiled = torch.compile(model, backend="eager", dynamic=False)
    compiled(torch.ones(2, 4))
    costs = depyf.guard_costs(compiled, torch.ones(2, 4))
    (entry,) = costs.entries
    assert entry.accepts and costs.passed == 0
    assert entry.groups[0].source == "L['self'].options"
    assert entry.groups[0].microseconds > 0.5 * entry.microseconds
    assert sum(group.microseconds for group in entry.groups) == pytest.approx(entry.microseconds, rel=0.15)
    assert "L['self'].options" in str(costs)


def test_entries_that_a_call_passes() -> None:
    def scaled(x: torch.Tensor, n: int) -> torch.Tensor:
        return x * n

    compiled = torch.compile(scaled, backend="eager", dynamic=False)
    for n in (1, 2, 3):
        compiled(torch.ones(3), n)
    before = [entry.compile_id for entry in depyf.cache_entries(compiled)]
    random_state, hooks_before = torch.get_rng_state(), hooks()
    costs = depyf.guard_costs(compiled, torch.ones(3), 1)
    assert [entry.accepts for entry in costs.entries].count(True) == 1
    assert costs.passed == [entry.accepts for entry in costs.entries].index(True)
    assert [entry.compile_id for entry in depyf.cache_entries(compiled)] == before
    assert torch.equal(random_state, torch.get_rng_state()) and hooks() == hooks_before
    served = next(entry for entry in costs.entries if entry.accepts)
    assert served.pregraph_microseconds is not None and not served.why_no_pregraph
    assert torch.equal(compiled(torch.ones(3), 2), torch.full((3,), 2.0))
    explanation = depyf.explain(compiled, torch.ones(3), 1)
    assert explanation.guard_costs is not None and "until the entry of this call is found" in str(explanation)
    assert depyf.explain(compiled).guard_costs is None


def test_code_that_does_more_than_reading_is_not_run() -> None:
    calls: list[int] = []

    def noisy(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        calls.append(1)
        return x + 1

    compiled = torch.compile(noisy, backend="eager")
    compiled(torch.ones(3))
    assert calls == [1]
    (entry,) = depyf.guard_costs(compiled, torch.ones(3)).entries
    assert entry.pregraph_microseconds is None and entry.why_no_pregraph
    assert calls == [1]


def _planted(*conditions: str) -> Guard:
    return Guard("PLANTED", " and ".join(conditions), "L['x']", "L['x']", conditions)


_SEEN = [
    _planted("type(L['x']) is torch.Tensor", "L['x'].size() == (4, 8)", "L['x'].stride() == (8, 1)"),
    _planted("type(L['n']) is int", "L['n'] == 3"),
    _planted("type(L['name']) is str", "L['name'] == 'relu'"),
    _planted("type(L['d']) is dict", "list(dict.keys(L['d'])) == ['a', 'b']"),
    _planted("L['flag'] is True"),
    _planted("L['nothing'] is None"),
    _planted("type(L['y']) is torch.Tensor", "2 <= L['y'].size()[0] and L['y'].size()[0] <= 64"),
    _planted("id(L['f']) == 12345"),
    _planted("len(L['items']) == 2"),
]
_IMPLIED = [
    ("type(L['x']) is torch.Tensor",),
    ("L['x'].size(0) == 4",),
    ("L['x'].size()[1] == 8",),
    ("L['x'].dim() == 2",),
    ("L['x'].stride(0) == 8",),
    ("L['x'].numel() == 32",),
    ("L['x'].size(0) >= 2",),
    ("2 <= L['x'].size()[1] and L['x'].size()[1] <= 64",),
    ("L['x'] is not None",),
    ("L['n'] >= 2",),
    ("L['n'] != 4",),
    ("L['name'] != 'gelu'",),
    ("dict.__len__(L['d']) == 2",),
    ("isinstance(L['d'], dict)",),
    ("type(L['flag']) is bool",),
    ("L['flag'] is not None",),
    ("type(L['nothing']) is type(None)",),
    ("L['y'].size()[0] > 1",),
    ("L['f'] is not None",),
    ("len(L['items']) > 1",),
    ("L['n'] == 3 or L['n'] == 5",),
]
_NOT_IMPLIED = [
    ("L['n'] >= 4",),
    ("L['x'].size(0) == 8",),
    ("L['y'].size(0) >= 3",),
    ("L['y'].size(1) >= 1",),
    ("L['z'].size(0) == 4",),
    ("type(L['f']) is int",),
    ("dict.__contains__(L['d'], 'c')",),
    ("L['items'] is not None",),
]


def test_planted_redundant_guards_are_named() -> None:
    assert len(_IMPLIED) >= 20
    listed = [*_SEEN, *(_planted(*conditions) for conditions in _IMPLIED)]
    assert [guard.position for guard in guards.redundant(listed)] == list(range(len(_SEEN), len(listed)))
    assert all(guard.implied_by for guard in guards.redundant(listed))


@pytest.mark.parametrize("conditions", _NOT_IMPLIED)
def test_guards_that_others_do_not_imply(conditions: tuple[str, ...]) -> None:
    assert guards.redundant([*_SEEN, _planted(*conditions)]) == []


def test_one_of_two_equal_guards_is_kept() -> None:
    twice = [_planted("L['n'] == 3"), _planted("L['n'] == 3")]
    assert [guard.position for guard in guards.redundant(twice)] == [1]


_VALUES: list[Any] = [
    None, True, False, 0, 1, 2, 3, 4, 5, 3.0, -1, float("nan"), "relu", "gelu", "", b"", (), (1, 2), [], [1], {}, {"a": 1},
    {"a": 1, "b": 2}, {"b": 2, "a": 1}, set(), int, str, len, torch.relu, object(),
]  # fmt: skip


def _value(choose: random.Random) -> Any:
    if choose.random() < 0.6:
        return choose.choice(_VALUES)
    shape = [choose.choice([0, 1, 2, 3, 4, 8]) for _ in range(choose.randrange(4))]
    tensor = torch.zeros(shape, dtype=choose.choice([torch.float32, torch.float64, torch.int64]))
    if choose.random() < 0.3:
        tensor = tensor.transpose(0, -1) if tensor.dim() > 1 else tensor
    return torch.nn.Parameter(tensor, requires_grad=False) if choose.random() < 0.2 else tensor


def test_no_input_is_refused_by_redundant_guards_alone() -> None:
    def branching(x: Any, n: Any, name: Any, d: Any, flag: Any, y: Any) -> Any:
        result = x * n if flag else x + n
        if name == "relu":
            result = torch.relu(result)
        return result.sum() + sum(d.values()) + (0 if y is None else y.sum())

    compiled = torch.compile(branching, backend="eager")
    base: dict[str, Any] = {
        "x": torch.zeros(4, 8),
        "n": 3,
        "name": "relu",
        "d": {"a": 1, "b": 2},
        "flag": True,
        "y": None,
    }
    compiled(*base.values())
    compiled(*{**base, "x": torch.zeros(5, 8), "y": torch.zeros(3)}.values())
    trees = [list(guards.read(entry.guard_manager) or ()) for entry in dynamo.live_entries(branching.__code__)]
    trees = [[*tree, *(_planted(*conditions) for conditions in _IMPLIED)] for tree in trees]
    trees.append([*_SEEN, *(_planted(*conditions) for conditions in _IMPLIED)])
    base |= {"nothing": None, "f": len, "items": [1, 2]}
    lists = [(tree, guards.redundant(tree)) for tree in trees]
    assert all(named for _, named in lists)
    choose = random.Random(1)
    for _ in range(MUTATIONS):
        local_variables = dict(base)
        for name in choose.sample(sorted(base), choose.randrange(1, 4)):
            local_variables[name] = _value(choose)
            if choose.random() < 0.05:
                del local_variables[name]
        tree, named = choose.choice(lists)
        positions = {guard.position for guard in named}
        if all(tree[position].check(local_variables, globals()) for position in positions):
            continue
        kept = [guard for position, guard in enumerate(tree) if position not in positions]
        assert any(not guard.check(local_variables, globals()) for guard in reversed(kept)), local_variables
