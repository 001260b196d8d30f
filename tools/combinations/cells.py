"""The checks of one combination, each in a process of its own (`check.py`), and what they amount to."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EXAMPLES = ("toy", "train", "hard")
BACKENDS = ("eager", "aot_eager", "inductor")
FEATURES = {
    "explain": "explain",
    "guards": "guards",
    "cache_entries": "cache_entries",
    "register": "register",
    "entry_file": "save, load_entry",
    "debug": "debug",
    "step": "step",
    "command": "depyf run",
}
SECONDS = 600
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    # What Inductor and AOTAutograd decide is made anew in each process; compiled C++ is found again by its source.
    "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
    "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
    "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_LOCAL_PGO": "0",
    "PYTHONHASHSEED": "0",
}


def names() -> list[str]:
    """All cells, in the order in which they run."""
    return [*(f"{example}/{backend}" for backend in BACKENDS for example in EXAMPLES), *FEATURES]


def run(name: str, python: str, cache: Path) -> dict[str, Any]:
    """Runs the checks of one cell: "verdict" ("works", "in part", "not available", "fails"), "reason", and what was seen."""
    if name in FEATURES:
        with _directory() as directory:
            # Those that need one get a directory.
            arguments = [directory] if name in ("debug", "entry_file", "command") else []
            return _feature(_check(python, cache, name, *arguments))
    example, backend = name.split("/")
    plain = _check(python, cache, "plain", example, backend)
    if "seen" not in plain:
        return {"verdict": "not available", "reason": f"without depyf: {_why(plain)}"}
    with _directory() as directory:
        return _compared(plain["seen"], _check(python, cache, "dumped", example, backend, directory))


def _feature(answer: dict[str, Any]) -> dict[str, Any]:
    if "seen" in answer:
        return {"verdict": "works", "reason": "", "seen": answer["seen"]}
    if "not_available" in answer:
        reason = answer["not_available"]
        partly = reason.startswith("all but ")
        return {"verdict": "in part" if partly else "not available", "reason": reason}
    return {"verdict": "fails", "reason": _why(answer), "traceback": answer.get("traceback", "")}


def _compared(plain: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """What a dump amounts to, held against the same program without depyf."""
    if "seen" not in answer:
        return {"verdict": "fails", "reason": _why(answer), "traceback": answer.get("traceback", "")}
    seen = answer["seen"]
    wrong = []
    for what in ("result", "printed", "frames"):
        if seen[what] != plain[what]:
            wrong.append(f"with depyf the program's {what} differ{'s' * (what != 'frames')}")
    if len(seen["heads"]) != len(seen["frames"]) or seen["told"] != seen["frames"]:
        wrong.append(f"{len(seen['frames'])} frames were compiled, {len(seen['heads'])} files written")
    not_proved = [head["head"] for head in seen["heads"] if not head["proved"]]
    if not_proved:
        wrong.append(f"{len(not_proved)} frames are not proved: {not_proved[0]}")
    if not seen["frames"] or not seen["full_code"]:
        wrong.append("nothing was written")
    wrong += [f"a file is not Python: {one}" for one in seen["broken"]]
    wrong += [note for note in (*seen["notes"], *seen["warnings"]) if "failed" in note]
    kept = {
        key: seen[key] for key in ("frames", "kinds", "missing", "notes", "warnings", "files")
    } | {"running": sum(head["runs"] for head in seen["heads"])}
    return {"verdict": "fails" if wrong else "works", "reason": "; ".join(wrong), "seen": kept}


def _why(answer: dict[str, Any]) -> str:
    return str(answer.get("error") or answer.get("not_available") or "nothing was answered")


def _check(python: str, cache: Path, what: str, *arguments: str) -> dict[str, Any]:
    with _directory() as directory:
        out = Path(directory) / "answer.json"
        command = [python, "-W", "ignore", str(HERE / "check.py"), what, str(out), *arguments]
        environment = {**os.environ, **_ENVIRONMENT, "TORCHINDUCTOR_CACHE_DIR": str(cache)}
        started = subprocess.Popen(
            command,
            env=environment,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            printed = started.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(started.pid, signal.SIGKILL)
            started.communicate()
            return {"error": f"it did not end in {SECONDS} s"}
        if not out.exists():
            code = started.returncode
            how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            return {"error": f"the process ended with {how}", "traceback": printed[-3000:]}
        answer: dict[str, Any] = json.loads(out.read_text())
        return answer


@contextlib.contextmanager
def _directory() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="depyf-") as directory:
        yield directory
