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
            name: [
                {
                    **vars(one),
                    "first_is": fusion.subject(_ops(seen, name, one.first), links, name),
                    "second_is": fusion.subject(_ops(seen, name, one.second), links, name),
                }
                for one in fusion.apart(direction, links.kernel_of[name])
            ]
            for name, direction in seen.directions.items()
            if direction.operations
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
    found = []
    for name in dict.fromkeys(of.values()):
        operations = [
            op.name for group in seen.directions[direction].operations for op in group if of.get(op.name) == name
        ]
        found.append(
            {
                "name": name,
                "operations": operations,
                "computes": {node: dict(vars(line)) for node, line in lines.get(name, {}).items()},
            }
        )
    return found


def _ops(seen: Collected, direction: str, name: str) -> list[Any]:
    wanted = set(name.split("_"))
    return [op for group in seen.directions[direction].operations for op in group if op.name in wanted]


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
