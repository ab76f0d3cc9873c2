"""A headless browser for the tests of the pages; where none is installed they are skipped, and say so."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)
"""Drawn by the processor, and nothing is asked of the network."""

SIZE = {"width": 1280, "height": 800}


def find_browser() -> str | None:
    """The path of Chromium or Chrome: $LINKWISE_BROWSER, else the first that is installed."""
    named = os.environ.get("LINKWISE_BROWSER")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser, one for each file of tests: its driver has a loop of its own running, beside which no other can run."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium or Chrome is installed: apt-get install chromium, or set LINKWISE_BROWSER")
    with playwright.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield made
        made.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that knows what it asked of other hosts, and what went wrong in it."""
    context = browser.new_context(viewport=SIZE)
    made = context.new_page()
    made.set_default_timeout(30_000)
    made.asked, made.errors = [], []
    made.on("request", lambda request: made.asked.append(request.url))
    made.on("pageerror", lambda error: made.errors.append(str(error)))
    yield made
    context.close()
