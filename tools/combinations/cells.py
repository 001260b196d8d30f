"""The checks of one combination, each in a process of its own (`check.py`), and their verdicts."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EXAMPLES = ("toy", "train", "hard")
BACKENDS = ("eager", "aot_eager", "inductor")
FEATURES = {
    "doctor": "doctor",
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
    # Each process compiles anew, without the caches of Inductor and AOTAutograd; only machine code is reused, by a hash
    # of its C++.
    "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
    "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
    "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_LOCAL_PGO": "0",
    "PYTHONHASHSEED": "0",
    # The g++ in this folder precompiles the header that all C++ kernels of Inductor include.
    "PATH": f"{HERE / 'compiler'}{os.pathsep}{os.environ['PATH']}",
}


_Where = tuple[str, Path, Path]


def names() -> list[str]:
    """Returns the names of all cells, in the order in which their checks run."""
    return [*(f"{example}/{backend}" for backend in BACKENDS for example in EXAMPLES), *FEATURES]


def run(python: str, site: Path, cache: Path, wanted: Collection[str]) -> Iterator[dict[str, dict[str, Any]]]:
    """Runs the checks of the wanted cells. Yields dicts from the name of a cell to its result. Each result has
    "verdict" ("works", "in part", "not available", "fails"), "reason" (also of cells that work, if depyf warned of
    something or a first try failed), and the facts that were observed.

    Args:
        python: the interpreter of the environment.
        site: the folder that depyf is imported from.
        cache: the cache folder of Inductor.
        wanted: names of cells.
    """
    where = (python, site, cache)
    for backend in BACKENDS:
        # One process runs all examples without depyf, another one runs them with depyf. If a check ends its process,
        # `_check` repeats it in a process of its own.
        examples = [example for example in EXAMPLES if f"{example}/{backend}" in wanted]
        with _directory() as directory:
            plain = _check(where, [("plain", example, backend) for example in examples])
            jobs = [("dumped", example, backend, f"{directory}/{example}") for example in examples]
            dumped = _check(where, jobs)
        yield {
            f"{example}/{backend}": _compared(one, other)
            for example, one, other in zip(examples, plain, dumped, strict=True)
        }
    features = [feature for feature in FEATURES if feature in wanted]
    with _directory() as directory:
        # The last argument of a check that writes files is a directory for them.
        jobs = [
            (one, f"{directory}/{one}") if one in ("debug", "entry_file", "command") else (one,) for one in features
        ]
        yield {feature: _feature(one) for feature, one in zip(features, _check(where, jobs), strict=True)}


def _feature(answer: dict[str, Any]) -> dict[str, Any]:
    again = _second(answer)
    if "seen" in answer:
        return {"verdict": "works", "reason": "; ".join(again), "seen": answer["seen"]}
    if "not_available" in answer:
        reason = answer["not_available"]
        partly = reason.startswith("all but")
        return {"verdict": "in part" if partly else "not available", "reason": "; ".join((reason, *again))}
    reason = "; ".join((_why(answer), *again))
    return {"verdict": "fails", "reason": reason, "traceback": answer.get("traceback", "")}


def _compared(plain: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Returns the verdict on a run of a program under depyf, compared with its run without depyf."""
    again = [*(f"without depyf: {one}" for one in _second(plain)), *_second(answer)]
    if "seen" not in plain:
        return {"verdict": "not available", "reason": "; ".join((f"without depyf: {_why(plain)}", *again))}
    if "seen" not in answer:
        reason = "; ".join((_why(answer), *again))
        return {"verdict": "fails", "reason": reason, "traceback": answer.get("traceback", "")}
    seen = answer["seen"]
    wrong = []
    for what in ("result", "printed", "frames"):
        if seen[what] != plain["seen"][what]:
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
    kept = {key: seen[key] for key in ("frames", "kinds", "missing", "notes", "warnings", "files")} | {
        "running": sum(head["runs"] for head in seen["heads"])
    }
    told = [text for text in seen["warnings"] if text not in wrong]
    return {"verdict": "fails" if wrong else "works", "reason": "; ".join([*wrong, *told, *again]), "seen": kept}


def _why(answer: dict[str, Any]) -> str:
    return str(answer.get("error") or answer.get("not_available") or "nothing was answered")


def _check(where: _Where, jobs: Sequence[tuple[str, ...]]) -> list[dict[str, Any]]:
    """Returns the answers to several checks. If one of several checks ends the process, this check and all checks
    without an answer run again, each in a process of its own.

    The second answer of the check that ended the process contains the error of its first attempt ("first").
    """
    found = _process(where, jobs)
    lost = [at for at, one in enumerate(found) if "ended" in one] if len(jobs) > 1 else []
    for at in lost:
        first = found[at]["error"]
        found[at] = _process(where, [jobs[at]])[0]
        if at == lost[0]:
            found[at]["first"] = first
    return found


def _second(answer: dict[str, Any]) -> list[str]:
    """Returns a list of one sentence about the failed first attempt at an answer; an empty list if there was no second
    attempt."""
    return [f"at the second try, alone: at the first {answer['first']}"] if "first" in answer else []


def _process(where: _Where, jobs: Sequence[tuple[str, ...]]) -> list[dict[str, Any]]:
    if not jobs:
        return []
    python, site, cache = where
    with _directory() as directory:
        outs = [Path(directory) / f"{at}.json" for at in range(len(jobs))]
        command = [python, "-W", "ignore", str(HERE / "check.py")]
        command += [":".join((str(out), *job)) for out, job in zip(outs, jobs, strict=True)]
        for job in jobs:
            if len(job) > 1 and job[-1].startswith("/"):
                shutil.rmtree(job[-1], ignore_errors=True)  # a process that did not finish may have left files here
                Path(job[-1]).mkdir()
        started = subprocess.Popen(
            command,
            env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": str(site), "TORCHINDUCTOR_CACHE_DIR": str(cache)},
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        ended = f"it did not end in {SECONDS} s"
        try:
            printed = started.communicate(timeout=SECONDS)[0]
            code = started.returncode
            ended = f"the process ended with {signal.Signals(-code).name if code < 0 else f'exit status {code}'}"
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(started.pid, signal.SIGKILL)
            printed = started.communicate()[0]
        lost = {"ended": True, "error": ended, "traceback": printed[-3000:]}
        return [json.loads(out.read_text()) if out.exists() else dict(lost) for out in outs]


@contextlib.contextmanager
def _directory() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="depyf-") as directory:
        yield directory
