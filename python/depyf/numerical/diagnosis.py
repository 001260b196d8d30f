"""Finds the compilation stage at fault for a call of a graph whose compiled results differ from those of eager
execution by more than rounding explains.

All compilation stages, from the captured graph on, run on the same inputs. The operator at fault is searched for in the
first stage whose results differ from the results of the preceding stage.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from depyf.compat import fx_nodes
from depyf.numerical import bounds, comparing, kernels, linking, measuring, replaying, values
from depyf.numerical.measuring import Deviation
from depyf.numerical.model import Finding, Input
from depyf.numerical.recording import Backend, Call, Compilation, GraphCall, Recording, Snapshot, output_nodes
from depyf.numerical.replaying import Screening
from depyf.numerical.values import GraphValues
from depyf.numerical.walking import target_name
from depyf.source_line import Line


@dataclass
class Diagnosis:
    """The result of a search for a fault: the finding, or None, and the compilation stages that were compared."""

    finding: Finding | None
    stages: list[str]
    notes: list[str] = field(default_factory=list)
    """Sentences about errors that ended the search before all stages were compared."""


def diagnose(recording: Recording, compilation: Compilation, call: GraphCall, screening: Screening) -> Diagnosis:
    """Compares the compilation stages one after the other. Returns a `Diagnosis` with the first stage and operator at
    fault, if there is one, and the stages that were compared."""
    stages: list[str] = []
    notes: list[str] = []
    try:
        for finding in _search(recording, compilation, call, screening, stages):
            if finding is not None:
                finding.graph = compilation.number
                return Diagnosis(finding, stages, notes)
    except Exception as error:
        last = stages[-1] if stages else "captured graph"
        notes.append(f"graph {compilation.number}: the search ended at {last}: {type(error).__name__}: {error}")
    return Diagnosis(None, stages, notes)


def _search(
    recording: Recording, compilation: Compilation, call: GraphCall, screening: Screening, stages: list[str]
) -> Iterator[Finding | None]:
    """Yields, for each compilation stage in order, the finding about the stage, or None if it has no fault."""
    stages.append("captured graph")
    yield _of_passes(compilation.snapshots, call.inputs, call.random_state, "forward", stages)
    _replay(recording, compilation, call)
    forward, backward = compilation.backend("forward"), compilation.backend("backward")
    forward_call = forward.calls[-1] if forward is not None and forward.calls else None
    backward_call = backward.calls[-1] if backward is not None and backward.calls else None
    if forward is None or forward_call is None:
        if not any(bounds.is_discontinuous(target_name(node)) for node in compilation.snapshots[0].module.graph.nodes):
            yield _of_wrappers(compilation, screening, "the backend itself", [])
        return
    joint_values = None
    joint = _usable(compilation.joint, forward_call, backward, backward_call)
    first = joint[0] if joint is not None else (forward.snapshots[0], forward_call.inputs)
    joint_values = values.evaluate(first[0].module, first[1], call.random_state)
    stages.append("joint graph" if backward_call is not None else "AOTAutograd's graph")
    yield _of_decompositions(compilation, call, joint_values)
    if joint is not None:
        yield _of_passes(compilation.joint, joint[1], call.random_state, "joint", stages)
        last = values.evaluate(compilation.joint[-1].module, joint[1], call.random_state)
        yield _of_partition(last, forward, forward_call, backward, backward_call, call.random_state)
    for backend, backend_call in ((forward, forward_call), (backward, backward_call)):
        if backend is not None and backend_call is not None:
            yield _of_passes(backend.snapshots, backend_call.inputs, call.random_state, backend.direction, stages)
            if backend.code is not None:
                stages.append(f"{backend.direction} output code")
                yield _of_kernels(backend, backend_call, call.random_state)
    stages.append("runtime wrappers")
    calls = [(forward, forward_call)]
    if backward is not None and backward_call is not None:
        calls.append((backward, backward_call))
    yield _of_the_rest(compilation, screening, calls, call.random_state)


def _replay(recording: Recording, compilation: Compilation, call: GraphCall) -> None:
    """Runs the compiled graph once more, and records the calls of AOTAutograd's graphs in this run."""
    recording.keeps_calls = True
    try:
        with recording.compiling_for(compilation):
            compiled = compilation.compiled
            assert compiled is not None
            replaying.run(call, lambda inputs: compiled(*inputs))
    finally:
        recording.keeps_calls = False


def _usable(
    joint: list[Snapshot], forward_call: Call, backward: Backend | None, backward_call: Call | None
) -> tuple[tuple[Snapshot, list[Any]], list[Any]] | None:
    """Returns ((joint graph, its inputs), its inputs). The inputs of the joint graph are the forward graph's inputs and
    the backward graph's tangents. Returns None if there is no joint graph, if it has another number of inputs, or if it
    needs tangents but no backward was called."""
    if not joint:
        return None
    inputs = list(forward_call.inputs)
    names = [node.name for node in joint[0].module.graph.nodes if node.op == "placeholder"]
    if any(name.startswith("tangents") for name in names):
        if backward is None or backward_call is None:
            return None
        places = [node.name for node in backward.snapshots[0].module.graph.nodes if node.op == "placeholder"]
        tangents = dict(zip(places, backward_call.inputs, strict=False))
        by_position = [tangents[name] for name in places if name.startswith("tangents")]
        inputs = inputs[: sum(not name.startswith("tangents") for name in names)] + by_position
    if len(inputs) != len(names):
        return None
    return (joint[0], inputs), inputs


def _of_passes(
    snapshots: list[Snapshot], inputs: list[Any], random_state: Any, direction: str, stages: list[str]
) -> Finding | None:
    """Returns a finding about the first pass that changes the results of a graph; None if there is no such pass."""
    if len(snapshots) < 2:
        return None
    stages.append(f"{direction} after {len(snapshots) - 1} {snapshots[-1].stage} passes")
    earlier = values.evaluate(snapshots[0].module, inputs, random_state)
    last = values.evaluate(snapshots[-1].module, inputs, random_state)
    if not comparing.outputs_differ(earlier, last) and comparing.lost_mutation(earlier, last) is None:
        return None
    for snapshot in snapshots[1:]:
        later = values.evaluate(snapshot.module, inputs, random_state)
        difference = comparing.first_difference(earlier, later)
        if difference is not None:
            kind = {"pre-grad": "pre-grad", "joint": "joint", "post-grad": "post-grad"}.get(
                snapshot.stage, snapshot.stage
            )
            name = snapshot.pass_name or f"{kind} passes"
            return _of_difference(difference, f"Inductor's {kind} pass {name}", name, direction)
        earlier = later
    return None


def _of_difference(difference: comparing.Difference, stage: str, pass_name: str, direction: str) -> Finding:
    finding = _finding(difference.node, stage, difference.values, difference.deviation, direction)
    finding.pass_name = pass_name
    if difference.is_left_out:
        finding.note = f"the pass leaves {finding.operator} out"
    elif difference.instead_of is not None:
        finding.note = f"it stands in the place of {target_name(difference.instead_of)}"
        if finding.line is None:
            finding.line = fx_nodes.line_of(difference.instead_of)
    return finding


def _of_decompositions(compilation: Compilation, call: GraphCall, traced: GraphValues) -> Finding | None:
    fault = linking.first_fault(compilation.snapshots[-1].module, call, traced)
    if fault is None:
        return None
    operator = fault.target or target_name(fault.node)
    direction = "backward" if fault.is_backward else "forward"
    what = "backward formula" if fault.is_backward else "decomposition"
    finding = Finding(
        f"AOTAutograd's {what} of {operator}",
        "",
        operator,
        target_name(fault.node) if target_name(fault.node) != operator else "",
        fault.node.name,
        fx_nodes.line_of(fault.node),
        _module(fault.node),
        direction,
        shape=tuple(fault.own.shape),
        dtype=str(fault.own.dtype),
        mismatch=fault.deviation.mismatch,
        inputs=_inputs(fault.inputs, fault.deviation),
        captured=[fault.node.name],
    )
    return finding


def _of_partition(
    joint: GraphValues,
    forward: Backend,
    forward_call: Call,
    backward: Backend | None,
    backward_call: Call | None,
    state: Any,
) -> Finding | None:
    """Returns a finding about the first node of the forward graph whose value differs from the value of the same node
    in the joint graph; None if no value differs."""
    for backend, call in ((forward, forward_call), (backward, backward_call)):
        if backend is None or call is None:
            continue
        part = values.evaluate(backend.snapshots[0].module, call.inputs, state)
        for node in part.module.graph.nodes:
            before, after = joint.by_name.get(node.name), part.by_name.get(node.name)
            if before is None or after is None or node.op in ("placeholder", "output"):
                continue
            errors = measuring.deviation(after.own, before.own, before.wide)
            if errors.mismatch is not None and backend is forward:
                return _finding(node, "the partition into forward and backward", part, errors, backend.direction)
    return None


def _of_kernels(backend: Backend, call: Call, state: Any) -> Finding | None:
    graph = values.evaluate(backend.snapshots[-1].module, call.inputs, state)
    # At times a buffer contains another value than the value of the node that PyTorch recorded for the buffer.
    # Therefore kernels are searched for a fault only if the results of the output code are wrong.
    fault = kernels.first_fault(backend, call, graph) if _is_wrong(call, graph) else None
    if fault is None:
        return None
    operator = target_name(fault.node)
    if fault.is_single:
        stage = f"output code: Inductor's lowering of {operator}"
    elif len(fault.chain) > 1:
        stage = (
            f"output code: the kernel {fault.kernel}, which computes {', '.join(map(target_name, fault.chain[-6:]))}"
        )
    else:
        stage = f"output code: {fault.kernel}"
    finding = _finding(fault.node, stage, graph, fault.deviation, backend.direction)
    finding.kernel = fault.kernel
    finding.inputs = _inputs(fault.inputs, fault.deviation)
    return finding


def _is_wrong(call: Call, graph: GraphValues) -> bool:
    """True if output code returned, or wrote into an input, a value that differs from the value in its graph."""
    nodes = output_nodes(graph.module)
    pairs = list(zip(nodes, call.outputs, strict=False))
    pairs += [(node, call.inputs_after[index]) for index, node in comparing.copies_into_inputs(graph.module).items()]
    for node, stored in pairs:
        known = graph.by_name.get(node.name) if node is not None else None
        if known is not None and hasattr(stored, "shape"):
            if measuring.deviation(stored, known.own, known.wide).mismatch is not None:
                return True
    return False


def _of_the_rest(
    compilation: Compilation,
    screening: Screening,
    calls: list[tuple[Backend, Call]],
    state: Any,
) -> Finding | None:
    """Returns a finding about the output code as a whole, or about AOTAutograd's code around it; None if neither
    returns a wrong value. `_of_the_rest` is called only if each graph and kernel is right for its own inputs."""
    for backend, call in calls:
        graph = values.evaluate(backend.snapshots[-1].module, call.inputs, state)
        nodes = output_nodes(graph.module)
        noise = values.noise(graph)
        for node, stored in zip(nodes, call.outputs, strict=False):
            known = graph.by_name.get(node.name) if node is not None else None
            if known is None or not hasattr(stored, "shape"):
                continue
            errors = measuring.deviation(stored, known.own, known.wide, noise.get(node.name))
            if errors.mismatch is None:
                continue
            if any(bounds.is_discontinuous(target_name(step)) for step in graph.module.graph.nodes):
                return None  # Near a step of a discontinuous operator, rounding decides between two results.
            stage = "output code as a whole: no kernel shows it by itself"
            return _finding(node, stage, graph, errors, backend.direction)
    results = [value for _, call in calls for value in (*call.outputs, *call.inputs_after) if hasattr(value, "shape")]
    return _of_wrappers(compilation, screening, "AOTAutograd's code around the compiled graphs", results)


def _of_wrappers(compilation: Compilation, screening: Screening, stage: str, results: list[Any]) -> Finding | None:
    """Returns a finding about the first wrong result of the compiled function that none of its graphs computed; None if
    every wrong result comes from a graph.

    Args:
        results: the values that the graphs returned or wrote into their inputs; a wrong result among these values is
            the fault of a graph, and is skipped.
    """
    for name, value, errors in screening.deviations:
        if errors.mismatch is None or any(_is_same(value, result) for result in results):
            continue
        module = compilation.snapshots[0].module
        node = _node_of(module, name)
        if name.endswith("after the call"):
            stage = f"{stage}: an input that the program changes does not get its value"
        return Finding(
            stage,
            "",
            target_name(node) if node is not None else "",
            "",
            node.name if node is not None else name,
            fx_nodes.line_of(node) if node is not None else None,
            _module(node) if node is not None else "",
            "backward" if name.startswith("gradient") else "forward",
            shape=tuple(value.shape),
            dtype=str(value.dtype),
            mismatch=errors.mismatch,
            note=name,
            captured=[node.name] if node is not None else [],
        )
    return None


def _is_same(left: Any, right: Any) -> bool:
    import torch

    same_kind = left.numel() == right.numel() and left.dtype == right.dtype
    return same_kind and bool(torch.equal(left.flatten(), right.flatten()))


def _node_of(module: Any, name: str) -> Any:
    """Returns the node for a result such as "output 0", "input 2 after the call" or "gradient of input 1". For an
    input, returns the last node that changes the input in place, or, if there is none, the first node that reads it."""
    nodes = list(module.graph.nodes)
    words = name.split()
    if words[0] == "output":
        result = nodes[-1].args[0]
        items = result if isinstance(result, (list, tuple)) else [result]
        return items[int(words[1])]
    places = [node for node in nodes if node.op == "placeholder"]
    index = int(words[-1]) if words[0] == "gradient" else int(words[1])
    family, last = {places[index]}, None
    for node in nodes:
        if node.op not in ("placeholder", "output") and family & set(node.all_input_nodes):
            name_of_target = target_name(node).rpartition(".")[2]
            if name_of_target.endswith("_") or name_of_target in ("setitem", "iadd", "imul", "isub"):
                last = node
            if any(
                word in name_of_target
                for word in ("view", "getitem", "t", "select", "slice", "transpose", "reshape", "chunk")
            ):
                family.add(node)
    return last or next(iter(places[index].users), None)


def _finding(node: Any, stage: str, graph: GraphValues, errors: Deviation, direction: str) -> Finding:
    value = graph.by_name.get(node.name)
    operator = target_name(node)
    row = _rows(graph.module).get(node.name)
    line = row.line if row is not None and row.line is not None else fx_nodes.line_of(node)
    original = row.original if row is not None else ""
    given = [
        (source.name, graph.by_name[source.name].own) for source in node.all_input_nodes if source.name in graph.by_name
    ]
    return Finding(
        stage,
        "",
        operator,
        original if original != operator else "",
        node.name,
        line if line is not None else _neighbours_line(node),
        _module(node),
        "backward" if row is not None and row.backward else direction.replace("joint", "forward"),
        shape=tuple(value.own.shape) if value is not None else (),
        dtype=str(value.own.dtype) if value is not None else "",
        mismatch=errors.mismatch,
        inputs=_inputs(given, errors),
        captured=[source.name for source in row.sources] if row is not None else [],
    )


def line_of(node: Any) -> Line | None:
    """Returns the source line of a node; None for inputs, outputs and attributes, or if PyTorch recorded no line."""
    return fx_nodes.line_of(node) if node.op not in ("placeholder", "output", "get_attr") else None


def _neighbours_line(node: Any) -> Line | None:
    """Returns, for a node without a recorded source line, the line of a node that reads it, or, if no reader has a
    line, the line of an operand; None if no operand has a line either."""
    for near in (*node.users, *node.all_input_nodes):
        line = fx_nodes.line_of(near) if near.op != "output" else None
        if line is not None:
            return line
    return None


def _rows(module: Any) -> dict[str, fx_nodes.NodeRow]:
    return {row.name: row for row in fx_nodes.rows(module)}


def _module(node: Any) -> str:
    return fx_nodes.module_of(node)


def _inputs(given: list[tuple[str, Any]], errors: Deviation) -> list[Input]:
    """Returns an `Input` for each input of an operator. `Input.value` is the input's element at the index of the worst
    element of the operator's result, or, if the input has no element there, the range of its elements."""
    inputs = []
    for name, value in given:
        if not hasattr(value, "shape"):
            inputs.append(Input(name, (), type(value).__name__, str(value)))
            continue
        index = errors.mismatch.index if errors.mismatch is not None else None
        if index and len(index) == len(value.shape) and all(i < n for i, n in zip(index, value.shape, strict=True)):
            shown: float | str = value[index].item()
        elif value.numel() and not value.is_complex():
            wide = value.detach().double()
            shown = f"{float(wide.min()):.6g} to {float(wide.max()):.6g}"
        else:
            shown = ""
        inputs.append(Input(name, tuple(value.shape), str(value.dtype), shown))
    return inputs
