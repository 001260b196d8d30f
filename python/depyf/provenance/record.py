"""`provenance.json`: the links of all compilations as data."""

from __future__ import annotations

from typing import Any

from depyf.markdown import code, literal, prose
from depyf.provenance import annotate, fusion
from depyf.provenance.chain import Links
from depyf.provenance.collect import Collected
from depyf.session import Frame

SCHEMA_VERSION = 1


def record(frame: Frame, seen: Collected, links: Links, places: dict[str, dict[str, int]]) -> dict[str, Any]:
    """The links of one compilation.

    Args:
        frame: of the session.
        seen, links: of the compilation.
        places: by file name, the line of each node or operation in the file.
    """
    files = {
        artifact.file: {
            "kind": artifact.kind,
            "direction": artifact.direction,
            "lines": places[artifact.file],
        }
        for artifact in frame.artifacts
        if artifact.file in places and artifact.kind != "kernel"
    }
    return {
        "compile_id": frame.compile_id,
        "function": frame.function,
        "compiled_fn": frame.compiled_fn,
        "files": files,
        "chains": [
            {
                "node": chain.node,
                "operator": chain.target,
                "line": None if chain.line is None else dict(vars(chain.line)),
                "joint": chain.joint,
                "decomposed_into": chain.decomposed,
                "directions": {name: one.to_dict() for name, one in chain.directions.items()},
                "not_recorded": chain.not_recorded,
            }
            for chain in links.chains
        ],
        "kernels": {name: _kernels(name, seen, links) for name in seen.directions if seen.directions[name].operations},
        "not_fused": {
            name: _not_fused(name, seen, links) for name in seen.directions if seen.directions[name].operations
        },
        "missing": _missing(frame, seen),
    }


def _missing(frame: Frame, seen: Collected) -> list[str]:
    found = []
    for name, direction in seen.directions.items():
        if direction.operations:
            continue
        kinds = ("ir_post_fusion", "BEFORE_POST_GRAD")
        why = next((f": {one.why}" for one in frame.missing if one.kind in kinds and one.direction == name), "")
        what = (
            "Inductor's IR was not seen, so kernels are not linked"
            if direction.graph
            else "no graph was seen with its nodes, so what the captured nodes became is not linked"
        )
        found.append(f"{name}: {what}{why}")
    return found


def _kernels(direction: str, seen: Collected, links: Links) -> list[dict[str, Any]]:
    of = links.kernel_of[direction]
    lines = annotate.lines_of_kernels(links, direction)
    operations: dict[str, list[str]] = {name: [] for name in of.values()}
    for group in seen.directions[direction].operations:
        for op in group:
            if op.name in of:
                operations[of[op.name]].append(op.name)
    return [
        {
            "name": name,
            "operations": names,
            "computes": {node: dict(vars(line)) for node, line in lines.get(name, {}).items()},
        }
        for name, names in operations.items()
    ]


def _not_fused(direction: str, seen: Collected, links: Links) -> list[dict[str, Any]]:
    operations = {op.name: op for group in seen.directions[direction].operations for op in group}
    subjects: dict[str, str] = {}

    def subject(names: str) -> str:
        if names not in subjects:
            group = [operations[name] for name in names.split("_") if name in operations]
            subjects[names] = fusion.subject(group, links, direction)
        return subjects[names]

    return [
        {**vars(one), "first_is": subject(one.first), "second_is": subject(one.second)}
        for one in fusion.apart(seen.directions[direction], links.kernel_of[direction])
    ]


def story(frame: Frame, data: dict[str, Any]) -> list[str]:
    """The same for readers of the index: what became of each line, and what was not fused."""
    out = []
    for chain in data["chains"]:
        kernels = {name: one["kernels"] for name, one in chain["directions"].items() if one["kernels"]}
        if kernels and chain["line"] is not None:
            where = f"{chain['line']['file'].replace(chr(92), '/').rpartition('/')[2]}:{chain['line']['line']}"
            into = "; ".join(f"{name} {', '.join(one)}" for name, one in kernels.items())
            out.append(f"- {literal(where)} {code(chain['node'])} ({prose(chain['operator'])}): {prose(into)}")
    for name, pairs in data["not_fused"].items():
        told = [f"{pair['first_is']} with {pair['second_is']}: {pair['why']}" for pair in pairs]
        out += [f"- not fused ({name}): {prose(pair)}" for pair in told]
    return out
