"""Opens every page of the built site in Debian's Chromium without a network, from the folder.

    check_site.py [-o DIR] [SITE]     DIR: where a picture of each page is written

The exit status is 1 if a page asks for anything outside of the site, reports an error, or does not find what is searched for.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

from page_shell import ROOT
from playwright.sync_api import sync_playwright

SEARCHED = "recompil"


def main() -> int:
    """Runs the command. Returns 1 if a page has a problem."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", dest="pictures", type=Path, metavar="DIR", help="write a picture of each page to DIR")
    parser.add_argument(
        "site",
        nargs="?",
        type=Path,
        default=ROOT / "build" / "site",
        metavar="SITE",
        help="the folder of the built site (default: build/site)",
    )
    parsed = parser.parse_args()
    site = parsed.site.resolve()
    problems: list[str] = []
    pages = sorted(path for path in site.rglob("*.html") if path.name != "404.html")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for path in pages:
            problems += [f"{path.name}: {problem}" for problem in _problems_of(browser, path, site, parsed.pictures)]
        problems += [f"search: {problem}" for problem in _problems_of_search(browser, site)]
        problems += [f"copy: {problem}" for problem in _problems_of_copying(browser, site)]
        browser.close()
    print("\n".join(problems) or f"{len(pages)} pages, no request outside of the site, no error")
    return 1 if problems or not pages else 0


def _opened(browser: Any, path: Path, site: Path, problems: list[str]) -> Any:
    """Opens a file of the site in the browser and returns the page; problems of the page are appended to `problems`."""
    page = browser.new_context(offline=True, viewport={"width": 1280, "height": 1000}).new_page()

    def note_request(request: Any) -> None:
        if not request.url.startswith((site.as_uri(), "data:", "about:", "blob:")):
            problems.append(f"asks for {request.url}")

    page.on("request", note_request)
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(path.as_uri())
    page.wait_for_selector("article h1, article h2, article h3")
    return page


def _problems_of(browser: Any, path: Path, site: Path, pictures: Path | None) -> list[str]:
    """Writes a picture of a page if `pictures` is given, and returns a line for each problem of the page."""
    problems: list[str] = []
    page = _opened(browser, path, site, problems)
    for image in page.query_selector_all("article img"):
        if not image.evaluate("image => image.naturalWidth"):
            problems.append(f"does not show {image.get_attribute('src')}")
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=pictures / f"{path.relative_to(site).as_posix().replace('/', '_')}.png", full_page=True)
    page.context.close()
    return problems


def _problems_of_search(browser: Any, site: Path) -> list[str]:
    """Returns a line for each problem of the site's search."""
    problems: list[str] = []
    page = _opened(browser, site / "index.html", site, problems)
    page.keyboard.press("/")
    page.keyboard.type(SEARCHED)
    try:
        page.wait_for_selector(".md-search-result__item", state="attached", timeout=10_000)
    except Exception as error:
        problems.append(f"finds nothing: {error}")
    page.context.close()
    return problems


def _problems_of_copying(browser: Any, site: Path) -> list[str]:
    """Returns a line for each problem of the buttons that copy a console block, which must omit prompts and outputs."""
    problems: list[str] = []
    page = _opened(browser, site / "start.html", site, problems)
    # The button puts the text into a field, selects it and copies it, as a user would.
    page.evaluate(
        "window.copied = []; document.addEventListener('copy', (event) => copied.push(event.target.value), true)"
    )
    page.wait_for_selector("[data-clipboard-target]")
    for button in page.query_selector_all("[data-clipboard-target]"):
        button.click()
    copied = page.evaluate("copied")
    if "python train.py" not in copied:
        problems.append(f"the blocks of Start are copied as {copied}")
    page.context.close()
    return problems


if __name__ == "__main__":
    sys.exit(main())
