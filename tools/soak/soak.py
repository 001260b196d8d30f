#!/usr/bin/env python3
"""Random programs under torch.compile: does anything change where depyf.prepare_debug watches?

    soak.py --seconds 1200 [--seed N] [--backends eager aot_eager] [--keep DIRECTORY]
    soak.py --seed N --programs 1 [--backends eager]      repeats one program
    soak.py --program FILE [--seed N]                     runs a program of your own

Each program runs as plain torch.compile and under a block, and once more where the two differ: a program whose plain runs
differ is left out, and counted. It compares results and gradients bit for bit, exceptions, printed text, the objects
that calls change (arguments, module, globals, random numbers), and the compilations: which functions, how many, and
PyTorch's own counters. Every file of a dump has to be Python. Programs run in a process, which is replaced by a new one
if it dies, or after it has run some programs. A finding prints its seed and the command that repeats it, and its
program is kept.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "python")]

import generate  # noqa: E402

PROGRAMS_OF_A_PROCESS = 60  # a process is replaced after so many programs, since PyTorch keeps memory of each
SECONDS_OF_A_PROGRAM = 600
_TOO_LONG = f"it took more than {SECONDS_OF_A_PROGRAM} seconds"
UNPROVED_ALLOWED = 500  # at most one frame in so many may be unproved


def work(backends: list[str]) -> None:
    """Runs as a worker: answers each line `MODE SEED PATH` on standard input with one line of JSON for each backend."""
    import observe

    import torch

    torch.set_num_threads(1)
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the output of the programs must not mix with the answers
    for line in sys.stdin:
        mode, seed, path = line.rstrip("\n").split(" ", 2)
        for backend in backends:
            if mode == "plain":
                observe.run(Path(path), backend, int(seed), contextlib.nullcontext())
                verdict = observe.Verdict(int(seed), backend)
            else:
                verdict = observe.observe(Path(path), backend, int(seed))
            print(json.dumps(asdict(verdict)), file=output, flush=True)


class Worker:
    """A process that runs programs, and that is replaced by a new one if it dies."""

    def __init__(self, backends: list[str]) -> None:
        self.backends = backends
        self._left = 0
        self._process: subprocess.Popen[str] | None = None

    def run(self, seed: int, path: Path) -> list[dict[str, Any]]:
        """Returns the verdicts of one program. The death of the process is a finding if the program does not kill a
        process without depyf."""
        verdicts, how = self._ask("both", seed, path)
        if verdicts is None:
            plain = None if how == _TOO_LONG else self._ask("plain", seed, path)[0]
            kind = "unstable" if plain is None else "harmed"
            verdicts = [{"seed": seed, "backend": "any", kind: [how]}]
        return verdicts

    def _ask(self, mode: str, seed: int, path: Path) -> tuple[list[dict[str, Any]] | None, str]:
        if self._process is None or self._left == 0:
            self.close()
            self._start()
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        self._left -= 1
        took_too_long = threading.Event()

        def end() -> None:
            took_too_long.set()
            process.kill()

        timer = threading.Timer(SECONDS_OF_A_PROGRAM, end)
        timer.start()
        try:
            process.stdin.write(f"{mode} {seed} {path}\n")
            process.stdin.flush()
            lines = [process.stdout.readline() for _ in self.backends]
        except OSError:
            lines = [""]
        timer.cancel()
        if all(lines):
            return [json.loads(line) for line in lines], ""
        status = process.wait()
        self._errors.seek(0)
        tail = self._errors.read()[-1500:]
        self.close()
        if took_too_long.is_set():
            return None, _TOO_LONG
        return None, f"the process ended with status {status}:\n{tail}"

    def _start(self) -> None:
        command = [sys.executable, str(HERE / "soak.py"), "--worker", "--backends", *self.backends]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        self._left = PROGRAMS_OF_A_PROCESS
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment
        )

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._errors.close()
            self._process = None


@dataclass
class Summary:
    """The results of all programs so far."""

    programs: int = 0
    runs: int = 0
    unstable: int = 0
    harmed: int = 0
    frames: int = 0
    unproved: int = 0
    not_running: int = 0
    files: int = 0
    not_parsed: int = 0

    def add(self, verdict: dict[str, Any]) -> None:
        self.runs += 1
        self.unstable += bool(verdict.get("unstable"))
        self.harmed += bool(verdict.get("harmed"))
        for key in ("frames", "files"):
            setattr(self, key, getattr(self, key) + verdict.get(key, 0))
        for key in ("unproved", "not_running", "not_parsed"):
            setattr(self, key, getattr(self, key) + len(verdict.get(key, ())))

    @property
    def passes(self) -> bool:
        return not self.harmed and not self.not_parsed and self.unproved * UNPROVED_ALLOWED <= self.frames

    def __str__(self) -> str:
        return (
            f"{self.programs} programs, {self.runs} runs ({self.unstable} left out in part or whole: plain runs of them differ or die, or they took too long): "
            f"{self.harmed} harmed; {self.frames} frames: {self.unproved} not proved, {self.not_running} proved and not "
            f"run from their files; {self.files} files: {self.not_parsed} that do not parse"
        )


class Soak:
    """Runs programs until the time is up."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.summary = Summary()
        self.keep = Path(options.keep)
        self.keep.mkdir(parents=True, exist_ok=True)
        self.ends = time.monotonic() + options.seconds
        self._lock = threading.Lock()
        self._seeds = itertools.count(options.seed)

    def run(self) -> Summary:
        threads = [threading.Thread(target=self._work) for _ in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.summary

    def _next(self) -> int | None:
        with self._lock:
            is_enough = self.options.programs is not None and self.summary.programs >= self.options.programs
            if is_enough or time.monotonic() > self.ends:
                return None
            self.summary.programs += 1
            return next(self._seeds)

    def _work(self) -> None:
        worker = Worker(self.options.backends)
        while (seed := self._next()) is not None:
            path = self.keep / f"program_{seed}.py"
            if self.options.program:
                path = Path(self.options.program)
            else:
                path.write_text(generate.program(seed))
            verdicts = worker.run(seed, path)
            with self._lock:
                findings = [self._judge(verdict) for verdict in verdicts]
            if not any(findings) and not self.options.program:
                path.unlink()
        worker.close()

    def _judge(self, verdict: dict[str, Any]) -> bool:
        """Adds a verdict to the summary. Returns True if the verdict has findings, which are printed."""
        self.summary.add(verdict)
        backend = self.options.backends if verdict["backend"] == "any" else [verdict["backend"]]
        findings = [
            f"{kind}: {line}"
            for kind in ("harmed", "unproved", "not_running", "not_parsed", "unstable")
            for line in verdict.get(kind, ())
        ]
        if findings:
            print(f"seed {verdict['seed']}, {verdict['backend']}:", *findings, sep="\n    ")
            print(
                f"    again: tools/soak/soak.py --seed {verdict['seed']} --programs 1 --backends {' '.join(backend)}",
                flush=True,
            )
        return bool(findings)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Runs random programs under torch.compile, with depyf and without depyf."
    )
    parser.add_argument(
        "--seconds", type=float, default=1200, help="run programs for this number of seconds (default: 1200)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=None,
        help="the seed of the first program; each further program has the next seed (default: from the time)",
    )
    parser.add_argument("--programs", type=int, help="end after this number of programs")
    parser.add_argument(
        "--program", metavar="FILE", help="run the program in FILE; the seed then only decides how the program is run"
    )
    parser.add_argument(
        "--backends",
        nargs="+",
        default=["eager", "aot_eager"],
        help="the backends that compile the programs (default: eager aot_eager)",
    )
    parser.add_argument("--jobs", type=int, default=1, help="run this number of processes at a time (default: 1)")
    parser.add_argument(
        "--keep", default=".cache/soak", help="the folder that keeps programs with findings (default: .cache/soak)"
    )
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.backends)
        return 0
    if options.seed is None:
        options.seed = time.time_ns() // 1_000_000 % 1_000_000_000
    if options.program:
        options.programs = 1
    print(f"seeds from {options.seed}, backends {' and '.join(options.backends)}", flush=True)
    summary = Soak(options).run()
    print(summary)
    return 0 if summary.passes else 1


if __name__ == "__main__":
    sys.exit(main())
