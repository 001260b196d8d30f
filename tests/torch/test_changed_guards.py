"""Guards that are changed one at a time: the reason for the recompilation names what was changed, and nothing else."""

from __future__ import annotations

import contextlib
import copy
import random
import types

import pytest
from torch.overrides import TorchFunctionMode

import depyf
import torch
from depyf import guards, program
from depyf.compat import dynamo
from depyf.guards.reasons import reasons
from torch_helpers import BACKENDS, pages  # noqa: F401  (loads Inductor, as the check of hooks needs)

SCALE = 2.0


class Mode(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


class Tensor(torch.Tensor):
    pass


class Cache:
    def __init__(self, length=3, layers=2):
        self.length = length
        self.layers = [torch.ones(length, 4) for _ in range(layers)]


class OtherCache(Cache):
    pass


class Layered(torch.nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(depth)])
        self.dropout = torch.nn.Dropout(0.5)
        self.scale = 2.0

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.dropout(x) * self.scale


def arguments():
    """Returns the arguments with which the function of `make_function` is compiled."""
    return {
        "x": torch.ones(3, 4),
        "y": torch.ones(4),
        "n": 3,
        "flag": True,
        "nothing": None,
        "items": [1, 2.0, torch.ones(4)],
        "table": {"a": 1.0, "b": torch.ones(4)},
        "cache": Cache(),
        "module": Layered(),
        "act": torch.relu,
    }


def make_function():
    cell = 2.0

    def function(x, y, n, flag, nothing, items, table, cache, module, act):
        z = x * n + y * SCALE + cell
        for item in items:
            z = z + item
        for key, value in table.items():
            z = z + value * len(key)
        if flag and nothing is None:
            z = z + sum(layer.sum() for layer in cache.layers) * cache.length
        return act(module(z))

    def set_cell(value):
        nonlocal cell
        cell = value

    return function, set_cell


class Compiled:
    """A function that was compiled once, and its guards. The method `reasons` returns why the guards fail after some
    changes."""

    def __init__(self):
        torch._dynamo.reset()
        self.function, self.set_cell = make_function()
        self.given = arguments()
        torch.compile(self.function, backend="eager", dynamic=False)(**self.given)
        (self.entry,) = dynamo.live_entries(self.function.__code__)
        self.guards = guards.read(self.entry.guard_manager, self.locals(self.given))

    def locals(self, given):
        return {**given, "cell": self.function.__closure__[0].cell_contents}

    def reasons(self, *changes):
        """Makes changes, determines the reasons why the guards fail, and undoes the changes. Returns the reasons."""
        module, cache = self.given["module"], self.given["cache"]
        given = {**self.given, "module": copy.deepcopy(module), "cache": copy.copy(cache)}
        with contextlib.ExitStack() as stack:
            now = types.SimpleNamespace(
                given=given, stack=stack, set_cell=self.set_cell, scope=self.function.__globals__
            )
            for change in changes:
                change(now)
            local = self.locals(given)
            assert not self.entry.guard_manager.check(local), "PyTorch's own tree accepts the call"
            found = reasons(self.guards, local, self.function.__globals__)
        self.set_cell(2.0)
        return found


@pytest.fixture(scope="module")
def compiled():
    """See `Compiled`."""
    return Compiled()


def setting(**given):
    def change(now):
        now.given.update(given)

    return change


def entering(make):
    def change(now):
        now.stack.enter_context(make())

    return change


@contextlib.contextmanager
def restored(read, write, value):
    before = read()
    write(value)
    try:
        yield
    finally:
        write(before)


def double_model(now):
    now.given["module"].double()


def evaluation(now):
    now.given["module"].eval()


def inference_tensor(now):
    with torch.inference_mode():
        now.given["x"] = torch.ones(3, 4)


def attribute(owner, name, value):
    def change(now):
        setattr(now.given[owner], name, value)

    return change


def global_value(now):
    now.stack.enter_context(restored(lambda: SCALE, lambda value: now.scope.update(SCALE=value), 3.0))


CASES = {
    "dtype": (setting(x=torch.ones(3, 4, dtype=torch.float64)), "x.dtype: expected torch.float32, was torch.float64"),
    "shape": (setting(x=torch.ones(5, 4)), "x.shape: expected (3, 4), was (5, 4)"),
    "row": (setting(x=torch.ones(1, 4)), "x.shape: expected (3, 4), was (1, 4)"),
    "column": (setting(x=torch.ones(3, 1)), "x.shape: expected (3, 4), was (3, 1)"),
    "dims": (setting(x=torch.ones(2, 3, 4)), "x.shape: expected (3, 4), was (2, 3, 4)"),
    "stride": (setting(x=torch.ones(4, 3).t()), "x.stride(): expected (4, 1), was (1, 3)"),
    "device": (setting(x=torch.ones(3, 4, device="meta")), "x.device: expected cpu, was meta"),
    "requires_grad": (setting(x=torch.ones(3, 4, requires_grad=True)), "x.requires_grad: expected False, was True"),
    "parameter": (setting(x=torch.nn.Parameter(torch.ones(3, 4))), "type(x): expected Tensor, was Parameter"),
    "subclass": (setting(x=torch.ones(3, 4).as_subclass(Tensor)), "type(x): expected torch.Tensor, was "),
    "number": (setting(x=2.0), "type(x): expected Tensor, was float"),
    "inference tensor": (inference_tensor, "x: expected not made in inference mode, was made in inference mode"),
    "grad mode": (entering(torch.no_grad), "grad mode: off, was on when it was compiled"),
    "inference mode": (entering(torch.inference_mode), "grad mode: off (inference mode), was on when it was compiled"),
    "autocast": (
        entering(lambda: torch.autocast("cpu", torch.bfloat16)),
        "autocast on the CPU: bfloat16, was off when it was compiled",
    ),
    "default dtype": (
        entering(lambda: restored(torch.get_default_dtype, torch.set_default_dtype, torch.float64)),
        "default dtype: torch.float64, was torch.float32 when it was compiled",
    ),
    "default device": (
        entering(lambda: restored(lambda: None, torch.set_default_device, "meta")),
        "default device: meta, was not set when it was compiled",
    ),
    "deterministic": (
        entering(lambda: restored(lambda: False, torch.use_deterministic_algorithms, True)),
        "deterministic algorithms: on, was off when it was compiled",
    ),
    "threads": (
        entering(lambda: restored(torch.get_num_threads, torch.set_num_threads, torch.get_num_threads() + 1)),
        "number of threads: ",
    ),
    "mode": (entering(Mode), "torch function modes: Mode, was none when it was compiled"),
    "no torch function": (
        entering(torch._C.DisableTorchFunctionSubclass),
        "dispatch to __torch_function__: off, was on when it was compiled",
    ),
    "constant": (setting(n=4), "n: expected 3, was 4"),
    "constant of another type": (setting(n=3.0), "type(n): expected int, was float"),
    "flag": (setting(flag=False), "flag: expected True, was False"),
    "not None": (setting(nothing=1), "nothing: expected None, was 1"),
    "function": (setting(act=torch.sigmoid), "act: expected "),
    "global": (global_value, "SCALE: expected 2.0, was 3.0"),
    "cell": (lambda now: now.set_cell(3.0), "cell: expected 2.0, was 3.0"),
    "evaluation": (evaluation, "module.dropout.training: expected True, was False"),
    "attribute": (attribute("module", "scale", 3.0), "module.scale: expected 2.0, was 3.0"),
    "model's dtype": (
        double_model,
        "module.layers[0].bias.dtype: expected torch.float32, was torch.float64 (and the same for 7 others)",
    ),
    "depth": (setting(module=Layered(2)), "keys of module.layers: expected ['0', '1', '2', '3'], was ['0', '1']"),
    "class": (setting(cache=OtherCache()), "type(cache): expected Cache, was OtherCache"),
    "longer cache": (
        setting(cache=Cache(5)),
        "cache.layers[0].shape: expected (3, 4), was (5, 4) (and the same for cache.layers[1].shape)",
    ),
    "cache of fewer layers": (setting(cache=Cache(layers=1)), "len(cache.layers): expected 2, was 1"),
    "shorter list": (setting(items=[1, 2.0]), "len(items): expected 3, was 2"),
    "tuple": (setting(items=(1, 2.0, torch.ones(4))), "type(items): expected list, was tuple"),
    "item": (setting(items=[1, 3.0, torch.ones(4)]), "items[1]: expected 2.0, was 3.0"),
    "keys": (setting(table={"a": 1.0, "c": torch.ones(4)}), "keys of table: expected ['a', 'b'], was ['a', 'c']"),
    "fewer keys": (setting(table={"a": 1.0}), "keys of table: expected ['a', 'b'], was ['a']"),
}


# Sets of changes of the same value, in which one change hides another one.
SAME_VALUE = [
    {
        "dtype",
        "shape",
        "row",
        "column",
        "dims",
        "stride",
        "device",
        "requires_grad",
        "parameter",
        "subclass",
        "number",
        "inference tensor",
    },
    {"grad mode", "inference mode"},
    {"mode", "default device"},
    {"constant", "constant of another type"},
    {"evaluation", "attribute", "model's dtype", "depth"},
    {"class", "longer cache", "cache of fewer layers"},
    {"shorter list", "tuple", "item"},
    {"keys", "fewer keys"},
    # A tensor that is created in inference mode, or after a change of the model, differs in more than one aspect.
    {"dtype", "model's dtype"},
    {"inference mode", "inference tensor"},
    # Both changes affect the same sizes, so that they are reported as one reason.
    {"shape", "longer cache"},
]


def subjects_of(failures):
    return sorted(failure.subject for failure in failures)


@pytest.mark.parametrize("name", CASES)
def test_the_reason_is_what_was_changed(compiled, name):
    change, expected = CASES[name]
    failures = compiled.reasons(change)
    assert str(failures[0]).startswith(expected), [str(one) for one in failures]
    assert len(failures) == (2 if name == "longer cache" else 1), [str(one) for one in failures]
    assert not set(failures[0].follows) & {failures[0].subject}


@pytest.mark.parametrize("count", [2, 3, 5])
def test_of_several_changes_each_is_a_reason_and_nothing_else(compiled, count):
    alone = {name: subjects_of(compiled.reasons(change)) for name, (change, _) in CASES.items()}
    draw = random.Random(count)
    for _ in range(60):
        names = draw.sample(list(CASES), count)
        if any(len(group & set(names)) > 1 for group in SAME_VALUE):
            continue
        found = compiled.reasons(*(CASES[name][0] for name in names))
        assert subjects_of(found) == sorted(subject for name in names for subject in alone[name]), names


def test_what_follows_is_folded(compiled):
    (autocast,) = compiled.reasons(CASES["autocast"][0])
    assert len(autocast.follows) >= 12 and all("dispatch keys of" in subject for subject in autocast.follows)
    (shorter,) = compiled.reasons(CASES["shorter list"][0])
    assert "items[2]" in shorter.follows
    (of_class,) = compiled.reasons(setting(cache=types.SimpleNamespace(length=3)))
    assert of_class.subject == "type(cache)" and "cache.layers" in of_class.follows


def recompiled(tmp_path, calls, dynamic=False):
    """Returns the session of a block in which `calls` calls a compiled function several times; the last call
    recompiles."""
    torch._dynamo.reset()
    function, _ = make_function()
    compiled = torch.compile(function, backend="eager", dynamic=dynamic)
    with torch._dynamo.config.patch(automatic_dynamic_local_pgo=False), depyf.prepare_debug(tmp_path) as session:
        calls(compiled)
    return session


def test_a_tensor_of_another_shape_in_another_layout_is_one_value(tmp_path):
    def calls(compiled):
        compiled(**arguments())
        compiled(**{**arguments(), "x": torch.ones(4, 6).t(), "n": 4})
        compiled(**{**arguments(), "x": torch.ones(5, 4), "n": 4, "flag": False})

    session = recompiled(tmp_path, calls)
    last = session.recompilations()[-1]
    # The call differs from the compilation 0/1 in the flag and in the shape and layout of x, and from 0/0 in the flag,
    # n and x.
    nearest = [failure.subject for failure in last.failures if failure.entry == "0/1"]
    assert last.failures[0].entry == "0/1" and set(nearest) == {"x.shape", "x.stride()", "flag"}


def test_the_nearest_compilation_is_compared_with(tmp_path):
    def calls(compiled):
        compiled(**arguments())
        with torch.no_grad():
            compiled(**arguments())
        compiled(**{**arguments(), "x": torch.ones(3, 4, requires_grad=True), "flag": False})

    session = recompiled(tmp_path, calls)
    last = session.recompilations()[-1]
    # Dynamo tries the entry without gradients (0/1) first, which differs in more respects.
    assert [failure.entry for failure in last.failures] == ["0/0", "0/0", "0/1", "0/1", "0/1"]
    assert subjects_of(last.failures[:2]) == ["flag", "x.requires_grad"] and last.failures[2].subject == "grad mode"
    summary = program.summary(tmp_path)
    first = last.failures[0]
    assert "make_function.<locals>.function (test_changed_guards.py:" in summary
    line = [line for line in summary.splitlines() if "since 0/0 refused the call" in line][-1]
    change = str(first).partition("  # ")[0]
    assert change.startswith("x.requires_grad: ") and f"call: {change} and 1 more  # test_changed_guards.py:" in line
    assert "grad mode: off, was on when it was compiled" in summary  # of 0/1
    for text in (pages(tmp_path), (tmp_path / session.full_code[0].file).read_text()):
        assert f"of 0/0, the nearest: {first}" in text
        assert "of 0/1: grad mode: on, was off when it was compiled" in text


def test_evaluation_without_autocast_after_training_with_it(tmp_path):
    def calls(compiled):
        given = arguments()
        with torch.autocast("cpu", torch.bfloat16):
            compiled(**given)
        given["module"].eval()
        compiled(**given)
        (entry,) = depyf.explain(compiled).entries[1:]
        assert entry.failures[0].subject == "autocast on the CPU"
        text = str(depyf.explain(compiled))
        assert "Failed guard of compilation 0/0: autocast on the CPU: off, was bfloat16 when it was compiled" in text

    session = recompiled(tmp_path, calls)
    (again,) = session.recompilations()
    assert subjects_of(again.failures) == ["autocast on the CPU", "module.dropout.training"]
    assert "autocast on the CPU: off, was bfloat16 when it was compiled and 1 more" in program.summary(tmp_path)
    assert "only as a consequence of this difference: dispatch keys of " in pages(tmp_path)


def test_a_size_that_was_left_open_and_its_bound(tmp_path):
    def calls(compiled):
        for rows in (3, 5, 1):
            compiled(**{**arguments(), "x": torch.ones(rows, 4)})

    session = recompiled(tmp_path, calls, dynamic=None)
    failures = session.recompilations()[-1].failures
    assert failures[0].entry == "0/1" and failures[0].subject == "x.shape[0]", [str(one) for one in failures]
