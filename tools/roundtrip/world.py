#!/usr/bin/env python3
"""Measures round trips over code that the decompiler was not tuned for: packages of PyPI, torch, and CPython's own
tests.

    world.py --versions 3.8,3.13 --count 1000 --json out.json

Draws packages by seed from a file of candidates, downloads their pure wheels into .cache/world, draws modules by seed,
and counts for each version how their sources come back. Lists each difference with its class. See README.md.
"""

import argparse
import collections
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import roundtrip

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".cache" / "world"
sys.path.insert(0, str(ROOT / "tests"))

from interpreters import add_versions_option, at_hand  # noqa: E402

COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")
PACKAGES = 110
CANDIDATES = HERE / "world_packages.txt"
# Python up to 3.10 is measured on the newest release of a package that supports 3.8, later Python on the newest release
# that supports 3.13.
POOLS = (((3, 10), "3.8"), ((3, 99), "3.13"))
STATE_MACHINE = b"# depyf: not equal: shown as a state machine"
STUB = b"depyf cannot decompile this: "


def drawn_packages(candidates: Path, seed: int, count: int) -> list[str]:
    """Return the names of the `count` packages that `seed` draws from the file `candidates`, in the order of the draw."""
    names = candidates.read_text().split()
    return random.Random(seed).sample(names, min(count, len(names)))


def download(package: str, pool: str, python: str) -> str:
    """Download a package's pure wheel, and unpack its sources into the cache. Return "", or the reason why the wheel
    cannot be downloaded."""
    folder = CACHE / pool / package
    if folder.exists():
        return ""
    with tempfile.TemporaryDirectory() as scratch:
        command = [python, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--platform", "any"]
        command += ["--implementation", "py", "--abi", "none", "--python-version", pool, "-d", scratch, package]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(scratch).glob("*.whl"))
        if not wheels:
            return (answer.stderr.strip().splitlines() or ["no wheel"])[-1]
        partial = CACHE / pool / (package + ".partial")
        with zipfile.ZipFile(wheels[0]) as archive:
            for name in archive.namelist():
                if name.endswith(".py"):
                    archive.extract(name, partial)
        partial.mkdir(parents=True, exist_ok=True)
        partial.rename(folder)
    return ""


def fetch(packages: list[str], pool: str, python: str) -> list[Path]:
    """Download packages that are not in the cache. Return the folders of all packages that could be downloaded."""
    with ThreadPoolExecutor(4) as executor:
        reasons = list(executor.map(lambda package: download(package, pool, python), packages))
    for package, reason in zip(packages, reasons):
        if reason:
            print(f"{package} for {pool}: {reason}", file=sys.stderr)
    return [CACHE / pool / package for package, reason in zip(packages, reasons) if not reason]


def sources(folders: list[Path]) -> list[Path]:
    """Return all Python files in the folders, in a stable order."""
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def corpora(
    names: list[str], version: tuple[int, int], python: str, packages: list[str]
) -> dict[str, tuple[Path, list[Path]]]:
    """Return the root and the files of each corpus for an interpreter."""
    found = {}
    if "packages" in names:
        pool = next(pool for last, pool in POOLS if version <= last)
        found["packages"] = (CACHE / pool, sources(fetch(packages, pool, sys.executable)))
    if "torch" in names:
        torch = next((ROOT / ".venv").glob("lib/python*/site-packages/torch"), None)
        if torch:
            found["torch"] = (torch.parent, sources([torch]))
    if "site" in names:
        site = next((ROOT / ".venv").glob("lib/python*/site-packages"))
        folders = [folder for folder in site.iterdir() if folder.name != "torch"]
        found["site"] = (site, sources(folders))
    if "tests" in names:
        tests = roundtrip.stdlib_of(python) / "test"
        found["tests"] = (tests.parent, sources([tests]))
    return found


def draw(files: list[Path], root: Path, count: int, seed: int, work: Path, worker) -> list[dict]:
    """Compile files in random order until `count` of them have compiled; return these as modules."""
    modules: list[dict] = []
    for file in random.Random(seed).sample(files, len(files)):
        if len(modules) == count:
            break
        pyc = work / f"{len(modules):05}_{file.stem}.pyc"
        reply = worker.ask(do="compile", src=str(file), pyc=str(pyc), name=file.name)
        if reply and reply["ok"]:
            modules.append({"name": file.relative_to(root).as_posix(), "src": str(file), "pyc": str(pyc)})
    return modules


def verdict_of(record: dict) -> str:
    """Return the class of a module in the table: the failure of the whole module, or else the worst class of its code
    objects."""
    if record["verdict"] in ("crash", "timeout"):
        return "crash"
    if not record["compiles"]:
        return "no-compile"
    if record["exit"]:
        return "failed"
    verdicts = {row["verdict"] for row in record["objects"]}
    return next(verdict for verdict in ("silent", "marked", "proved", "equal") if verdict in verdicts)


def judge_objects(record: dict, pyc: str, text: bytes) -> None:
    """Set the verdict of each code object: equal, marked, proved (the gate proves that it behaves the same), or silent.

    A mark applies only to the definition that contains it, so it hides no other difference of its module.
    """
    for row in record["objects"]:
        row["verdict"] = "equal" if row["equal"] else "marked" if row["marked"] else "silent"
    silent = [row for row in record["objects"] if row["verdict"] == "silent"]
    if not silent or not record["compiles"]:
        return
    for row in proved(silent, pyc, text):
        row["verdict"] = "proved"


def proved(rows: list[dict], pyc: str, text: bytes) -> list[dict]:
    """Return the code objects for which the gate proves that `text` behaves like the bytecode; [] if --prove prints
    another text."""
    answer = subprocess.run([COMMAND, "--prove", "--json", pyc], capture_output=True, check=False)
    [file] = json.loads(answer.stdout)["files"]
    lines = file["source"].encode("utf-8", "surrogatepass").splitlines(keepends=True)
    if b"".join(line for line in lines if b"# depyf: not proved: " not in line) != text:
        return []
    # A code object is identified by the last part of its name; if one of several code objects with this name is not
    # proved, none of them counts as proved.
    unproved = {row["name"].split(".")[-1] for row in file["not_proved"]}
    return [row for row in rows if row["path"].split("/")[-1].split("#")[0] not in unproved]


def measure(modules: list[dict], command: list[str], python: str, worker) -> tuple[collections.Counter, list[dict]]:
    """Decompile, compile and compare modules; return the counts, and a record of each difference."""
    counts: collections.Counter = collections.Counter()
    differences = []
    for module in modules:
        record = roundtrip.judge(module, command, python, worker, timeout=60, memory=4096)
        text = Path(module["pyc"] + ".out.py").read_bytes()
        judge_objects(record, module["pyc"], text)
        verdict = verdict_of(record)
        counts[verdict] += 1
        counts["modules"] += 1
        counts["objects"] += len(record["objects"])
        if record["compiles"]:
            for row in record["objects"]:
                counts["objects " + row["verdict"]] += 1
        counts["state machines"] += text.count(STATE_MACHINE)
        counts["stubs"] += len(re.findall(re.escape(STUB), text))
        if verdict == "equal":
            continue
        rows = [row for row in record["objects"] if row["verdict"] != "equal"] if record["compiles"] else []
        differences.append(
            {
                "module": module["name"],
                "verdict": verdict,
                "reason": record["reason"],
                "objects": [[row["path"], row["line"], row["verdict"], row["reason"]] for row in rows],
            }
        )
    return counts, differences


COLUMNS = (
    "modules",
    "equal",
    "marked",
    "proved",
    "silent",
    "no-compile",
    "failed",
    "crash",
    "state machines",
    "stubs",
    "objects",
    "objects equal",
    "objects marked",
    "objects proved",
    "objects silent",
)


def row_of(label: str, counts: dict) -> str:
    """Return one row of the table in Markdown."""
    share = 100 * counts.get("equal", 0) / max(counts.get("modules", 0), 1)
    return f"| {label} | " + " | ".join(str(counts.get(column, 0)) for column in COLUMNS) + f" | {share:.1f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_versions_option(parser)
    parser.add_argument(
        "--corpora",
        default="packages,torch,tests",
        help="a list of packages, torch, tests and site with commas; site stands for the packages in .venv except "
        "torch, without a download (default: packages,torch,tests)",
    )
    parser.add_argument(
        "--count",
        type=int,
        default=1000,
        help="draw this number of modules of each corpus for each version (default: 1000)",
    )
    parser.add_argument("--seed", type=int, default=1, help="draw packages and modules by this seed (default: 1)")
    parser.add_argument(
        "--packages", type=int, default=PACKAGES, help=f"draw this number of packages of PyPI (default: {PACKAGES})"
    )
    parser.add_argument(
        "--candidates",
        type=Path,
        default=CANDIDATES,
        help="draw from the packages that this file names (default: %(default)s)",
    )
    parser.add_argument(
        "--command",
        default=f"{COMMAND} {{pyc}}",
        help="the command line that decompiles a module; {pyc} stands for its file (default: %(default)s)",
    )
    parser.add_argument("--json", help="write all counts and differences to this file")
    parser.add_argument("--keep", help="write the .pyc files and the outputs to this folder, and keep the folder")
    args = parser.parse_args()
    results = {}
    print("| | " + " | ".join(COLUMNS) + " | equal, % |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    packages = drawn_packages(args.candidates, args.seed, args.packages)
    for name, version, python in at_hand(args.versions):
        for corpus, (root, files) in corpora(args.corpora.split(","), version, python, packages).items():
            label = f"{name} {corpus}"
            with tempfile.TemporaryDirectory() as scratch:
                work = Path(args.keep) / label.replace(" ", "-") if args.keep else Path(scratch)
                work.mkdir(parents=True, exist_ok=True)
                worker = roundtrip.Worker(python)
                modules = draw(files, root, args.count, args.seed, work, worker)
                counts, differences = measure(modules, shlex.split(args.command), python, worker)
                worker.close()
            results[label] = {"counts": dict(counts), "differences": differences}
            print(row_of(label, counts), flush=True)
    for label, result in results.items():
        for difference in result["differences"]:
            print(f"\n{label}: {difference['module']}: {difference['verdict']} {difference['reason']}".rstrip())
            for path, line, verdict, reason in difference["objects"]:
                print(f"    {path}, line {line}: {verdict}: {reason}")
    if args.json:
        Path(args.json).parent.mkdir(parents=True, exist_ok=True)
        Path(args.json).write_text(json.dumps(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
