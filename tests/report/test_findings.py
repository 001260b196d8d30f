"""Tests of `depyf findings`: codes, places, SARIF, and patches that remove planted findings and do not change the
program's result."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_REPORT") or str(ROOT / "build" / "dev" / "depyf-report")

HEAD = "import warnings\nimport torch\n\n"
BLOCK = (
    HEAD
    + "def f(x):\n    y = x.sin()\n{line}    return y * 2\n\ndef run():\n    return torch.compile(f, backend='eager')(torch.ones(3))\n"
)
NET = (
    HEAD
    + "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.n = 2\n        self.mode = ''\n\n"
    "    def forward(self, x):\n        {line}\n\n"
    "def run():\n    net = Net()\n    compiled = torch.compile(net, backend='eager')\n    for i in range({calls}):\n        {change}\n"
    "        y = compiled(torch.ones({size}))\n    return y\n"
)


def net(line: str = "return x * 2", change: str = "pass", size: str = "4", calls: int = 4) -> str:
    return NET.format(line=line, change=change, size=size, calls=calls)


# Maps a name to (the program, the code of the finding, a text of its line or sentence).
PLANTED = {
    "print": (BLOCK.format(line="    print('hello')\n"), "graph-break", "print('hello')"),
    "print of a tensor": (BLOCK.format(line="    print(y)\n"), "graph-break", "print(y)"),
    "warning": (BLOCK.format(line="    warnings.warn('careful')\n"), "graph-break", "warnings.warn('careful')"),
    "explicit": (BLOCK.format(line="    torch._dynamo.graph_break()\n"), "graph-break", "graph_break()"),
    "explicit in a branch": (
        BLOCK.format(line="    if x.dim() == 1:\n        torch._dynamo.graph_break()\n"),
        "graph-break",
        "graph_break()",
    ),
    "item": (BLOCK.format(line="    y = y * x.sum().item()\n"), "graph-break", "x.sum().item()"),
    "nonzero": (BLOCK.format(line="    y = y.sum() + torch.nonzero(x).sum()\n"), "graph-break", "torch.nonzero(x)"),
    "size": (net(size="4 + i, 3", calls=2), "recompilation", "x.shape"),
    "limit": (net("return x * len(self.mode)", "net.mode = 'a' * i", calls=12), "recompile-limit", "recompile_limit"),
    "print, Inductor": (BLOCK.format(line="    print('hello')\n").replace("eager", "inductor"), "graph-break", "print('hello')"),
    "size, Inductor": (net(size="4 + i, 3", calls=2).replace("eager", "inductor"), "recompilation", "x.shape"),
}  # fmt: skip

CALLS = "\ndef run():\n    compiled = torch.compile(f, backend='eager')\n    compiled({first})\n    return compiled({second}).detach()\n"
DOUBLE = HEAD + "def f(x):\n    return x * 2\n"
# Findings without a patch, which only the user can solve: maps a name to (the program, the code of the finding, the
# line).
WITHOUT_PATCH = {
    "logging": ("import logging\nLOG = logging.getLogger('m')\n" + BLOCK.format(line="    LOG.warning('x')\n"), "graph-break", "LOG.warning('x')"),
    "time": ("import time\n" + BLOCK.format(line="    t = time.time()\n"), "graph-break", "t = time.time()"),
    "branch": (BLOCK.format(line="    if y.sum() > 0:\n        y = y + 1\n"), "graph-break", "if y.sum() > 0:"),
    "shape": (BLOCK.format(line="    print(y.shape)\n"), "graph-break", "print(y.shape)"),
    "counter": (
        HEAD + "COUNT = 0\n\ndef f(x):\n    global COUNT\n    COUNT += 1\n    return x * COUNT\n" + CALLS.format(first="torch.ones(3)", second="torch.ones(3)"),
        "recompilation",
        "COUNT += 1",
    ),
    "type": (DOUBLE + CALLS.format(first="torch.ones(3)", second="torch.ones(3).double()"), "recompilation", "return x * 2"),
    "gradient": (DOUBLE + CALLS.format(first="torch.ones(3)", second="torch.ones(3, requires_grad=True)"), "recompilation", "return x * 2"),
    "many guards": (
        HEAD + "TABLE = {f'k{i}': i for i in range(600)}\n\ndef f(x):\n    return x * sum(TABLE.values())\n"
        + CALLS.format(first="torch.ones(3)", second="torch.ones(3)"),
        "expensive-guards",
        "return x * sum(TABLE.values())",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder with the planted programs, and with a copy `NAME, patched` of each program to which the
    patches of its findings are applied."""
    folder = tmp_path_factory.mktemp("findings")
    for name, (source, _, _) in PLANTED.items():
        (folder / name).mkdir()
        (folder / name / "model.py").write_text(source)
    run(folder, list(PLANTED))
    for name in PLANTED:
        patched = folder / f"{name}, patched"
        text = next(each["patch"] for each in findings(folder / name) if each["patch"])
        patch(folder / name / "model.py", text, patched / "model.py")
    run(folder, [f"{name}, patched" for name in PLANTED])
    return folder


def patch(source: Path, text: str, target: Path) -> None:
    """Copies a file, and applies a patch to the copy with patch(1)."""
    target.parent.mkdir()
    shutil.copy(source, target)
    text = text.replace(str(source), target.name)
    command = ["patch", "-p0", "--quiet", "--binary", "--fuzz=0"]
    subprocess.run(command, input=text.encode(), cwd=target.parent, check=True)


def run(folder: Path, names: list[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    script = Path(__file__).with_name("findings_programs.py")
    subprocess.run(
        [sys.executable, script, folder, *names], check=True, timeout=300, env=environment, capture_output=True
    )


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, "findings", *map(str, arguments)], capture_output=True, text=True, timeout=60)


def findings(folder: Path) -> list[dict]:
    done = command("--json", folder / "dump")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["findings"]


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_finding_goes_away_with_its_patch(folder: Path, name: str) -> None:
    _, code, text = PLANTED[name]
    before = [each for each in findings(folder / name) if each["code"] == code]
    assert before and any(text in f"{each['place']['text']} {each['sentence']}" for each in before), before
    assert command("--fail-on", code, folder / name / "dump").returncode == 1
    after = [each["sentence"] for each in findings(folder / f"{name}, patched") if each["code"] == code]
    assert after == []
    results = [torch.load(folder / each / "result.pt") for each in (name, f"{name}, patched")]
    assert torch.equal(*results)


def test_no_setting_is_proposed_where_none_is_sure_to_help(tmp_path: Path) -> None:
    for name, (source, _, _) in WITHOUT_PATCH.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.py").write_text(source)
    run(tmp_path, list(WITHOUT_PATCH))
    for name, (_, code, line) in WITHOUT_PATCH.items():
        found = [each for each in findings(tmp_path / name) if each["code"] == code]
        assert [each["place"]["text"] for each in found] == [line], name
        assert found[0]["setting"] is None and found[0]["patch"] is None and found[0]["remedy"], name
    assert "on parts of TABLE" in found[0]["sentence"]


def test_a_number_that_changes_is_compiled_for_once_more_with_its_setting(tmp_path: Path) -> None:
    (tmp_path / "numbers").mkdir()
    (tmp_path / "numbers" / "model.py").write_text(net("return x * self.n", "net.n = 2 + i"))
    run(tmp_path, ["numbers"])
    before = findings(tmp_path / "numbers")
    setting = "torch._dynamo.config.allow_unspec_int_on_nn_module = True"
    assert [each["setting"] for each in before] == [None, setting]
    (again,) = before[1]["evidence"]
    assert again.startswith(
        "The same value caused 1 more recompilation; the cause of the last one was self.n: expected "
    )
    assert "a constant until the attribute has changed once" in before[0]["evidence"][0]
    patch(tmp_path / "numbers" / "model.py", before[1]["patch"], tmp_path / "patched" / "model.py")
    run(tmp_path, ["patched"])
    (after,) = findings(tmp_path / "patched")
    assert "self.n: expected 2, was 3" in after["sentence"] and after["setting"] is None


def test_the_cause_of_a_recompilation_is_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch first reports 0/1, which refused the third call because of the dtype of x; only the dtype of y is new in
    that call. A log, which lacks the subjects of guards that a dump has, leads to the same causes as a dump."""
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "model.py").write_text(
        HEAD
        + "def f(x, y):\n    return x + y\n\ndef run():\n    compiled = torch.compile(f, backend='eager', dynamic=False)\n"
        "    a, b = torch.ones(8), torch.ones(8)\n    c, d = a.double(), b.double()\n"
        "    compiled(a, b)\n    compiled(c, d)\n    compiled(a, d)\n    return compiled(c, b)\n"
    )
    monkeypatch.setenv("TORCH_TRACE", str(tmp_path / "logs"))
    run(tmp_path, ["near"])
    first, second = findings(tmp_path / "near")
    assert "x.dtype: expected torch.float32, was torch.float64" in first["sentence"]
    assert "y.dtype: expected torch.float32, was torch.float64" in second["sentence"]
    # Each guard that fails in the fourth call also failed earlier, so PyTorch's first message is reported as the cause.
    assert "x.dtype: expected torch.float32, was torch.float64" in first["evidence"][0]
    for name in ("near/dump", "logs"):
        contract = tmp_path / "contract.json"
        subprocess.run(
            [COMMAND, "check", "--write", "--baseline", contract, tmp_path / name], check=True, capture_output=True
        )
        (function,) = json.loads(contract.read_text())["functions"].values()
        assert function["recompilations"] == [{"kind": "dtype", "subject": subject} for subject in "xyx"], name
        contract.unlink()


@pytest.mark.parametrize(
    "head, fits",
    [
        (HEAD.replace("\n", "\r\n"), True),
        ('"""\nimport torch\n"""\nimport torch as th\nimport torch\n', True),
        ("from torch import (\n    nn,\n    ones,\n)\nimport torch\n", True),
        ("import torch.nn as nn; torch = __import__('torch')\n", True),
        ("torch = __import__('torch')\n", False),
    ],
)
def test_a_setting_stands_behind_the_import(head: str, fits: bool, tmp_path: Path) -> None:
    end = "\r\n" if "\r" in head else "\n"
    source = head + PLANTED["item"][0].removeprefix(HEAD).replace("\n", end)
    (tmp_path / "item").mkdir()
    (tmp_path / "item" / "model.py").write_text(source, newline="")
    run(tmp_path, ["item"])
    (found,) = findings(tmp_path / "item")
    assert bool(found["patch"]) == fits
    if fits:
        patch(tmp_path / "item" / "model.py", found["patch"], tmp_path / "patched" / "model.py")
        patched = (tmp_path / "patched" / "model.py").read_bytes().decode()
        assert patched.count(end) == patched.count("\n") == source.count("\n") + 2
        run(tmp_path, ["patched"])
        assert findings(tmp_path / "patched") == []


def test_the_last_line_of_a_file_may_lack_its_end(tmp_path: Path) -> None:
    source = (
        HEAD
        + "def run():\n    return torch.compile(f, backend='eager')(torch.ones(3))\n\ndef f(x):\n    torch._dynamo.graph_break()"
    )
    (tmp_path / "end").mkdir()
    (tmp_path / "end" / "model.py").write_text(source.replace("def f(x):\n", "def f(x):\n    x = x + 1\n"))
    run(tmp_path, ["end"])
    (text,) = [each["patch"] for each in findings(tmp_path / "end") if each["code"] == "graph-break"]
    patch(tmp_path / "end" / "model.py", text, tmp_path / "patched" / "model.py")
    assert (tmp_path / "patched" / "model.py").read_text().endswith("    x = x + 1\n    pass\n")


def test_sarif_has_the_form_of_its_standard(folder: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    done = command("--sarif", "--root", folder, *[folder / name / "dump" for name in PLANTED])
    assert done.returncode == 0, done.stderr
    log = json.loads(done.stdout)
    schemas = [Path(__file__).with_name("sarif_subset.schema.json")]
    if "DEPYF_SARIF_SCHEMA" in os.environ:  # the schema of the SARIF standard itself, if its path is given
        schemas.append(Path(os.environ["DEPYF_SARIF_SCHEMA"]))
    for schema in schemas:
        validator = jsonschema.Draft7Validator(
            json.loads(schema.read_text()), format_checker=jsonschema.FormatChecker()
        )
        assert [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(log)] == []
    assert len(log["runs"]) == 1
    (tool_run,) = log["runs"]
    rules = [rule["id"] for rule in tool_run["tool"]["driver"]["rules"]]
    base = tool_run["originalUriBaseIds"]["ROOT"]["uri"]
    assert base.startswith("file:///") and base.endswith("/")
    for result in tool_run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"] and result["level"] in ("error", "warning", "note")
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"]["uriBaseId"] == "ROOT" and place["region"]["startLine"] >= 1
        assert not place["artifactLocation"]["uri"].startswith("/") and " " not in place["artifactLocation"]["uri"]
        for fix in result.get("fixes", []):
            (replacement,) = fix["artifactChanges"][0]["replacements"]
            assert replacement["deletedRegion"]["startLine"] <= replacement["deletedRegion"]["endLine"]


def test_fingerprints_are_the_same_in_another_run(folder: Path, tmp_path: Path) -> None:
    names = ["print", "size"]
    for name in names:
        (tmp_path / name).mkdir()
        # The comment moves every line, which must not change the fingerprints.
        (tmp_path / name / "model.py").write_text("# A comment.\n" + PLANTED[name][0])
    run(tmp_path, names)
    fingerprints = []
    for place in (folder, tmp_path):
        log = json.loads(command("--sarif", "--root", place, *[place / name / "dump" for name in names]).stdout)
        fingerprints.append([each["partialFingerprints"]["finding/v1"] for each in log["runs"][0]["results"]])
    assert len(set(fingerprints[0])) == 2 and fingerprints[0] == fingerprints[1]


def test_explain_carries_the_findings(folder: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}

    def explain(*paths: Path) -> tuple[int, dict]:
        command = [sys.executable, "-m", "depyf", "explain", "--json", *map(str, paths)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        return done.returncode, json.loads(done.stdout)

    status, told = explain(folder / "print" / "dump")
    assert status == 0 and told["findings"] == findings(folder / "print") and told["problems"] == []
    assert "1 distinct graph break" in told["summary"]
    status, told = explain(tmp_path / "nothing")
    assert status == 1 and told["findings"] == [] and "nothing" in told["problems"][0]


def test_what_is_wrong_is_said(folder: Path, tmp_path: Path) -> None:
    for arguments, message in (
        ((), "needs a run"),
        (("--fail-on", "brk", folder / "print" / "dump"), '"brk"'),
        ((tmp_path / "nothing",), "nothing"),
        (("--yaml", folder / "print" / "dump"), "--yaml"),
    ):
        done = command(*arguments)
        assert done.returncode == 2 and message in done.stderr, (arguments, done.stderr)


def test_a_program_fails_on_findings(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}

    def status(codes: str, end: str = "") -> tuple[int, str]:
        program.write_text(PLANTED["print"][0] + "\nrun()\n" + end)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "depyf", "run", "--fail-on", codes, "-o", "dump", program.name],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        return done.returncode, done.stderr

    failed, text = status("break,recompile")
    assert failed == 1 and "[graph-break]" in text and "program.py:6" in text, text
    assert status("recompile")[0] == 0
    assert status("break", "raise SystemExit(3)\n")[0] == 3  # the program's own exit status
    wrong, text = status("brk")
    assert wrong == 2 and 'no finding has the code "brk"' in text
