"""Opens, proves, runs and compares artifacts that other releases of PyTorch save.

    python tools/artifact_versions.py --python COMMAND [--python COMMAND]... [--count 1000]

Each COMMAND is an interpreter of this Python's version with PyTorch. Under it, functions are compiled ahead of time on each backend
and saved, with a model, a block of a transformer, the layout of a server with two ranks, and two bundles of caches. This interpreter
opens each file without PyTorch; the transformed code has to be proved. Under COMMAND each function is loaded in a
`prepare_debug` block and without one, and must return the same bits. The guards that depyf shows must decide as
PyTorch's own guards do, on COUNT inputs. The exit status is 1 if one of these checks fails.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from depyf import _core

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "tests" / "torch" / "ahead_of_time.py"


class Failed(Exception):
    """A step ended with an error. The text is the last line of the step's standard error."""


def step(command: list[str], folder: Path, *arguments: str) -> Any:
    """Runs one step of tests/torch/ahead_of_time.py, and returns what it prints as JSON."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'python'}:{ROOT / 'tests'}"}
    environment["TORCHINDUCTOR_CACHE_DIR"] = str(folder.parent / f"{folder.name}_cache")
    done = subprocess.run(
        [*command, "-W", "ignore", SCRIPT, folder, *arguments], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise Failed((done.stderr.strip().splitlines() or ["no message"])[-1])
    return json.loads(done.stdout) if done.stdout.strip() else None


def opened(folder: Path) -> tuple[int, int, int, list[str]]:
    """Opens all artifacts in a folder. Returns (the number of files, the number of functions in the files, the number
    of proved functions, a line for each mistake)."""
    files = functions = proved = 0
    mistakes = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or (path.suffix != ".bin" and path.name != "model"):
            continue
        files += 1
        text, _, _ = _core.open_artifact(str(path), [], True)
        document = json.loads(text)
        parts = [part for artifact in document["artifacts"] for part in artifact["parts"]]
        shown = [function for part in parts for function in part["functions"] if function["role"] != "original"]
        functions += len(shown)
        proved += sum(function["proved"] for function in shown)
        if not parts or any(artifact["error"] for artifact in document["artifacts"]):
            mistakes.append(f"{path.name}: {document['artifacts'][0]['error'] or 'nothing in it'}")
        mistakes += [f"{path.name}: {each['name']} is not proved" for each in shown if not each["proved"]]
    return files, functions, proved, mistakes


def measure(command: list[str], count: int, folder: Path) -> list[str]:
    """Runs all steps with one interpreter, and prints a line of results. Returns a line for each mistake."""
    release = subprocess.run(
        [*command, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True
    ).stdout.strip()
    folder.mkdir()
    try:
        step(command, folder, "every")
        runs, verdicts = step(command, folder, "run"), step(command, folder, str(count))
        others = folder.with_name(f"{folder.name}_others")
        others.mkdir()
        try:
            step(command, others)
        except Failed as error:
            print(f"PyTorch {release}: of the others only some are saved: {error}", flush=True)
    except Failed as error:
        return [f"PyTorch {release}: {error}"]
    mistakes = [f"{name}: {row}" for name, row in runs.items() if not all(row[:3])]
    mistakes += [f"{name}: another verdict for {row[2][:3]}" for name, row in verdicts.items() if row[2]]
    mistakes += [f"{name}: accepts all or nothing" for name, row in verdicts.items() if not row[0] or not row[1]]
    files = functions = proved = 0
    for place in (folder, others):
        of_place = opened(place)
        files, functions, proved = files + of_place[0], functions + of_place[1], proved + of_place[2]
        mistakes += of_place[3]
    print(
        f"PyTorch {release}: {files} files with {functions} functions, {proved} of them proved; {len(runs)} run with the same "
        f"bits; the guards of {len(verdicts)} agree on {count} inputs each; {len(mistakes)} mistakes",
        flush=True,
    )
    return [f"PyTorch {release}: {mistake}" for mistake in mistakes]


def main() -> int:
    """Runs the command, and returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--python",
        action="append",
        required=True,
        metavar="COMMAND",
        help="the command of an interpreter with PyTorch; may be repeated",
    )
    parser.add_argument(
        "--count", type=int, default=1000, help="the number of inputs for which the guards are compared (default: 1000)"
    )
    arguments = parser.parse_args()
    mistakes = []
    with tempfile.TemporaryDirectory() as folder:
        for number, command in enumerate(arguments.python):
            mistakes += measure(shlex.split(command), arguments.count, Path(folder) / str(number))
    print("\n".join(mistakes))
    return int(bool(mistakes))


if __name__ == "__main__":
    sys.exit(main())
