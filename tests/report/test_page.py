"""Tests of the report's page in a browser (Debian's Chromium), opened from a file without a network."""

from __future__ import annotations

import gzip
import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import page_programs
from page_browser import VIEWS, Tab

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

LOGS = page_programs.ROOT.parent / "shared" / "data" / "torch-trace"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the dump and the log of one run of the model, and a page of each."""
    folder = tmp_path_factory.mktemp("page")
    page_programs.run_model(folder)
    page_programs.write_page(folder / "dump.html", folder / "dump")
    page_programs.write_page(folder / "log.html", folder / "logs")
    return folder


def provenance_of(folder: Path, compilation: str) -> dict[str, Any]:
    runs = json.loads((folder / "dump" / "provenance.json").read_text())["runs"]
    (found,) = [item for item in runs[-1]["compilations"] if item["compile_id"] == compilation]
    return found


@pytest.mark.parametrize("name", ["dump.html", "log.html"])
def test_every_view_opens_by_keyboard_alone(folder: Path, tab: Tab, name: str) -> None:
    page = tab.open(folder / name)
    for number, view in enumerate(VIEWS, 1):
        page.keyboard.press(str(number))
        page.wait_for_selector(f"main.view-{view} > *")
        assert page.locator("nav.tabs [aria-current]").get_attribute("data-view") == view
        assert page.locator("main .empty").count() == 0
    foot = page.locator("footer").inner_text()
    for text in ("depyf ", "PyTorch 2.", "Python 3.", "depyf-report -o"):
        assert text in foot
    page.keyboard.press("?")
    assert "search everything" in page.locator("dialog.help").inner_text()
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


def test_what_index_md_says_is_on_the_page(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "dump.html", "view=verdict")
    text = re.sub(r"\s+", " ", page.locator("main").inner_text())
    session = json.loads((folder / "dump" / "session.json").read_text())
    frames = session["runs"][-1]["frames"]
    breaks = {(item["line"]["line"], item["reason"]) for frame in frames for item in frame["breaks"]}
    assert [line for line, _ in breaks] == [page_programs.BREAK_LINE]
    for line, reason in breaks:
        assert f"model.py:{line}" in text and reason in text
    for hint in frames[0]["breaks"][0]["hints"]:
        assert re.sub(r"\s+", " ", hint.replace("`", "")) in text
    page.keyboard.press("5")
    page.wait_for_selector("main.view-recompilations > *")
    text = page.locator("main").inner_text()
    assert "(8, 16)" in text and "(16, 16)" in text and "0.5" in text
    for frame in frames:
        tab.open(folder / "dump.html", f"view=guards&c={frame['compile_id']}")
        text = page.locator(".guard-words").inner_text()
        for limit in frame["frontier"]:
            assert limit["condition"] in text


@pytest.mark.parametrize("compilation", ["0/0", "0/1"])
def test_hover_lights_exactly_what_provenance_json_names(folder: Path, tab: Tab, compilation: str) -> None:
    chains = [
        item for item in provenance_of(folder, compilation)["chains"] if item["line"]["line"] == page_programs.GELU_LINE
    ]
    assert len(chains) == 2
    expected = page_programs.names_by_pane(chains)
    assert all(expected.values())
    for others in (["captured", "joint", "fw"], ["bw", "post", "post-bw"], ["kernel", "kernel-bw"]):
        page = tab.open(folder / "dump.html", f"c={compilation}&panes=source,{','.join(others)}")
        row = page.locator(f'[data-pane="source"] .row:has(.number:text-is("{page_programs.GELU_LINE}"))')
        row.hover()
        assert "gelu" in page.locator(".trail").inner_text()
        for pane in others:
            assert tab.lit_names(pane) == expected[pane], pane
            shown = page.locator(f'[data-pane="{pane}"] .row.lit')
            assert shown.count() == page.locator(f'[data-pane="{pane}"] .row:not(.fold)').evaluate_all(
                "(rows) => rows.filter((row) => getComputedStyle(row).backgroundColor !== 'rgba(0, 0, 0, 0)').length"
            )


def test_a_click_pins_and_the_other_panes_scroll(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "dump.html", "c=0/0&panes=source,kernel,kernel-bw")
    page.locator(f'[data-pane="source"] .row:has(.number:text-is("{page_programs.GELU_LINE}"))').click()
    page.mouse.move(5, 5)
    for pane in ("kernel", "kernel-bw"):
        row = page.locator(f'[data-pane="{pane}"] .row.pinned').first
        row.wait_for()
        box, around = row.bounding_box(), page.locator(f'[data-pane="{pane}"] .rows').bounding_box()
        assert around["y"] <= box["y"] < around["y"] + around["height"]
    assert f"line={page_programs.GELU_LINE}" in page.url and "pane=source" in page.url
    page.keyboard.press("Escape")
    assert page.locator(".row.pinned").count() == 0


def test_an_address_opens_its_place(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "dump.html", "c=0/1&pane=post-bw&line=20")
    row = page.locator('[data-pane="post-bw"] .row.cursor')
    assert row.locator(".number").inner_text() == "20"
    assert row.is_visible()
    assert "0/1" in page.locator(".explorer-head select").evaluate("(select) => select.selectedOptions[0].textContent")
    again = page.url
    tab.open(folder / "dump.html", again.partition("#")[2])
    assert page.locator('[data-pane="post-bw"] .row.cursor .number').inner_text() == "20"
    # A link to a row that exists only on the page of another run leads to the last row.
    tab.open(folder / "dump.html", "c=1/1&pane=post&line=4200")
    last = page.evaluate("explorer.panes[explorer.keys.indexOf('post')].source.rows.length")
    assert page.locator('[data-pane="post"] .row.cursor .number').inner_text() == str(last)
    for line in ("0", "-5", "x"):
        tab.open(folder / "dump.html", f"c=1/1&pane=post&line={line}")
        assert page.locator(".row.cursor").count() == 0


def test_the_flow_goes_from_the_function_over_its_break_to_what_goes_on(folder: Path, tab: Tab) -> None:
    for name in ("dump.html", "log.html"):
        page = tab.open(folder / name, "view=flow")
        outer = page.locator(".page > .flow-function")
        assert outer.count() == 1
        assert f"model.py:{page_programs.BREAK_LINE}" in outer.locator("> .flow-end > .flow-eager").inner_text()
        inner = outer.locator("> .flow-end > .flow-function")
        assert inner.locator("> .flow-entries > li").count() == 2
        assert inner.locator(".flow-end").count() == 0


def test_the_flow_has_a_map_where_the_build_had_the_library(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "dump.html", "view=flow")
    if not page.evaluate("typeof globalThis.dagre !== 'undefined'"):
        assert page.locator(".flow-map").count() == 0
        pytest.skip("the viewer was built without dagre (Debian: node-dagre-layout)")
    html = (folder / "dump.html").read_text(encoding="utf-8")
    assert "Chris Pettitt" in html and "Permission is hereby granted, free of charge" in html
    boxes = page.locator(".flow-map a")
    texts = boxes.all_inner_texts()
    assert len(texts) == 3 and f"model.py:{page_programs.BREAK_LINE} runs eagerly" in texts[1]
    places = [box.bounding_box() for box in boxes.all()]
    assert all(first["y"] + first["height"] < second["y"] for first, second in itertools.pairwise(places))
    assert page.locator(".flow-map path").count() == 2
    boxes.nth(1).click()
    page.wait_for_selector("main.view-source")
    # Without the library dagre, the view shows the functions in nested boxes.
    tab.open(folder / "dump.html", "view=flow")
    page.evaluate("() => { delete globalThis.dagre; showRoute(); }")
    assert page.locator(".flow-map").count() == 0 and page.locator(".page > .flow-function").count() == 1


def test_fusion_names_kernels_bytes_and_what_is_saved(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "dump.html", "view=fusion&c=0/0")
    rows = page.locator("tr", has_text="layer_norm")
    # The forward kernel reads x, weight and bias, and writes mean, reciprocal deviation and the result, in float32.
    assert "640\u00a0B" in rows.first.inner_text() and "576\u00a0B" in rows.first.inner_text()
    text = page.locator("main").inner_text()
    recorded = provenance_of(folder, "0/0")["not_fused"]
    assert recorded["forward"] and all(pair["why"] in text for pairs in recorded.values() for pair in pairs)
    assert "Saved for the backward" in text and "at once, in" in text
    frames = json.loads((folder / "dump" / "session.json").read_text())["runs"][-1]["frames"]
    (backward,) = [item["file"] for item in frames[0]["artifacts"] if item["kind"] == "Backward_graph"]
    graph = (folder / "dump" / backward).read_text()
    saved = page.locator("table", has_text="computed at").locator("tbody tr td:first-child").all_inner_texts()
    assert saved and all(re.search(rf"\b{name}\b", graph) for name in saved)


def test_two_compilations_are_compared_side_by_side(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "dump.html", "view=recompilations")
    page.locator(".differences", has_text="0/1").get_by_text("Captured graph", exact=True).click()
    page.wait_for_selector("main.view-difference .row")
    text = page.locator("main").inner_text()
    assert "0/0 Captured graph" in text and "0/1 Captured graph" in text
    removed = page.locator(".half.removed code").all_inner_texts()
    added = page.locator(".half.added code").all_inner_texts()
    # The size of the batch is a number in the first compilation, and a symbol in the second one.
    assert any('"f32[8, 16]' in row for row in removed) and any(re.search(r'"f32\[s\d+, 16\]', row) for row in added)
    assert page.locator(".row:not(.fold):not(:has(.removed, .added))").count() > 0
    page.get_by_role("button", name="All rows").click()
    assert page.locator(".row.fold").count() == 0


def test_modules_are_a_tree(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "dump.html", "view=modules")
    rows = page.locator("table.modules").first.locator("tbody tr td:first-child").all_inner_texts()
    assert rows == ["Net.forward", "block", "norm", "inner", "outer"]


def test_equal_layers_stand_once(tab: Tab, tmp_path: Path) -> None:
    names = [f"L_self_modules_blocks_modules_{i}_modules_fc_parameters_weight_" for i in range(24)]
    parameters = ", ".join(f'{name}: "f32[2][1]cpu"' for name in ["L_x_", *names])
    graph = f"class GraphModule(torch.nn.Module):\n    def forward(self, {parameters}):\n        x = L_x_\n"
    for i, name in enumerate(names):
        graph += "        # File: /a/net.py:7 in forward, code: x = fc(x)\n"
        graph += f"        linear_{i} = torch.nn.functional.linear(x, {name});  x = linear_{i}\n"
    log = tmp_path / "layers.log"
    log.write_text(
        page_programs.record({"str": ["/a/net.py", 0]})
        + page_programs.record({"dynamo_start": {"stack": [{"line": 3, "name": "forward", "filename": 0}]}})
        + page_programs.record({"dynamo_output_graph": {"sizes": {}}}, graph + "        return (linear_23,)")
    )
    page_programs.write_page(tmp_path / "page.html", log)
    page = tab.open(tmp_path / "page.html", "view=modules")
    rows = page.locator("table.modules tbody tr").all_inner_texts()
    assert len(rows) == 4
    assert (
        "0 \u2026 23" in rows[2] and "\u00d7 24 equal layers; the figures are sums" in rows[2] and "\t24\t" in rows[3]
    )
    # Layers of different sizes are not grouped.
    for number in range(24):
        log.write_text(
            log.read_text().replace(f" linear_{number} =", f' linear_{number}: "f32[{2 + number % 2}][1]cpu" =')
        )
    page_programs.write_page(tmp_path / "page.html", log)
    tab.open(tmp_path / "page.html", "view=modules")
    assert page.locator("table.modules tbody tr").count() == 2 + 2 * 24


def test_what_a_library_call_returns_counts_in_bytes(tab: Tab, tmp_path: Path) -> None:
    """The bytes that a kernel writes are those of the buffers in output code; the result of a library call has the size
    of its node."""
    log = tmp_path / "library.log"
    nodes = """class GraphModule(torch.nn.Module):
    def forward(self, arg0_1: "f32[8, 3, 3, 3]", arg1_1: "f32[4, 3, 16, 16]"):
        # File: /a/net.py:7 in f, code: y = conv(x)
        convolution: "f32[4, 8, 16, 16]" = torch.ops.aten.convolution.default(arg1_1, arg0_1)
        topk = torch.ops.aten.topk.default(convolution, 2)
        getitem: "f32[4, 8, 16, 2]" = topk[0]
        getitem_1: "i64[4, 8, 16, 2]" = topk[1]
        return (getitem, getitem_1)
"""
    captured = """class GraphModule(torch.nn.Module):
    def forward(self, L_w_: "f32[8, 3, 3, 3]", L_x_: "f32[4, 3, 16, 16]"):
        l_w_ = L_w_
        l_x_ = L_x_
        # File: /a/net.py:7 in f, code: y = conv(x)
        y: "f32[4, 8, 16, 16]" = torch.conv2d(l_x_, l_w_)
        topk = torch.topk(y, 2)
        return (topk,)
"""
    code = """# AOT ID: ['0_inference']
def call(args):
    arg0_1, arg1_1 = args
    # Topologically Sorted Source Nodes: [y], Original ATen: [aten.convolution]
    buf0 = extern_kernels.convolution(arg1_1, arg0_1, stride=(1, 1))
    assert_size_stride(buf0, (4, 8, 16, 16), (2048, 256, 16, 1))
    # Topologically Sorted Source Nodes: [topk], Original ATen: [aten.topk]
    buf1 = torch.ops.aten.topk.default(buf0, 2)
    buf2 = buf1[0]
    buf3 = buf1[1]
    return (buf2, buf3, )
"""
    log.write_text(
        page_programs.record({"str": ["/a/net.py", 0]})
        + page_programs.record({"dynamo_start": {"stack": [{"line": 3, "name": "f", "filename": 0}]}})
        + page_programs.record({"dynamo_output_graph": {"sizes": {}}}, captured)
        + page_programs.record({"inductor_post_grad_graph": {}}, nodes)
        + page_programs.record({"inductor_output_code": {"filename": "/tmp/a.py"}}, code)
    )
    page_programs.write_page(tmp_path / "page.html", log)
    page = tab.open(tmp_path / "page.html", "view=fusion")
    convolution = 4 * 8 * 16 * 16 * 4
    expected = [
        ["extern_kernels.convolution", (8 * 3 * 3 * 3 + 4 * 3 * 16 * 16) * 4, convolution],
        ["torch.ops.aten.topk.default", convolution, 4 * 8 * 16 * 2 * (4 + 8)],
    ]
    calls = "currentProcess().compilations[0].calls.map((call) => [call.kernel, call.bytesRead, call.bytesWritten])"
    assert page.evaluate(calls) == expected


def test_the_timeline_has_the_events_of_the_log(folder: Path, tab: Tab, tmp_path: Path) -> None:
    page = tab.open(folder / "log.html", "view=timeline")
    begun = sum(path.read_text().count('"ph": "B"') for path in (folder / "logs").glob("*.log"))
    events = page.evaluate("currentProcess().events.length")
    assert 0.9 * begun <= events <= begun + 100
    assert "backend_compile" in page.locator("table").inner_text()
    colours = page.locator("canvas").evaluate(
        "(canvas) => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)"
        ".data.buffer)).size"
    )
    assert colours > 20
    with page.expect_download() as download:
        page.get_by_role("button", name="Save for Perfetto").click()
    download.value.save_as(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len(trace) == events and {"name", "ph", "ts", "dur", "pid", "tid", "args"} <= trace[0].keys()
    assert {"0/0", "1/1"} <= {event["args"].get("compilation") for event in trace}
    tab.trouble.clear()  # the download is a request to the page itself, which is no error here


def test_the_timeline_of_a_dump_is_that_of_the_log_of_the_same_run(folder: Path, tab: Tab) -> None:
    """PyTorch sends its timing events to the log and to depyf, which writes them to times.json in the dump."""
    counts = []
    for name in ("dump.html", "log.html"):
        page = tab.open(folder / name, "view=timeline")
        assert (
            page.locator("canvas.flame").count() == 1
            and page.get_by_role("button", name="Save for Perfetto").count() == 1
        )
        counts.append(
            page.evaluate(
                "() => { const process = currentProcess(); return process.events.map((event) => event.name + ' of ' + "
                "(event.compilation < 0 ? '' : process.compilations[event.compilation].id)).sort(); }"
            )
        )
    assert counts[0] == counts[1] and any(text == "backend_compile of 0/0" for text in counts[0])


def test_panes_scroll_together_until_a_line_is_pinned(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "dump.html", "c=0/0&panes=source,kernel")
    kernel = page.locator('[data-pane="kernel"] .rows')
    source = page.locator('[data-pane="source"] .rows')
    for rows in (source, kernel):
        rows.evaluate("(rows) => { rows.style.flex = 'none'; rows.style.height = '200px'; }")
    source.hover()
    assert kernel.evaluate("(rows) => rows.scrollTop") == 0
    page.mouse.wheel(0, 260)
    tab.until("explorer.panes[1].list.element.scrollTop > 0")
    # The line of the scrolled pane is visible in the other pane, too.
    tab.until(
        "explorer.panes[1].placesOf.get(explorer.panes[0].lineInSight()).some((place) => { "
        "const { scrollTop, clientHeight } = explorer.panes[1].list.element; "
        "return scrollTop <= 20 * place && 20 * place < scrollTop + clientHeight; })"
    )
    # A pinned pane does not move, and neither do panes that are set not to scroll together.
    for is_pinned in (True, False):
        if is_pinned:
            page.locator('[data-pane="source"] .row:has(.bar)').first.click()
        else:
            page.keyboard.press("Escape")
            page.get_by_role("button", name="Scroll together").click()
        for rows in (kernel, source):
            rows.evaluate("(rows) => { rows.scrollTop = 0; }")
        source.hover()
        page.mouse.wheel(0, 260)
        tab.until("explorer.panes[0].list.element.scrollTop > 200")
        page.wait_for_timeout(50)
        assert kernel.evaluate("(rows) => rows.scrollTop") == 0


def test_curves_lead_from_the_rows_of_a_line_to_those_in_the_next_pane(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "dump.html", "c=0/0&panes=source,captured,kernel")
    page.wait_for_timeout(50)
    assert page.evaluate("explorer.connections.count") == 0
    page.locator(f'[data-pane="source"] .row:has(.number:text-is("{page_programs.GELU_LINE}"))').hover()
    tab.until("explorer.connections.count > 1")
    # A curve starts at the highlighted row, in the gap to the right of its pane, and has the colour of the line.
    spot = page.evaluate(
        "(row) => { const pane = explorer.panes[0]; const grid = explorer.grid.getBoundingClientRect(); "
        "const box = pane.element.getBoundingClientRect(); const index = pane.order.indexOf(row); "
        "const y = box.top - grid.top + index * 20 - pane.list.element.scrollTop + 10; const x = box.right - grid.left + 2; "
        "return [...explorer.connections.canvas.getContext('2d').getImageData(x, y, 1, 1).data]; }",
        page_programs.GELU_LINE,
    )
    assert spot[3] > 0
    page.mouse.move(5, 5)
    tab.until("explorer.connections.count === 0")


def test_a_line_that_is_in_no_graph_says_so(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "dump.html", "c=0/0&panes=source,fw,kernel")
    page.locator('[data-pane="source"] .row:has(.number:text-is("2"))').hover()
    assert "Nothing in this compilation comes from this line." in page.locator(".trail").inner_text()
    page.locator('[data-pane="fw"] .row.without-line').first.hover()
    assert "No line of source: an input of the graph" in page.locator(".trail").inner_text()
    # The line behind the break is in the graph of another compilation, so it has no colour in this one.
    after = f'[data-pane="source"] .row:has(.number:text-is("{page_programs.BREAK_LINE + 1}")) .bar'
    assert page.locator(after).count() == 0
    tab.open(folder / "dump.html", "c=1/0&panes=source,captured,kernel")
    assert page.locator(after).count() == 1


def test_the_gutter_names_graphs_and_seconds(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "dump.html", "view=source")
    gelu = page.locator(f'.annotated .row:has(.number:text-is("{page_programs.GELU_LINE}"))')
    assert gelu.locator(".mark-graphs").inner_text() == "0/0+1"
    assert gelu.locator(".mark-graphs").get_attribute("title") == "In the graphs of 0/0, 0/1"
    begin = page.locator('.annotated .row:has-text("def forward(self, x)")').last
    assert re.fullmatch(r"[\d.]+\u00a0s", begin.locator(".mark-seconds").inner_text())


def test_conditions_stand_together_by_object(folder: Path, tab: Tab) -> None:
    page = tab.open(folder / "dump.html", "view=guards&c=0/0")
    assert re.search(
        r"TIME TO CHECK THE GUARDS\n+\d+ us per check, as PyTorch", page.locator(".guard-words").inner_text(), re.I
    )
    heads = page.locator(".guard-group h3").all_inner_texts()
    assert len(heads) == len(set(heads)) and "x" in heads and "self.block.norm" in heads
    group = page.locator(".guard-group", has=page.locator("h3", has_text=re.compile(r"^x$")))
    assert "x.shape[0] == 8" in group.inner_text() and "x.shape[1] == 16" in group.inner_text()


def test_search_finds_a_kernel_by_name(folder: Path, tab: Tab) -> None:
    (kernel,) = [
        name
        for chain in provenance_of(folder, "0/0")["chains"]
        if chain["operator"].endswith("gelu")
        for name in chain["directions"]["forward"]["kernels"]
    ]
    page = tab.open(folder / "dump.html")
    page.keyboard.press("/")
    page.keyboard.type(kernel)
    page.locator(".hit", has_text="kernel").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_selector("main.view-explorer")
    cursor = page.locator('[data-pane="kernel"] .row.cursor')
    assert kernel in cursor.inner_text()


def test_source_that_changed_is_not_shown_as_the_source(folder: Path, tab: Tab, tmp_path: Path) -> None:
    source = folder / "model.py"
    text = source.read_text()
    try:
        source.write_text(text.replace("h = self.norm(x)", "h = self.norm(x + 1)  # a secret"))
        html = page_programs.write_page(tmp_path / "page.html", folder / "dump")
    finally:
        source.write_text(text)
    assert "a secret" not in html and "class Block" not in html
    page = tab.open(tmp_path / "page.html", "view=source")
    assert "the file has changed since" in page.locator(".pane-head").inner_text()
    shown = page.locator(".annotated").inner_text()
    assert "self.norm(x)" in shown and "lines that the record does not quote" in shown
    known = page.locator(".annotated .row:not(.fold)").count()
    page.locator(".annotated .row.fold").first.click()
    assert page.locator(".annotated .row:not(.fold)").count() > known


def test_pages_of_the_examples_open_in_all_views(tab: Tab, tmp_path: Path) -> None:
    page_programs.run_examples(tmp_path)
    page_programs.write_page(tmp_path / "page.html", tmp_path / "dump")
    page = tab.open(tmp_path / "page.html")
    for view in VIEWS:
        page.evaluate(f"location.hash = '#view={view}'")
        page.wait_for_selector(f"main.view-{view} > *")
    page = tab.open(tmp_path / "page.html", "view=verdict")
    text = page.locator("main").inner_text()
    assert "toy.py:15" in text and "break_in_loop (hard.py:" in text and "runs eagerly" in text
    # Each file is listed once, although PyTorch shortens its path at some guards.
    tab.open(tmp_path / "page.html", "view=source")
    names = page.locator(".file-list a span").all_inner_texts()
    assert sorted(names) == ["hard.py", "toy.py"]
    # The two branches behind the break of toy.py are functions of their own: a call that takes one branch cannot take
    # the other one.
    tab.open(tmp_path / "page.html", "view=flow")
    branches = page.locator(".page > .flow-function", has_text="toy_example (toy.py").locator(".flow-function > header")
    assert branches.count() == 2
    assert len(set(branches.all_inner_texts())) == 2 and all(
        "\u00b7 line" in text for text in branches.all_inner_texts()
    )
    # Functions that do not lead to each other have maps of their own, none of which is wider than the page.
    assert page.evaluate("typeof globalThis.dagre === 'undefined'") or page.locator(".map-scroll").count() > 5
    assert page.evaluate(
        "[...document.querySelectorAll('.map-scroll')].every((map) => map.scrollWidth <= map.clientWidth)"
    )
    for index in range(page.evaluate("currentProcess().compilations.length")):
        page.evaluate(f"location.hash = routeText({{c: compilationKey({index})}})")
        page.wait_for_selector(".explorer .pane")


HOSTILE = (
    "</script><script>window.ran = 1; alert(1)</script><img src=x onerror='window.ran = 1'>"
    "\u2028\u2029\u202e\x1b[31m\x00<!-- <script> ]]> &lt; \\u003c ${1}`"
)


def hostile_log(path: Path) -> None:
    """Writes a log in which every text that the page shows is hostile."""

    graph = (
        'class GraphModule(torch.nn.Module):\n    def forward(self, L_x_: "f32[2][1]cpu"):\n        l_x_ = L_x_\n'
        f"        # File: /tmp/{HOSTILE.replace(':', '')}.py:3 in f, code: {HOSTILE}\n"
        '        y: "f32[2][1]cpu" = l_x_ + 1;  l_x_ = None\n        return (y,)\n'
    )
    frame = {"line": 3, "name": HOSTILE, "filename": 0, "loc": HOSTILE}
    path.write_text(
        page_programs.record({"str": [f"/tmp/{HOSTILE}.py", 0]})
        + page_programs.record({"dynamo_start": {"stack": [frame]}})
        + page_programs.record({"dynamo_output_graph": {"sizes": {}}}, graph + HOSTILE)
        + page_programs.record({"dynamo_cpp_guards_str": {}}, HOSTILE)
        + page_programs.record({"artifact": {"name": "dynamo_graph_break_reason", "encoding": "string"}}, HOSTILE)
        + page_programs.record({"artifact": {"name": "recompile_reasons", "encoding": "json"}}, json.dumps([HOSTILE]))
        + page_programs.record(
            {"compilation_metrics": {"co_name": HOSTILE, "fail_reason": HOSTILE, "fail_type": HOSTILE}}
        )
    )


def test_hostile_text_is_shown_as_text_and_does_not_run(tab: Tab, tmp_path: Path) -> None:
    log = tmp_path / "hostile_<b>.log"
    hostile_log(log)
    html = page_programs.write_page(tmp_path / "page.html", log)
    assert html.count("<script") == 2 and html.count("</script>") == 2
    assert not re.search("[\x00-\x09\x0b-\x1f\u2028\u2029\u202e]", html)
    page = tab.open(tmp_path / "page.html")
    for view in VIEWS:
        tab.open(tmp_path / "page.html", f"view={view}&c=0/0")
        assert page.evaluate("window.ran") is None
        assert page.locator("img, iframe, object, main script").count() == 0
    tab.open(tmp_path / "page.html", "c=0/0&panes=source,captured,guards")
    shown = page.locator("main").inner_text()
    assert "</script><script>window.ran = 1" in shown and "<img src=x onerror=" in shown
    assert "\u2039U+202E\u203a" in shown and "\u241b[31m" in shown
    # A single backquote belongs to the program's text, and does not mark code.
    assert page.evaluate("withCode('expected `</code>, was b').join('|')") == "expected `</code>, was b"
    page.keyboard.press("/")
    page.keyboard.type("onerror")
    page.locator(".hit").first.wait_for()
    assert page.evaluate("window.ran") is None


def test_the_policy_of_the_page_lets_no_other_script_run(folder: Path, browser: Any, tmp_path: Path) -> None:
    html = (folder / "dump.html").read_text(encoding="utf-8")
    (tmp_path / "page.html").write_text(
        html.replace("</body>", "<script>window.ran = 1</script></body>"), encoding="utf-8"
    )
    tab = Tab(browser)
    page = tab.open(tmp_path / "page.html")
    assert page.evaluate("window.ran") is None
    assert "violates the following Content Security Policy" in tab.trouble[0]
    tab.context.close()


@pytest.mark.skipif(not LOGS.exists(), reason="the logs of real runs are not at hand")
def test_ranks_that_compiled_something_else_are_named(tab: Tab, tmp_path: Path) -> None:
    page_programs.write_page(tmp_path / "page.html", LOGS / "multi_rank_logs")
    page = tab.open(tmp_path / "page.html", "view=ranks")
    text = page.locator("main").inner_text()
    assert "rank 3 first differs from rank 1 in compilation 0/7: compiled elsewhere, not here: kernel" in text
    page.locator(".action").get_by_text("0/0", exact=True).click()
    page.wait_for_selector("main.view-explorer")
    assert page.locator("select.process").evaluate("(select) => select.selectedOptions[0].textContent") == "rank 1"


@pytest.mark.skipif(not LOGS.exists(), reason="the logs of real runs are not at hand")
@pytest.mark.parametrize(
    "name",
    ["cache_hit_miss.log", "comp_failure.log", "export.log", "inductor_provenance_jit_cuda_log.txt", "multi_rank_logs"],
)
def test_pages_of_real_logs_open_in_all_views(tab: Tab, tmp_path: Path, name: str) -> None:
    page_programs.write_page(tmp_path / "page.html", LOGS / name)
    page = tab.open(tmp_path / "page.html")
    assert re.search(r"depyf .* PyTorch (2\.|of a version that is not recorded)", page.locator("footer").inner_text())
    processes = page.evaluate("data.processes.length")
    for process in range(processes):
        for view in (*VIEWS, "ranks"):
            page.evaluate(f"location.hash = '#view={view}&p={process}'")
            page.wait_for_selector(f"main.view-{view} > *")


# Returns the contrast of each text of the page with its background, by the formula of WCAG 2.2.
CONTRAST = """() => {
  const colours = new Map();
  const parse = (text) => {
    if (!colours.has(text)) colours.set(text, drawn(text));
    return colours.get(text);
  };
  const drawn = (text) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
    canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return [255, 255, 255, 255];
  };
  const low = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let count = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || /SCRIPT|STYLE|OPTION|NOSCRIPT/.test(element.tagName) || !element.checkVisibility()) continue;
    count += 1;
    const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.set(element.tagName + "." + element.className + " in ." + element.parentElement.className, ratio);
  }
  return [count, [...low]];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(folder: Path, browser: Any, scheme: str) -> None:
    # without motion, because colours in transition may have a low contrast
    tab = Tab(browser, color_scheme=scheme, reduced_motion="reduce")
    routes = [f"view={view}" for view in VIEWS] + [f"c=0/0&pane=source&line={page_programs.GELU_LINE}"]
    for route in routes:
        page = tab.open(folder / "dump.html", route)
        count, low = page.evaluate(CONTRAST)
        assert count > 20 and low == [], route
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("t")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != ground
    assert page.evaluate(CONTRAST)[1] == []
    tab.context.close()
    tab.check()


@pytest.mark.parametrize("width", [1280, 1920])
def test_nothing_is_wider_than_the_window(folder: Path, tab: Tab, width: int) -> None:
    page = tab.page
    page.set_viewport_size({"width": width, "height": 900})
    for view in VIEWS:
        tab.open(folder / "dump.html", f"view={view}")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        for selector in ("header.top", "main"):
            box = page.locator(selector).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width


@pytest.mark.skipif(shutil.which("tsc") is None, reason="tsc is not installed (apt-get install node-typescript)")
def test_the_types_of_the_viewer_hold() -> None:
    folder = page_programs.ROOT / "src" / "report" / "viewer"
    names = re.search(r"set\(viewer_scripts ([\w\s]+)\)", (page_programs.ROOT / "cmake" / "viewer.cmake").read_text())
    assert names
    scripts = [f"{name}.js" for name in names.group(1).split()]
    assert sorted(scripts) == sorted(path.name for path in folder.glob("*.js"))
    options = "--allowJs --checkJs --noEmit --strict --target es2020 --lib es2022,dom,dom.iterable".split()
    done = subprocess.run(["tsc", *options, *scripts], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.stdout == ""


def test_sizes(folder: Path, tmp_path: Path) -> None:
    html = (folder / "dump.html").read_text(encoding="utf-8")
    data = re.search(r'<script type="application/\w+" id="data">(.*?)</script>', html, re.DOTALL)
    assert data and data.group(1).isascii()
    viewer = html.replace(data.group(1), "")
    assert 5_000 < len(gzip.compress(viewer.encode())) < 150_000
    assert len(html) < 1_500_000
