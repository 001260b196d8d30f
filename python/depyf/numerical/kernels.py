"""Compares Inductor's output code with the graph that it was generated from. Finds the first kernel that stores a wrong
value, and the operator at fault in this kernel.

A copy of the output code's function `call` records the buffers before and after each kernel call. The values that a
kernel stores are compared with the values of the graph's operators, which are computed one after the other from the
kernel's own inputs. To find the operator at fault in a fused kernel, each operator of the kernel is compiled by itself.
"""

from __future__ import annotations

import ast
import contextlib
from dataclasses import dataclass, field
from typing import Any

from depyf import output_statements
from depyf.compat import stage_hooks
from depyf.numerical import bounds, measuring, parts
from depyf.numerical.measuring import Deviation
from depyf.numerical.recording import Backend, Call, copy_values
from depyf.numerical.values import GraphValues
from depyf.numerical.walking import Tape, Walk, perturbed, target_name, widen

_PROBE = "_depyf_probe"


@dataclass
class Event:
    """One call of a kernel, with copies of the buffers from before and after the call."""

    kernel: str
    line: int
    places: dict[str, int]
    """Maps the variable name of each tensor that the call reads or writes to the tensor's memory address."""
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)

    def changed(self) -> list[str]:
        """Returns the names of the buffers that the kernel call created or changed."""
        return [
            name for name in self.after if name not in self.before or not _same(self.before[name], self.after[name])
        ]


@dataclass
class Fault:
    """A fault in output code: a kernel stores, or the output code returns, a value that differs from the value that the
    graph's operators compute."""

    node: Any
    kernel: str
    deviation: Deviation
    own: Any
    inputs: list[tuple[str, Any]]
    is_single: bool
    """True if the compiled operator also computes a wrong value when it is compiled by itself."""
    chain: list[Any]


def _same(left: Any, right: Any) -> bool:
    import torch

    return left.shape == right.shape and bool(torch.equal(torch.nan_to_num(left), torch.nan_to_num(right)))


def events(backend: Backend, call: Call) -> tuple[list[Event], list[Any]]:
    """Runs output code with a probe before and after each kernel call. Returns a pair: the kernel calls in order, and
    the results of the output code.

    Raises:
        ValueError: the file of the output code defines no function `call`.
    """
    import torch

    code = backend.code
    assert code is not None
    with open(backend.path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    function = next(
        (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "call"), None
    )
    if function is None:
        raise ValueError(f"{backend.path} defines no call(args)")
    function.body = output_statements.replaced(function.body, _probed)
    noted: list[Event] = []

    def probe(kernel: str, line: int, names: list[str], local: dict[str, Any], is_after: bool) -> None:
        tensors = {name: local[name] for name in names if isinstance(local.get(name), torch.Tensor)}
        copies = dict(zip(tensors, copy_values(list(tensors.values())), strict=True))
        if not is_after:
            places = {name: tensor.data_ptr() for name, tensor in tensors.items()}
            noted.append(Event(kernel, line, places, copies))
        else:
            noted[-1].after = copies
            noted[-1].places.update({name: tensor.data_ptr() for name, tensor in tensors.items()})

    scope = dict(vars(code))
    scope[_PROBE] = probe
    module = ast.Module([function], [])
    exec(compile(ast.fix_missing_locations(module), backend.path, "exec"), scope)
    arguments = [None] * (function.args.args[0].arg == "self")
    with torch.no_grad():
        outputs = scope["call"](*arguments, copy_values(call.inputs))
    return noted, list(outputs)


def _probed(statement: ast.stmt, kernel: str) -> list[ast.stmt]:
    """Returns a list of three statements: a probe that copies the buffers, `statement`, and a second probe."""
    names = sorted({node.id for node in ast.walk(statement) if isinstance(node, ast.Name)})
    before, after = (
        ast.parse(f"{_PROBE}({kernel!r}, {statement.lineno}, {names!r}, locals(), {is_after})").body[0]
        for is_after in (False, True)
    )
    return [before, statement, after]


def first_fault(backend: Backend, call: Call, values: GraphValues) -> Fault | None:
    """Returns the first kernel call whose result differs from the result of the graph's operators for the kernel's own
    inputs. If all kernel calls are right, returns the first wrong output of the output code; None if all outputs are
    right, too."""
    nodes = {node.name: node for node in values.module.graph.nodes}
    inputs = [node for node in values.module.graph.nodes if node.op == "placeholder"]
    noted, outputs = events(backend, call)
    held: dict[int, Any] = {}  # Maps a memory address to the node whose value was last stored at it.
    for event in noted:
        known = {
            held[place]: event.before[name]
            for name, place in event.places.items()
            if place in held and name in event.before
        }
        known.update({node: event.before[node.name] for node in inputs if node.name in event.before})
        for name in event.changed():
            node = nodes.get(backend.nodes_of_buffers.get(name, ""))
            held.pop(event.places[name], None)
            if node is None or node.name not in values.by_name:
                continue
            fault = _check(node, event.after[name], known, values, event.kernel)
            if fault is not None:
                return fault
            held[event.places[name]] = node
    return _returned(values, outputs)


def _returned(values: GraphValues, outputs: list[Any]) -> Fault | None:
    """Returns the first value that the output code returns and that is wrong, although all kernels stored right values;
    None if all returned values are right."""
    from_graph = next(node for node in reversed(values.module.graph.nodes) if node.op == "output").args[0]
    for node, stored in zip(from_graph, outputs, strict=False):
        value = values.by_name.get(getattr(node, "name", ""))
        if value is None or not hasattr(stored, "shape"):
            continue
        errors = measuring.deviation(stored, value.own, value.wide)
        if errors.mismatch is not None:
            return Fault(
                node, "the value that the output code returns", errors, value.own, _named(node, values), False, [node]
            )
    return None


def _check(node: Any, stored: Any, known: dict[Any, Any], values: GraphValues, kernel: str) -> Fault | None:
    chain = _chain(node, known)
    usable = {source: value for source, value in known.items() if _fits(source, value, values)}
    own, wide, noise = _compute(values, chain, usable, node)
    if own is None or stored.numel() != own.numel():
        return None
    if stored.shape != own.shape:
        stored = stored.reshape(own.shape)
    if measuring.deviation(stored, own, wide).mismatch is None:
        return None
    errors = measuring.deviation(stored, own, wide, noise)
    if errors.mismatch is None:
        return None
    computing = [step for step in chain if bounds.bound_of(target_name(step)).ulps or step.op == "call_function"]
    single = _single(values, computing, usable)
    if single is not None:
        step, single_errors, given = single
        return Fault(step, kernel, single_errors, own, given, True, computing)
    return Fault(node, kernel, errors, own, _named(node, values), False, computing)


def _fits(source: Any, value: Any, values: GraphValues) -> bool:
    known = values.by_name.get(source.name)
    return known is not None and known.own.shape == value.shape and known.own.dtype == value.dtype


def _chain(node: Any, known: dict[Any, Any]) -> list[Any]:
    """Returns the nodes whose values must be computed to obtain the value of `node` from the known values, in the order
    of the graph."""
    wanted, todo = {node}, [node]
    while todo:
        for source in todo.pop().all_input_nodes:
            if source not in wanted and source not in known and source.op not in ("placeholder", "get_attr"):
                wanted.add(source)
                todo.append(source)
    return [step for step in node.graph.nodes if step in wanted]


def _compute(values: GraphValues, chain: list[Any], known: dict[Any, Any], node: Any) -> tuple[Any, Any, Any]:
    """Computes the value of a node from known values. Returns a tuple: the value in the graph's own types, the value in
    double precision, and a sample of the value's rounding error. All three elements are None if the value is no
    tensor."""
    import torch

    module = parts.part(values.module, chain, [node])
    boundary = parts.boundary(module)
    given = [known.get(source, _value(values, source)) for source in boundary]
    tape = Tape(dict(values.tape.random_states), dict(values.tape.dtypes))
    with torch.no_grad():
        own = _run_part(module, copy_values(given), values, Tape(dict(values.tape.random_states)))
        wide = Walk(module, [widen(value) for value in copy_values(given)], tape, is_double=True).run()
        noise = None
        for seed in range(2):
            generator = torch.Generator().manual_seed(seed)
            sample = Walk(module, perturbed(copy_values(given), generator), tape, is_double=True, noise=generator).run()
            if isinstance(wide[0], torch.Tensor) and measuring.is_inexact(wide[0]):
                difference = (sample[0] - wide[0]).abs()
                noise = difference if noise is None else torch.maximum(noise, difference)
    return (own[0], wide[0], noise) if isinstance(own[0], torch.Tensor) else (None, None, None)


def _run_part(module: Any, given: list[Any], values: GraphValues, tape: Tape) -> Any:
    """Runs a part of a graph. A node that draws random numbers draws the same numbers as it did in the run of the whole
    graph."""
    if any(node.name in values.tape.random_states for node in module.graph.nodes):
        for node in module.graph.nodes:
            if node.name in values.tape.random_states:
                import torch

                torch.set_rng_state(values.tape.random_states[node.name])
                break
    return Walk(module, given, tape).run()


def _value(values: GraphValues, node: Any) -> Any:
    known = values.by_name.get(node.name)
    return known.own if known is not None else node.meta.get("val")


def _single(
    values: GraphValues, chain: list[Any], known: dict[Any, Any]
) -> tuple[Any, Deviation, list[tuple[str, Any]]] | None:
    """Compiles each operator of `chain` by itself. Returns the first operator whose compiled result is wrong, together
    with the errors of this result and the operator's inputs; None if all compiled results are right."""
    import torch

    for node in chain:
        module = parts.part(values.module, [node], [node])
        boundary = parts.boundary(module)
        given = [known.get(source, _value(values, source)) for source in boundary]
        if (
            not given
            or not all(isinstance(value, torch.Tensor) for value in given)
            or node.name in values.tape.random_states
        ):
            continue
        with contextlib.suppress(Exception), torch.no_grad():
            own, wide, noise = _compute(values, [node], known, node)
            if own is None:
                continue
            compiled = stage_hooks.compile_single(module, given)
            if compiled is None:
                continue
            errors = measuring.deviation(compiled(copy_values(given))[0], own, wide, noise)
            if errors.mismatch is not None:
                return node, errors, [(source.name, value) for source, value in zip(boundary, given, strict=True)]
    return None


def _named(node: Any, values: GraphValues) -> list[tuple[str, Any]]:
    return [(source.name, _value(values, source)) for source in node.all_input_nodes]
