"""The line that a terminal shows while a compilation takes long."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import torch._inductor.compile_fx  # noqa: F401  the module creates its loggers before the hooks are compared

import depyf
import torch

PROGRAM = """\
import sys, time
import torch

def slow(graph, inputs):
    time.sleep(3.2)
    return graph.forward

class Block:
    def work(self, x):
        return x.sin() + 1

print(torch.compile(Block().work, backend=slow)(torch.zeros(2)).tolist(), flush=True)
print(torch.compile(lambda x: x.cos(), backend="eager")(torch.zeros(2)).tolist(), flush=True)
"""


class Run:
    """The program under `depyf run`, whose standard error is a terminal or a pipe."""

    def __init__(self, script: Path, *, in_terminal: bool, **variables: str) -> None:
        environment = {**{k: v for k, v in os.environ.items() if k != "DEPYF_QUIET"}, **variables}
        folder = script.parent / f"dump_{in_terminal}_{len(variables)}"
        self._leader, follower = pty.openpty() if in_terminal else os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "depyf", "run", "-o", str(folder), str(script)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=follower,
        )
        os.close(follower)

    def errors(self) -> str:
        """Waits for the program to end with exit status 0, and returns the text of its standard error."""
        parts = []
        while True:
            try:
                part = os.read(self._leader, 4096)
            except OSError:  # Linux raises this error for a terminal that no process writes to.
                break
            if not part:
                break
            parts.append(part)
        os.close(self._leader)
        output, _ = self._process.communicate(timeout=60)
        assert self._process.returncode == 0
        assert output.decode() == "[1.0, 1.0]\n[1.0, 1.0]\n"
        return b"".join(parts).decode()


def slow(graph: Any, inputs: Any) -> Any:
    time.sleep(3.2)
    return graph.forward


def works(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


def test_a_terminal_shows_a_long_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEPYF_QUIET", raising=False)
    leader, follower = pty.openpty()
    with open(follower, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with depyf.compile_costs():
            torch.compile(works, backend=slow)(torch.zeros(2))
        print("DONE", file=terminal, flush=True)
        shown = ""
        while "DONE" not in shown:  # A terminal may return the written text in parts.
            shown += os.read(leader, 4096).decode()
        monkeypatch.setenv("DEPYF_QUIET", "1")
        with depyf.compile_costs():
            assert "depyf live line" not in [thread.name for thread in threading.enumerate()]
    os.close(leader)
    assert "compiling works 0/0: " in shown
    assert "\r\x1b[KDONE" in shown, "the line is taken away"


@pytest.mark.long
def test_only_a_terminal_shows_a_long_compilation(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    terminal = Run(script, in_terminal=True)
    quiet = Run(script, in_terminal=True, DEPYF_QUIET="1")
    pipe = Run(script, in_terminal=False)

    shown = terminal.errors()
    assert "compiling Block.work 0/0: " in shown
    assert "compiling <lambda>" not in shown, "the second compilation is short"
    line = shown[shown.rindex("compiling Block.work") :]
    assert "\r\x1b[K" in line, "the line is taken away"
    for text in (quiet.errors(), pipe.errors()):
        assert "compiling Block.work" not in text
        assert "\x1b[K" not in text


def test_the_line_counts_the_kernels_that_a_compiler_works_on(tmp_path: Path) -> None:
    script = tmp_path / "two.py"
    script.write_text(
        "import torch\n"
        "def two(x):\n"
        "    return (x.sin() @ x).cos().mul(0.5) @ (x + 1)[0]\n"
        "for _ in range(2):\n"
        "    print(torch.compile(two)(torch.zeros(2, 2)).tolist())\n"
    )
    # With an empty cache, the C++ compiler takes seconds for the first kernel.
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"), "TORCHINDUCTOR_COMPILE_THREADS": "2"}
    errors = Run(script, in_terminal=True, **cache).errors()
    assert re.search(r"compiling two 0/0: Inductor, C\+\+ 1 of \d, \d+ s", errors), errors[-2000:]
