"""Runs a small program, from torch.compile to dump, explanation, edit and step, and checks the result of each
feature."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import depyf
from depyf.compat import cache, compiling, dynamo
from depyf.compat.compiled import has_skip_reasons, skip_reason
from depyf.doctor import offline
from depyf.session import Frame, Session


def toy_example(a: Any, b: Any) -> Any:
    """The compiled function of the trial program, which has a graph break, because its branch depends on the data of a
    tensor."""
    x = a / (a.abs() + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def run(backend: str) -> tuple[str, dict[str, list[str]]]:
    """Returns "works" or the error of the program, and the problems of each feature by the feature's key."""
    problems = offline.run()
    try:
        with tempfile.TemporaryDirectory() as directory:
            return "works", {**problems, **_run(backend, Path(directory))}
    except Exception as error:
        return f"{type(error).__name__}: {error}", problems


def _run(backend: str, directory: Path) -> dict[str, list[str]]:
    import torch

    def inputs(size: int, sign: float) -> list[Any]:
        return [(torch.arange(size) * sign + 1.0).requires_grad_(), torch.ones(size) * sign]

    calls = [inputs(4, 1.0), inputs(4, -1.0), inputs(6, 1.0)]
    expected = [_values(toy_example, call) for call in calls]
    compiled = torch.compile(toy_example, backend=backend, dynamic=False)
    with depyf.prepare_debug(directory) as session:
        results = [_values(compiled, call) for call in calls]
    for got, wanted in zip(results, expected, strict=True):
        if not all(
            torch.allclose(got_tensor, wanted_tensor) for got_tensor, wanted_tensor in zip(got, wanted, strict=True)
        ):
            raise RuntimeError("the program returns different results under prepare_debug")
    checks: dict[str, Callable[[], list[str]]] = {
        "capture": lambda: _capture(session),
        "trace": lambda: _trace(session, backend),
        "running": lambda: _running(session),
        "inductor": lambda: _inductor(session, backend),
        "provenance": lambda: _provenance(session, backend),
        "entries": lambda: _entries(compiled, calls[2]),
        "guards": lambda: _guards(session, compiled, calls[2], inputs(5, 1.0)),
        "reasons": lambda: _reasons(session),
        "register": lambda: _register(compiled, calls[2], expected[2][0]),
        "numerics": _numerics,
        "costs": _costs,
        "debug": _debug,
        "step": _step,
        "logs": _logs,
    }
    return {key: problems for key, check in checks.items() if (problems := _checked(check))}


def _checked(check: Callable[[], list[str]]) -> list[str]:
    try:
        return check()
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]


def _values(function: Any, arguments: list[Any]) -> list[Any]:
    """Returns the result of a function, and the gradient of the function's first argument."""
    first = arguments[0].detach().requires_grad_()
    result = function(first, *arguments[1:])
    result.sum().backward()
    return [result.detach(), first.grad]


def _needed(session: Session, shows: Callable[[Frame], bool], part: str) -> list[str]:
    """Returns a list with a sentence about the missing part if `shows` is false for every compilation; otherwise an
    empty list."""
    return [] if any(shows(frame) for frame in session.frames) else [f"the dump of the program has no {part}"]


def _capture(session: Session) -> list[str]:
    frames = [frame for frame in session.frames if frame.status == "compiled"]
    if len(frames) < 3:
        return [f"of 3 functions that Dynamo makes of the program {len(frames)} were seen"]
    return [f"{frame.function} is not proved: {frame.not_proved}" for frame in frames if not frame.proved]


def _trace(session: Session, backend: str) -> list[str]:
    kinds = ["Captured_Graph", "Forward_graph", "Backward_graph"] if backend != "eager" else ["Captured_Graph"]
    kinds += ["kernel"] if backend == "inductor" else []
    written = {artifact.kind for frame in session.frames for artifact in frame.artifacts}
    problems = [f"the dump of the program has no {kind}" for kind in kinds if kind not in written]
    return problems + _needed(session, lambda frame: bool(frame.breaks), "graph break")


def _running(session: Session) -> list[str]:
    problems = _needed(session, lambda frame: frame.running, "transformed code that runs")
    return problems + _needed(
        session, lambda frame: any(artifact.running for artifact in frame.artifacts), "graph that runs"
    )


def _inductor(session: Session, backend: str) -> list[str]:
    return [] if backend != "inductor" else _needed(session, lambda frame: bool(frame.files("ir_post_fusion")), "IR")


def _provenance(session: Session, backend: str) -> list[str]:
    return [] if backend != "inductor" else _needed(session, lambda frame: bool(frame.provenance), "links to kernels")


def _entries(compiled: Any, call: list[Any]) -> list[str]:
    entries = depyf.cache_entries(compiled)
    explained = depyf.explain(compiled).entries
    if cache.has_trees() and depyf.dispatch(compiled, *call).entry is None:
        return ["no cache entry accepts the call that it was made by"]
    return (
        []
        if len(entries) == len(explained) == 2
        else [f"2 cache entries: {len(entries)} read, {len(explained)} explained"]
    )


def _guards(session: Session, compiled: Any, call: list[Any], other_call: list[Any]) -> list[str]:
    if not any(entry.check(*call) for entry in depyf.cache_entries(compiled)):
        return ["no cache entry accepts the call that it was made by"]
    if len(dynamo.guard_failures(toy_example.__code__, {"a": other_call[0], "b": other_call[1]})) != 2:
        return ["PyTorch does not state which guards a call fails"]
    return _needed(session, lambda frame: bool(frame.frontier), "frontier")


def _reasons(session: Session) -> list[str]:
    import torch

    if has_skip_reasons() and skip_reason(torch.compile.__code__) is None:
        return ["PyTorch does not state the rule by which Dynamo skips a function"]
    return _needed(session, lambda frame: bool(frame.failures or frame.recompile_reasons), "reason for a recompilation")


def _register(compiled: Any, call: list[Any], expected: Any) -> list[str]:
    import torch

    if cache.why_not_loadable() is not None:
        return []  # The probe of private names reports the feature as missing.
    entry = next(candidate for candidate in depyf.cache_entries(compiled) if candidate.check(*call))
    edited = entry.edit(source=entry.source.replace("return ", "return 100 * "))
    with edited.register():
        while_registered = compiled(*call)
    after = compiled(*call)
    right = torch.allclose(while_registered, 100 * expected) and torch.allclose(after, expected)
    return [] if right else ["an edited entry was registered and not run, or not taken away"]


def _debug() -> list[str]:
    import torch

    missed = []
    remove = compiling.hold_back(lambda code, local: missed.append(code))
    if remove is None:
        return []  # The probe of private names reports the feature as missing.
    try:
        result = torch.compile(_not_compiled, backend="eager")(torch.ones(2))
    finally:
        remove()
    return [] if len(missed) == 1 and result.tolist() == [2, 2] else ["Dynamo is not held back"]


def _not_compiled(x: Any) -> Any:
    return x + 1


def _numerics() -> list[str]:
    import torch

    report = depyf.numerics(torch.compile(_squared, backend="aot_eager"), torch.ones(3, requires_grad=True))
    return [] if report.kind == "same" else [report.verdict]


def _costs() -> list[str]:
    import torch

    with depyf.memory_costs() as memory, depyf.compile_costs() as time:
        torch.compile(_squared_sine, backend="aot_eager")(torch.ones(3, requires_grad=True))
    graphs = memory.to_dict()["graphs"]
    problems = [] if graphs and graphs[0]["total_bytes"] > 0 else ["no tensor is seen that is kept for the backward"]
    costs = time.to_dict()
    return problems + ([] if costs["wall_seconds"] > 0 and costs["lines"] else ["no time of compiling is seen"])


def _squared_sine(x: Any) -> Any:
    return x.sin() ** 2


def _squared(x: Any) -> Any:
    return x * x


def _step() -> list[str]:
    stops: list[int] = []
    with depyf.step(offline._sample, callback=lambda stop: stops.append(stop.depth)):
        offline._sample([0, 5, 2])
    return [] if len(stops) > 20 and max(stops) > 2 else ["depyf.step does not stop at every instruction"]


def _logs() -> list[str]:
    depyf.install()
    depyf.uninstall()
    return []
