"""Writes docs/programs.md from the results: the effects of depyf on programs with packages that people use, and the
contents of their dumps."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

_HEAD = """# Programs with packages that people use

`make programs` writes this page. Each program is small, seeded, has random weights and downloads nothing. It runs plain and
under `depyf run`, one after the other, each time in a process of its own with empty caches of torch.compile. The columns:

| column | what it is |
|---|---|
| harmed | what differs under depyf: results bit for bit, exceptions, the functions that Dynamo compiled, in order, all counters of PyTorch, the state of random numbers, the exit status; and warnings of depyf |
| compilations, graphs | compiled functions and captured graphs as PyTorch counts them, which the dump has to match |
| absent | texts that the dump lacks without a reason, and files that cannot be read |
| proved | compilations whose source is proved equivalent to the bytecode |
| files | of the dump |
| time | the process's processor time under depyf as a multiple of plain, from its start to its end, with the writing of the dump and without C++ compilers, whose work is the same in both |
| memory | the process's peak memory under depyf as a multiple of plain |

vLLM is not among them, because its wheel (0.33.0) requires packages of CUDA (nvidia-cudnn-frontend, flashinfer), and this environment
has none: `split_backend` does with a graph what the backend of vLLM does.

"""


def write(path: Path, suite: Path, results: dict[str, dict[str, Any]], outdated: list[str]) -> None:
    """Writes the page.

    Args:
        path: the file of the page.
        suite: the folder of the programs.
        results: the result of each program that was run, by its name.
        outdated: the names of programs whose results belong to other sources of depyf or of the program.
    """
    lines = [_HEAD.rstrip("\n"), ""]
    lines += _summary(results, outdated)
    lines += [
        "| program | packages | harmed | compilations | graphs | absent | proved | files | time | memory |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [_row(name, suite, result) for name, result in results.items()]
    lines += ["", "## The programs", "", "| program | what it does |", "|---|---|"]
    lines += [f"| {name} | {_module(suite, name)[0]} |" for name in results]
    lines += _details(results)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _summary(results: dict[str, dict[str, Any]], outdated: list[str]) -> list[str]:
    verdicts = [result["verdict"] for result in results.values()]
    harmed = sum(bool(verdict["harmed"]) for verdict in verdicts)
    incomplete = sum(bool(verdict["incomplete"]) for verdict in verdicts)
    compilations = sum(verdict["compilations"] for verdict in verdicts)
    unproved = sum(len(verdict["not_proved"]) for verdict in verdicts)
    ratios = [sorted(_ratio(result, figure) for result in results.values()) for figure in _FIGURES]
    time, memory = (f"{ratio[len(ratio) // 2]:.2f} (at most {ratio[-1]:.2f})" for ratio in ratios)
    dates = sorted({result["date"] for result in results.values()})
    versions: dict[str, str] = {}
    for result in results.values():
        versions |= result["versions"]
    lines = [
        f"{len(results)} programs, {compilations} compilations: {harmed} programs harmed, {incomplete} dumps that lack "
        f"something, {unproved} compilations not proved. Medians: time {time}, memory {memory}.",
        "",
        f"Run on {dates[0] if dates[0] == dates[-1] else f'{dates[0]} to {dates[-1]}'} with "
        + ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
        + ".",
        "",
    ]
    if outdated:
        lines += [f"Run with other sources than those of now: {', '.join(outdated)}.", ""]
    return lines


_FIGURES = ("processor_seconds", "peak_kib")


def _ratio(result: dict[str, Any], figure: str) -> float:
    plain, watched = result["plain"][figure], result["depyf"][figure]
    return float(watched / plain) if plain else 0.0


def _row(name: str, suite: Path, result: dict[str, Any]) -> str:
    verdict = result["verdict"]
    proved = verdict["compilations"] - len(verdict["not_proved"])
    cells = [
        name,
        _module(suite, name)[1],
        len(verdict["harmed"]),
        verdict["compilations"],
        verdict["graphs"],
        len(verdict["incomplete"]),
        proved,
        verdict["files"],
        *(f"{_ratio(result, figure):.2f}" for figure in _FIGURES),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _module(suite: Path, name: str) -> tuple[str, str]:
    """Returns (the docstring of a program, the value of its constant `PACKAGES`)."""
    tree = ast.parse((suite / f"{name}.py").read_text(encoding="utf-8"))
    packages = next(
        str(ast.literal_eval(node.value))
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "PACKAGES"
    )
    return " ".join((ast.get_docstring(tree) or "").split()), packages


def _details(results: dict[str, dict[str, Any]]) -> list[str]:
    """Returns the lines that list harmed results, absent artifacts, unproved code and artifacts that a dump reports as
    missing."""
    titles = {
        "harmed": "Harmed",
        "incomplete": "Absent without a reason",
        "not_proved": "Not proved",
        "explained": "Absent, with the reason that the dump states",
    }
    lines = []
    for kind, title in titles.items():
        entries = [f"- {name}: {line}" for name, result in results.items() for line in result["verdict"][kind]]
        if entries:
            lines += ["", f"## {title}", "", *entries]
    return lines
