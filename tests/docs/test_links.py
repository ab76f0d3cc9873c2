"""Every link between the pages leads somewhere, and so does every picture."""

import re
from pathlib import Path

import pytest

from .conftest import FENCE, PAGES, ROOT

LINK = re.compile(r'\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"')


def anchors(page: Path) -> set[str]:
    """The names by which a page's headings can be linked to."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_page_lead_somewhere(page: Path) -> None:
    for groups in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        target = "".join(groups)
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = page.parent / path if path else page
        assert found.exists(), f"{page.name}: no {target}"
        assert not anchor or anchor in anchors(found), f"{page.name}: {target}; the headings are {sorted(anchors(found))}"


def test_modules_named_on_pages_exist() -> None:
    """A page names a module by the end of its path: `expr/rules.py`."""
    modules = {
        f"/{path.relative_to(ROOT)}"
        for folder in ("src", "tests", "docs", "tools", "benchmarks", "examples")
        for path in (ROOT / folder).rglob("*.py")
    }
    named = {
        (page.name, name)
        for page in PAGES
        for name in re.findall(r"`([\w/]+/\w+\.py)`", FENCE.sub("", page.read_text(encoding="utf-8")))
    }
    absent = sorted((page, name) for page, name in named if not any(module.endswith(f"/{name}") for module in modules))
    assert absent == []


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "images").glob("*.[psg][nvi][gf]")), ids=lambda path: path.name)
def test_pictures_are_small_and_used(picture: Path) -> None:
    assert picture.stat().st_size < 100_000
    assert any(picture.name in page.read_text(encoding="utf-8") for page in PAGES)
