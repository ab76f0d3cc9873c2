"""What a browser would find wrong with the site is found in a small one, where all of it is."""

import sys
from pathlib import Path

import pytest

from .conftest import ROOT

sys.path.insert(0, str(ROOT / "docs"))

from sitemaker import browsing

FORM = '<form action="search.html"><input name="q"></form>'
PAGES = {
    "good.html": "<article><p>Read <b>this</b>.</p></article>",
    "index.html": '<article><p style="width: 900px">Wide</p><img src="lost.png"><p style="color: #eee">Faint</p>'
    f'<script>missing()</script><img src="http://127.0.0.2:9/a.png">{FORM}</article>',
    "search.html": '<ul id="search-results"><li><a href="good.html?not=api/Mechanism">Something else</a></li></ul>',
}
SAID = (
    "index.html, narrow: is wider than the window",
    "index.html, wide: does not show lost.png",
    'index.html, wide: has text that can hardly be read: p, "Faint"',
    "index.html, wide: fails: missing is not defined",
    "index.html, wide: asks for http://127.0.0.2:9/a.png",
    "search: leads to http://",
)


def test_browser_finds_each_fault_and_no_other(tmp_path: Path) -> None:
    browser = browsing.find_browser()
    if browser is None:
        pytest.skip("no Chromium or Chrome with playwright is installed: apt-get install chromium, or set LINKWISE_BROWSER")
    for name, body in PAGES.items():
        head = '<!doctype html><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
        (tmp_path / name).write_text(head + body, encoding="utf-8")
    found = browsing.faults(tmp_path, browser, ("good.html", "index.html"))
    for said in SAID:
        assert any(line.startswith(said) for line in found), (said, found)
    assert not any(line.startswith("good.html") or "wide: is wider" in line for line in found)
