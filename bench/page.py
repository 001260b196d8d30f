#!/usr/bin/env python3
"""Measures how long a page of the report takes to open, and to answer a hover. In Chromium, from a file.

    page.py PAGE.html [--runs 5]

Prints the milliseconds from the start of navigation until the first view is shown, those for an empty page, and the slowest and
the median hover over a row of each pane of an explorer with four of them, with the curves between panes and the layout that
follow. On a machine that does other work too, compare with the empty page.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

HOVERS = """() => {
  const times = [];
  for (const pane of explorer.panes) {
    const rows = [...pane.source.links.keys()];
    const step = Math.max(1, Math.floor(rows.length / 100));
    for (let index = 0; index < rows.length; index += step) {
      const start = performance.now();
      explorer.hover(pane, rows[index]);
      explorer.connections.draw();
      document.body.getBoundingClientRect();
      times.push(performance.now() - start);
    }
  }
  return times;
}"""


def measure(browser: Browser, path: Path, runs: int) -> dict[str, float]:
    """Returns milliseconds: "empty page", "verdict" and "explorer" to open, "hover" (median) and "slowest hover" of
    "hovers" rows."""
    figures: dict[str, float] = {}
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.html"
        empty.write_text("<!DOCTYPE html><title>empty</title><main><p>empty</p></main>")
        for name, shown, route in (
            ("empty page", empty, ""),
            ("verdict", path, "#view=verdict"),
            ("explorer", path, "#view=explorer&panes=source,captured,joint,kernel"),
        ):
            times = []
            for _ in range(runs):
                page.goto("about:blank")
                page.goto(shown.resolve().as_uri() + route)
                page.wait_for_selector("main > *")
                times.append(page.evaluate("performance.now()"))
            figures[name] = statistics.median(times)
    # Each row is represented by the median of its times, which excludes pauses for other processes.
    hovers = [statistics.median(times) for times in zip(*(page.evaluate(HOVERS) for _ in range(runs)), strict=True)]
    context.close()
    return {**figures, "hover": statistics.median(hovers), "slowest hover": max(hovers), "hovers": len(hovers)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("page", type=Path, help="the page of a report, which is measured")
    parser.add_argument("--runs", type=int, default=5, help="open the page this number of times (default: 5)")
    options = parser.parse_args()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        figures = measure(browser, options.page, options.runs)
        browser.close()
    for name in ("empty page", "verdict", "explorer"):
        print(f"{name:12} {figures[name]:7.0f} ms to open (median of {options.runs})")
    print(
        f"{'hover':12} {figures['hover']:7.1f} ms (median), {figures['slowest hover']:.1f} ms "
        f"(slowest of {figures['hovers']:.0f} rows)"
    )


if __name__ == "__main__":
    main()
