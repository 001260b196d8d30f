"""Writes docs/compatibility.md from the results: what works with which PyTorch and Python, and the reasons for what
does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import cells

Key = tuple[str, str]
_MARKS = {"works": "works", "in part": "in part", "not available": "not available", "fails": "**fails**"}
# The artifacts of a dump and their names on the page, in the order in which the compiler creates them.
_STAGES = {
    "Captured_Graph": "captured graph",
    "BEFORE_PRE_GRAD": "before pre-grad",
    "AFTER_PRE_GRAD": "after pre-grad",
    "Joint_graph": "joint",
    "Forward_graph": "forward",
    "Backward_graph": "backward",
    "BEFORE_POST_GRAD": "before post-grad",
    "AFTER_POST_GRAD": "after post-grad",
    "ir_pre_fusion": "IR before fusion",
    "ir_post_fusion": "IR after fusion",
    "kernel": "output code",
}
_HEAD = """# What works with which PyTorch and Python

`make compat` writes this page from a real run, Linux on x86-64, without a GPU: for each row an environment of its own with
that PyTorch from PyPI and the extension module built for that Python (`make wheel` tests the wheels). What the cells mean
stands below the tables; every cell that is not "works" has a number, under which the reason stands at the end, and so has
one that works where depyf warned of something, or where a first try took its process down.
`python -m depyf doctor` says the same of the releases that you have.
"""
_MEANING = """## What the cells mean

*The examples.* `examples/toy.py` (a branch on data), `examples/train.py` (training, sizes that
change, forward and backward), `examples/hard.py` (code that no Python compiles to) run with each backend in a
process that never loads depyf, and in one under `prepare_debug`. "works" says of both: results equal to the last bit, the
same text printed, the same functions compiled in the same order, as counted by a bytecode hook that is no part of depyf;
and of the dump: one file of transformed code for each of them (their number stands in the cell), each proved equivalent by
the head of its file, each file of the dump Python that compiles, nothing failed within depyf.

*The features.* Each runs a function with a graph break:

| feature | what must hold |
|---|---|
| doctor | it exits, and its own program, from torch.compile to the dump, works; nothing is missing that should be there |
| explain | an entry for each compilation that the hook counted, with proved code, graphs, resume functions, and guards as a function |
| guards | eight calls of different kinds: `entry.check` says what PyTorch's own lookup then does |
| cache_entries | source, graphs, resume functions; `entry.run` gives the same values, also after `torch._dynamo.reset()` |
| register | an edited entry is used by the next call; taken away, the old one is; nothing is compiled |
| save, load_entry | an entry from a file gives the same values |
| debug | breakpoints by file and line hit in `depyf.debug`, forward and backward; a call that fits no entry is not compiled |
| step | stops at each instruction of transformed code and resume functions, with the value stack; results unchanged |
| depyf run | a program, its summary, and the summary again from the dump |
"""


def write(path: Path, results: dict[Key, dict[str, Any]]) -> None:
    """Writes the page.

    Args:
        path: the file of the page.
        results: the result of each combination that was run.
    """
    reasons: list[str] = []
    out = [_HEAD]
    dates = sorted({str(one["date"]) for one in results.values() if "date" in one})
    if dates:
        out.append(
            f"Run on {dates[0] if dates[0] == dates[-1] else f'{dates[0]} to {dates[-1]}'}; {_sources(results)}.\n"
        )
    out.append("## The examples, by backend\n")
    out += _examples(results, reasons)
    out.append("\n## The features\n")
    out += _features(results, reasons)
    out.append("\n## The stages in a dump of train.py with inductor\n")
    out += _stages(results, reasons)
    out.append("")
    out.append(_MEANING)
    out.append("## Reasons\n")
    out += [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)] or ["There is nothing to say."]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(out) + "\n")


def _sources(results: dict[Key, dict[str, Any]]) -> str:
    """Returns a text that names the state of the sources (its hash) with which each combination was run."""
    found: dict[str, list[str]] = {}
    for key, result in results.items():
        if result["cells"]:
            found.setdefault(str(result["stamp"]), []).append("/".join(key))
    if len(found) == 1:
        return f"all of one state of the sources, which `run.py --stamp` called {next(iter(found))}"
    said = (f"{stamp} ({', '.join(keys)})" for stamp, keys in found.items())
    return f"of states of the sources that `run.py --stamp` called {', '.join(said)}"


def _row(key: Key, result: dict[str, Any]) -> str:
    return f"{result.get('torch', key[0]).partition('+')[0]} | {result.get('python', key[1])}"


def _number(reason: str, reasons: list[str]) -> int:
    # The text omits folders of this machine, and all but the first 400 characters of a message such as a compiler's.
    text = re.sub(r"(?<!\w)/\S*/", "", " ".join(reason.split()))[:400]
    if text not in reasons:
        reasons.append(text)
    return reasons.index(text) + 1


def _cell(cell: dict[str, Any] | None, reasons: list[str], note: str = "") -> str:
    if cell is None:
        return "not run"
    mark = _MARKS[cell["verdict"]] + (note if cell["verdict"] == "works" else "")
    return f"{mark} [{_number(cell['reason'], reasons)}]" if cell["reason"] else mark


def _examples(results: dict[Key, dict[str, Any]], reasons: list[str]) -> list[str]:
    names = [f"{example}/{backend}" for backend in cells.BACKENDS for example in cells.EXAMPLES]
    out = ["| PyTorch | Python | " + " | ".join(name.replace("/", ", ") for name in names) + " |"]
    out.append("|---" * (len(names) + 2) + "|")
    for key, result in results.items():
        found = []
        for name in names:
            cell = result["cells"].get(name)
            frames = len(cell["seen"]["frames"]) if cell and "seen" in cell else 0
            found.append(_cell(cell, reasons, f" ({frames})"))
        out.append(f"| {_row(key, result)} | {' | '.join(found)} |")
    return out


def _features(results: dict[Key, dict[str, Any]], reasons: list[str]) -> list[str]:
    out = ["| PyTorch | Python | " + " | ".join(cells.FEATURES.values()) + " |"]
    out.append("|---" * (len(cells.FEATURES) + 2) + "|")
    for key, result in results.items():
        found = [_cell(result["cells"].get(name), reasons) for name in cells.FEATURES]
        out.append(f"| {_row(key, result)} | {' | '.join(found)} |")
    return out


def _stages(results: dict[Key, dict[str, Any]], reasons: list[str]) -> list[str]:
    out = ["| PyTorch | Python | " + " | ".join(_STAGES.values()) + " |"]
    out.append("|---" * (len(_STAGES) + 2) + "|")
    for key, result in results.items():
        seen = result["cells"].get("train/inductor", {}).get("seen")
        if not seen:
            out.append(f"| {_row(key, result)} |" + " not run |" * len(_STAGES))
            continue
        why: dict[str, str] = {}
        for kind, reason in seen["missing"]:
            why.setdefault(kind, reason)
        notes = "; ".join(note for note in seen["notes"] if "graphs" in note) or "PyTorch does not show it"
        found = []
        for kind in _STAGES:
            if kind in seen["kinds"]:
                found.append(str(seen["kinds"][kind]["files"]))
            else:
                found.append(f"none [{_number(why.get(kind, notes), reasons)}]")
        out.append(f"| {_row(key, result)} | {' | '.join(found)} |")
    return out
