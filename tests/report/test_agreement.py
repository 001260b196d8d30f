"""Tests that the record of depyf's dump of a program equals the record of a TORCH_TRACE log of another run, in all
parts that both can have."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import links  # noqa: E402  # the comparison of `make links`

# The parts of the record that a log or a dump cannot have, each with the reason. All parts of the record that are not
# listed in LOG_ALONE or DUMP_ALONE are compared.
LOG_ALONE = {
    "log": "the path of the log, or of the dump",
    "pid": "a dump does not state the process",
    "records": "kinds of records of a log",
    "artifacts": "texts of the log, files of the dump",
    "compilations[].artifacts": "texts of the log, files of the dump",
    "compilations[].start_us": "a dump is the same in each run but for times.json",
    "phases": "phases of no compilation, such as probes of the machine, which the first run of the two makes",
    "compilations[].seconds": "measured by either",
    "compilations[].backward_seconds": "measured by PyTorch alone",
    "compilations[].guards": "counted by PyTorch alone",
    "compilations[].guard_us": "measured in each run",
    "compilations[].graph_nodes": "counted by PyTorch alone",
    "compilations[].graph_operators": "counted by PyTorch alone",
    "compilations[].caches": "events of the log",
    "compilations[].restart_reasons": "a dump has the breaks that are the reasons",
    "compilations[].called_from": "stacks of the log",
    "compilations[].breaks[].stack": "stacks of the log",
    "compilations[].symbols[].place": "stacks of the log",
}
for _direction in ("forward", "backward"):
    LOG_ALONE[f"compilations[].chains[].directions.{_direction}.not_recorded"] = "a dump has Inductor's IR"
DUMP_ALONE = {
    "working_directory": "a log does not state it",
    "run": "the number of the run of depyf in the directory of the dump",
    "compilations[].name": "logs have no qualified names",
    "compilations[].failed_at.function": "a log has the file and the line of a failure",
    "compilations[].failed_at.text": "a log has the file and the line of a failure",
    "compilations[].reasons[].guard": "in the user's terms, where a log has PyTorch's words",
    "compilations[].reasons[].place": "the line that made the guard, which PyTorch's words may not name",
    "compilations[].symbols[].source": "in the user's terms",
    "compilations[].symbols[].range": "as it is in the end, where a log has it as the symbol was made",
    "compilations[].is_raised": "whether the program's call raised is seen in the process alone",
    "compilations[].limits": "conditions on the next call, read from PyTorch's tree of guards",
    "compilations[].missing": "what the process knows that it could not see",
    "compilations[].is_proved": "logs have no bytecode of first frames",
    "compilations[].why_not_proved": "logs have no bytecode of first frames",
    "compilations[].stopped_by": "what ended a compilation, which a log tells as a restart or a failure",
    "compilations[].limit_reached": "which calls the compilations accept together",
    "compilations[].reasons_in_words": "made in the process",
    "function_files": "files of the dump",
    "tables": "a file of the dump",
    "events": "two runs differ in their times",
}
for _name in ("resume_calls", "resume_names", "is_resume"):
    DUMP_ALONE[f"compilations[].{_name}"] = "logs do not connect resume functions"
for _name in ("code_file", "guards_file", "tables", "notes", "provenance", "not_fused"):
    DUMP_ALONE[f"compilations[].{_name}"] = "files and texts of the dump"
for _name in ("runtime_values", "runtime_asserts"):
    DUMP_ALONE[f"compilations[].{_name}"] = "read from the live graph"
for _name in ("subject", "expected", "actual", "origin", "is_in_words", "is_state", "alike", "follows"):
    DUMP_ALONE[f"compilations[].reasons[].{_name}"] = "in the user's terms, where a log has PyTorch's words"
for _name in ("lower_from", "upper_from", "specialized_to", "reason"):
    DUMP_ALONE[f"compilations[].symbols[].{_name}"] = "what set the bounds, seen in the process"
for _name in ("inside", "link", "then"):
    DUMP_ALONE[f"compilations[].breaks[].{_name}"] = "PyTorch's own line and page, seen in the process"
# Comments of depyf stand above the output code in a dump, and long lists of nodes are shortened in a dump.
OTHER_IN_A_FILE = {
    "compilations[].output_codes[].calls[].line": lambda log, dump: 0 < dump - log <= 8,
    "compilations[].kernels[].source_nodes": lambda log, dump: set(dump) <= set(log) and bool(dump) == bool(log),
    "compilations[].output_codes[].calls[].source_nodes": (
        lambda log, dump: set(dump) <= set(log) and bool(dump) == bool(log)
    ),
}
# In a dump, a node's kernels include kernels that only read the node's result, because Inductor counts them too.
for _direction in ("forward", "backward"):
    OTHER_IN_A_FILE[f"compilations[].chains[].directions.{_direction}.kernels"] = lambda log, dump: (
        set(log) <= set(dump)
    )


def are_equal_but_for_sums(log: list[str], dump: list[str]) -> bool:
    """True if the lists differ only in nodes that add up gradients, which have a line but no captured node of their
    own."""
    return all(name.startswith("add") for name in set(log) ^ set(dump))


PHASES_OF_ONE = re.compile(r"bytecode_hooks_|compile_file$")


def have_equal_counts(log: list[dict[str, Any]], dump: list[dict[str, Any]]) -> bool:
    """True if the phases of two runs have equal counts; their times differ. Phases of one run only do not count:
    depyf's bytecode hook, and the compilation of C++ in the first run."""
    counts = [
        {phase["name"]: phase["count"] for phase in phases if not PHASES_OF_ONE.match(phase["name"])}
        for phases in (log, dump)
    ]
    return counts[0] == counts[1] != {}


OTHER_IN_A_FILE["compilations[].phases"] = have_equal_counts
OTHER_IN_A_FILE["compilations[].chains[].joint"] = are_equal_but_for_sums
for _direction in ("forward", "backward"):
    for _stage in ("graph", "post_grad"):
        OTHER_IN_A_FILE[f"compilations[].chains[].directions.{_direction}.{_stage}"] = are_equal_but_for_sums
PROGRAMS = {
    "toy": None,
    "train": None,
    "hard": None,
    # Twelve layers on a backend without a C++ compiler; `make links` runs them on Inductor.
    "transformer": links.TRANSFORMER.replace("torch.compile(Model())", 'torch.compile(Model(), backend="aot_eager")'),
}


def differences(log: Any, dump: Any, place: str = "") -> list[str]:
    """Returns the places at which two records differ, except those in LOG_ALONE, DUMP_ALONE and OTHER_IN_A_FILE."""
    if place in LOG_ALONE or place in DUMP_ALONE:
        return []
    if place in OTHER_IN_A_FILE:
        return [] if OTHER_IN_A_FILE[place](log, dump) else [f"{place}: log {log!r:.200}, dump {dump!r:.200}"]
    # a direction of the dump that has only sums of gradients is not compared
    if place == "compilations[].chains[].directions":
        dump = {
            name: link
            for name, link in dump.items()
            if name in log or not are_equal_but_for_sums([], [*link["graph"], *link["post_grad"]])
        }
    if isinstance(log, dict) and isinstance(dump, dict) and log.keys() == dump.keys():
        inner = [(f"{place}.{key}".lstrip("."), log[key], dump[key]) for key in log]
    elif isinstance(log, list) and isinstance(dump, list) and len(log) == len(dump):
        inner = [(f"{place}[]", a, b) for a, b in zip(log, dump, strict=True)]
    else:
        return [] if log == dump else [f"{place}: log {log!r:.200}, dump {dump!r:.200}"]
    return [text for item in inner for text in differences(*item[1:], item[0])]


@pytest.fixture(scope="module", params=PROGRAMS)
def records(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict, dict]:
    """Runs a program twice, and returns (its name, the record of the log of one run, the record of the dump of the
    other run)."""
    folder = tmp_path_factory.mktemp(request.param)
    script = links.EXAMPLES / f"{request.param}.py"
    if PROGRAMS[request.param] is not None:
        script = folder / "program.py"
        script.write_text(PROGRAMS[request.param])
    elif not script.exists():
        pytest.skip("the example programs are not at hand")
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",  # both runs compile, but may share compiled C++
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
    }
    python = [sys.executable, "-W", "ignore"]
    dumped = [*python, "-m", "depyf", "run", "-o", str(folder / "dump"), str(script)]
    logged = {**environment, "TORCH_TRACE": str(folder / "logs")}
    subprocess.run(dumped, check=True, env=environment, capture_output=True, timeout=300)
    subprocess.run([*python, str(script)], check=True, env=logged, capture_output=True, timeout=300)
    return request.param, links.record_of(folder / "logs"), links.record_of(folder / "dump")


def test_a_log_and_a_dump_tell_the_same(records: tuple[str, dict, dict]) -> None:
    name, log, dump = records
    assert len(log["compilations"]) == {"toy": 3, "train": 7, "hard": 20, "transformer": 1}[name]
    assert differences(log, dump) == []
    for one, two in zip(log["compilations"], dump["compilations"], strict=True):
        assert one["seconds"] > 0 and two["seconds"] > 0
        assert two["name"].rpartition(".")[2].partition("<")[0] in one["place"]["function"], (one["place"], two["name"])
        for here, there in zip(one["reasons"], two["reasons"], strict=True):
            assert here["guard"] and there["guard"]


def test_the_log_leads_from_line_12_of_train_to_a_forward_and_a_backward_kernel(
    records: tuple[str, dict, dict],
) -> None:
    name, log, _ = records
    if name != "train":
        pytest.skip("it is about train.py")
    compiled_with_a_backward = 0
    for compilation in log["compilations"]:
        direction_of = {kernel["name"]: kernel["direction"] for kernel in compilation["kernels"]}
        for chain in compilation["chains"]:
            if not chain["operator"].endswith("gelu"):
                continue
            assert (Path(chain["place"]["file"]).name, chain["place"]["line"]) == ("train.py", 12)
            assert "gelu(self.fc1(h))" in chain["place"]["text"]
            forward, backward = (chain["directions"][name]["kernels"] for name in ("forward", "backward"))
            assert forward and all(direction_of[kernel] == "forward" for kernel in forward)
            assert backward and all(direction_of[kernel] == "backward" for kernel in backward)
            assert all("gelu" in kernel for kernel in [*forward, *backward])
            compiled_with_a_backward += 1
    # Five compilations contain a gelu and have a backward: two blocks, each with one size and with a dynamic size, and
    # the second block with another scale.
    assert compiled_with_a_backward == 5


def test_the_comparison_sees_what_differs(records: tuple[str, dict, dict]) -> None:
    name, log, dump = records
    compilation = dump["compilations"][0]
    place = dict(compilation["place"])
    compilation["place"] = {**place, "line": place["line"] + 1}
    (found,) = differences(log, dump)
    assert found.startswith("compilations[].place.line")
    compilation["place"] = place
    if name == "transformer":
        compilation["graphs"][-1]["nodes"].pop()
        assert [text.partition(":")[0] for text in differences(log, dump)] == ["compilations[].graphs[].nodes"]
