"""Tests of `depyf.memory_costs`: compares the values that it lists as saved for the backward with those that autograd
saves."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch._inductor.compile_fx  # noqa: F401  the module creates its loggers before the hooks are compared
from torch._inductor.codecache import PyCodeCache
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint

import depyf
import torch
from training_programs import PROGRAMS, Block

SAMPLE = ("two linear layers", "views and aliases", "in place")
NAMES = [pytest.param(name, marks=[] if name in SAMPLE else pytest.mark.long) for name in PROGRAMS]


class Held:
    """Measures the bytes of storages that autograd saves in a `with` block, counting each storage once."""

    def __init__(self) -> None:
        self.storages: dict[int, torch.UntypedStorage] = {}

    def __enter__(self) -> Held:
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, lambda tensor: tensor)
        self._hooks.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._hooks.__exit__(*exc)

    def _pack(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        self.storages[storage.data_ptr()] = storage
        return tensor

    @property
    def bytes(self) -> int:
        return sum(storage.nbytes() for storage in self.storages.values())


def run(name: str, backend: str) -> tuple[depyf.costs.MemoryCosts, Held]:
    torch.manual_seed(0)
    torch.compiler.reset()
    program, inputs = PROGRAMS[name]()
    with depyf.memory_costs() as memory, Held() as held:
        torch.compile(program, backend=backend)(*inputs)
    return memory, held


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("name", NAMES)
def test_bytes_are_those_that_autograd_holds(name: str, backend: str) -> None:
    memory, held = run(name, backend)
    (graph,) = memory.to_dict()["graphs"]
    assert graph["total_bytes"] == held.bytes > 0
    assert all(tensor["line"] for tensor in graph["tensors"])
    assert all(tensor["why"] for tensor in graph["tensors"])


def peak_of(call: Callable[[], object]) -> int:
    """Returns the maximal number of bytes that `call` allocates at a time, without those allocated before."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        results = call()
    events = [event for event in profiled.profiler.kineto_results.events() if event.name() == "[memory]"]
    sums = itertools.accumulate(event.nbytes() for event in sorted(events, key=lambda event: event.start_ns()))
    del results
    return max(sums, default=0)


def runnable(inputs: list[Any]) -> list[Any]:
    """Replaces inputs that have the shape of a random number generator's state by a valid state."""
    state = torch.get_rng_state()
    return [state if isinstance(item, torch.Tensor) and item.shape == state.shape else item for item in inputs]


@pytest.mark.parametrize("name", NAMES)
def test_peak_of_the_plan_is_that_of_the_run(name: str) -> None:
    torch.manual_seed(0)
    program, inputs = PROGRAMS[name]()
    before = len(PyCodeCache.modules)
    with depyf.memory_costs() as memory:
        outputs = torch.compile(program)(*inputs)
        (outputs[0] if isinstance(outputs, tuple) else outputs).sum().backward()
    (graph,) = memory.to_dict()["graphs"]
    forward, backward = PyCodeCache.modules[before:][-2:]
    for plan, module in ((graph["forward"], forward), (graph["backward"], backward)):
        module.call(runnable(module.get_args()))  # creates objects that are created only once, such as constants
        arguments = runnable(module.get_args())
        assert plan["peak_bytes"] == pytest.approx(peak_of(lambda: module.call(list(arguments))), rel=0.05)  # noqa: B023
        assert plan["unknown_sizes"] == plan["unmeasured_calls"] == 0
        assert plan["peak_code_line"] > 0


class Reordering(torch.nn.Module):
    """Convolutions of one dimension, and wide ones on small images: oneDNN copies inputs and weights into its own order."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Conv1d(32, 64, 5, padding=2), torch.nn.Conv1d(64, 64, 3, padding=1)
        self.wide = torch.nn.Conv2d(64, 128, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.wide(self.second(torch.nn.functional.gelu(self.first(x))).reshape(2, 64, 8, 8)).square().mean()


def test_peak_has_what_a_library_allocates_for_itself() -> None:
    before = len(PyCodeCache.modules)
    torch.manual_seed(0)
    with depyf.memory_costs() as memory:
        torch.compile(Reordering())(torch.randn(2, 32, 64)).backward()
    state = torch.get_rng_state()
    (graph,) = memory.to_dict()["graphs"]
    assert torch.equal(state, torch.get_rng_state())
    assert "of the library call itself, while it runs" in str(memory)
    for plan, module in zip((graph["forward"], graph["backward"]), PyCodeCache.modules[before:][-2:], strict=True):
        module.call(module.get_args())
        arguments = module.get_args()
        peak = peak_of(lambda: module.call(list(arguments)))  # noqa: B023
        assert plan["peak_bytes"] == pytest.approx(peak, rel=0.01)
        assert peak > 1.05 * (plan["peak_bytes"] - plan["peak_library_bytes"])
        assert all(call["bytes"] for call in plan["library_calls"]) and not plan["unmeasured_calls"]


def test_an_operator_of_the_user_is_never_called_to_measure_it() -> None:
    calls = []

    @torch.library.custom_op("depyf_memory_costs::counted", mutates_args=())
    def counted(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return x * 2

    counted.register_fake(torch.empty_like)
    counted.register_autograd(lambda context, gradient: gradient * 2)
    with depyf.memory_costs() as memory:
        torch.compile(lambda x: (counted(x.sin()) @ x).sum())(torch.ones(4, 4, requires_grad=True)).backward()
    called = len(calls)
    (graph,) = memory.to_dict()["graphs"]
    assert len(calls) == called > 0
    assert graph["forward"]["unmeasured_calls"] == 1 and "1 library call may allocate for itself" in str(memory)


class Layered(torch.nn.Module):
    """A transformer that can put modules under `torch.utils.checkpoint`."""

    def __init__(self, checkpointed: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(Block(32, heads=4) for _ in range(3))
        self.checkpointed = checkpointed

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for number, layer in enumerate(self.layers):
            x = checkpoint(layer, x, use_reentrant=False) if number in self.checkpointed else layer(x)
        return x.sum()


def computed_bytes(checkpointed: tuple[int, ...] = (), backend: str = "aot_eager") -> depyf.costs.MemoryCosts:
    torch.compiler.reset()
    torch.manual_seed(0)
    model = Layered(checkpointed)
    with depyf.memory_costs() as memory:
        torch.compile(model, backend=backend)(torch.randn(4, 16, 32))
    return memory


@pytest.mark.parametrize(
    ("path", "numbers"), [("layers.*", (0, 1, 2)), pytest.param("layers.1", (1,), marks=pytest.mark.long)]
)
def test_checkpoint_is_predicted(path: str, numbers: tuple[int, ...]) -> None:
    before, after = computed_bytes(), computed_bytes(numbers)
    what_if = before.what_if(checkpoint=path)
    assert what_if.bytes_before == before.saved_bytes > after.saved_bytes
    assert what_if.bytes_after == pytest.approx(after.saved_bytes, rel=0.05)


@pytest.mark.parametrize("budget", [pytest.param(0.0, marks=pytest.mark.long), 0.5])
def test_budget_is_predicted(budget: float) -> None:
    before = computed_bytes()
    what_if = before.what_if(budget=budget)
    with torch._functorch.config.patch(activation_memory_budget=budget):
        after = computed_bytes()
    assert what_if.bytes_before > after.saved_bytes
    assert what_if.bytes_after == pytest.approx(after.saved_bytes, rel=0.05)
