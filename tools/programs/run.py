#!/usr/bin/env python3
"""Runs programs with packages that people use, plain and under `depyf run`, and writes docs/programs.md.

    run.py [PROGRAM...]      those of the suite; none: all
    run.py --page            only writes the page, from the results that there are

Each program runs plain and then under `depyf run`, in processes of their own, with the caches of torch.compile empty at each
start. Machine code is kept by its C++ (compiler/g++), since the same C++ is compiled each time. Results are kept with a number
of the sources of depyf and of the program, so an interrupted run can continue; AGAIN=1 runs all again. The exit status
is 1 if a program was harmed, or a dump lacks something.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import environment
import judge
import page

ROOT = environment.ROOT
SUITE = Path(__file__).with_name("suite")
HARNESS = Path(__file__).with_name("harness.py")
WORK = ROOT / ".cache" / "program-runs"
HEADERS = ROOT / ".cache" / "inductor" / "precompiled_headers"
"""The folder of headers that Inductor precompiled, which the tests of depyf share."""
TIME_LIMIT = 1800
"""The time limit in seconds for one run of a program; the slowest program takes a tenth of it on an idle machine."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = sorted(path.stem for path in SUITE.glob("*.py"))
    parser.add_argument(
        "program", nargs="*", help=f"run only this program, which is one of {', '.join(names)} (default: all programs)"
    )
    parser.add_argument("--page", action="store_true", help="only write the page, and run no program")
    parser.add_argument(
        "--python",
        help="run the programs with this interpreter, which has all packages that the programs need "
        "(default: an environment that the tool creates)",
    )
    parser.add_argument(
        "--work", type=Path, default=WORK, help=f"the folder for the dumps and results (default: {WORK})"
    )
    parser.add_argument(
        "--to",
        type=Path,
        default=ROOT / "docs" / "programs.md",
        help="write the page to this file (default: docs/programs.md)",
    )
    options = parser.parse_args()
    if unknown := set(options.program) - set(names):
        parser.error(f"unknown program {unknown.pop()}")
    wanted = [] if options.page else options.program or names
    if wanted and not options.python:
        environment.install()
    for name in wanted:
        file = options.work / name / "result.json"
        stamp = _stamp(name)
        if not os.environ.get("AGAIN") and file.exists() and json.loads(file.read_text())["stamp"] == stamp:
            continue
        result = {"stamp": stamp, **_measure(name, options.python or str(environment.PYTHON), options.work / name)}
        file.write_text(json.dumps(result, indent=1))
        _show(name, result)
    results = {}
    for name in names:
        file = options.work / name / "result.json"
        if file.exists():
            results[name] = json.loads(file.read_text())
    is_whole = set(results) == set(names)
    page.write(options.to, SUITE, results, [name for name in results if results[name]["stamp"] != _stamp(name)])
    if not is_whole:
        print(f"programs: not run yet: {', '.join(sorted(set(names) - set(results)))}", file=sys.stderr)
    is_bad = any(result["verdict"]["harmed"] or result["verdict"]["incomplete"] for result in results.values())
    return 1 if is_bad else 0


def _stamp(name: str) -> str:
    """Returns a hash of the sources that the result of a program depends on."""
    digest = hashlib.sha256()
    files = [*(ROOT / "python").rglob("*.py"), *(ROOT / "src").rglob("*.cpp"), *(ROOT / "src").rglob("*.h")]
    files += [SUITE / f"{name}.py", HARNESS, Path(judge.__file__), Path(__file__), environment.REQUIREMENTS]
    for path in sorted(files):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _measure(name: str, python: str, work: Path) -> dict[str, Any]:
    """Runs a program plain and under depyf. Returns the verdict, and the times and the memory of both runs."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    plain, _ = _run(name, [python, str(HARNESS)], work, "plain")
    dump = work / "dump"
    watched, errors = _run(name, [python, "-m", "depyf", "run", "-o", str(dump), str(HARNESS)], work, "depyf")
    if plain is None or watched is None:
        which = "the plain run" if plain is None else "the run under depyf"
        verdict = judge.Verdict(harmed=[f"{which} wrote nothing: {errors.strip()[-400:]}"])
    else:
        verdict = judge.judge(plain, watched, errors, dump)
        if plain["raised"]:
            verdict.harmed.append(f"the program itself does not work: {plain['raised']}")
    figures = ("processor_seconds", "peak_kib")
    return {
        "date": datetime.date.today().isoformat(),
        "versions": _versions(python),
        "verdict": dataclasses.asdict(verdict),
        "plain": {figure: (plain or {}).get(figure, 0) for figure in figures},
        "depyf": {figure: (watched or {}).get(figure, 0) for figure in figures},
    }


def _run(name: str, command: list[str], work: Path, kind: str) -> tuple[dict[str, Any] | None, str]:
    """Runs a program once. Returns what the harness wrote (None if it wrote nothing) and the text of standard error."""
    output, caches = work / f"{kind}.json", work / "caches"
    shutil.rmtree(caches, ignore_errors=True)
    caches.mkdir()
    HEADERS.mkdir(parents=True, exist_ok=True)
    (caches / "precompiled_headers").symlink_to(HEADERS)
    variables = {
        **os.environ,
        "TORCHINDUCTOR_CACHE_DIR": str(caches),
        "TRANSFORMERS_VERBOSITY": "error",
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(ROOT / "python"),
        "PATH": f"{Path(__file__).with_name('compiler')}{os.pathsep}{os.environ['PATH']}",
        "DEPYF_MACHINE_CODE": str(work.parent / "machine_code"),
    }
    with open(work / f"{kind}.out", "w") as out, open(work / f"{kind}.err", "w") as err:
        arguments = [*command, name, str(output)]
        done = subprocess.run(
            arguments, stdout=out, stderr=err, env=variables, timeout=TIME_LIMIT, cwd=work, check=False
        )
    shutil.rmtree(caches)
    errors = (work / f"{kind}.err").read_text(errors="replace")
    if not output.exists():
        return None, errors
    return json.loads(output.read_text()) | {"status": done.returncode}, errors


def _versions(python: str) -> dict[str, str]:
    """Returns the releases of the packages in requirements.txt that an interpreter has."""
    names = [line.partition("==")[0] for line in environment.REQUIREMENTS.read_text().splitlines() if "==" in line]
    program = (
        "import importlib.metadata as m, json, sys\n"
        "print(json.dumps({d.name.lower(): d.version for d in m.distributions() if d.name.lower() in sys.argv[1:]}))"
    )
    done = subprocess.run([python, "-c", program, *names], capture_output=True, text=True, check=True)
    versions: dict[str, str] = json.loads(done.stdout)
    return versions


def _show(name: str, result: dict[str, Any]) -> None:
    verdict, plain, watched = result["verdict"], result["plain"], result["depyf"]
    ratio = watched["processor_seconds"] / plain["processor_seconds"] if plain["processor_seconds"] else 0
    print(f"{name}: {verdict['compilations']} compilations, {verdict['files']} files, time x {ratio:.2f}", flush=True)
    for kind in ("harmed", "incomplete", "not_proved"):
        for line in verdict[kind]:
            print(f"    {kind.replace('_', ' ')}: {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
