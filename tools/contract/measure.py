"""Whether `depyf diff` and `depyf check` name seeded changes, and are silent about unchanged programs.

    python tools/contract/measure.py [--repetitions 100] [--only NAME...]

Every change of `changes.py` is made once, and compared with the program before it. Unchanged programs are run again in other
processes and folders, half of them with an empty cache of Inductor, and with functions compiled in another order.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from changes import BASE, CHANGES

ROOT = Path(__file__).parents[2]
COMMAND = os.environ.get("DEPYF_REPORT") or str(ROOT / "build" / "dev" / "depyf-report")
# The loss is compiled first; a comment moves all lines; another name of a local that no guard reads.
UNCHANGED = {
    "again": BASE,
    "comment": BASE.replace("class Block", "# A comment.\n\nclass Block"),
    "order": BASE.replace(
        "    for _ in range(2):\n",
        "    compiled_loss(torch.ones(4, 4, requires_grad=True), torch.ones(4, 4))\n    for _ in range(2):\n",
    ),
}


def run(folder: Path, sources: dict[str, str], cache: Path) -> None:
    """Runs programs in one process, with a cache folder of Inductor."""
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


def names(found: list[dict], text: str) -> bool:
    """True if a difference names the text in its place or in its sentence."""
    return any(text in f"{each['place']['text']} {each['sentence']} {' '.join(each['details'])}" for each in found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--only", nargs="+", choices=list(CHANGES), metavar="NAME", default=list(CHANGES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        changed = {name: BASE.replace(old, new, 1) for name, (old, new, _) in CHANGES.items() if name in options.only}
        assert all(source != BASE for source in changed.values())
        run(work / "changed", {"base": BASE, **changed}, work / "cache")
        base, contract = work / "changed" / "base" / "dump", work / "contract.json"
        subprocess.run([COMMAND, "check", "--write", "--baseline", contract, base], check=True)
        print(contract.read_text(encoding="utf-8"))
        wrong = seen = 0
        for name in changed:
            text, dump = CHANGES[name][2], work / "changed" / name / "dump"
            by_diff = differences(["diff", "--json", str(base), str(dump)], "changes")
            by_check = differences(["check", "--json", "--baseline", str(contract), str(dump)], "broken")
            if text is None:
                verdict = "names nothing to be named" if not by_check else "silent: wrong"
                is_right = True
            else:
                is_right = names(by_diff, text) and names(by_check, text)
                seen += is_right
                verdict = "named" if is_right else f"diff {names(by_diff, text)}, check {names(by_check, text)}: wrong"
            wrong += not is_right
            first = by_check[0]["sentence"][:110] if by_check else "-"
            print(f"{name:24} {verdict:28} {first}", flush=True)
        total = sum(CHANGES[name][2] is not None for name in changed)
        print(f"{seen} of {total} changes are named by diff and by check")
        alarms = repetitions(work, base, contract, options.repetitions)
        return 1 if wrong or alarms else 0


def repetitions(work: Path, base: Path, contract: Path, count: int) -> int:
    """Runs unchanged programs, and returns how often diff or check named a difference."""
    each = 10  # programs in one process
    alarms = done = 0
    while done < count:
        number = done // each
        cache = work / ("cache" if number % 2 else f"cache{number}")
        sources = {f"{i}-{name}": source for i in range(each) for name, source in [list(UNCHANGED.items())[i % 3]]}
        folder = work / f"unchanged{number}"
        run(folder, sources, cache)
        for name in sources:
            dump = str(folder / name / "dump")
            found = differences(["diff", "--json", str(base), dump], "changes")
            found += differences(["check", "--json", "--baseline", str(contract), dump], "broken")
            alarms += bool(found)
            for difference in found:
                print(f"{folder.name}/{name}: {difference['code']}: {difference['sentence']}", flush=True)
        done += each
    print(f"{alarms} of {done} repetitions of unchanged programs were called different")
    return alarms


if __name__ == "__main__":
    sys.exit(main())
