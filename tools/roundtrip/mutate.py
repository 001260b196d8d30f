#!/usr/bin/env python3
"""Robustness of a decompiler: run it on damaged .pyc files and count the results.

    mutate.py --command 'depyf-decompile {pyc}' --json out.json PYTHON...

Takes 200 stdlib modules, shared out among the interpreters, and makes 5 mutants
of each: 1 to 8 bytes past the header replaced at random (seed 0).
"""

import argparse
import collections
import json
import random
import shlex
import signal
import tempfile
from pathlib import Path

from roundtrip import Worker, prepare, run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--command", required=True, help="the command of the decompiler, in which {pyc} is replaced by the file"
    )
    parser.add_argument(
        "--files",
        type=int,
        default=200,
        help="the number of modules, which is divided evenly among the interpreters (default: 200)",
    )
    parser.add_argument("--mutants", type=int, default=5, help="the number of mutants of each module (default: 5)")
    parser.add_argument(
        "--timeout", type=float, default=10, help="the limit of the time for each mutant in seconds (default: 10)"
    )
    parser.add_argument(
        "--memory",
        type=int,
        default=8192,
        help="the limit of the address space of the decompiler in MiB (default: 8192)",
    )
    parser.add_argument("--json", help="write all counts to this file")
    parser.add_argument("python", nargs="+", help="an interpreter whose standard library is used")
    args = parser.parse_args()
    rng, rows, intact = random.Random(0), [], collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        for number, python in enumerate(args.python):
            worker = Worker(python)
            (work / str(number)).mkdir()
            count = args.files // len(args.python)
            modules = prepare(["stdlib"], python, count, 0, work / str(number), worker)
            worker.close()
            for module in modules:
                data = Path(module["pyc"]).read_bytes()
                for mutant in range(-1, args.mutants):  # mutant -1 is the unchanged file
                    damaged = bytearray(data)
                    for _ in range(rng.randint(1, 8) if mutant >= 0 else 0):
                        damaged[rng.randrange(16, len(damaged))] = rng.randrange(256)
                    target = work / "mutant.pyc"
                    target.write_bytes(damaged)
                    command = [part.format(pyc=target) for part in shlex.split(args.command)]
                    code, seconds, rss = run(command, work / "out", work / "err", args.timeout, args.memory)
                    what = (
                        "hang" if code is None else signal.Signals(-code).name if code < 0 else "exit %d" % bool(code)
                    )
                    if mutant < 0:
                        intact[what] += 1
                    else:
                        rows.append(
                            {
                                "name": module["name"],
                                "python": python,
                                "mutant": mutant,
                                "what": what,
                                "seconds": seconds,
                                "rss": rss,
                                "out": (work / "out").stat().st_size,
                            }
                        )
    total = collections.Counter(row["what"] for row in rows)
    over = sum(row["rss"] > 2048 for row in rows)
    if args.json:
        Path(args.json).write_text(json.dumps({"intact": intact, "total": total, "over_2_gib": over, "rows": rows}))
    print(
        "intact %s; mutants %d: %s; over 2 GiB %d, peak %.0f MiB"
        % (dict(intact), len(rows), dict(total), over, max(row["rss"] for row in rows))
    )


if __name__ == "__main__":
    main()
