"""Measures whether `depyf diff` and `depyf check` name seeded changes, and are silent about unchanged programs.

    python tools/contract/measure.py [--repetitions 100] [--only NAME...]

Every change of `changes.py` is made once, and the changed program is compared with the original. A change counts as
named if both commands report it at its line. Unchanged programs are run again, each in a process and a folder of its
own, every second run with an empty cache of Inductor, and every third run with its functions compiled in another order.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from changes import BASE, CHANGES

ROOT = Path(__file__).parents[2]
COMMAND = os.environ.get("DEPYF_REPORT") or str(ROOT / "build" / "dev" / "depyf-report")
# Programs that compute the same as BASE: "comment" moves all lines by a comment, and "order" compiles the loss before
# the model.
UNCHANGED = {
    "again": BASE,
    "comment": BASE.replace("class Block", "# A comment.\n\nclass Block"),
    "order": BASE.replace(
        "    for _ in range(2):\n",
        "    compiled_loss(torch.ones(4, 4, requires_grad=True), torch.ones(4, 4))\n    for _ in range(2):\n",
    ),
}


def run(folder: Path, sources: dict[str, str], cache: Path) -> None:
    """Runs programs in one process, with `cache` as Inductor's cache folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TORCHINDUCTOR_CACHE_DIR": str(cache)}
    subprocess.run(
        [sys.executable, "-W", "ignore", Path(__file__).with_name("programs.py"), folder],
        input=json.dumps(sources),
        text=True,
        check=True,
        env=environment,
    )


def differences(arguments: list[str], key: str) -> list[dict]:
    """Returns the differences that a command prints as JSON."""
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)[key]


def names(found: list[dict], line: str, words: str) -> bool:
    """True if a difference is located at `line` ("": at no line) and contains `words` in its code, sentence or
    details."""
    return any(
        (each["place"]["text"] or "") == line and words in " ".join([each["code"], each["sentence"], *each["details"]])
        for each in found
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--repetitions", type=int, default=100, help="the number of runs of unchanged programs (default: 100)"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(CHANGES),
        metavar="NAME",
        default=list(CHANGES),
        help="make only these changes (default: all changes)",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        changed = {name: BASE.replace(old, new, 1) for name, (old, new, *_) in CHANGES.items() if name in options.only}
        assert all(source != BASE for source in changed.values())
        run(work / "changed", {"base": BASE, **changed}, work / "cache")
        base, contract = work / "changed" / "base" / "dump", work / "contract.json"
        subprocess.run([COMMAND, "check", "--write", "--baseline", contract, base], check=True)
        print(contract.read_text(encoding="utf-8"))
        wrong = total = 0
        for name in changed:
            _, _, line, words = CHANGES[name]
            dump = work / "changed" / name / "dump"
            by_diff = differences(["diff", "--json", str(base), str(dump)], "changes")
            by_check = differences(["check", "--json", "--baseline", str(contract), str(dump)], "broken")
            if (work / "changed" / name / "failed").exists():
                verdict = "wrong: the program failed"
            elif words is None:
                verdict = "wrong: named" if by_diff or by_check else "silent, as it should be"
            else:
                total += 1
                where = "at its line" if line else "of its function"
                silent = [
                    command
                    for command, found in (("diff", by_diff), ("check", by_check))
                    if not names(found, line, words)
                ]
                verdict = f"wrong: not named by {', '.join(silent)}" if silent else f"named {where}"
            wrong += verdict.startswith("wrong")
            first = by_check[0]["sentence"][:110] if by_check else "-"
            print(f"{name:24} {verdict:28} {first}", flush=True)
        print(f"{total} changes that have to be named, {wrong} wrong")
        alarms = repetitions(work, base, contract, options.repetitions)
        return 1 if wrong or alarms else 0


def repetitions(work: Path, base: Path, contract: Path, count: int) -> int:
    """Runs unchanged programs, and returns how often diff or check named a difference."""
    alarms = 0
    variants = list(UNCHANGED.items())
    for number in range(count):
        name, source = variants[number % len(variants)]
        cache = work / (f"cache{number}" if number % 2 else "cache")
        folder = work / f"unchanged{number}"
        run(folder, {name: source}, cache)
        dump = str(folder / name / "dump")
        found = differences(["diff", "--json", str(base), dump], "changes")
        found += differences(["check", "--json", "--baseline", str(contract), dump], "broken")
        alarms += bool(found) or (folder / name / "failed").exists()
        for difference in found:
            print(f"{folder.name}/{name}: {difference['code']}: {difference['sentence']}", flush=True)
        if number % 2:
            shutil.rmtree(cache, ignore_errors=True)
    print(
        f"{alarms} of {count} repetitions of unchanged programs were called different ({count // 2} with an empty cache)"
    )
    return alarms


if __name__ == "__main__":
    sys.exit(main())
