"""Judges a run under depyf: compares the facts of the run with those of a plain run, and finds gaps in the dump."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPORT = Path(__file__).resolve().parents[2] / "build" / "dev" / "depyf-report"
_SUMMARY = re.compile(r"^\d+ process(es)?: ")
_OWN_WARNING = re.compile(r"Warning: depyf|depyf failed|^depyf: ")


@dataclass
class Verdict:
    """The faults of a program's run under depyf, one sentence each, and the numbers of compilations, graphs and files
    in its dump."""

    harmed: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    not_proved: list[str] = field(default_factory=list)
    explained: list[str] = field(default_factory=list)
    """Texts that the dump reports as missing, with the reason."""
    compilations: int = 0
    graphs: int = 0
    files: int = 0


def judge(plain: dict[str, Any], watched: dict[str, Any], errors: str, directory: Path) -> Verdict:
    """Compares a plain run with one under depyf, and reads the dump.

    Args:
        plain: the facts that harness.py wrote in the plain run.
        watched: the facts that harness.py wrote in the run under depyf.
        errors: the standard error of the run under depyf.
        directory: the dump.
    """
    verdict = Verdict()
    for part in ("result", "compiled", "counters", "random_state", "status"):
        if plain[part] != watched[part]:
            verdict.harmed.append(f"{part}: {difference(plain[part], watched[part])}")
    for line in errors.splitlines():
        if _SUMMARY.match(line):
            break
        if _OWN_WARNING.search(line):
            verdict.harmed.append(f"warning: {line.strip()}")
    _judge_dump(verdict, plain, directory)
    return verdict


def difference(plain: Any, watched: Any) -> str:
    """Returns the path of the first place where two values differ, with both parts."""
    path = ""
    while True:
        if isinstance(plain, dict) and isinstance(watched, dict):
            keys = sorted({*plain, *watched})
        elif isinstance(plain, list) and isinstance(watched, list) and len(plain) == len(watched):
            keys = list(range(len(plain)))
        else:
            return f"at {path or 'the top'}: {str(plain)[:200]} plain, {str(watched)[:200]} with depyf"
        absent = "<absent>"
        pairs = {
            key: (plain.get(key, absent), watched.get(key, absent))
            if isinstance(plain, dict)
            else (plain[key], watched[key])
            for key in keys
        }
        key = next(key for key, (before, after) in pairs.items() if before != after)
        path += f"[{key!r}]"
        plain, watched = pairs[key]


def record_of(directory: Path) -> dict[str, Any]:
    """Returns the record of the last run in a dump (docs/record.md)."""
    done = subprocess.run([str(REPORT), "--json", str(directory)], check=True, capture_output=True, text=True)
    process: dict[str, Any] = json.loads(done.stdout)["processes"][-1]
    return process


def _judge_dump(verdict: Verdict, plain: dict[str, Any], directory: Path) -> None:
    record = record_of(directory)
    compiled = [entry for entry in record["compilations"] if entry["status"] == "compiled"]
    verdict.compilations = len(compiled)
    verdict.harmed += [note for note in record["notes"] if "depyf failed" in note]
    expected = Counter(name for name, _, _ in plain["compiled"])
    recorded = Counter(entry["place"]["function"] for entry in compiled)
    if expected != recorded:
        verdict.incomplete.append(
            f"compilations without a record: {dict(expected - recorded)}; records without one: {dict(recorded - expected)}"
        )
    for entry in compiled:
        title = f"{entry['id']} {entry['name']}"
        for kind in ("code_file", "guards_file"):
            if not entry[kind] or not (directory / entry[kind]).is_file():
                verdict.incomplete.append(f"{title}: no {kind}")
        if not entry["is_proved"]:
            verdict.not_proved.append(f"{title}: {entry['why_not_proved']}")
        texts_by_reason: dict[str, list[str]] = {}
        for absent in entry["missing"]:
            texts_by_reason.setdefault(absent["why"], []).append(absent["kind"])
        verdict.explained += [f"{title}: {', '.join(kinds)}: {why}" for why, kinds in texts_by_reason.items()]
    for file in record["function_files"]:
        if not (directory / file["file"]).is_file():
            verdict.incomplete.append(f"{file['file']} is named and absent")
    _judge_files(verdict, plain, directory)


def _judge_files(verdict: Verdict, plain: dict[str, Any], directory: Path) -> None:
    files = [path for path in directory.rglob("*") if path.is_file()]
    verdict.files = len(files)
    graphs = [path for path in files if ".Captured_Graph." in path.name]
    verdict.graphs = len(graphs)
    counted = plain["counters"].get("stats", {}).get("unique_graphs", 0)
    if len(graphs) != counted:
        verdict.incomplete.append(f"{len(graphs)} files of captured graphs, and PyTorch counted {counted}")
    kernels = sum(".kernel_" in path.name for path in files)
    inductor = plain["counters"].get("inductor", {})
    codes = sum(inductor.get(f"fxgraph_cache_{kind}", 0) for kind in ("hit", "miss", "bypass"))
    if kernels != codes:
        verdict.incomplete.append(f"{kernels} files of output code, and Inductor compiled or loaded {codes}")
    for path in files:
        try:
            if path.suffix == ".py":
                compile(path.read_text(encoding="utf-8"), path.name, "exec", dont_inherit=True)
            elif path.suffix == ".json":
                json.loads(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError) as error:
            verdict.incomplete.append(f"{path.name} cannot be read: {error}")
