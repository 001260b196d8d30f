"""A tab of Debian's Chromium without a network, for the tests that open pages."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium")
VIEWS = ("verdict", "source", "explorer", "flow", "recompilations", "guards", "fusion", "modules", "timeline")


class Tab:
    """A tab of the browser. The test fails if the page requests anything or reports an error."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900}, **options)
        self.page = self.context.new_page()
        self.trouble: list[str] = []
        self.page.on("console", lambda message: self.trouble.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", self._request)

    def _request(self, request: Any) -> None:
        if request.resource_type != "document" or not request.url.startswith("file:"):
            self.trouble.append(f"request: {request.url[:100]}")

    def open(self, page: Path, route: str = "") -> Any:
        """Loads a page at a route, even if it is already open, and waits until it is shown."""
        self.page.goto("about:blank")
        self.page.goto(f"{page.as_uri()}#{route}")
        self.page.wait_for_selector("main > *")
        return self.page

    def until(self, condition: str) -> None:
        """Waits until an expression is true on the page. The page's content security policy forbids Playwright's
        `wait_for_function`."""
        deadline = time.monotonic() + 20
        while not self.page.evaluate(condition):
            assert time.monotonic() < deadline, condition
            time.sleep(0.02)

    def check(self) -> None:
        assert self.trouble == []

    def lit_names(self, pane: str) -> set[str]:
        """Returns the nodes or kernels whose rows are highlighted in a pane, including rows that are scrolled out of
        view."""
        return set(
            self.page.evaluate(
                """(key) => {
                  const pane = explorer.panes[explorer.keys.indexOf(key)];
                  return [...pane.source.links].filter(([row]) => pane.touches(row, pane.lit)).map(([, link]) => link.name);
                }""",
                pane,
            )
        )
