#!/usr/bin/env python3
"""How long does a page of the report take to open, and to answer a hover? In Chromium, from a file.

    page.py PAGE.html [--runs 5]

Prints the milliseconds from the start of navigation until the first view is shown, those for an empty page, and the slowest and
the median hover over a row of each pane of an explorer with four of them, with the layout that follows. On a machine that does
other work too, compare with the empty page.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

HOVERS = """() => {
  const times = [];
  for (const pane of explorer.panes) {
    const rows = [...pane.source.links.keys()];
    const step = Math.max(1, Math.floor(rows.length / 100));
    for (let index = 0; index < rows.length; index += step) {
      const start = performance.now();
      explorer.hover(pane, rows[index]);
      document.body.getBoundingClientRect();
      times.push(performance.now() - start);
    }
  }
  return times;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        empty = Path(folder) / "empty.html"
        empty.write_text("<!DOCTYPE html><title>empty</title><main><p>empty</p></main>")
        page = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True).new_page()
        for name, path, route in (
            ("empty page", empty, ""),
            ("verdict", options.page, "#view=verdict"),
            ("explorer", options.page, "#view=explorer&panes=source,captured,joint,kernel"),
        ):
            times = []
            for _ in range(options.runs):
                page.goto("about:blank")
                page.goto(path.resolve().as_uri() + route)
                page.wait_for_selector("main > *")
                times.append(page.evaluate("performance.now()"))
            print(f"{name:12} {statistics.median(times):7.0f} ms to open (median of {options.runs})")
        # The median of each row's times: a pause for another process is no time of the page's own.
        hovers = [statistics.median(times) for times in zip(*(page.evaluate(HOVERS) for _ in range(options.runs)))]
        print(
            f"{'hover':12} {statistics.median(hovers):7.1f} ms (median), {max(hovers):.1f} ms (slowest of {len(hovers)})"
        )
        browser.close()


if __name__ == "__main__":
    main()
