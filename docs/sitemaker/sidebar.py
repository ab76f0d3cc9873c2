"""The list of pages at the side. The theme would copy it anew for each page, which takes most of a build.

Pages below others are listed where the reader is: the classes of a module on the pages of that module.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.osutil import relative_uri

OPEN = {"api/index"}
"""Pages whose lists are there on every page."""


@dataclass(frozen=True)
class Item:
    """A page in the list, and those below it."""

    page: str
    title: str
    below: tuple[Item, ...]

    def holds(self, page: str) -> bool:
        """Whether a page is this one or below it."""
        return page == self.page or any(item.holds(page) for item in self.below)


def lists(env: BuildEnvironment, page: str) -> list[tuple[str, tuple[Item, ...]]]:
    """The lists of pages that a page has, each with its caption."""
    found = []
    for node in env.tocs[page].findall(addnodes.toctree):
        items = [
            Item(name, title or env.titles[name].astext(), tuple(item for _, below in lists(env, name) for item in below))
            for title, name in node["entries"]
            if name in env.titles
        ]
        found.append((node.get("caption") or "", tuple(items)))
    return found


class Sidebar:
    """Writes the list for one page after another."""

    def __init__(self, app: Sphinx) -> None:
        self.groups = lists(app.env, app.config.root_doc)
        self.app = app
        self.count = 0

    def written(self, page: str) -> str:
        """The list as the theme has it, the page itself marked and the way to it unfolded."""
        self.count = 0
        parts = []
        for caption, items in self.groups:
            parts.append(f'<p class="caption" role="heading"><span class="caption-text">{escape(caption)}</span></p>')
            parts.append(self._list(items, page, 1))
        return "\n".join(parts)

    def _list(self, items: tuple[Item, ...], page: str, level: int) -> str:
        return "<ul>\n" + "".join(self._item(item, page, level) for item in items) + "</ul>\n"

    def _item(self, item: Item, page: str, level: int) -> str:
        here = item.holds(page)
        unfolds = bool(item.below) and (here or item.page in OPEN)
        words = [f"toctree-l{level}", *(["current"] if here else []), *(["has-children"] if unfolds else [])]
        words += ["current-page"] if item.page == page else []
        builder = self.app.builder
        address = relative_uri(builder.get_target_uri(page), builder.get_target_uri(item.page)) or "#"
        text = f'<li class="{" ".join(words)}"><a class="reference internal" href="{address}">{escape(item.title)}</a>'
        if unfolds:
            text += self._switch(item, here) + self._list(item.below, page, level + 1)
        return text + "</li>\n"

    def _switch(self, item: Item, here: bool) -> str:
        self.count += 1
        name, checked = f"toctree-checkbox-{self.count}", " checked" if here else ""
        return (
            f'<input aria-label="Toggle navigation of {escape(item.title)}" class="toctree-checkbox" id="{name}" '
            f'name="{name}" role="switch" type="checkbox"{checked}/>'
            f'<label for="{name}"><span class="icon"><svg><use href="#svg-arrow-right"></use></svg></span></label>'
        )


def withhold(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Keep the theme from making its own list."""
    context.pop("toctree", None)


def supply(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Hand the theme the list of a page."""
    made = getattr(app.builder, "linkwise_sidebar", None)
    if made is None:
        made = app.builder.linkwise_sidebar = Sidebar(app)  # type: ignore[attr-defined]
    context["furo_navigation_tree"] = made.written(page)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of it."""
    app.connect("html-page-context", withhold, priority=100)
    app.connect("html-page-context", supply, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
