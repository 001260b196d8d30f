"""The tables of README.md from the records of `roundtrip.py`: table.py FOLDER"""

import json
import re
import sys
from pathlib import Path


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    totals = {}
    for path in Path(sys.argv[1]).glob("*.json"):
        if re.fullmatch(r"3\.\d+(-\w+)?", path.stem):
            totals[path.stem] = json.loads(path.read_text())["total"]
    for packages in (False, True):
        labels = sorted((label for label in totals if ("-" in label) == packages), key=order)
        if labels:
            print("\n".join(table(labels, totals)) + "\n")
    return 0


def order(label: str) -> tuple[int, str]:
    version, _, package = label.partition("-")
    return int(version.partition(".")[2]), package


def table(labels: list[str], totals: dict) -> list[str]:
    rows = [["", *labels], ["---"] * (len(labels) + 1)]
    for title, part, whole in (
        ("code objects, %", "objects_equal", "objects"),
        ("modules, %", "modules_equal", "modules"),
        ("functions whose syntax tree is the original's, %", "functions_same", "functions"),
    ):
        rows.append([title, *(f"{100 * totals[label][part] / (totals[label][whole] or 1):.1f}" for label in labels)])
    rows.append(["modules in all", *(str(totals[label]["modules"]) for label in labels)])
    for title in ("error", "differs", "no-compile", "crash", "timeout"):
        rows.append([title, *(str(totals[label]["verdicts"].get(title, 0)) for label in labels)])
    return ["| " + " | ".join(row) + " |" for row in rows]


if __name__ == "__main__":
    sys.exit(main())
