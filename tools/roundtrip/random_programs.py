#!/usr/bin/env python3
"""Round trips of random functions: control flow and expressions in combinations that no one writes, on each interpreter at
hand.

    random_programs.py [--versions 3.8,3.12] [--modules 50] [--functions 20] [--seed 1] [--command 'depyf-decompile'] [--keep DIR]

Each module is decompiled with --prove, compiled back, and its bytecode is proved against the original's, which sees the text
and not only the tree that the gate of --prove sees. Prints the counts for each version: functions, state machines, stubs,
functions that carry a mark, and `silent` ones, which carry none although their bytecode is not proved. The exit status is 1
if one is silent, or if a text does not compile.
"""

from __future__ import annotations

import argparse
import random
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "python")]

from depyf import _core  # noqa: E402
from interpreters import add_versions_option, at_hand  # noqa: E402
from random_functions import Function  # noqa: E402

COMMAND = ROOT / "build" / "dev" / "depyf-decompile"
# A program that compiles each file in its arguments to a .pyc file beside it, and prints one line for each file: `ok`
# or the error.
COMPILE = """
import py_compile, sys, warnings
warnings.simplefilter("ignore")
for path in sys.argv[1:]:
    try:
        py_compile.compile(path, path + "c", dfile="m.py", doraise=True)
        print("ok")
    except Exception as error:
        print(type(error).__name__, str(error).replace("\\n", " ")[-200:])
"""


def compile_all(python: str, files: list[Path]) -> list[str]:
    """Compiles each file to a .pyc file beside it, and returns `ok` or the error of each."""
    answer = subprocess.run([python, "-c", COMPILE, *map(str, files)], capture_output=True, text=True, check=True)
    return answer.stdout.splitlines()


def write_modules(rng: random.Random, python: str, version: tuple[int, int], folder: Path, options) -> list[Path]:
    """Writes modules of random functions, leaving out functions that do not compile. Returns the paths of the
    modules."""
    folder.mkdir(parents=True, exist_ok=True)
    modules = []
    for number in range(options.modules):
        texts = [Function(rng, version).text(f"f{index}") for index in range(options.functions)]
        singles = [folder / f"single_{index}.py" for index in range(len(texts))]
        for file, text in zip(singles, texts):
            file.write_text(text + "\n", encoding="utf-8")
        good = [text for text, answer in zip(texts, compile_all(python, singles)) if answer == "ok"]
        modules.append(folder / f"module_{number}.py")
        modules[-1].write_text("\n\n\n".join(good) + "\n", encoding="utf-8")
    return modules


def chunks_of(text: str) -> dict[str, str]:
    """Returns the text of each function of a module."""
    parts = re.split(r"^(?=(?:async )?def f\d+\()", text, flags=re.MULTILINE)
    return {match[1]: part for part in parts if (match := re.match(r"(?:async )?def (f\d+)\(", part))}


def judge(python: str, module: Path, counts: Counter, command: str) -> list[str]:
    """Decompiles a module, counts its functions by their verdicts, and returns a line for each failure."""
    pyc = module.with_suffix(".pyc")
    answer = subprocess.run([*shlex.split(command), "-q", "--prove", pyc], capture_output=True, check=False)
    if answer.returncode:
        counts["failed"] += 1
        return [f"{module}: exit status {answer.returncode}: {answer.stderr[-200:]!r}"]
    back = module.with_name(module.stem + "_back.py")
    back.write_bytes(answer.stdout)
    chunks = chunks_of(answer.stdout.decode("utf-8", "surrogatepass"))
    counts["functions"] += len(chunks)
    counts["state machines"] += sum("shown as a state machine" in chunk for chunk in chunks.values())
    counts["stubs"] += sum("depyf cannot decompile this" in chunk for chunk in chunks.values())
    marked = {name for name, chunk in chunks.items() if "# depyf: not" in chunk}
    counts["marked"] += len(marked)
    [error] = compile_all(python, [back])
    if error != "ok":
        counts["no-compile"] += 1
        return [f"{back}: {error}"]
    # Only the first failed proof of each top-level function counts: proofs of its nested functions follow, and pair
    # code objects by position.
    wrong: dict[str, _core.Proof] = {}
    for proof in _core.prove_pyc(pyc.read_bytes(), back.with_suffix(".pyc").read_bytes()):
        if not proof:
            wrong.setdefault(proof.where.function.split(".")[0], proof)
    silent = {name: proof for name, proof in wrong.items() if name not in marked and name in chunks}
    # The prover pairs the effects of both sides, so it gives up if one side runs an endless loop without effects.
    endless = {name for name, proof in silent.items() if "too long without an effect" in repr(proof)}
    counts["endless"] += len(endless)
    counts["silent"] += len(silent) - len(endless)
    return [f"{module}: {name}: {proof!r}" for name, proof in silent.items() if name not in endless]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_versions_option(parser)
    parser.add_argument("--modules", type=int, default=50, help="the number of modules for each version (default: 50)")
    parser.add_argument(
        "--functions",
        type=int,
        default=20,
        help="the number of functions in each module; functions that do not compile are left out (default: 20)",
    )
    parser.add_argument("--seed", type=int, default=1, help="the seed of the programs (default: 1)")
    parser.add_argument(
        "--command",
        default=str(COMMAND),
        help="the command of the decompiler, which is called with -q --prove and the file",
    )
    parser.add_argument(
        "--keep", type=Path, help="write the modules and the decompiled sources to this folder, and keep the folder"
    )
    options = parser.parse_args()
    failed = False
    for name, version, python in at_hand(options.versions):
        counts: Counter = Counter()
        with tempfile.TemporaryDirectory() as scratch:
            folder = (options.keep or Path(scratch)) / name
            modules = write_modules(random.Random(f"{options.seed} {name}"), python, version, folder, options)
            compile_all(python, modules)
            wrong = [line for module in modules for line in judge(python, module, counts, options.command)]
        kinds = ("functions", "marked", "state machines", "stubs", "endless", "silent", "no-compile", "failed")
        print(f"{name}: " + ", ".join(f"{counts[kind]} {kind}" for kind in kinds), flush=True)
        for line in wrong:
            print("    " + line)
        failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
