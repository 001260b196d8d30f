"""Tests that `depyf diff` reports each edit of a program at its line, and reports nothing for an unchanged program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from page_browser import Tab

pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_REPORT") or str(ROOT / "build" / "dev" / "depyf-report")

BASE = """\
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)
        self.fc = torch.nn.Linear(8, 8)
        self.scale = 2.0

    def forward(self, x):
        h = self.norm(x)
        h = torch.relu(self.fc(h))
        y = h * self.scale
        return y.sum(1)

def other(x):
    return x + 1

def run():
    net = Net()
    compiled = torch.compile(net, backend="aot_eager")
    for _ in range(2):
        compiled(torch.ones(4, 8, requires_grad=True)).sum().backward()
    torch.compile(other, backend="aot_eager")(torch.ones(3))
"""

# Maps a name to (a text in the program, its replacement, the code of the reported change, a text in the change's line
# or sentence).
EDITS = {
    "print": ("        y = h", '        print("hello")\n        y = h', "break-new", 'print("hello")'),
    "item": ("self.scale\n        return", "x.sum().item()\n        return", "break-new", "x.sum().item()"),
    "explicit": ("        y = h", "        torch._dynamo.graph_break()\n        y = h", "break-new", "graph_break()"),
    "operator": ("torch.relu", "torch.sigmoid", "operators", "torch.sigmoid(self.fc(h))"),
    "order": ("y = h * self.scale", "y = self.scale - h", "operators", "y = self.scale - h"),
    "less": ("        h = self.norm(x)\n", "        h = x\n", "operators", "self.norm(x)"),
    "size": ("Linear(8, 8)", "Linear(8, 16)", "shapes", "self.fc(h)"),
    "type": ("net = Net()", "net = Net().double()\n    torch.set_default_dtype(torch.float64)", "input", "f64"),
    "batch": (
        "for _ in range(2):\n        compiled(torch.ones(4,",
        "for n in (4, 5):\n        compiled(torch.ones(n,",
        "recompilation-new",
        "x",
    ),
    "value": (
        "    for _ in range(2):\n",
        "    for _ in range(2):\n        net.scale += 1\n",
        "recompilation-new",
        "self.scale",
    ),
    "grad": (
        "    for _ in range(2):\n",
        "    with torch.no_grad():\n        compiled(torch.ones(4, 8))\n    for _ in range(2):\n",
        "recompilation-new",
        "grad",
    ),
    "saved": ("        y = h", "        h = h.exp()\n        y = h", "saved-bytes", ""),
    "function": ("x + 1\n", "x + 1\n\ndef third(x):\n    return x - 1\n", None, ""),
    "compiled": ("(other, backend", "(lambda x: x - 1, backend", "function-new", "<lambda>"),
    "gone": (
        '    torch.compile(other, backend="aot_eager")(torch.ones(3))\n',
        "",
        "function-gone",
        "is no longer compiled",
    ),
}
# Programs that must be reported as unchanged: BASE again, with a comment, and with another order of compilations.
SAME = {
    "again": BASE,
    "comment": BASE.replace("class Net", "# a comment\n\nclass Net"),
    "turned": BASE.replace("    net = Net()\n", '    torch.compile(other, backend="aot_eager")(torch.ones(3))\n    net = Net()\n')
    .replace('    torch.compile(other, backend="aot_eager")(torch.ones(3))\n', "", 2)
    .replace("    net = Net()\n", '    torch.compile(other, backend="aot_eager")(torch.ones(3))\n    net = Net()\n'),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs all programs. Returns the folder that has a subfolder with the dump of each program."""
    folder = tmp_path_factory.mktemp("diff")
    sources = {"base": BASE, **SAME}
    for name, (old, new, _, _) in EDITS.items():
        assert old in BASE, name
        sources[name] = BASE.replace(old, new, 1)
    subprocess.run(
        [sys.executable, "-W", "ignore", Path(__file__).with_name("diff_programs.py"), folder],
        input=json.dumps(sources),
        text=True,
        check=True,
        capture_output=True,
        timeout=300,
    )
    return folder


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, "diff", *map(str, arguments)], capture_output=True, text=True, timeout=60)


def difference(folder: Path, before: str, after: str) -> dict:
    done = run("--json", folder / before / "dump", folder / after / "dump")
    assert done.stderr == ""
    data = json.loads(done.stdout)
    assert done.returncode == (0 if data["is_same"] else 1)
    return data


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_named_at_its_line(folder: Path, name: str) -> None:
    _, _, code, text = EDITS[name]
    data = difference(folder, "base", name)
    if code is None:
        assert data["changes"] == []
        return
    changes = [change for change in data["changes"] if change["code"] == code]
    texts = [f"{change['function']} {change['place']['text']} {change['sentence']}" for change in changes]
    assert any(text in each for each in texts), data["changes"]
    if code in {"break-new", "operators"}:
        lines = (folder / name / "model.py").read_text().split("\n")
        assert all(
            change["place"]["text"] == lines[change["place"]["line"] - 1].strip()
            for change in changes
            if change["code"] == "break-new"
        )


@pytest.mark.parametrize("name", ["print", "item", "batch", "value"])
def test_what_is_mended_is_said_to_be_better(folder: Path, name: str) -> None:
    changes = difference(folder, name, "base")["changes"]
    code = EDITS[name][2].replace("-new", "-gone")
    assert code in [change["code"] for change in changes if change["weight"] == "better"]
    assert "worse" not in [change["weight"] for change in changes]


@pytest.mark.parametrize("name", SAME)
def test_the_same_program_is_no_change(folder: Path, name: str) -> None:
    assert difference(folder, "base", name)["changes"] == []
    assert difference(folder, name, "base")["changes"] == []


def test_the_text_begins_with_what_is_worse(folder: Path) -> None:
    text = run(folder / "base" / "dump", folder / "print" / "dump").stdout
    assert "Net.forward (model.py:10):" in text
    assert '  a new graph break at model.py:13 `print("hello")`: ' in text
    differences = text.partition("differences")[2].split("\n")
    assert "graph break" in differences[3]


def test_a_record_is_a_run(folder: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    record.write_text(
        subprocess.run(
            [COMMAND, "--json", "--links", folder / "base" / "dump"], capture_output=True, text=True, check=True
        ).stdout
    )
    assert run(record, folder / "base" / "dump").returncode == 0
    assert run(record, folder / "operator" / "dump").returncode == 1


def test_the_python_command_says_the_same(folder: Path) -> None:
    paths = [folder / "base" / "dump", folder / "print" / "dump"]
    command = [sys.executable, "-m", "depyf", "diff", "--details", *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == run("--details", *paths).stdout


def test_mistakes_are_named(tmp_path: Path) -> None:
    done = run(tmp_path / "nothing", tmp_path)
    assert done.returncode == 2
    assert "nothing: cannot be read" in done.stderr
    assert "No difference" not in done.stdout
    done = run("--what", "a", "b")
    assert done.returncode == 2
    assert "unknown option --what" in done.stderr
    assert run("a").returncode == 2
    assert "exit status" in run("--help").stdout


# The edits that `check` reports with another code than `diff`, with the code of `check`.
BROKEN = {"shapes": "operators", "input": "operators", "function-new": "function-gone"}


def check(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, "check", *map(str, arguments)], capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def contract(folder: Path) -> Path:
    """Writes the contract of the program before the edits, and returns its path."""
    path = folder / "contract.json"
    done = check("--write", "--baseline", path, folder / "base" / "dump")
    assert (done.returncode, done.stderr) == (0, "")
    return path


def test_a_contract_has_the_form_of_its_schema_and_fits_on_a_screen(contract: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "contract.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    data = json.loads(contract.read_text(encoding="utf-8"))
    jsonschema.validate(data, schema)
    assert set(data["functions"]) == {"Net.forward (model.py)", "other (model.py)"}
    assert len(contract.read_text(encoding="utf-8").split("\n")) < 40


def test_the_contract_of_toy_fits_on_a_screen(tmp_path: Path) -> None:
    dump, path = tmp_path / "dump", tmp_path / "toy.json"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-W", "ignore", "-m", "depyf", "run", "-o", dump, ROOT / "examples" / "toy.py"]
    subprocess.run(command, check=True, capture_output=True, timeout=120, env=environment)
    assert check("--write", "--baseline", path, dump).returncode == 0
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 40


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_breaks_the_contract_at_its_line(folder: Path, contract: Path, name: str) -> None:
    _, _, code, text = EDITS[name]
    done = check("--baseline", contract, "--json", folder / name / "dump")
    verdict = json.loads(done.stdout)
    assert done.returncode == (1 if code else 0), done.stdout
    assert verdict["holds"] == (code is None)
    if code is not None:
        broken = [each for each in verdict["broken"] if each["code"] == BROKEN.get(code, code)]
        texts = [f"{each['function']} {each['place']['text']} {each['sentence']}" for each in broken]
        assert broken and (code == "function-new" or any(text in each for each in texts)), verdict["broken"]


@pytest.mark.parametrize("name", SAME)
def test_an_unchanged_program_keeps_its_contract(folder: Path, contract: Path, name: str) -> None:
    done = check("--baseline", contract, folder / name / "dump")
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "The contract holds"), done.stdout


def test_what_cannot_be_told_has_a_status_of_its_own(folder: Path, contract: Path, tmp_path: Path) -> None:
    dump = folder / "base" / "dump"
    (tmp_path / "other.json").write_text('{"depyf_contract": 1, "functions": {"f (a.py)": {"kernls": 1}}}')
    (tmp_path / "cut.json").write_text(contract.read_text(encoding="utf-8")[:200])
    for arguments, problem in (
        (("--baseline", tmp_path / "none.json", dump), "cannot be read"),
        (("--baseline", tmp_path / "other.json", dump), 'functions["f (a.py)"].kernls is not a member'),
        (("--baseline", tmp_path / "cut.json", dump), "line "),
        (("--baseline", contract, tmp_path / "no dump"), "no dump"),
        (("--baseline", contract), "needs one run"),
        (("--without", "krnels", dump), 'no section "krnels"'),
        (("--seconds", "fast", dump), '"fast"'),
    ):
        done = check(*arguments)
        assert done.returncode == 2 and problem in done.stderr, (arguments, done.stderr)


def test_a_program_is_run_and_checked(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(BASE + "\nrun()\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}

    def depyf(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-W", "ignore", "-m", "depyf", "check", *arguments, program.name]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)

    assert depyf().returncode == 2  # no contract was written yet
    written = depyf("--write")
    assert (written.returncode, written.stdout) == (0, "Wrote depyf-contract.json, the contract of 2 functions.\n")
    program.write_text(BASE.replace("        y = h", '        print("hello")\n        y = h') + "\nrun()\n")
    broken = depyf()
    assert broken.returncode == 1 and 'program.py:13 `print("hello")`' in broken.stdout, broken.stdout + broken.stderr
    program.write_text("raise SystemExit(3)\n")
    failed = depyf()
    assert failed.returncode == 2 and "failed with exit status 3" in failed.stderr


def test_the_page_opens_with_the_differences(folder: Path, tmp_path: Path, tab: Tab) -> None:
    page = tmp_path / "changes.html"
    before, after = folder / "base" / "dump", folder / "print" / "dump"
    done = run("--html", page, before, after)
    assert done.returncode == 1 and done.stdout.endswith(f"\nWrote {page}.\n"), done.stderr
    changes = difference(folder, "base", "print")["changes"]
    tab.open(page)
    headline = tab.page.inner_text("h1").replace("\u00a0", " ")
    assert headline.startswith(f"{len(changes)} differences: ")
    assert tab.page.locator(".action").count() == len(changes)
    item = tab.page.locator(".action").filter(has_text="a new graph break").first
    assert item.locator(".badge").inner_text() == "worse"
    item.locator("summary").click()
    assert item.locator("li").count() == len(next(each for each in changes if each["code"] == "break-new")["details"])
    item.locator("a").click()
    tab.page.wait_for_selector(".view-source")
    assert 'print("hello")' in tab.page.locator("main").inner_text()
    # All views other than the differences show the second run.
    tab.open(page, "view=verdict")
    assert "1 graph break" in tab.page.inner_text("h1").replace("\u00a0", " ")

    again = run("--html", page, before, after)
    assert again.returncode == 2 and "--force" in again.stderr
    assert run("--html", page, "--force", before, folder / "again" / "dump").returncode == 0
    tab.open(page)
    assert tab.page.inner_text("h1").startswith("No difference")
