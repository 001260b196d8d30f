"""Tests that a page written with `--redact` contains no private text of the user, and still works."""

from __future__ import annotations

import ast
import base64
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import page_programs

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

# A program with each kind of text that a page could show: docstring, comment, names, strings and numbers in code, in
# guards, in messages of errors and breaks, in names of files and folders, and an operator of the user. The texts are
# long, so that no time or hash contains one by chance.
SECRETIVE = '''
"""Docstring about quicksilver."""
import torch

# A comment about zebrafish.
MOTTO = "umbrella under tarpaulin"


class Heliotrope(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gooseberry = torch.nn.Linear(8, 8)
        self.mode = "walnut"
        self.factor = 0.73214459
        self.count = 4861173902

    def forward(self, marmalade):
        sturgeon = self.gooseberry(marmalade) * self.factor + self.count
        print("pelican", MOTTO)
        if self.mode == "walnut":
            sturgeon = torch.relu(sturgeon) * 271.82845904
        return sturgeon.sum()


@torch.library.custom_op("periwinkle::mangosteen", mutates_args=())
def mangosteen(value: torch.Tensor) -> torch.Tensor:
    return value * 2


@mangosteen.register_fake
def shape_of_mangosteen(value):
    return torch.empty_like(value)


def calls_operator(nectarine):
    return torch.ops.periwinkle.mangosteen(nectarine) + 1


def raises(nectarine):
    raise RuntimeError("persimmon is a message")


def gives_up(nectarine):
    torch._dynamo.graph_break(msg="cardamom")
    return nectarine + 1


def main():
    model = torch.compile(Heliotrope())
    model(torch.ones(4, 8)).backward()
    model.mode = "hazelnut"
    model(torch.ones(6, 8))
    torch.compile(calls_operator)(torch.ones(3))
    torch.compile(gives_up)(torch.ones(3))
    try:
        torch.compile(raises)(torch.ones(3))
    except RuntimeError:
        pass
'''
RUNNER = """
import sys
sys.path[:0] = [sys.argv[1], "saffron"]
import depyf
import ocelot
with depyf.prepare_debug("dump"):
    ocelot.main()
"""
SECRETS = (
    "quicksilver zebrafish umbrella tarpaulin heliotrope gooseberry walnut hazelnut marmalade sturgeon pelican motto periwinkle "
    "mangosteen nectarine persimmon cardamom ocelot saffron 0.73214459 4861173902 271.82845904"
).split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vermilion")
    (folder / "saffron").mkdir()
    (folder / "saffron" / "ocelot.py").write_text(SECRETIVE)
    (folder / "runner.py").write_text(RUNNER)
    environment = {**os.environ, "TORCH_TRACE": str(folder / "logs"), "OMP_NUM_THREADS": "1"}
    for variable in ("TORCHINDUCTOR_FX_GRAPH_CACHE", "TORCHINDUCTOR_AUTOGRAD_CACHE"):
        environment[variable] = "0"
    arguments = [sys.executable, "-W", "ignore", "runner.py", str(page_programs.ROOT / "python")]
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


def bytes_of(page: str) -> tuple[str, dict[str, Any]]:
    """Returns (the text of a page with its data decompressed and unescaped, the data)."""
    element = re.search(r'<script type="application/(\w+)" id="data">(.*?)</script>', page, re.DOTALL)
    assert element
    text = element.group(2)
    if element.group(1) == "gzip":
        text = gzip.decompress(base64.b64decode(text)).decode()
    data = json.loads(text)
    return page.replace(element.group(2), "") + json.dumps(data, ensure_ascii=False), data


@pytest.mark.parametrize("name", ["dump", "logs"])
def test_nothing_of_the_user_is_in_the_page(folder: Path, tmp_path: Path, name: str) -> None:
    whole, _ = bytes_of(page_programs.write_page(tmp_path / "whole.html", folder / name))
    text, data = bytes_of(page_programs.write_page(tmp_path / "redacted.html", "--redact", folder / name))
    lowered, lowered_whole = text.lower(), whole.lower()
    assert [secret for secret in [*SECRETS, "vermilion", str(folder).lower()] if secret in lowered] == []
    # Checks the search itself, which must find nearly all of the texts in a page that is not redacted.
    shown = [secret for secret in SECRETS if secret in lowered_whole]
    assert len(shown) >= len(SECRETS) - 6, set(SECRETS) - set(shown)
    # A line that consists only of words of Python reveals nothing about the program.
    lines = [line.strip() for line in SECRETIVE.splitlines() if len(line.strip()) > 8]
    assert [line for line in lines if line in text] == []
    for node in ast.walk(ast.parse(SECRETIVE)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > 7:
            assert node.value not in text
    # The redacted page still has the structure of the run.
    compilations = data["processes"][0]["compilations"]
    operators = {node[1] for item in compilations for node in item["nodes"]}
    assert any(operator.endswith("linear") for operator in operators), operators
    assert sum(len(item["calls"]) for item in compilations) > 2
    assert any(call["bytesRead"] for item in compilations for call in item["calls"])
    assert "f32[4, 8]" in text and "file1.py" in text


def test_links_by_line_are_the_same_as_in_the_whole_page(folder: Path, tmp_path: Path) -> None:
    pages = [
        bytes_of(page_programs.write_page(tmp_path / "page.html", *options, folder / "dump"))[1]
        for options in ([], ["--redact"])
    ]
    links = []
    for data in pages:
        lines = data["lines"]
        compilations = data["processes"][0]["compilations"]
        links.append(
            [
                (item["id"], pane["stage"], row[0], sorted(lines[2 * line + 1] for line in row[4:]))
                for item in compilations
                for pane in item["panes"]
                for row in pane["rows"]
            ]
        )
    assert len(links[0]) > 50 and links[0] == links[1]


@pytest.mark.parametrize("option", [["-o", "index", "--redact"], ["--json", "--redact"], ["--redact"]])
def test_only_the_page_can_be_redacted(tmp_path: Path, option: list[str]) -> None:
    done = subprocess.run([page_programs.COMMAND, *option, "x.log"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "--redact needs -o PAGE.html" in done.stderr
    assert list(tmp_path.iterdir()) == []
