"""Takes the pictures in a page: screenshots of an HTML file that a command of the page wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

WIDTH, HEIGHT = 1280, 760


def take_picture(page: Path, address: str, picture: Path) -> None:
    """Writes a picture of an HTML file at an address in it, such as `#0/0`, with Debian's Chromium and without a
    network."""
    # The import is in the function because pages without pictures are tested without the package playwright.
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    picture.parent.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        context = browser.new_context(offline=True, viewport={"width": WIDTH, "height": HEIGHT})
        tab = context.new_page()
        tab.goto(f"{page.as_uri()}{address}")
        tab.wait_for_selector("main > *")
        tab.screenshot(path=picture)
        browser.close()
