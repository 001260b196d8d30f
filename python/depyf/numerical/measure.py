"""Implements `depyf.numerics`, which compiles a function once more in a forked process, and compares the results of its
compilation stages."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from depyf.compat import callables, compiled, stage_hooks
from depyf.function_names import of_callable
from depyf.numerical import diagnosis, exploring, isolation, measuring, recording, replaying, reproducing, verdict
from depyf.numerical.exploring import Exploration
from depyf.numerical.model import Cost, Finding, GraphRow, NumericsReport, ValueRow
from depyf.numerical.recording import Compilation, GraphCall, Recording
from depyf.numerical.replaying import Screening

_SEED = 20_012
_CALLS_MAX = 8
"""The largest number of calls of each graph that are compared."""


@dataclass
class _Run:
    """The results and the cost of one run of the measured function."""

    outputs: list[Any]
    gradients: list[Any]
    """The gradients of the leaves of autograd's graph that the outputs depend on, in the order in which autograd
    reaches the leaves."""
    seconds: float
    bytes: int


@dataclass
class _Measured:
    """The data that the child process, which compiles and compares, returns to its parent process."""

    run: _Run
    findings: list[Finding] = field(default_factory=list)
    graphs: list[GraphRow] = field(default_factory=list)
    explorations: list[Exploration] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reproduction: str = ""
    cost: Cost = field(default_factory=Cost)


def numerics(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> NumericsReport:
    """Compares the results of a compiled function with its results without a compiler, stage by stage.

    The function is run twice, each time in a forked process: once as it is written, and once compiled anew with its own
    backend (Inductor, if the function is no result of `torch.compile`). In the process that calls `numerics`, no
    argument, parameter, cache entry, counter or generator of random numbers changes.

    For example:

        print(depyf.numerics(compiled, x))  # This prints the report.

    Args:
        fn: the function, method, module or result of `torch.compile`.
        args, kwargs: the arguments with which the function is called.

    Returns:
        The report, which has a verdict in a sentence, the first stage, operator and line that compute a wrong value,
        and the errors of all results against a reference in double precision.

    Raises:
        ValueError: this process cannot be forked, for example because it has already used an accelerator.
    """
    return compare(fn, args, kwargs)


def compare(fn: Callable[..., Any], args: Any, kwargs: Any, *, wants_reproduction: bool = True) -> NumericsReport:
    """Implements `numerics`, with an option to skip the search for a reproduction.

    Args:
        wants_reproduction: true if the smallest program that reproduces the first finding is searched for, which takes
            up to a minute.
    """
    if not isolation.can_fork():
        raise ValueError("depyf.numerics works in a forked process, and this one has used an accelerator already")
    original = callables.compiled_in(fn) or fn
    backend = stage_hooks.backend_of(fn) if original is not fn else None
    name, backend_name = of_callable(original) or type(original).__name__, compiled.backend_name(backend) or "inductor"
    try:
        eager = isolation.run(lambda: _eager(original, args, kwargs))
    except isolation.Failed as error:
        return NumericsReport(name, backend_name, "not measured", f"the function itself raises:\n{error}")
    try:
        measured = isolation.run(
            lambda: _measure(original, backend, compiled.dynamic_of(fn), args, kwargs, wants_reproduction)
        )
    except isolation.Failed as error:
        return NumericsReport(
            name, backend_name, "not measured", f"compiling or measuring the function failed:\n{error}"
        )
    measured.cost.eager_seconds, measured.cost.eager_bytes = eager.seconds, eager.bytes
    kind, words = verdict.of(measured.findings, measured.graphs, measured.explorations)
    if not measured.graphs:
        kind, words = "nothing compiled", "torch.compile captured no graph of it"
    return NumericsReport(
        name,
        backend_name,
        kind,
        words,
        measured.findings,
        measured.graphs,
        measured.notes,
        measured.reproduction,
        measured.cost,
    )


def _eager(function: Callable[..., Any], args: Any, kwargs: Any) -> _Run:
    import torch

    torch.compiler.set_stance("force_eager")
    return _run(function, args, kwargs)


def _run(function: Callable[..., Any], args: Any, kwargs: Any) -> _Run:
    """Calls a function, and computes the gradients of those leaves of autograd's graph that the function's results
    depend on."""
    import torch

    before, start = _peak(), time.process_time()
    result = function(*args, **kwargs)
    outputs = measuring.tensors(result)
    roots = [value for value in outputs if value.requires_grad]
    leaves = _leaves(roots)
    if roots and torch.is_grad_enabled():
        generator = torch.Generator().manual_seed(_SEED)
        cotangents = [
            torch.randn(value.shape, generator=generator, dtype=torch.float64).to(value.dtype) for value in roots
        ]
        for leaf in leaves:
            leaf.grad = None
        torch.autograd.backward(roots, cotangents)
    gradients = [leaf.grad for leaf in leaves]
    seconds = time.process_time() - start
    kept = [value.detach() for value in outputs]
    return _Run(kept, [None if value is None else value.detach() for value in gradients], seconds, _peak() - before)


def _leaves(roots: list[Any]) -> list[Any]:
    todo = [value.grad_fn for value in roots if value.grad_fn is not None]
    seen: dict[int, Any] = {}
    leaves: list[Any] = [value for value in roots if value.grad_fn is None]
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        todo += [following for following, _ in node.next_functions if following is not None]
    return leaves


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _measure(
    function: Callable[..., Any],
    backend: Callable[..., Any] | None,
    dynamic: bool | None,
    args: Any,
    kwargs: Any,
    wants_reproduction: bool,
) -> _Measured:
    """Compiles and runs the function, then compares each graph call; must be called in a forked process."""
    import torch

    start = time.process_time()
    kept = recording.record(backend or stage_hooks.inductor())
    run = _run(torch.compile(function, backend=kept.compile, dynamic=dynamic), args, kwargs)
    measured = _Measured(run)
    measured.cost.compiling_seconds = time.process_time() - start
    before, start = _peak(), time.process_time()
    for compilation in kept.compilations:
        for call in compilation.calls[:_CALLS_MAX]:
            _of_call(kept, compilation, call, measured, wants_reproduction)
    measured.cost.measuring_seconds = time.process_time() - start
    measured.cost.measuring_bytes = _peak() - before
    run.outputs, run.gradients = [], []
    return measured


def _of_call(
    kept: Recording, compilation: Compilation, call: GraphCall, measured: _Measured, wants_reproduction: bool
) -> None:
    row = GraphRow(compilation.number, _function_of(compilation))
    start = time.perf_counter()
    measured.graphs.append(row)
    try:
        screening = replaying.screen(compilation, call)
    except Exception as error:
        row.note = f"not compared: {type(error).__name__}: {error}"
        measured.notes.append(f"graph {compilation.number}: {row.note}")
        return
    row.rows = _value_rows(screening)
    row.stages = ["captured graph", "compiled graph"]
    try:
        exploration = exploring.explore(compilation.snapshots[0].module, call)
        measured.explorations.append(exploration)
        row.errors = exploration.errors
        if exploration.not_finite is None and not all(value.is_finite for value in row.rows):
            exploration.not_finite = exploring.explore_gradients(compilation.snapshots[0].module, call)
        elif exploration.not_finite is not None and all(value.is_finite for value in row.rows):
            measured.notes.append(verdict.inside(exploration.not_finite))
            exploration.not_finite = None
    except Exception as error:
        measured.notes.append(
            f"graph {compilation.number}: operators of eager not compared: {type(error).__name__}: {error}"
        )
    if screening.is_suspicious and not measured.findings:
        found = diagnosis.diagnose(kept, compilation, call, screening)
        row.stages = found.stages
        measured.notes += found.notes
        if found.finding is not None:
            measured.findings.append(found.finding)
            if wants_reproduction:
                measured.reproduction = reproducing.reproduce(kept.backend, compilation, call, found.finding)
    row.seconds = time.perf_counter() - start


def _value_rows(screening: Screening) -> list[ValueRow]:
    return [
        ValueRow(
            name,
            tuple(value.shape),
            str(value.dtype).removeprefix("torch."),
            errors.eager_ulps,
            errors.stage_ulps,
            errors.mismatch is None,
            measuring.is_finite(value),
        )
        for name, value, errors in screening.deviations
        if not (name.startswith("input") and errors.stage_ulps == 0)
    ]


def _function_of(compilation: Compilation) -> str:
    for node in compilation.snapshots[0].module.graph.nodes:
        line = diagnosis.line_of(node)
        if line is not None and line.function:
            return str(line.function)
    return "the function"
