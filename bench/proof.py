#!/usr/bin/env python3
"""Measures what the proof costs: decompiles and proves modules of the standard library in turns in one process.

    proof.py [MODULE...]

Prints the processor time of decompiling and of proving, and the ratio. The time in which CPython compiles the
decompiled source is not counted.
"""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from depyf import _core, names  # noqa: E402
from depyf.recompile import compile_back  # noqa: E402

warnings.simplefilter("ignore")
MODULES = "argparse ast inspect typing difflib textwrap subprocess json.decoder tarfile http.client".split()


def main() -> None:
    decompiling = proving = 0.0
    codes = 0
    for module in sys.argv[1:] or MODULES:
        spec = importlib.util.find_spec(module)
        assert spec and spec.origin
        for code in names.nested_codes(compile(Path(spec.origin).read_bytes(), spec.origin, "exec")):
            start = time.process_time()
            source = _core.decompile(code, style="readable").source
            middle = time.process_time()
            try:
                back = compile_back(source, code)
            except (SyntaxError, ValueError):
                continue
            again = time.process_time()
            _core.prove(code, back)
            end = time.process_time()
            decompiling, proving, codes = decompiling + middle - start, proving + end - again, codes + 1
    print(
        f"{codes} code objects: decompiling {decompiling:.3f} s, proving {proving:.3f} s, ratio {proving / decompiling:.2f}"
    )


if __name__ == "__main__":
    main()
