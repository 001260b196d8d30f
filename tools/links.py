#!/usr/bin/env python3
"""Compares a TORCH_TRACE log with the facts that depyf saw in the process: models and links, each difference with its
kind.

    links.py [NAME...] [--keep FOLDER]

Runs each program (all by default: toy, train, hard, transformer) once, with TORCH_TRACE and under `depyf run` at the same
time. Kinds of differences:

- `reads`: the dump has more kernels for a node, as Inductor also counts kernels that only read the node's result
- `sums`: only nodes that add up gradients differ, which have a line but no captured node of their own
- `other`: anything else, listed in full

The models (`depyf-report` of the log and of the dump) are compared by functions, outcomes, breaks, reasons, graphs and
kernels. The exit status is 1 if the models differ, if a call has neither a line nor a reason, or if less than 99 % of
the calls have a line.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT.parent / "shared" / "examples"
COMMAND = ROOT / "build" / "dev" / "depyf-report"
TRANSFORMER = """
import torch

class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.project, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width))
    def attend(self, x):
        batch, length, width = x.shape
        q, k, v = self.project(x).chunk(3, dim=-1)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in (q, k, v))
        scores = torch.softmax(q @ k.transpose(-1, -2) * 0.25, dim=-1)
        return self.out((scores @ v).transpose(1, 2).reshape(batch, length, width))
    def forward(self, x):
        x = x + self.attend(self.first(x))
        return x + self.mlp(self.second(x))

class Model(torch.nn.Module):
    def __init__(self, layers=12, width=32):
        super().__init__()
        self.embed, self.head = torch.nn.Embedding(64, width), torch.nn.Linear(width, 64)
        self.blocks = torch.nn.ModuleList(Block(width, 4) for _ in range(layers))
    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)

torch.manual_seed(0)
tokens = torch.randint(0, 64, (2, 16))
logits = torch.compile(Model())(tokens)
torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
"""
PROGRAMS = ("toy", "train", "hard", "transformer")


def record_of(path: Path) -> dict[str, Any]:
    """Returns the only process in the record of a log or a dump, with its graphs and links."""
    done = subprocess.run([COMMAND, "--json", "--links", path], capture_output=True, text=True)
    (process,) = json.loads(done.stdout)["processes"]
    return process


def facts_of(compilation: dict[str, Any]) -> dict[str, Any]:
    """Returns the facts about a compilation that both a log and a dump can have, in one form."""
    place = compilation["place"]
    facts: dict[str, Any] = {
        "function": (place["function"], place["file"], place["line"]),
        "status": compilation["status"],
        "breaks": sorted((item["place"]["line"], item["reason"]) for item in compilation["breaks"]),
        "refused by": [item["compilation"] for item in compilation["reasons"]][:1],
        "kernels": sorted((item["name"], item["direction"], item["calls"]) for item in compilation["kernels"]),
    }
    for graph in compilation["graphs"]:
        # The graph of a program without a backward pass is named `inference` in a log, and `forward` in a dump.
        stage = "forward" if graph["stage"] == "inference" else graph["stage"]
        direction = "backward" if graph["direction"] == "backward" else "forward"
        nodes = [
            (node["name"], node["operator"], node["shape"], node["inputs"], node["place"]["line"])
            for node in graph["nodes"]
        ]
        facts[f"graph {stage} {direction}"] = (nodes, graph["outputs"])
    return facts


def model_differences(logged: dict[str, Any], dumped: dict[str, Any]) -> list[str]:
    """Returns the differences between the model of a log and that of a dump, in the facts that both can have."""
    found = []
    here, there = (
        {compilation["id"]: facts_of(compilation) for compilation in process["compilations"]}
        for process in (logged, dumped)
    )
    for number in sorted(here.keys() | there.keys()):
        if number not in here or number not in there:
            found.append(f"{number}: only in the {'log' if number in here else 'dump'}")
            continue
        for fact in sorted(here[number].keys() | there[number].keys()):
            in_log, in_dump = here[number].get(fact), there[number].get(fact)
            if in_log != in_dump:
                found.append(f"{number} {fact}: log {in_log!r:.300}, dump {in_dump!r:.300}")
    return found


def run(name: str, folder: Path) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
    """Returns the record of the program's log, the record of its dump, and the compilations in the dump's
    provenance.json."""
    folder.mkdir(parents=True, exist_ok=True)
    script = EXAMPLES / f"{name}.py"
    if name == "transformer":
        script = folder / "transformer.py"
        script.write_text(TRANSFORMER)
    environment = {**os.environ, "TORCH_TRACE": str(folder / "logs"), "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    command = [sys.executable, "-W", "ignore", "-m", "depyf", "run", "-o", str(folder / "dump"), str(script)]
    with (folder / "output.txt").open("w") as output:
        subprocess.run(command, check=True, env=environment, stdout=output, stderr=output)
    (log,) = (folder / "logs").glob("*.log")
    links = folder / "dump" / "provenance.json"
    chains = json.loads(links.read_text())["runs"][-1]["compilations"] if links.exists() else []
    return record_of(log), record_of(folder / "dump"), chains


def kind_of(stage: str, here: set[str], there: set[str]) -> str:
    """Returns the kind of a difference between the log and the dump."""
    if stage == "kernels" and here < there:
        return "reads"
    if stage != "kernels" and all(node.startswith("add") for node in here ^ there):
        return "sums"
    return "other"


def differences(process: dict[str, Any], dumped: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yields (kind, text) of each comparison; the kind is empty if both are equal."""
    logged = {compilation["id"]: compilation for compilation in process["compilations"]}
    for compilation in dumped:
        chains = {chain["node"]: chain for chain in logged[compilation["compile_id"]]["chains"]}
        for chain in compilation["chains"]:
            place = f"{compilation['compile_id']} {chain['node']}"
            counterpart = chains.get(chain["node"])
            if counterpart is None:
                yield "other", f"{place}: not in the log"
                continue
            line = (chain["line"] or {"line": 0})["line"]
            yield ("" if counterpart["place"]["line"] == line else "other", f"{place}: line")
            for direction in ("forward", "backward"):
                here, there = (one["directions"].get(direction, {}) for one in (counterpart, chain))
                for stage in ("graph", "post_grad", "kernels"):
                    names, expected = set(here.get(stage, ())), set(there.get(stage, ()))
                    kind = "" if names == expected else kind_of(stage, names, expected)
                    yield (
                        kind,
                        f"{place} {direction} {stage}: log alone {sorted(names - expected)}, dump alone {sorted(expected - names)}",
                    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=PROGRAMS, help="the programs to run (default: all programs)")
    parser.add_argument("--keep", type=Path, help="write the logs and dumps to this folder, and keep the folder")
    options = parser.parse_args()
    status = 0
    with tempfile.TemporaryDirectory() as name:
        for program in options.names:
            process, dump, dumped = run(program, (options.keep or Path(name)) / program)
            calls = [
                call
                for compilation in process["compilations"]
                for code in compilation["output_codes"]
                for call in code["calls"]
            ]
            with_line = sum(bool(call["places"]) for call in calls)
            found = list(differences(process, dumped))
            kinds = collections.Counter(kind or "equal" for kind, _ in found)
            print(f"{program}: {with_line} of {len(calls)} calls have a line; comparisons: {dict(kinds)}")
            for kind, text in found:
                if kind == "other":
                    print(f"  {text}")
            of_models = model_differences(process, dump)
            print(f"  {len(of_models)} differences between the models of {len(process['compilations'])} compilations")
            for text in of_models:
                print(f"  {text}")
            has_reasons = all(call["places"] or call["why_no_place"] for call in calls)
            if of_models or not has_reasons or with_line < 0.99 * len(calls):
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
