"""Tests of the page of the example train.py: every line is compared with provenance.json and session.json; printing,
keyboard and redaction."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

import page_programs
from page_browser import VIEWS, Tab

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

PANES = page_programs.LINKED_PANES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("train")
    page_programs.run_train(folder)
    page_programs.write_page(folder / "train.html", folder / "dump")
    page_programs.write_page(folder / "redacted.html", "--redact", folder / "dump")
    return folder


def compilations_of(folder: Path, name: str) -> list[dict[str, Any]]:
    last_run = json.loads((folder / "dump" / name).read_text())["runs"][-1]
    return last_run["compilations" if name == "provenance.json" else "frames"]


@pytest.mark.parametrize("compilation", ["0/0", "0/1", "1/0", "2/0"])
def test_hover_over_each_line_lights_what_provenance_json_names(folder: Path, tab: Tab, compilation: str) -> None:
    (recorded,) = [item for item in compilations_of(folder, "provenance.json") if item["compile_id"] == compilation]
    lines = sorted({chain["line"]["line"] for chain in recorded["chains"] if chain["line"]})
    assert lines
    wanted = {
        line: page_programs.names_by_pane([chain for chain in recorded["chains"] if chain["line"]["line"] == line])
        for line in lines
    }
    seen = set()
    for first in range(0, len(PANES), 3):
        panes = PANES[first : first + 3]
        page = tab.open(folder / "train.html", f"c={compilation}&panes=source,{','.join(panes)}")
        for line in lines:
            page.locator(f'[data-pane="source"] .row:has(.number:text-is("{line}"))').hover()
            for pane in panes:
                assert tab.lit_names(pane) == wanted[line][pane], (line, pane)
                if wanted[line][pane]:
                    seen.add(pane)
    assert seen == set(PANES)


def test_keyboard_alone_pins_a_line_and_the_other_panes_follow(folder: Path, tab: Tab) -> None:
    source = (folder / "train.py").read_text().splitlines()
    gelu = next(number for number, line in enumerate(source, 1) if "gelu" in line)
    page = tab.open(folder / "train.html", "c=0/0&panes=source,kernel,kernel-bw")
    for _ in range(40):
        if page.evaluate("document.activeElement.closest('.rows') !== null"):
            break
        page.keyboard.press("Tab")
    for _ in range(gelu):
        page.keyboard.press("ArrowDown")
    assert "gelu" in page.locator(".trail").inner_text()
    page.keyboard.press("Enter")
    for pane in ("kernel", "kernel-bw"):
        assert page.locator(f'[data-pane="{pane}"] .row.pinned').count() > 0
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[data-pane]').dataset.pane") == "kernel"


def test_breaks_recompilations_and_conditions_of_the_dump_are_on_the_page(folder: Path, tab: Tab) -> None:
    frames = compilations_of(folder, "session.json")
    page = tab.open(folder / "train.html", "view=verdict")
    verdict = re.sub(r"\s+", " ", page.locator("main").inner_text())
    breaks = {(item["line"]["line"], item["reason"]) for frame in frames for item in frame["breaks"]}
    assert len(breaks) == 2
    for line, reason in breaks:
        assert f"train.py:{line}" in verdict and reason in verdict
    index = (folder / "dump" / "index.md").read_text()
    assert all(reason in index for _, reason in breaks)
    page.keyboard.press("5")
    page.wait_for_selector("main.view-recompilations table")
    recompilations = re.sub(r"\s+", " ", page.locator("main").inner_text())
    failures = [failure for frame in frames for failure in frame.get("failures", [])]
    again = [frame for frame in frames if frame["compile_id"].endswith(("/1", "/2"))]
    assert len(again) >= 4
    for frame in again:
        assert frame["compile_id"] in recompilations
    for failure in failures:
        assert failure["expected"] in recompilations and failure["actual"] in recompilations
    assert "(8, 64)" in recompilations and "(16, 64)" in recompilations and "0.5" in recompilations
    conditions = 0
    for frame in frames:
        tab.open(folder / "train.html", f"view=guards&c={frame['compile_id']}")
        text = page.locator(".guard-words").inner_text()
        for limit in frame["frontier"]:
            assert limit["condition"] in text
            conditions += 1
    assert conditions > 30


def test_the_printed_page_has_all_rows_and_no_buttons(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "train.html", "view=source")
    rows = len((folder / "train.py").read_text().splitlines())
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".annotated .row").count() == rows
    assert page.locator(".tool:visible, .tabs:visible").count() == 0
    assert page.evaluate("getComputedStyle(document.querySelector('main')).overflow") == "visible"
    last = page.locator(".annotated .row").last.bounding_box()
    assert last and last["y"] > 900, "rows lie below each other, beyond the height of the window"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator(".tabs:visible").count() == 1
    for view in ("verdict", "source", "flow"):
        tab.open(folder / "train.html", f"view={view}")
        assert len(page.pdf()) > 10_000


def test_a_redacted_page_opens_in_all_views_and_its_lines_are_linked(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "redacted.html")
    for number, view in enumerate(VIEWS, 1):
        page.keyboard.press(str(number))
        page.wait_for_selector(f"main.view-{view} > *")
        assert page.locator("main .empty").count() == 0
        text = page.locator("body").inner_text()
        assert "train.py" not in text and str(folder) not in text
    (recorded,) = [item for item in compilations_of(folder, "provenance.json") if item["compile_id"] == "0/0"]
    chains = [chain for chain in recorded["chains"] if chain["operator"].endswith("gelu")]
    line = chains[0]["line"]["line"]
    wanted = page_programs.names_by_pane([chain for chain in recorded["chains"] if chain["line"]["line"] == line])
    tab.open(folder / "redacted.html", "c=0/0&panes=source,captured,kernel,kernel-bw")
    page.locator(f'[data-pane="source"] .row:has(.number:text-is("{line}"))').hover()
    for pane in ("captured", "kernel", "kernel-bw"):
        assert tab.lit_names(pane) == wanted[pane]


def test_no_line_of_the_example_is_in_its_redacted_page(folder: Path) -> None:
    html = (folder / "redacted.html").read_text(encoding="utf-8")
    packed = re.search(r'<script type="application/(\w+)" id="data">(.*?)</script>', html, re.DOTALL)
    assert packed
    data = gzip.decompress(base64.b64decode(packed[2])).decode() if packed[1] == "gzip" else packed[2]
    text = html + "\n".join(json.loads(data)["texts"]) + json.dumps(json.loads(data), ensure_ascii=False)
    lines = {line.strip() for line in (folder / "train.py").read_text().splitlines()}
    assert [line for line in lines if len(line) > 8 and line in text] == []
    assert str(folder) not in text and "train.py" not in text


def test_saved_values_lead_from_the_forward_to_the_backward_and_back(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "train.html", "c=0/0&panes=source,fw,bw")
    forward, backward = (page.locator(f'[data-pane="{pane}"]') for pane in ("fw", "bw"))
    frames = compilations_of(folder, "session.json")
    (frame,) = [frame for frame in frames if frame["compile_id"] == "0/0"]
    (file,) = [item["file"] for item in frame["artifacts"] if item["kind"] == "Forward_graph"]
    returned = (folder / "dump" / file).read_text().rpartition("return ")[2]
    computed = forward.locator(".row:has(.saved) code").all_inner_texts()
    names = {row.strip().partition(":")[0].partition(" ")[0] for row in computed}
    assert names and all(re.search(rf"\b{name}\b", returned) for name in names)
    # 8 x 64 numbers of four bytes: the output of the layer norm for the first linear layer.
    layer_norm = forward.locator(".row:has(.saved)", has_text="add_1:")
    assert layer_norm.locator(".saved").inner_text() == "saved 2.0\u00a0KiB \u2192"
    layer_norm.locator(".saved").click()
    cursor = page.locator('[data-pane="bw"] .row.cursor')
    assert cursor.locator("code").inner_text().strip().startswith("add_1:")
    cursor.locator(".saved").click()
    assert page.locator('[data-pane="fw"] .row.cursor code').inner_text().strip().startswith("add_1:")
    assert "saves" in page.locator(".trail").inner_text()
    assert backward.count() == 1


def test_modules_have_kernels_and_a_share_of_the_seconds(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "train.html", "view=modules")
    table = page.locator("table.modules").first
    heads = table.locator("th").all_inner_texts()
    assert heads[:6] == ["module", "nodes", "operators of its own", "kernels", "forward calls", "backward calls"]
    assert heads[6:] == ["share of seconds", "lines"]
    (recorded,) = [item for item in compilations_of(folder, "provenance.json") if item["compile_id"] == "0/0"]
    kernels = {
        (direction, kernel)
        for chain in recorded["chains"]
        for direction, link in chain["directions"].items()
        for kernel in link["kernels"]
        if not kernel.startswith("extern_kernels.")
    }
    assert int(table.locator("tbody tr").first.locator("td").nth(3).inner_text()) == len(kernels)
    assert "to compile all of it" in page.locator("h2").first.inner_text()
    # The page calls the seconds of a module a share, because PyTorch does not measure modules.
    lead = page.locator(".lead").inner_text()
    assert (
        "PyTorch records the seconds of whole compilations only, so the share of a module is the share of its nodes"
        in lead
    )
    rows = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
    whole = page.evaluate("secondsOf(currentProcess().compilations[0])")
    for row in rows:
        share = float(row[6].replace("\u00a0s", ""))
        assert abs(share - whole * int(row[1]) / int(rows[0][1])) < 0.06


def test_the_page_is_small(folder: Path) -> None:
    assert (folder / "train.html").stat().st_size < 1_500_000
