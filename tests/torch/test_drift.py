"""A sample of `make drift`, which damages every private name; see drift.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from torch_helpers import ENVIRONMENT, ROOT

PROGRAM = Path(__file__).parent / "drift.py"
# One name of each kind of row, from all parts that a block of prepare_debug uses, with various kinds of damage.
SAMPLE = [
    ("convert_frame:register_bytecode_hook", "other signature"),
    ("CompileContext.compile_id", "other type"),
    ("eval_frame:_debug_get_cache_entry_list", "raises"),
    ("_CacheEntry.code", "other type"),
    ("_CacheEntry.guard_manager", "raises"),
    ("GuardManagerWrapper.root", "raises"),
    ("CheckFunctionManager.output_graph", "other type"),
    ("RootGuardManager.get_leaf_guards", "raises"),
    ("torch.__trace.payload", "other type"),
    ("dynamo_output_graph", "renamed"),
    ("__resume_at_", "removed"),
    ("convert_frame:globals", "renamed"),
    ("utils:lazy_format_graph_code", "removed"),
    ("GraphModule.recompile", "other signature"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("when", "sample"), [("before", SAMPLE[::2]), ("after", SAMPLE[1::2])])
def test_no_program_is_harmed_and_each_loss_is_told_once_and_named_by_the_doctor(when, sample, tmp_path):
    arguments = [argument for name, kind in sample for argument in ("--case", name, kind)]
    arguments += ["--when", when, "--json", str(tmp_path / "found.json")]
    environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join([ENVIRONMENT["PYTHONPATH"], str(ROOT / "tests")])}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *arguments], capture_output=True, text=True, timeout=580, env=environment
    )
    found = json.loads((tmp_path / "found.json").read_text())
    assert len(found) == len(sample)
    assert [one for one in found if one["harm"]] == [], done.stdout
    assert [one for one in found if one["told"] != 1 or not one["named"]] == [], done.stdout
    assert done.returncode == 0
