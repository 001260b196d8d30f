"""`depyf findings`: codes, places, SARIF; and patches that make planted findings go away without another result."""

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


# Name -> (the program, the code of the finding, a text of its line or sentence).
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
    "attribute": (net("return x * self.n", "net.n = 2 + i", calls=2), "recompilation", "self.n"),
    "limit": (net("return x * len(self.mode)", "net.mode = 'a' * i", calls=12), "recompile-limit", "recompile_limit"),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the planted programs, and with `NAME, patched` once the patches of their findings were applied."""
    folder = tmp_path_factory.mktemp("findings")
    for name, (source, _, _) in PLANTED.items():
        (folder / name).mkdir()
        (folder / name / "model.py").write_text(source)
    run(folder, list(PLANTED))
    for name in PLANTED:
        patched = folder / f"{name}, patched"
        patched.mkdir()
        shutil.copy(folder / name / "model.py", patched)
        text = next(each["patch"] for each in findings(folder / name) if each["patch"])
        text = text.replace(str(folder / name / "model.py"), "model.py")
        subprocess.run(["patch", "-p0", "--quiet"], input=text, text=True, cwd=patched, check=True)
    run(folder, [f"{name}, patched" for name in PLANTED])
    return folder


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
    (tmp_path / "shape").mkdir()
    (tmp_path / "shape" / "model.py").write_text(BLOCK.format(line="    print(y.shape)\n"))
    run(tmp_path, ["shape"])
    (found,) = findings(tmp_path / "shape")
    assert (found["code"], found["setting"], found["patch"]) == ("graph-break", None, None) and found["evidence"]


def test_sarif_has_the_form_of_its_standard(folder: Path) -> None:
    done = command("--sarif", "--root", folder, *[folder / name / "dump" for name in PLANTED])
    assert done.returncode == 0, done.stderr
    log = json.loads(done.stdout)
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1
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
    fingerprints = [result["partialFingerprints"]["finding/v1"] for result in tool_run["results"]]
    again = command("--sarif", "--root", folder, *[folder / name / "dump" for name in PLANTED])
    assert fingerprints == [
        each["partialFingerprints"]["finding/v1"] for each in json.loads(again.stdout)["runs"][0]["results"]
    ]


def test_what_is_wrong_is_said(folder: Path, tmp_path: Path) -> None:
    for arguments, message in (
        ((), "takes a run"),
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
    assert status("break", "raise SystemExit(3)\n")[0] == 3  # the program's own
    wrong, text = status("brk")
    assert wrong == 2 and 'no finding with the code "brk"' in text
