"""Tests of pages from every kind of input, derived from a recorded run of the example train.py: each view opens, and an
accessibility audit finds no fault."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

import page_programs
from page_browser import VIEWS, Tab

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    with tarfile.open(GOLDEN / "train.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    session = folder / "dump" / "session.json"
    session.write_text(session.read_text().replace("WORKING_DIRECTORY", str(folder)))
    page_programs.write_page(folder / "train.html", folder / "dump")
    return folder


def record_of(folder: Path, *options: str) -> Path:
    command = [page_programs.COMMAND, "--json", *options, folder / "dump"]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    path = folder / f"record{len(options)}.json"
    path.write_text(text)
    return path


def damaged_log(folder: Path) -> Path:
    """Writes the first half of a log, with bytes that belong to no record and with a frame id that is no number."""
    text = (folder / "trace.log").read_bytes()
    path = folder / "damaged.log"
    path.write_bytes(bytes(range(256)) * 40 + text[: len(text) // 2].replace(b'"frame_id": 0', b'"frame_id": "x', 3))
    return path


def dump_without_compilations(folder: Path) -> Path:
    path = folder / "nothing_compiled"
    shutil.copytree(folder / "dump", path)
    session = json.loads((path / "session.json").read_text())
    for run in session["runs"]:
        run["frames"] = []
    (path / "session.json").write_text(json.dumps(session))
    return path


def dump_without_kernels(folder: Path) -> Path:
    """Writes a dump like that of a backend without graphs and kernels of its own, such as eager."""
    path = folder / "eager"
    shutil.copytree(folder / "dump", path, ignore=shutil.ignore_patterns("*.kernel_*", "*GRAD*", "*ir_*", "*_graph.*"))
    session = json.loads((path / "session.json").read_text())
    for run in session["runs"]:
        for frame in run["frames"]:
            frame["artifacts"] = [item for item in frame["artifacts"] if (path / item["file"]).exists()]
    (path / "session.json").write_text(json.dumps(session))
    return path


def empty_folder(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def empty_log(folder: Path) -> Path:
    (folder / "empty.log").touch()
    return folder / "empty.log"


INPUTS = {
    "a damaged log": (damaged_log, "no record"),
    "an empty log": (empty_log, "Nothing was compiled."),
    "an empty folder": (empty_folder, "There was nothing to read"),
    "a run without a compilation": (dump_without_compilations, "Nothing was compiled."),
    "a run without kernels": (dump_without_kernels, "no kernels"),
    "a record": (record_of, "does not contain the texts of graphs, guards and kernels"),
    "a record with links": (lambda folder: record_of(folder, "--links"), "train.py:24"),
}


@pytest.mark.parametrize("name", INPUTS)
def test_every_view_of_every_input_opens_and_says_what_is_missing(folder: Path, tab: Tab, name: str) -> None:
    make_input, expected = INPUTS[name]
    page_programs.write_page(folder / "page.html", make_input(folder))
    page = tab.open(folder / "page.html")
    assert expected in page.locator("main").inner_text()
    for number, view in enumerate(VIEWS, 1):
        page.keyboard.press(str(number))
        page.wait_for_selector(f"main.view-{view} > :not(.unseen)")
        assert len(page.locator("main").inner_text()) > 20
    for route in ("view=difference", "view=ranks", "c=9/9", "c=0/0&pane=nothing&line=x", "view=unknown&file=99&p=7"):
        tab.open(folder / "page.html", route)
    page.keyboard.press("/")
    page.keyboard.type("train")
    page.keyboard.press("Escape")


def test_every_number_of_the_verdict_is_a_link(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "train.html")
    linked = page.locator("main h1 a").all_inner_texts()
    assert linked[0] == "1\u00a0function" and linked[1] == "7\u00a0compilations"
    assert linked[3:] == ["2\u00a0graph breaks", "4\u00a0recompilations"]
    assert page.locator(".tiles > a").count() == 5
    figures = page.locator("#compilations td.figure")
    assert figures.count() == 28
    assert all(figure.locator("a").count() == (figure.inner_text().strip() != "") for figure in figures.all())
    page.locator("main h1 a").nth(4).click()
    page.wait_for_selector("main.view-recompilations table")


def test_stages_and_compilations_are_compared(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "train.html", "view=difference&c=1/2")
    choices = page.get_by_label("What is compared").locator("option").all_inner_texts()
    for change in (
        "Before pre-grad passes \u2192 After pre-grad passes",
        "Joint graph \u2192 Forward graph",
        "Joint graph \u2192 Backward graph",
        "Before post-grad passes, backward \u2192 After post-grad passes, backward",
        "IR before fusion, forward \u2192 IR after fusion, forward",
    ):
        assert any(choice.startswith(change) for choice in choices), change
    for earlier in ("1/0", "1/1"):
        assert f"Since {earlier}: Captured graph" in choices and f"Since {earlier}: Kernels, backward" in choices
    assert page.locator(".half.removed, .half.added").count() > 0


def test_a_value_that_a_kernel_reads_in_place_counts_as_read(folder: Path, tab: Tab) -> None:
    """The last kernel of the forward adds x to the result of a library call, in the memory of that result."""
    page = tab.open(folder / "train.html", "view=fusion&c=0/0")
    row = page.locator("tr", has_text="cpp_fused_add_2")
    rows, columns, bytes_of_float = 8, 64, 4
    assert 2 * rows * columns * bytes_of_float == 4096
    assert row.locator("td.figure").all_inner_texts() == ["4.0\u00a0KiB", "2.0\u00a0KiB"]


# Maps the address of a view to (the selector of an element in the view, the text of this element).
ADDRESSES = {
    "c=1/1&pane=post&line=30": ('[data-pane="post"] .row.cursor .number', "30"),
    "c=1/1&pane=post&line=9999": ('[data-pane="post"] .row.cursor .number', "41"),  # the last row
    "c=0/1&pane=kernel-bw&line=60": ('[data-pane="kernel-bw"] .row.cursor .number', "60"),
    "c=2/0&panes=source,guards,code,ir": ('[data-pane="ir"] select option:checked', "IR after fusion, forward"),
    "view=source&file=0&line=12": (".annotated .row.pinned .number", "12"),
    "view=guards&c=1/2": (".guard-words select option:checked", "1/2"),
    "view=fusion&c=2/1": ("main select option:checked", "2/1"),
    "view=difference&c=2/1&d=3": (".difference-heads b >> nth=1", "2/1"),
    "view=verdict&to=compilations": ("#compilations h2", "Compilations"),
    "view=recompilations": ("main h1", "Recompilations"),
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_each_kind_of_address_opens_its_place(folder: Path, tab: Tab, address: str) -> None:
    selector, expected = ADDRESSES[address]
    page = tab.open(folder / "train.html", address)
    place = page.locator(selector)
    assert expected in (place.text_content() or "")
    if "option" not in selector:
        box = place.bounding_box()
        assert box and 0 <= box["y"] < 900, "it is in sight"


def test_code_is_coloured_as_the_program_that_wrote_the_page_found(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "train.html", "c=0/0&panes=source,captured,kernel")
    words = page.locator('[data-pane="source"] .t-word').all_inner_texts()
    assert words[:3] == ["import", "import", "as"]
    row = page.locator('[data-pane="source"] .row', has_text="print(")
    assert row.locator(".t-string").all_inner_texts() == ['"step"']
    assert row.locator(".t-comment").inner_text() == "# graph break (side effect call)"
    # Rows of graphs and kernels are shown with half of their indentation. The colours of code must fit the shortened
    # rows.
    assert page.locator('[data-pane="captured"] .row', has_text="return (").locator(".t-word").inner_text() == "return"
    kernel = page.locator('[data-pane="kernel"] .row', has_text="auto out_ptr0 =").first
    assert kernel.locator(".t-word").all_inner_texts() == ["auto"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_audit_of_accessibility_finds_nothing(folder: Path, browser: Any, scheme: str) -> None:
    """Checks names, roles, headings and contrast with axe-core, by the rules of WCAG 2.2 AA."""
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        pytest.skip("axe-playwright-python is not installed (requirements-dev.txt)")
    audit = (Path(package.origin).parent / "axe.min.js").read_text(encoding="utf-8")
    context = browser.new_context(offline=True, bypass_csp=True, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page_programs.write_page(folder / "both.html", folder / "trace.log", folder / "trace.log")
    places = [("train.html", f"view={view}") for view in VIEWS]
    places += [
        ("train.html", "c=0/0&pane=source&line=12"),
        ("train.html", "view=difference&c=0/1"),
        ("both.html", "view=ranks"),
    ]
    run = f"async () => {{ {audit}; return (await axe.run(document)).violations.map((item) => item.id + ': ' + item.nodes[0].html); }}"
    for name, route in places:
        page.goto("about:blank")
        page.goto(f"{(folder / name).as_uri()}#{route}")
        page.wait_for_selector("main > :not(.unseen)")
        assert page.evaluate(run) == [], route
    for keys in (["/", "g"], ["Escape", "?"]):
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_selector("dialog")
        assert page.evaluate(run) == [], keys
    context.close()


MEASURED = """
import torch

@torch.compile(backend="aot_eager")
def cancelling(x):
    y = x + 1.0e4
    return (y - 1.0e4) * 3

cancelling(torch.linspace(1, 2, 64) * 1e-3)
"""


def test_measured_errors_stand_at_their_lines(tmp_path: Path, tab: Tab) -> None:
    pytest.importorskip("torch")
    script, record = tmp_path / "script.py", tmp_path / "errors.json"
    script.write_text(MEASURED)
    environment = {**os.environ, "TORCH_TRACE": str(tmp_path / "trace")}
    command = [sys.executable, "-W", "ignore", "-m", "depyf", "numerics", "--record", record, script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = {row["place"]["line"]: row for row in json.loads(record.read_text())["measurements"]}
    assert set(rows) == {6, 7} and rows[7]["value"] > 1000 > rows[6]["value"] and not rows[7]["is_alarm"]
    page_programs.write_page(tmp_path / "page.html", tmp_path / "trace", record)
    page = tab.open(tmp_path / "page.html", "view=source&line=7")
    marks = [
        float(text.replace("\u00a0ulp", ""))
        for text in page.locator(".mark-measured").all_inner_texts()
        if "ulp" in text
    ]
    assert marks == [float(f"{rows[line]['value']:.2g}") for line in (6, 7)]
    assert "error of eager" in page.locator(".line-details").inner_text()
    # A part of the run that was not recorded has no column.
    page_programs.write_page(tmp_path / "plain.html", tmp_path / "trace")
    assert tab.open(tmp_path / "plain.html", "view=source").locator(".mark-measured").count() == 0
