#!/usr/bin/env python3
"""What does reading a log cost? Processor time and memory of depyf-report, for logs of several sizes.

    report.py [LOG] [--megabytes 10,100,1000]

Without LOG, a program is compiled on the backend eager with TORCH_TRACE, which takes some seconds. Each size is reached
by repeating the log. Prints the seconds and MiB for each size, and both per 100 MB: equal rows mean that the cost is
linear.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import torch
model = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 4).eval()
compiled = torch.compile(model, backend="aot_eager")
for length in range(3, 9):
    compiled(torch.randn(2, length, 16))
"""


def log_of_a_program(folder: Path) -> Path:
    """Runs a small program with TORCH_TRACE, and returns the path of its log."""
    environment = {**os.environ, "TORCH_TRACE": str(folder)}
    subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], check=True, env=environment)
    (log,) = folder.glob("*.log")
    return log


def cost_of(command: Path, log: Path) -> tuple[float, float]:
    """Returns (seconds of processor time, MiB of memory at the peak) that the command needs for a log.

    The command runs below a process of its own, because the system reports the memory of children only as a maximum.
    """
    measure = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", measure, command, log], capture_output=True, text=True, check=True)
    seconds, mebibytes = map(float, done.stdout.split())
    return seconds, mebibytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "log", nargs="?", type=Path, help="the log that is repeated (default: the log of a small program)"
    )
    parser.add_argument(
        "--megabytes", default="10,100", help="the sizes of the logs in MB, with commas (default: 10,100)"
    )
    parser.add_argument(
        "--command",
        type=Path,
        default=ROOT / "build" / "release" / "depyf-report",
        help="the path of depyf-report (default: that of the release build)",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = (options.log or log_of_a_program(folder)).read_bytes()
        print(f"{'MB':>8} {'seconds':>8} {'MiB':>8} {'s/100MB':>8} {'MiB/100MB':>10}")
        for megabytes in map(int, options.megabytes.split(",")):
            large = folder / "large.log"
            with large.open("wb") as file:
                for _ in range(max(1, megabytes * 1_000_000 // len(text))):
                    file.write(text)
            size = large.stat().st_size / 1e6
            seconds, mebibytes = cost_of(options.command, large)
            print(
                f"{size:8.1f} {seconds:8.2f} {mebibytes:8.0f} {seconds / size * 100:8.2f} {mebibytes / size * 100:10.0f}"
            )


if __name__ == "__main__":
    main()
