"""Tests of the page of a model of 24 layers: its size, its views, and its response time."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import page_programs
from page_browser import VIEWS, Tab

pytest.importorskip("torch")
pytestmark = [pytest.mark.slow, pytest.mark.long]

BENCH = page_programs.ROOT / "bench"
# The limits in milliseconds on an idle machine; on a busy machine, the ratios to the time of an empty page count.
OPEN_MAX, HOVER_MAX = 1000, 16
OPEN_RATIO_MAX, HOVER_RATIO_MAX = 6, 0.1  # relative to an empty page, which takes 150 ms on an idle machine


@pytest.fixture(scope="module")
def page_of_layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layers")
    environment = {**os.environ, "PYTHONPATH": str(page_programs.ROOT / "python"), "OMP_NUM_THREADS": "1"}
    for variable in ("TORCHINDUCTOR_FX_GRAPH_CACHE", "TORCHINDUCTOR_AUTOGRAD_CACHE"):
        environment[variable] = "0"
    command = [sys.executable, "-W", "ignore", BENCH / "dump_size.py", "--dump", folder / "dump", "24", "inductor"]
    subprocess.run(command, check=True, env=environment, capture_output=True, timeout=600)
    page_programs.write_page(folder / "page.html", folder / "dump")
    return folder / "page.html"


def test_it_is_one_file_of_at_most_six_megabytes(page_of_layers: Path) -> None:
    assert 100_000 < page_of_layers.stat().st_size < 6_000_000


def test_equal_layers_stand_once_and_all_views_open(page_of_layers: Path, tab: Tab) -> None:
    for view in VIEWS:
        page = tab.open(page_of_layers, f"view={view}")
        assert page.locator(f"main.view-{view} > *").count() > 0
    tab.open(page_of_layers, "view=modules")
    assert "\u00d7 24 equal layers; the figures are sums" in page.locator("table.modules").first.inner_text()


def test_hover_over_each_line_lights_what_provenance_json_names(page_of_layers: Path, tab: Tab) -> None:
    """Tests a model in which passes replace attention and kernels recompute sums, so that a call's inputs are not the
    inputs of its original nodes."""
    provenance = json.loads((page_of_layers.parent / "dump" / "provenance.json").read_text())
    (recorded,) = provenance["runs"][-1]["compilations"]
    places = {(chain["line"]["file"], chain["line"]["line"]) for chain in recorded["chains"]}
    assert len(places) > 5 and {Path(file).name for file, _ in places} == {"dump_size.py"}
    for first in range(0, len(page_programs.LINKED_PANES), 3):
        panes = page_programs.LINKED_PANES[first : first + 3]
        page = tab.open(page_of_layers, f"c=0/0&panes=source,{','.join(panes)}")
        for file, line in places:
            page.evaluate("(row) => explorer.hover(explorer.panes[0], row)", line)
            of_line = [
                item for item in recorded["chains"] if (item["line"]["file"], item["line"]["line"]) == (file, line)
            ]
            wanted = page_programs.names_by_pane(of_line)
            for pane in panes:
                assert tab.lit_names(pane) == wanted[pane], (line, pane)


def test_it_opens_in_a_second_and_answers_a_hover_within_a_frame(page_of_layers: Path, browser: Any) -> None:
    specification = importlib.util.spec_from_file_location("bench_page", BENCH / "page.py")
    assert specification and specification.loader
    bench = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(bench)
    figures = bench.measure(browser, page_of_layers, 5)
    assert figures["hovers"] > 200
    empty = figures["empty page"]
    assert figures["explorer"] < max(OPEN_MAX, OPEN_RATIO_MAX * empty), figures
    assert figures["slowest hover"] < max(HOVER_MAX, HOVER_RATIO_MAX * empty), figures
