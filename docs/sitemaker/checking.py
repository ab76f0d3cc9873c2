"""What came out of the build is looked through: every link and anchor, nothing from another host, a search index."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "iframe": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "link": ("href",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
}
"""What a browser fetches by itself to show a page."""

FOLLOWED = {"a": ("href",), "area": ("href",), "form": ("action",)}
"""What a reader may go to."""

NOT_FETCHED = {"canonical", "alternate", "author", "license", "me"}
"""Relations of a ``link`` that fetch nothing."""

STYLE_URL = re.compile(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)")
SCRIPT_LOAD = re.compile(
    r"(?:fetch|import|importScripts)\s*\(\s*[\"'`]((?:https?:)?//[^\"'`]+)|from\s*[\"']((?:https?:)?//[^\"']+)"
)


TEXT = re.compile(r"<!--.*?-->|<(script|style)\b((?:\"[^\"]*\"|'[^']*'|[^'\">])*)>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"<([a-zA-Z][\w:-]*)((?:\"[^\"]*\"|'[^']*'|[^'\">])*)>")
ATTRIBUTE = re.compile(r"([^\s=/>\"']+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
TELLING = re.compile(r"\b(?:id|name|style)\s*=")
"""Only elements with one of these, or that fetch or lead somewhere, are looked at: most of a page is coloured code."""


@dataclass
class Page:
    """The anchors of a page, what it fetches, and where its links lead."""

    anchors: set[str] = field(default_factory=set)
    fetched: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def element(self, tag: str, text: str) -> None:
        """Note what an element refers to, and its names."""
        tag = tag.lower()
        if tag not in LOADED and tag not in FOLLOWED and not TELLING.search(text):
            return
        given = {name.lower(): unescape(a or b or c) for name, a, b, c in ATTRIBUTE.findall(text)}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        for name in LOADED.get(tag, ()):
            if name in given and not (tag == "link" and set(given.get("rel", "").split()) & NOT_FETCHED):
                parts = [part.split()[0] for part in given[name].split(",")] if name == "srcset" else [given[name]]
                self.fetched += [part for part in parts if part]
        self.fetched += [match[1] or match[2] for match in STYLE_URL.finditer(given.get("style", ""))]
        self.links += [given[name] for name in FOLLOWED.get(tag, ()) if given.get(name)]

    def body(self, tag: str, text: str) -> None:
        """Look into a style or a script that stands in the page."""
        pattern = STYLE_URL if tag.lower() == "style" else SCRIPT_LOAD
        self.fetched += [match[1] or match[2] for match in pattern.finditer(text)]


@cache
def read(path: Path) -> Page:
    """A page, taken apart."""
    page = Page()
    text = path.read_text(encoding="utf-8")
    for match in TEXT.finditer(text):
        if match[1]:
            page.element(match[1], match[2])
            page.body(match[1], match[3])
    for tag, attributes in TAG.findall(TEXT.sub("", text)):
        page.element(tag, attributes)
    return page


def problems(site: Path) -> list[str]:
    """All that is wrong with a built site, a line each."""
    read.cache_clear()
    pages = sorted(site.rglob("*.html"))
    found = [] if pages else [f"{site}: no pages"]
    for path in pages:
        page, name = read(path), path.relative_to(site).as_posix()
        found += [f"{name}: {said}" for link in page.fetched for said in wrong(path, link, site, fetched=True)]
        found += [f"{name}: {said}" for link in page.links for said in wrong(path, link, site, fetched=False)]
    for path in sorted(site.rglob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for match in STYLE_URL.finditer(text):
            found += [f"{path.relative_to(site)}: {said}" for said in wrong(path, match[1] or match[2], site, fetched=True)]
    for path in sorted(site.rglob("*.js")):
        for match in SCRIPT_LOAD.finditer(path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(site)}: fetches {match[1] or match[2]} from another host")
    return list(dict.fromkeys([*found, *search_problems(site)]))


def wrong(path: Path, link: str, site: Path, *, fetched: bool) -> list[str]:
    """What is wrong with one reference of a page."""
    parts = urlsplit(link.strip())
    if parts.scheme in {"data", "mailto", "javascript", "blob"}:
        return []
    if parts.scheme or parts.netloc:
        return [f"fetches {link} from another host"] if fetched else []
    if parts.path.startswith("/"):
        return [f"{link} begins at the root of the host, where the site need not be"]
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file() or site.resolve() not in [target, *target.resolve().parents]:
        return [f"{link} leads nowhere"]
    anchor = unquote(parts.fragment)
    if anchor and target.suffix == ".html" and anchor not in read(target).anchors:
        return [f"{link}: there is no anchor #{anchor}"]
    return []


def search_problems(site: Path) -> list[str]:
    """What is wrong with the index by which the search works without a server."""
    path = site / "searchindex.js"
    if not path.is_file():
        return ["searchindex.js is missing"]
    match = re.fullmatch(r"Search\.setIndex\((.*)\)\s*;?\s*", path.read_text(encoding="utf-8"), re.DOTALL)
    if match is None:
        return ["searchindex.js is no index"]
    index = json.loads(match[1])
    missing = [name for name in index["docnames"] if not (site / f"{name}.html").is_file()]
    found = [f"searchindex.js: no page {name}.html" for name in missing]
    used = (
        [Path(link.partition("?")[0]).name for link in read(site / "search.html").fetched]
        if (site / "search.html").is_file()
        else []
    )
    return found + [f"search.html does not load {name}" for name in ("searchtools.js", "searchindex.js") if name not in used]
