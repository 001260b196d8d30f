"""Writes a program in plain PyTorch that reproduces a fault. The program contains the smallest part of the captured
graph, with the smallest inputs, for which compiled and eager results differ.

Each candidate part of the graph is compiled with the program's backend, and its results are compared with eager
execution. A candidate whose results agree is discarded. The search begins with the captured operator that the finding
names, and adds more nodes of the graph only if this operator alone does not reproduce the fault.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from depyf.numerical import measuring, parts, replaying
from depyf.numerical.diagnosis import line_of
from depyf.numerical.model import Finding
from depyf.numerical.recording import Compilation, GraphCall, Snapshot, copy_values
from depyf.numerical.walking import Tape, Walk

_SECONDS_MAX = 60.0
"""The time in seconds after which no further candidate is tried."""
_LITERAL_MAX = 2048
"""The largest number of elements of an input that is written as a literal; no program is written if a larger input
cannot be replaced by random numbers."""
_SMALLEST = 2
"""The least size to which a dimension of an input is reduced."""


@dataclass
class _Candidate:
    """A module with inputs. `_Search.shows` decides whether the fault occurs when the module is compiled and run."""

    module: Any
    inputs: list[Any]
    seed: int | None = None
    """The seed, if the inputs are random numbers; None if the program contains the elements of the inputs."""


class _Search:
    """Compiles candidates for the smallest program with the user's backend, until a time limit is reached."""

    def __init__(self, backend: Callable[..., Any], call: GraphCall) -> None:
        self._backend = backend
        self._call = call
        self._end = time.monotonic() + _SECONDS_MAX

    @property
    def is_over(self) -> bool:
        """True if the time limit is reached, so that no further candidate is tried."""
        return time.monotonic() > self._end

    def shows(self, candidate: _Candidate) -> bool:
        """True if the results of the compiled candidate differ from those of eager execution by more than rounding
        explains. False if the candidate cannot be compiled, or if the time limit is reached."""
        import torch

        if self.is_over:
            return False
        module = candidate.module
        try:
            torch.compiler.reset()
            compiled = torch.compile(module, backend=self._backend, dynamic=False)
            compilation = Compilation(0, [Snapshot("captured", "", module)], compiled=compiled)
            call = GraphCall(
                copy_values(candidate.inputs),
                [True] * len(candidate.inputs),
                torch.get_rng_state(),
                self._call.grad_enabled,
                self._call.autocast,
            )
            screening = replaying.screen(compilation, call)
        except Exception:  # A reduced size does not fit, or an operator cannot be compiled alone.
            return False
        return any(errors.mismatch is not None for _, _, errors in screening.deviations)


def reproduce(backend: Callable[..., Any], compilation: Compilation, call: GraphCall, finding: Finding) -> str:
    """Returns the text of a program that reproduces a fault; "" if no part of the captured graph reproduces it, or if
    the smallest such part cannot be written as a program."""
    search = _Search(backend, call)
    module = compilation.snapshots[0].module
    values = _values(module, call)
    first = next((each for each in _candidates(module, values, call, finding) if search.shows(each)), None)
    if first is None:
        return ""
    smallest = _smaller_sizes(search, _fewer_nodes(search, first, call))
    return _program(_with_random_inputs(search, smallest), finding)


def _values(module: Any, call: GraphCall) -> dict[Any, Any]:
    import torch

    values: dict[Any, Any] = {}
    with replaying.surroundings(call), torch.no_grad():
        inputs = [value.detach() if isinstance(value, torch.Tensor) else value for value in copy_values(call.inputs)]
        for node, value in Walk(module, inputs, Tape()):
            values[node] = value.detach().clone() if isinstance(value, torch.Tensor) else value
    return values


def _candidates(module: Any, values: dict[Any, Any], call: GraphCall, finding: Finding) -> Iterator[_Candidate]:
    """Yields parts of the captured graph, the smallest first. The parts are the operator of the finding, all nodes of
    its source line, these nodes with all nodes that they depend on, and the whole graph."""
    computing = [node for node in module.graph.nodes if node.op.startswith("call_")]
    named = [node for node in computing if node.name in finding.captured]
    of_line = [node for node in computing if finding.line is not None and line_of(node) == finding.line]
    seen: list[list[Any]] = []
    for nodes in (named, of_line, _ancestors(computing, named or of_line), computing):
        if nodes and nodes not in seen:
            seen.append(nodes)
            for is_trained in (finding.direction == "backward", finding.direction != "backward"):
                candidate = _of_nodes(module, nodes, values, is_trained)
                if candidate is not None:
                    yield candidate
                if not call.grad_enabled:
                    break


def _ancestors(computing: list[Any], nodes: list[Any]) -> list[Any]:
    wanted = set(nodes)
    for node in reversed(computing):
        if node in wanted:
            wanted.update(node.all_input_nodes)
    return [node for node in computing if node in wanted]


def _of_nodes(module: Any, nodes: list[Any], values: dict[Any, Any], is_trained: bool) -> _Candidate | None:
    import torch

    returned = [node for node in parts.read_outside(nodes) if isinstance(values.get(node), torch.Tensor)]
    if not returned:
        return None
    piece = parts.part(module, nodes, returned)
    inputs = []
    for source in parts.boundary(piece):
        value = values[source]
        if isinstance(value, torch.Tensor) and measuring.is_inexact(value):
            value = value.detach().clone().requires_grad_(is_trained)
        inputs.append(value)
    return _Candidate(piece, inputs)


def _fewer_nodes(search: _Search, candidate: _Candidate, call: GraphCall) -> _Candidate:
    """Removes leading or trailing nodes as long as the remaining nodes reproduce the fault. Half of the nodes are
    removed at a time, then a quarter, and so on down to single nodes."""
    share = 2
    while not search.is_over:
        nodes = [node for node in candidate.module.graph.nodes if node.op.startswith("call_")]
        if len(nodes) < 2 or share > len(nodes):
            return candidate
        size = max(1, len(nodes) // share)
        is_trained = any(getattr(value, "requires_grad", False) for value in candidate.inputs)
        inputs = dict(
            zip(
                [node for node in candidate.module.graph.nodes if node.op == "placeholder"],
                candidate.inputs,
                strict=True,
            )
        )
        values = _part_values(candidate, inputs, call)
        for rest in (nodes[size:], nodes[:-size]):
            smaller = _of_nodes(candidate.module, rest, values, is_trained)
            if smaller is not None and search.shows(smaller):
                candidate = smaller
                break
        else:
            share *= 2
    return candidate


def _part_values(candidate: _Candidate, inputs: dict[Any, Any], call: GraphCall) -> dict[Any, Any]:
    return {**_values(candidate.module, _call_with(call, candidate.inputs)), **inputs}


def _call_with(call: GraphCall, inputs: list[Any]) -> GraphCall:
    return GraphCall(inputs, [True] * len(inputs), call.random_state, call.grad_enabled, call.autocast)


def _smaller_sizes(search: _Search, candidate: _Candidate) -> _Candidate:
    """Reduces the sizes of the inputs as long as the fault still occurs. A size is reduced to 2, to a quarter or to a
    half in all inputs with a dimension of this size."""
    import torch

    tried: set[int] = set()
    while not search.is_over:
        sizes = {size for value in candidate.inputs if isinstance(value, torch.Tensor) for size in value.shape}
        size = max([size for size in sizes - tried if size > _SMALLEST], default=None)
        if size is None:
            break
        tried.add(size)
        for new in dict.fromkeys((_SMALLEST, size // 4, size // 2)):
            if not _SMALLEST <= new < size:
                continue
            smaller = _Candidate(candidate.module, [_cut(value, size, new) for value in candidate.inputs])
            if search.shows(smaller):
                candidate = smaller
                break
    return candidate


def _cut(value: Any, size: int, new: int) -> Any:
    import torch

    if not isinstance(value, torch.Tensor) or size not in value.shape:
        return value
    kept = value.detach()[tuple(slice(0, new if length == size else length) for length in value.shape)]
    return kept.clone().requires_grad_(value.requires_grad)


def _with_random_inputs(search: _Search, candidate: _Candidate) -> _Candidate:
    """Returns a copy of the candidate with random numbers as inputs, if this copy still reproduces the fault. Returns
    the candidate itself if the copy does not reproduce the fault, or if an input is no floating tensor."""
    import torch

    if not all(isinstance(value, torch.Tensor) and value.is_floating_point() for value in candidate.inputs):
        return candidate
    torch.manual_seed(0)
    drawn = [torch.randn(value.shape).to(value.dtype).requires_grad_(value.requires_grad) for value in candidate.inputs]
    random = _Candidate(candidate.module, drawn, seed=0)
    return random if search.shows(random) else candidate


_TEMPLATE = '''\
"""{title}

Written by depyf.numerics. It prints the largest errors against double precision, of eager and compiled.
"""

import math
from math import inf, nan

import torch
from torch import device


{function}

{inputs}


def results(run, dtype=None):
    given = [
        value.detach().to(dtype if dtype is not None and value.is_floating_point() else value.dtype).clone().requires_grad_(value.requires_grad)
        if isinstance(value, torch.Tensor) else value
        for value in inputs
    ]
    outputs = [value for value in run(*given) if isinstance(value, torch.Tensor)]
    found = [value.detach() for value in outputs]
    roots = [value for value in outputs if value.requires_grad]
    leaves = [value for value in given if isinstance(value, torch.Tensor) and value.requires_grad]
    if roots and leaves:
        cotangents = [torch.cos(torch.arange(value.numel(), dtype=torch.float64)).reshape(value.shape).to(value.dtype) for value in roots]
        found += [value for value in torch.autograd.grad(roots, leaves, cotangents, allow_unused=True) if value is not None]
    return found


compiled = torch.compile(function, backend={backend!r})
for eager, stage, exact in zip(results(function), results(compiled), results(function, torch.float64)):
    print("eager", (eager - exact).abs().max().item(), "compiled", (stage - exact).abs().max().item())
'''


def _program(candidate: _Candidate, finding: Finding) -> str:
    import torch

    names = [node.name for node in candidate.module.graph.nodes if node.op == "placeholder"]
    attributes = [node for node in candidate.module.graph.nodes if node.op == "get_attr"]
    lines = []
    if candidate.seed is not None:
        lines.append(f"torch.manual_seed({candidate.seed})")
    for name, value in zip(names, candidate.inputs, strict=True):
        written = _literal(value, candidate.seed is not None)
        if written is None:
            return ""
        lines.append(f"{name} = {written}")
    lines.append(f"inputs = [{', '.join(names)}]")
    if any(isinstance(getattr(candidate.module, str(node.target), None), torch.Tensor) for node in attributes):
        return ""  # The graph has a constant that a program in plain PyTorch cannot contain.
    code = str(candidate.module.graph.python_code("self").src)
    function = "\n".join(
        line.removeprefix("    ") if line.startswith("    ") else line for line in code.strip().splitlines()
    )
    function = (
        "def function("
        + ", ".join(names)
        + "):\n"
        + "\n".join(
            "    " + line.strip().partition(";  ")[0]
            for line in function.splitlines()
            if line.strip() and not line.lstrip().startswith(("def ", "import ", "@", "#"))
        )
    )
    title = f"{finding.stage}: {finding.operator} is not what eager computes."
    return _TEMPLATE.format(title=title, function=function, inputs="\n".join(lines), backend="inductor")


def _literal(value: Any, is_random: bool) -> str | None:
    """Returns a Python expression for an input; None if the input has more than `_LITERAL_MAX` elements that are not
    random."""
    import torch

    if not isinstance(value, torch.Tensor):
        return repr(value)
    gradient = ".requires_grad_()" if value.requires_grad else ""
    if is_random:
        return f"torch.randn({tuple(value.shape)}).to({value.dtype}){gradient}"
    if value.numel() > _LITERAL_MAX:
        return None
    numbers = value.detach().cpu().tolist()
    return f"torch.tensor({numbers!r}, dtype={value.dtype}).reshape({tuple(value.shape)}){gradient}"
