"""Ten questions about one training program, asked to depyf and to its peers: the table of docs/costs.md, as Markdown.

python tools/costs/peers.py --tlparse FILE [--verbose]

Each tool runs as its documentation says, on the same program (`program.py`). A question counts as answered if the
output of the tool matches the pattern of the question: the name or the line of the planted cost, together with the
figure that was asked for. `--verbose` prints what matched.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "program.py"
QUESTIONS = [
    "How long does each phase of compiling a function take?",
    "Which line does Dynamo trace longest?",
    "What would a change save of the time of compiling?",
    "Which kernel or library call takes longest?",
    "Which line of the forward takes longest?",
    "Which line of the backward takes longest?",
    "What do statements between graphs cost?",
    "Which tensors are kept for the backward, with bytes and line?",
    "Why is a tensor kept, and what would a checkpoint save?",
    "What do the guards of a call cost?",
]


def line_of(text: str) -> int:
    """Returns the number of the program's line that contains a text."""
    return next(n for n, line in enumerate(PROGRAM.read_text().splitlines(), 1) if text in line)


def at(text: str) -> str:
    """Returns a pattern that matches the location of the program's line with `text`, such as `program.py:35` or
    `program.py", line 35`."""
    return rf"program\.py(?::|\(|\", line |, line ){line_of(text)}\b"


def run(arguments: list[str], folder: Path, **variables: str) -> str:
    """Runs Python with Inductor's cache in `folder`, and returns its standard output and standard error."""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"), **variables}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr[-2000:]}")
    return done.stdout + done.stderr


def texts_in(folder: Path) -> dict[str, str]:
    """Returns the texts of all files in a folder, by name."""
    return {
        str(path.relative_to(folder)): path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()
    }


def depyf(folder: Path) -> list[str | None]:
    """Returns the answers of `depyf run --profile` and of `what_if` in depyf's Python interface; None for a question
    left open."""
    run(["-m", "depyf", "run", "--profile", "-o", "dump", str(PROGRAM), "5"], folder)
    costs = (folder / "dump" / "costs.txt").read_text()
    compiling, memory, calls = re.split(r"^(?:Compiling|Memory|Calls)\n-+\n", costs, flags=re.MULTILINE)[1:]
    what_if = run(
        [
            "-c",
            f"import sys; sys.path.insert(0, {str(HERE)!r})\nimport depyf, program\nwith depyf.memory_costs() as costs: program.training(1)()\n"
            "print(costs.what_if(checkpoint='first'))",
        ],
        folder,
    )
    kept = found(memory, r"may not be recomputed: .*|cheaper .*")
    saved = found(what_if, r"checkpoint\(.*less")
    return [
        found(compiling, r"Model\.forward.*Dynamo \d+ %.*|0/0 forward: .*Dynamo \d+ %"),
        found(compiling, rf"\d m?s  \d.*{at('slow to trace')}.*instructions"),
        found(compiling, r"Predicted savings of changes:\n.*"),
        found(calls, r"Kernels and library functions:\n.*"),
        found(calls, rf"Lines:\n.*{at('slow to run')}.*"),
        found(calls, rf"\(backward [^)]*\)  {at('slow to run')}.*|\(backward [^)]*\)  {at('self.down(ordered)')}.*"),
        found(calls, rf"\d  {at('a break')}.*\n.*between graphs|%  {at('a break')}.*\n.*"),
        found(memory, rf"MiB .*{at('torch.relu')}.*"),
        f"{kept}; {saved}" if kept and saved else None,
        found(calls, r"of it guards [\d.]+ [um]?s"),
    ]


def logs_of(folder: Path) -> Path:
    """Runs the program with TORCH_TRACE, and returns the path of its log."""
    (folder / "trace").mkdir()
    run([str(PROGRAM), "5"], folder, TORCH_TRACE=str(folder / "trace"))
    return next((folder / "trace").glob("*.log"))


def tlparse(command: str, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Returns (the pages that tlparse writes, its event files for Perfetto), each as texts by file name."""
    log = logs_of(folder)
    subprocess.run([command, str(log), "-o", str(folder / "pages"), "--no-browser"], check=True, capture_output=True)
    texts = texts_in(folder / "pages")
    events = {name: text for name, text in texts.items() if name.endswith("chromium_events.json")}
    return {name: text for name, text in texts.items() if name not in events}, events


def of_tlparse(pages: dict[str, str], events: dict[str, str]) -> tuple[list[str | None], list[str | None]]:
    """Returns (the answers in tlparse's pages, the answers in its events for Perfetto); None for a question left
    open."""
    everything = "\n".join(pages.values())
    timeline = json.loads(next(iter(events.values())))
    rows = "\n".join(json.dumps(event) for event in timeline)
    from_pages: list[str | None] = [
        found(everything, r"inductor_compile_time_s[^\n]*"),
        found(everything, rf"{at('slow to trace')}[^\n]*\d m?s\b"),
        found(everything, r"would save"),
        found(everything, r"extern_kernels\.\w+[^\n]*\d (?:us|ms)\b"),
        found(everything, rf"{at('slow to run')}[^\n]*\d (?:us|ms)\b"),
        found(everything, rf"backward[^\n]*{at('slow to run')}[^\n]*\d (?:us|ms)\b"),
        found(everything, rf"{at('a break')}[^\n]*\d (?:us|ms)\b"),
        found(everything, rf"saved[^\n]*{at('torch.relu')}[^\n]*bytes"),
        found(everything, r"checkpoint[^\n]*\d+ bytes"),
        found(everything, r"\"guard_latency_us\": \d[^\n]*"),
    ]
    traced, ran, broke, kept = (
        found(rows, rf"[^\n]*{at(text)}[^\n]*") for text in ("slow to trace", "slow to run", "a break", "torch.relu")
    )
    durations = found(rows, r'"name": "(?:dynamo|backend_compile|compile_fx[^"]*)"[^\n]*')
    from_events = [durations, traced, None, None, ran, None, broke, kept, None, None]
    return from_pages, from_events


def torch_profiler(folder: Path) -> list[str | None]:
    """Returns the answers of torch.profiler, used around the first steps and, with stacks, shapes and memory, around
    steps after compilation."""
    script = (
        f"import sys; sys.path.insert(0, {str(HERE)!r})\nimport program, torch\ntrain = program.training(5)\n"
        "with torch.profiler.profile() as p: train()\n"
        "print(p.key_averages().table(sort_by='cpu_time_total', row_limit=60))\n"
        "with torch.profiler.profile(with_stack=True, record_shapes=True, profile_memory=True) as p: train()\n"
        "print(p.key_averages(group_by_stack_n=8).table(sort_by='self_cpu_time_total', row_limit=60, max_src_column_width=200))\n"
        "p.export_chrome_trace('trace.json')\n"
    )
    table = run(["-c", script], folder)
    # The trace contains line numbers only in the events of Python frames that enclose an operator's event.
    trace = "\n".join(json.dumps(event) for event in json.loads((folder / "trace.json").read_text())["traceEvents"])
    everything = table + trace
    return [
        found(table, r"\S*compile_inner[^\n]*"),
        found(everything, rf"[^\n]*{at('slow to trace')}[^\n]*"),
        None,
        found(table, r"aten::sort[^\n]*"),
        found(everything, rf"[^\n]*{at('slow to run')}[^\n]*"),
        found(everything, rf"[^\n]*Backward[^\n]*{at('slow to run')}[^\n]*"),
        found(everything, rf"[^\n]*{at('a break')}[^\n]*"),
        found(everything, rf"[^\n]*saved[^\n]*{at('torch.relu')}[^\n]*"),
        None,
        found(table, r"TorchDynamo Cache Lookup[^\n]*"),
    ]


def partitioner(folder: Path) -> list[str | None]:
    """Returns the answers in the output of PyTorch's AOT_PARTITIONER_DEBUG; None for a question left open."""
    text = run([str(PROGRAM), "1"], folder, AOT_PARTITIONER_DEBUG="1", TORCH_LOGS="torch._functorch.partitioners")
    return [
        None,
        found(text, rf"{at('slow to trace')}[^\n]*\d m?s\b"),
        None,
        None,
        None,
        None,
        None,
        found(text, rf"Theoretical Per Activation Storage Sizes[^\n]*{at('torch.relu')}[^\n]*"),
        found(text, r"banned[^\n]*checkpoint"),
        None,
    ]


def memory_viz() -> str:
    """Returns the reason why PyTorch's memory snapshots cannot answer on this machine, or "" if there is a GPU."""
    import torch

    return "" if torch.cuda.is_available() else "needs a GPU"


def found(text: str, pattern: str) -> str | None:
    """Returns the first match of a pattern joined to one line of at most 200 characters, or None."""
    match = re.search(pattern, text)
    return " ".join(match[0].split())[:200] if match else None


def main() -> int:
    """Runs the command, and returns its exit status: 1 if depyf does not answer a question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--tlparse", required=True, help="the path of the command tlparse, which `pip install tlparse` installs"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="also print the text that matched the pattern of each question"
    )
    arguments = parser.parse_args()
    if shutil.which(arguments.tlparse) is None:
        parser.error(
            f"there is no command {arguments.tlparse}: `pip install tlparse` into an environment, and name its file"
        )
    answers: dict[str, list[str | None]] = {}
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / tool for tool in ("depyf", "tlparse", "profiler", "partitioner")]
        for folder in folders:
            folder.mkdir()
        answers["depyf"] = depyf(folders[0])
        pages, events = tlparse(arguments.tlparse, folders[1])
        answers["tlparse"], answers["Perfetto"] = of_tlparse(pages, events)
        answers["torch.profiler"] = torch_profiler(folders[2])
        answers["AOT_PARTITIONER_DEBUG"] = partitioner(folders[3])
    print(f"| question | {' | '.join(answers)} | memory_viz |")
    print("|---" * (len(answers) + 2) + "|")
    for number, question in enumerate(QUESTIONS):
        cells = ["yes" if row[number] else "no" for row in answers.values()]
        print(f"| {question} | {' | '.join(cells)} | {memory_viz() or 'not tried'} |")
    if arguments.verbose:
        for tool, row in answers.items():
            for number, answer in enumerate(row):
                print(f"{tool} {number + 1}: {answer}", file=sys.stderr)
    return int(not all(answers["depyf"]))


if __name__ == "__main__":
    sys.exit(main())
