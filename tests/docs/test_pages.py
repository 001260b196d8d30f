"""Runs each block of the documents, and compares each output that they show with the output of the run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from page_blocks import blocks_of
from run_pages import DOCS, ROOT, pages, run_page

import depyf

QUICK = ("start.md",)
"""The pages that `make test` runs; `make docs-test` runs all pages."""


@pytest.mark.parametrize("name", QUICK)
def test_a_page_shows_what_its_commands_print(name: str) -> None:
    assert run_page(DOCS / name) == []


@pytest.mark.long
@pytest.mark.parametrize("path", [path for path in pages() if path.name not in QUICK], ids=lambda path: path.name)
def test_each_other_page_shows_what_its_commands_print(path: Path) -> None:
    assert run_page(path) == []


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_each_block_of_a_page_is_of_a_kind_that_is_run(path: Path) -> None:
    blocks_of(path.read_text(encoding="utf-8"))


def test_each_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    missing = [path.name for path in pages() if f": {path.relative_to(DOCS).as_posix()}\n" not in navigation]
    assert missing == []


@pytest.mark.long
def test_start_can_be_followed_from_a_fresh_clone(tmp_path: Path) -> None:
    clone = tmp_path / "depyf"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    assert run_page(clone / "docs" / "start.md", clone=clone) == []


def test_each_public_name_is_in_the_reference() -> None:
    reference = (DOCS / "api.md").read_text(encoding="utf-8")
    names = {line.removeprefix("::: depyf.") for line in reference.split("\n") if line.startswith("::: ")}
    assert names == set(depyf.__all__) - {"__version__"}
