"""Runs the toy example under depyf.prepare_debug, and prints the path of the files and the code that Dynamo made from
the function.

make demo
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import depyf
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))
DUMP = ROOT / "build" / "demo"


def main() -> int:
    import toy

    shutil.rmtree(DUMP, ignore_errors=True)
    torch.manual_seed(0)
    # Inputs with a positive and a negative sum, so that both branches behind the graph break are compiled.
    with depyf.prepare_debug(DUMP) as session:
        for sign in (1, -1):
            toy.toy_example(torch.randn(10), sign * torch.ones(10))
    transformed = sorted(DUMP.glob("__transformed_code_*.py"))
    if not transformed:
        print(f"demo: no transformed code in {DUMP}", file=sys.stderr)
        return 1
    print("== the function")
    print((ROOT / "examples" / "toy.py").read_text())
    for path in transformed:
        print(f"== {path.name}")
        print(path.read_text())
    print(f"== {len(list(DUMP.iterdir()))} files in {DUMP}")
    for path in sorted(DUMP.iterdir()):
        print(f"  {path.name}")
    print("Read index.md there first, or open the report, which has all of it on one page:")
    print(f"  {session.report(DUMP / 'report.html')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
