"""Makes random wrong edits of cache entries, in processes of their own: no edit ends a process by a signal, each edit
is refused with a reason, and no edit changes a result.

The tests run a sample; `make edits` runs 1,000 edits.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from torch_helpers import ENVIRONMENT, ROOT

SEED = 8
COUNT = int(os.environ.get("DEPYF_WRONG_EDITS", "120"))
PROCESSES = 1 + COUNT // 500
ENVIRONMENT = {**ENVIRONMENT, "PYTHONPATH": f"{ENVIRONMENT['PYTHONPATH']}:{ROOT / 'tests'}"}


def run(first, last):
    """Returns (the outcomes, the number of signals that ended a process). After a signal, a new process continues with
    the next edit."""
    outcomes, signals = [], []
    while first < last:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).parent / "wrong_edits.py"), str(SEED), str(first), str(last)],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=500,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        outcomes += [line for line in lines if "end" in line]
        if done.returncode == 0:
            break
        began = max((line["begin"] for line in lines if "begin" in line), default=None)
        assert done.returncode < 0 and began is not None, done.stderr[-3000:]
        signals.append((began, -done.returncode))
        first = began + 1
    return outcomes, signals


@pytest.mark.slow
def test_wrong_edits():
    step = COUNT // PROCESSES
    outcomes, signals = [], []
    for first in range(0, COUNT, step):
        some, died = run(first, min(first + step, COUNT))
        outcomes += some
        signals += died
    print(f"{len(outcomes)} wrong edits, {len(signals)} signals: {dict(Counter(one['result'] for one in outcomes))}")
    assert signals == []
    assert len(outcomes) == COUNT
    counts = Counter((one["kind"], one["result"]) for one in outcomes)
    wrong = [one for one in outcomes if one["result"] not in ("exception", "guard fails")]
    wrong += [one for one in outcomes if not one["same afterwards"] or one["left"] or not one["reason"]]
    assert not wrong, json.dumps(wrong[:5], indent=1)
    # Each kind of edit occurred, and guards that raise or refuse were reached by a call.
    assert {kind for kind, _ in counts} == {
        *("signature", "other_variables", "syntax", "unknown", "guard_name", "guard_raises", "guard_false", "graph")
    }
    assert counts["guard_false", "guard fails"] > COUNT / 20
    assert counts["guard_raises", "guard fails"] > COUNT / 20
    raised = [one["reason"] for one in outcomes if one["kind"] == "guard_raises" and one["function"] == "function"]
    assert raised and all("raised" in reason or "Error" in reason or "missing" in reason for reason in raised)
