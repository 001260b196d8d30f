"""Tests examples/edit_cache_entry.py, by the computed values and by the output."""

from __future__ import annotations

import pytest

import depyf
import torch
from toolkit_helpers import compiles
from torch_helpers import BACKENDS, example


@pytest.mark.parametrize("backend", BACKENDS)
def test_edit_cache_entry(backend, capsys):
    module = example("edit_cache_entry")
    module.main(backend)  # the program asserts the result of each step
    out = capsys.readouterr().out
    assert "def toy_example(a, b):" in out and "guard: " in out and "graph: __compiled_fn_" in out
    assert "checked in its place: L['b'].dim() == 1 and L['b'].min() >= 0" in out
    assert "refuses the call: 1 of" in out and "would run the registered entry" in out
    assert out.splitlines()[-1] == "done" and depyf.registered() == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_story_in_numbers(backend):
    module = example("edit_cache_entry")
    fn = module.toy_example
    f = torch.compile(fn, backend=backend)
    a, b = torch.tensor([1.0, -2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0])
    f(a, b), f(a, -b)
    (entry,) = [one for one in depyf.cache_entries(f) if one.check(a, b)]
    fed = []
    (graph,) = entry.graphs

    def spy(*inputs):
        fed.append([one.clone() for one in inputs])
        return graph.function(*inputs)

    edited = entry.edit(
        source=module.scaled(entry.source), graph=spy, replace={"L['b']": "L['b'].dim() == 1 and L['b'].min() >= 0"}
    )
    assert (
        edited.check(a, b)
        and edited.check(a, b.double())
        and not edited.check(a, -b)
        and not edited.check(a.double(), b)
    )
    assert torch.allclose(edited.run(a, b), 100 * fn(a, b)) and torch.equal(fed[0][1], b * 10)
    before = compiles()
    with edited.register():
        assert torch.allclose(f(a, b), 100 * fn(a, b)) and len(fed) == 2 and compiles() == before
        assert torch.allclose(f(a, -b), fn(a, -b)) and len(fed) == 2 and compiles() == before  # runs the ordinary entry
        assert (
            torch.allclose(f(a.double(), b), fn(a.double(), b)) and compiles() > before
        )  # a call that has to be compiled
    before = compiles()
    assert torch.allclose(f(a, b), fn(a, b)) and len(fed) == 2 and compiles() == before
    assert all(one.kind == "ordinary" for one in depyf.cache_entries(f))
