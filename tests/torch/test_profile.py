"""Tests that `depyf.profile` reports the time of compiled calls by line, module and function, and does not harm the
program."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import torch._inductor.compile_fx  # noqa: F401  the module creates its loggers before the hooks are compared

import depyf
import torch
from depyf.compat import output_code
from torch import nn
from training_programs import Block


class Model(nn.Module):
    """Two layers of a transformer, with a graph break behind them."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block(256) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        wait()  # the break
        return x.sin().mean()


@torch.compiler.disable
def wait() -> None:
    time.sleep(0.03)


def compiled_model() -> tuple[Any, torch.Tensor]:
    torch.manual_seed(0)
    return torch.compile(Model()), torch.randn(8, 128, 256)


def line_of(costs: dict[str, Any], text: str) -> dict[str, Any]:
    return next(line for line in costs["lines"] if text in line["line"]["text"])


def compilations() -> int:
    return int(torch._dynamo.utils.counters["stats"]["unique_graphs"])


@pytest.mark.parametrize("is_compiled_before", [True, False])
def test_lines_of_forward_and_backward(is_compiled_before: bool) -> None:
    model, x = compiled_model()
    if is_compiled_before:
        model(x).backward()
    with depyf.profile() as costs:
        for _ in range(3):
            model(x).backward()
    data = costs.to_dict()
    assert data["with_line_seconds"] > 0.9 * data["inside_seconds"]
    assert sum(part["seconds"] for part in data["parts"]) == pytest.approx(data["inside_seconds"])
    assert sum(line["seconds"] for line in data["lines"]) == pytest.approx(data["with_line_seconds"])
    assert data["inside_seconds"] + data["compiling_seconds"] < data["wall_seconds"]
    attended = line_of(data, "scaled_dot_product_attention")
    assert attended["forward_seconds"] > 0 and attended["backward_seconds"] > 0
    assert any("flash_attention" in callee for callee in attended["callees"])
    slept = line_of(data, "# the break")
    assert 3 * 0.03 <= slept["eager_seconds"] < data["inside_seconds"]
    assert slept["line"]["file"] == __file__
    first, second = sorted(data["functions"], key=lambda row: str(row["compile_id"]))
    assert first["calls"] == second["calls"] == 3
    assert 0 < first["guards_seconds"] < first["seconds"]
    assert (data["compiling_seconds"] == 0) == is_compiled_before
    if not is_compiled_before:
        modules = {row["module"] for row in data["modules"]}
        assert {"layers.0.qkv", "layers.1.down"} <= modules or any("qkv" in module for module in modules), modules
    text = str(costs)
    assert "has a line" in text and "runs between graphs" in text and "Model.forward" in text


def test_planted_slow_operator_is_first() -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        y = (x * 2).relu()
        z = torch.sort(y.reshape(-1)).values  # slow
        return (z + 1).sum() + (y @ y).sum()

    compiled = torch.compile(run)
    x = torch.randn(1024, 1024)
    compiled(x)
    with depyf.profile() as costs:
        compiled(x)
    first = costs.to_dict()["lines"][0]
    assert first["line"]["text"].endswith("# slow")


def test_nothing_stays_behind_and_results_are_the_same() -> None:
    model, x = compiled_model()
    model(x).backward()
    torch.manual_seed(1)
    model.zero_grad()
    plain = model(x)
    plain.backward()
    gradients = [parameter.grad.clone() for parameter in model.parameters()]
    codes = {function: function.__code__ for function in output_code.functions()}
    assert codes
    count = compilations()
    model.zero_grad()
    with depyf.profile():
        assert any(function.__code__ is not code for function, code in codes.items())
        profiled = model(x)
        profiled.backward()
    assert torch.equal(plain, profiled)
    assert all(
        torch.equal(before, parameter.grad)
        for before, parameter in zip(gradients, model.parameters(), strict=True)
        if parameter.grad is not None
    )
    assert compilations() == count
    assert all(function.__code__ is code for function, code in codes.items())
    assert all(function.__code__ is codes.get(function, function.__code__) for function in output_code.functions())


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_graphs_without_output_code(backend: str) -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        return torch.sort(x.reshape(-1)).values.sum()

    compiled = torch.compile(run, backend=backend)
    x = torch.randn(1024, 256, requires_grad=True)
    compiled(x)
    with depyf.profile() as costs:
        compiled(x).backward()
    data = costs.to_dict()
    parts = {part["part"]: part["seconds"] for part in data["parts"]}
    assert parts["other graphs"] > 0.8 * data["inside_seconds"] > 0


def test_exception_goes_to_the_program() -> None:
    model, x = compiled_model()
    model(x)
    with pytest.raises(ZeroDivisionError), depyf.profile() as costs:
        model(x)
        raise ZeroDivisionError
    assert costs.to_dict()["inside_seconds"] > 0


def test_two_profiles_at_once_are_refused() -> None:
    model, x = compiled_model()
    model(x)
    with depyf.profile() as outer:
        with pytest.raises(RuntimeError, match="one profile at a time"), depyf.profile():
            pass
        model(x)
    assert outer.to_dict()["inside_seconds"] > 0


def test_ends_before_it_fills_the_memory() -> None:
    model, x = compiled_model()
    model(x)
    with depyf.profile(ranges_max=500) as costs:
        for _ in range(20):
            model(x)
    data = costs.to_dict()
    assert max(row["calls"] for row in data["functions"]) < 20
    assert any("ranges_max" in note for note in data["notes"])


@pytest.mark.parametrize("is_outside", [True, False])
def test_beside_a_dump(is_outside: bool, tmp_path: Path) -> None:
    model, x = compiled_model()
    if is_outside:
        with depyf.profile() as costs, depyf.prepare_debug(tmp_path):
            result = model(x)
            result.backward()
    else:
        with depyf.prepare_debug(tmp_path), depyf.profile() as costs:
            result = model(x)
            result.backward()
    data = costs.to_dict()
    assert line_of(data, "scaled_dot_product_attention")["backward_seconds"] > 0
    assert data["with_line_seconds"] > 0.8 * data["inside_seconds"]
    assert not any(
        name.startswith("_depyf") for function in output_code.functions() for name in function.__code__.co_names
    )
    assert torch.equal(model(x), result)


def test_record_has_the_times_of_lines(tmp_path: Path) -> None:
    model, x = compiled_model()
    model(x)
    with depyf.profile() as costs:
        model(x)
    measurements = json.loads(costs.to_record())["measurements"]
    row = next(row for row in measurements if "scaled_dot_product" in row["place"]["text"])
    assert row["kind"] == "run time" and row["unit"] == "ms" and row["value"] > 0 and not row["is_alarm"]
    guards = [row for row in measurements if row["kind"] == "guards of a call"]
    assert len(guards) == 2 and all(0 < row["value"] < 1e5 and row["unit"] == "us" for row in guards)


def test_the_function_around_a_module_of_pytorch_has_the_name_of_the_module() -> None:
    compiled = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 4)), backend="eager")
    compiled(torch.ones(2, 4))
    with depyf.profile() as costs:
        compiled(torch.ones(2, 4))
    assert [function["function"] for function in costs.to_dict()["functions"]] == ["Sequential.forward"]
