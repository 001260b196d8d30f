"""The browser that the tests of the page share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from page_browser import CHROMIUM, Tab


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Tab]:
    tab = Tab(browser)
    yield tab
    tab.context.close()
    tab.check()
