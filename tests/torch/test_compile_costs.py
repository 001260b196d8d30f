"""Tests of `depyf.compile_costs`: its parts against the clock, tracing time by line, and predicted savings against
measured ones."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
import torch._dynamo.convert_frame
import torch._inductor.compile_fx  # noqa: F401  the module creates its loggers before the hooks are compared

import depyf
import depyf.compat.private
import torch
from compile_situations import SITUATIONS
from timed_compilation import Clock

SCRIPT = Path(__file__).parents[1] / "timed_compilation.py"
PROGRAMS = ("two linear layers", "train.py", "12 layers", "convolutions", "recurrent")


def test_parts_sum_to_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    clock.around(torch._dynamo.convert_frame.ConvertFrame, "__call__", monkeypatch.setattr)
    with depyf.compile_costs() as costs:
        torch.compile(unrolled, backend="aot_eager")(torch.ones(3), 100)
    data = costs.to_dict()
    assert data["parts_seconds"] == pytest.approx(clock.seconds, rel=0.01)
    assert data["wall_seconds"] == pytest.approx(clock.seconds, rel=0.01)


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_parts_sum_to_the_clock_cold_and_warm(name: str, tmp_path: Path) -> None:
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    results = []
    for number in range(2):
        file = tmp_path / f"{number}.json"
        subprocess.run([sys.executable, str(SCRIPT), name, str(file)], env=environment, check=True, capture_output=True)
        results.append(json.loads(file.read_text()))
    cold, warm = results
    for costs in results:
        assert costs["parts_seconds"] == pytest.approx(costs["clock_seconds"], rel=0.01)
        assert costs["wall_seconds"] == pytest.approx(costs["parts_seconds"], rel=0.01)
        of_compilations = sum(row["seconds"] for row in costs["compilations"])
        assert of_compilations + costs["outside_seconds"] == pytest.approx(costs["parts_seconds"], rel=0.001)
        for row in costs["compilations"]:
            own = sum(phase["self_seconds"] for phase in row["phases"] if not phase["is_parallel"])
            assert own == pytest.approx(row["seconds"], rel=0.001)
    assert cold["cache_misses"] > 0 == cold["cache_hits"]
    assert warm["cache_hits"] > 0
    assert cold["compiled_files"] > 0
    assert 0 < cold["compiler_seconds"] <= cold["wall_seconds"] + 1
    assert warm["wall_seconds"] < cold["wall_seconds"]


def test_a_missed_key_of_a_known_graph_is_compared() -> None:
    number = random.random()  # a random number, so that no cache entry of an earlier run has this graph
    costs = []
    for size_asserts in (True, False):
        torch.compiler.reset()
        changes = {"size_asserts": size_asserts, "fx_graph_cache": True}
        with torch._inductor.config.patch(changes), depyf.compile_costs() as measured:
            torch.compile(lambda x: x.sin() + number)(torch.ones(3))
        costs.append(measured)
    first, second = costs
    (key,) = first.to_dict()["missed_keys"]
    assert not key["differences"] or any(line.startswith("key: gm ") for line in key["differences"])
    assert "was not in Inductor's cache" not in str(first)
    (key,) = second.to_dict()["missed_keys"]
    assert (key["compile_id"], key["key"][:1]) == ("0/0", "f")
    assert key["differences"][1:] == ["key: torch._inductor.config.size_asserts: True became False"]
    assert "0/0 was not in Inductor's cache, which contains its graph with a different key; the nearest of" in str(
        second
    )


def unrolled(x: torch.Tensor, count: int) -> torch.Tensor:
    x = x.sin()
    for number in range(count):
        x = x + number  # the planted line
    return x.cos()


@pytest.mark.parametrize("count", [200, pytest.param(2000, marks=pytest.mark.long)])
def test_tracing_of_a_loop_is_on_its_line(count: int) -> None:
    with depyf.compile_costs() as costs:
        torch.compile(unrolled, backend="eager")(torch.ones(3), count)
    lines = costs.to_dict()["lines"]
    whole = sum(line["self_seconds"] for line in lines)
    first = max(lines, key=lambda line: line["self_seconds"])
    assert first["line"]["text"].endswith("# the planted line")
    assert first["self_seconds"] > 0.7 * whole
    assert first["compile_id"] == "0/0"
    (compilation,) = costs.to_dict()["compilations"]
    (tracing,) = [phase for phase in compilation["phases"] if phase["phase"] == "bytecode_tracing"]
    assert whole == pytest.approx(tracing["self_seconds"], rel=0.15)


def inner(x: torch.Tensor) -> torch.Tensor:
    for number in range(100):
        x = x * number
    return x


def outer(x: torch.Tensor) -> torch.Tensor:
    y = inner(x)  # the call
    return y + 1


def test_a_line_has_what_it_calls_in_its_total() -> None:
    with depyf.compile_costs() as costs:
        torch.compile(outer, backend="eager")(torch.ones(3))
    lines = {line["line"]["text"]: line for line in costs.to_dict()["lines"]}
    call, body = lines["y = inner(x)  # the call"], lines["x = x * number"]
    assert call["total_seconds"] > body["self_seconds"] > call["self_seconds"]


def slow_backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> torch.fx.GraphModule:
    time.sleep(0.3)
    return graph


def test_compiling_a_graph_is_no_tracing_of_its_last_line() -> None:
    with depyf.compile_costs() as costs:
        torch.compile(outer, backend=slow_backend)(torch.ones(3))
    data = costs.to_dict()
    last = next(line for line in data["lines"] if line["line"]["text"] == "return y + 1")
    assert last["self_seconds"] <= last["total_seconds"] < 0.15
    assert data["wall_seconds"] > 0.3


def restarted(x: torch.Tensor) -> torch.Tensor:
    for number in range(50):
        x = x + number
    torch._dynamo.graph_break()
    return x.cos()


def test_restarts_are_counted() -> None:
    with depyf.compile_costs() as costs:
        torch.compile(restarted, backend="eager")(torch.ones(3))
    data = costs.to_dict()
    first = next(row for row in data["compilations"] if row["compile_id"] == "0/0")
    assert first["attempts"] == 2
    assert 0.2 * first["seconds"] < first["restart_seconds"] < 0.8 * first["seconds"]
    assert data["restart_seconds"] == pytest.approx(first["restart_seconds"])
    assert "repeated tracing after restarts" in str(costs)


def seconds(name: str, is_changed: bool, backend: str) -> depyf.costs.CompileCosts:
    torch.compiler.reset()
    with warnings.catch_warnings(), depyf.compile_costs() as costs:
        warnings.simplefilter("ignore")
        SITUATIONS[name](backend, is_changed)
    return costs


@pytest.mark.parametrize(
    ("name", "backend"),
    [("line", "aot_eager"), *(pytest.param(name, "inductor", marks=pytest.mark.long) for name in SITUATIONS)],
)
def test_predicted_saving_is_that_of_the_change(name: str, backend: str) -> None:
    ratios = []
    for number in range(4):
        before, after = seconds(name, False, backend), seconds(name, True, backend)
        data = before.to_dict()
        predicted = sum(saving["seconds"] for saving in data["savings"] if saving["kind"] == name)
        if number > 0:  # the first round does the work that is done only once
            ratios.append((predicted / before.seconds) / (1 - after.seconds / before.seconds))
    assert statistics.median(ratios) == pytest.approx(1, abs=0.2), ratios
    (saving,) = [saving for saving in data["savings"] if saving["kind"] == name]
    assert saving["line"] is not None
    assert not [saving for saving in after.to_dict()["savings"] if saving["kind"] == name]


def test_the_program_is_as_before() -> None:
    translator = depyf.compat.private.get("torch._dynamo.symbolic_convert:InstructionTranslatorBase")
    step, x = translator.step, torch.ones(3)
    with depyf.compile_costs():
        inside = torch.compile(unrolled, backend="eager")(x, 3)
        assert translator.step is not step
    assert translator.step is step
    assert torch.equal(inside, unrolled(x, 3))


def test_nothing_compiled() -> None:
    with depyf.compile_costs() as costs:
        pass
    assert str(costs) == "Nothing was compiled."
    assert costs.to_dict()["compilations"] == []
