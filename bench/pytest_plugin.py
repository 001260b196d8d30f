"""Measures what the pytest plugin costs: for tests without its marker with and without the plugin, and for tests that
compile with and without the marker. Each printed ratio is the median of interleaved rounds.

    python bench/pytest_plugin.py [ROUNDS]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLAIN = "import pytest\n\n@pytest.mark.parametrize('n', range(500))\ndef test(n):\n    assert n >= 0\n"
COMPILES = """import pytest, torch

def net(n):
    def forward(x):
        for i in range(n):
            x = torch.nn.functional.gelu(x) * (i + 1)
        return x
    return forward

{marker}@pytest.mark.parametrize('n', range(10, 20))
def test(n):
    torch.compiler.reset()
    torch.compile(net(n), backend="{backend}")(torch.ones(8, 8, requires_grad=True)).sum().backward()
"""
MARKER = "@pytest.mark.depyf(no_breaks=True, recompiles=0)\n"


def seconds(source: str, *options: str) -> float:
    """Returns the seconds that pytest takes for a file of tests."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_it.py").write_text(source)
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "python"),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        }
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-W", "ignore", *options, "test_it.py"],
            cwd=folder, env=environment, check=True, capture_output=True,
        )  # fmt: skip
        return time.perf_counter() - start


def main() -> None:
    rounds = int(sys.argv[1]) if sys.argv[1:] else 5
    plugin = ("-p", "depyf_pytest")
    rows = {"500 tests without the marker": ((PLAIN,), (PLAIN, *plugin))}
    for backend in ("eager", "inductor"):
        without, with_marker = (COMPILES.format(marker=marker, backend=backend) for marker in ("", MARKER))
        rows[f"10 tests that compile on {backend}"] = ((without, *plugin), (with_marker, *plugin))
    for title, (without, with_plugin) in rows.items():
        pairs = [(seconds(*without), seconds(*with_plugin)) for _ in range(rounds)]
        before, after = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = statistics.median(new / old for old, new in pairs)
        print(f"{title}: {before:.2f} s, with depyf {after:.2f} s, ratio {ratio:.3f}", flush=True)


if __name__ == "__main__":
    main()
