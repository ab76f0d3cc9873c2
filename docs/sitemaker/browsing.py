"""A headless browser opens pages of the built site, as readers see them: wide and light, narrow and dark; and searches."""

from __future__ import annotations

import functools
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)

OPENED = (
    "index.html",
    "tutorial.html",
    "how-to/closed-loops.html",
    "coming-from/pinocchio.html",
    "api/Mechanism.html",
    "notebooks/four_bar.html",
    "gallery.html",
    "benchmarks.html",
    "equations.html",
)
"""One page of each kind: what is wrong with one is wrong with all that are made like it."""

LOOKS = {"wide": ({"width": 1280, "height": 800}, "light"), "narrow": ({"width": 390, "height": 844}, "dark")}
"""The size of the window, and the colours that the reader's system asks for."""

FAINTEST = 3.0
"""The least contrast of text on what is behind it; W3C's guidelines (WCAG 2.1, 1.4.3) ask for it of large text."""

LOOK = """
faintest => {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth + 1) found.push("is wider than the window");
  for (const image of document.images) {
    if (image.complete && !image.naturalWidth) found.push("does not show " + image.getAttribute("src"));
  }
  const parts = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = rgb => {
    const [r, g, b] = rgb.map(value => value / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a] = parts(getComputedStyle(at).backgroundColor);
      if (a === undefined || a > 0.5) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const faint = new Map();
  for (const element of document.querySelectorAll("article *")) {
    if (element.closest("svg") || !element.getClientRects().length) continue;
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    const style = own ? getComputedStyle(element) : null;
    if (!own || style.visibility === "hidden" || style.opacity === "0") continue;
    const [a, b] = [light(parts(style.color).slice(0, 3)), light(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const name = element.localName + (element.className ? "." + element.className : "");
    if (contrast < faintest) faint.set(name, element.textContent.trim().slice(0, 30));
  }
  for (const [name, text] of faint) found.push(`has text that can hardly be read: ${name}, "${text}"`);
  return found;
}
"""
"""What is wrong with a page that is open."""


def find_browser() -> str | None:
    """The path of Chromium or Chrome: $LINKWISE_BROWSER, else the first that is installed; None without its driver too."""
    named = os.environ.get("LINKWISE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    return named if find_spec("playwright") else None


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *told: Any) -> None:
        """Drop a line of the server's log."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder to this machine; the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def faults(site: Path, browser: str, opened: tuple[str, ...] = OPENED) -> list[str]:
    """All that a browser finds wrong with these pages of a site, and with its search, a line each."""
    from playwright.sync_api import sync_playwright

    found: list[str] = []
    with served(site) as address, sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser, args=list(SWITCHES))
        for look, (size, colours) in LOOKS.items():
            context = chromium.new_context(viewport=size, color_scheme=colours)
            page = context.new_page()
            heard = listened(page, address)
            for name in opened:
                page.goto(address + name, wait_until="load")
                told = [*page.evaluate(LOOK, FAINTEST), *heard]
                heard.clear()
                found += [f"{name}, {look}: {line}" for line in told]
            if look == "wide":
                found += [f"search: {line}" for line in [*searched(page, address), *heard]]
            context.close()
        chromium.close()
    return list(dict.fromkeys(found))


def listened(page: Any, address: str) -> list[str]:
    """A list that fills with what goes wrong on a page, and with what it asks of other hosts."""
    heard: list[str] = []
    page.on("pageerror", lambda error: heard.append(f"fails: {error}"))
    page.on("console", lambda said: heard.append(f"complains: {said.text}") if said.type == "error" else None)
    page.on(
        "requestfailed",  # what is given up because the reader has gone on is no fault
        lambda request: None if "ABORTED" in (request.failure or "") else heard.append(f"does not get {request.url}"),
    )
    page.on(
        "response", lambda answer: heard.append(f"gets {answer.status} for {answer.url}") if answer.status >= 400 else None
    )
    page.on(
        "request",
        lambda request: None if request.url.startswith((address, "data:")) else heard.append(f"asks for {request.url}"),
    )
    return heard


def searched(page: Any, address: str) -> list[str]:
    """Type a word into the search of the front page; what is wrong with the answer."""
    page.goto(f"{address}index.html", wait_until="load")
    page.locator("input[name=q]").first.fill("jacobian_dot")
    page.locator("input[name=q]").first.press("Enter")
    results = page.locator("#search-results li a")
    try:
        results.first.wait_for(timeout=20_000)
        page.locator("#search-results li a[href*='api/Mechanism']").first.click()
        page.wait_for_load_state()
    except Exception as error:  # playwright's own, of many kinds
        return [f"a method of Mechanism is not found: {str(error).splitlines()[0]}"]
    return [] if "/api/Mechanism.html" in page.url else [f"leads to {page.url}"]
