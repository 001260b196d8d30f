"""Checks whether the contracts of five programs hold with other Pythons and other releases of PyTorch.

    python tools/contract/versions.py [--python COMMAND]... [--logs FOLDER]...

The contracts are written from logs of this interpreter. Each COMMAND is an interpreter with PyTorch; the programs run
under it with TORCH_TRACE, and their logs are checked. Each FOLDER already has logs of the programs, one subfolder for
each program, for example from another machine; these logs are checked too. The exit status is 1 if a contract is broken
with the release of PyTorch that it was written with; contracts that other releases break are printed, and are no error.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = os.environ.get("DEPYF_REPORT") or str(ROOT / "build" / "dev" / "depyf-report")
MODELS = Path(__file__).parent / "models"
PROGRAMS = {
    "toy": [ROOT / "examples" / "toy.py"],
    "train": [ROOT / "examples" / "train.py"],
    "hard": [ROOT / "examples" / "hard.py"],
    "transformer": [MODELS / "language_model.py"],
    "generate": [MODELS / "language_model.py", "generate"],
}


def record(command: list[str], folder: Path) -> list[str]:
    """Runs each program with an interpreter, and writes its log into a subfolder of `folder`. Returns the names of the
    programs that failed."""
    failed = []
    for name, program in PROGRAMS.items():
        logs = folder / name
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        environment = {**os.environ, "TORCH_TRACE": str(logs), "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
        done = subprocess.run(
            [*command, "-W", "ignore", *map(str, program)], env=environment, capture_output=True, text=True
        )
        if done.returncode:
            failed.append(name)
            print(f"{folder.name} {name}: {done.stderr.strip().splitlines()[-1:]}", flush=True)
    return failed


def check(contract: Path, logs: Path) -> tuple[str, list[str]]:
    """Returns ("holds", "broken" or the error if the logs cannot be read; a sentence for each broken part of the
    contract)."""
    done = subprocess.run([COMMAND, "check", "--json", "--baseline", contract, logs], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return (done.stderr.strip().splitlines() or ["no answer"])[0], []
    return ("broken" if done.returncode else "holds"), [each["sentence"] for each in json.loads(done.stdout)["broken"]]


def versions_of(logs: Path) -> tuple[str, str]:
    """Returns the versions of PyTorch and Python that wrote a log; "?" for an unknown one."""
    done = subprocess.run([COMMAND, "--json", logs], capture_output=True, text=True)
    process = json.loads(done.stdout)["processes"][0]
    return (process["torch_version"] or "?").partition("+")[0], process["python_version"] or "?"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="COMMAND",
        help="the command of an interpreter with PyTorch; may be repeated",
    )
    parser.add_argument(
        "--logs",
        action="append",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="a folder with logs of the programs; may be repeated",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        own = Path(temporary, "own")
        wrong = record([sys.executable], own)
        for name in PROGRAMS:
            contract = Path(temporary, f"{name}.json")
            subprocess.run(
                [COMMAND, "check", "--write", "--baseline", contract, own / name], check=True, capture_output=True
            )
            print(f"{name}: a contract of {len(contract.read_text().splitlines())} lines")
        own_torch, _ = versions_of(own / "toy")
        folders = list(options.logs)
        for number, command in enumerate([sys.executable, *options.python]):
            folders.append(Path(temporary, f"python{number}"))
            wrong += record(shlex.split(command), folders[-1])
        for folder in folders:
            for name in PROGRAMS:
                verdict, broken = check(Path(temporary, f"{name}.json"), folder / name)
                torch, python = versions_of(folder / "toy")
                print(f"PyTorch {torch}, Python {python}, {name}: {verdict}", flush=True)
                for sentence in broken[:4]:
                    print(f"    {sentence[:180]}")
                if torch == own_torch and verdict != "holds":
                    wrong.append(name)
    print(f"{len(wrong)} wrong with PyTorch {own_torch}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
