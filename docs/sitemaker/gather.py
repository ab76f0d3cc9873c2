"""The pages are gathered in a folder of their own: those of docs/, and those made from the rest of the checkout."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from sitemaker.navigation import navigation

ROOT = Path(__file__).resolve().parents[2]
MOVED = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "examples": "examples/index.md",
}
"""Where on the site things of the checkout outside docs/ stand."""

LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")
FENCED = re.compile(r"^```.*?^```\s*?$", re.MULTILINE | re.DOTALL)
KEPT = {".md", ".ipynb", ".png", ".svg", ".gif", ".jpg", ".mp4", ".html", ".webp"}
"""What of docs/ goes onto the site."""


def target(link: str, page: PurePosixPath) -> tuple[str, str | None]:
    """What a link of a page of the checkout becomes, and which file of the checkout the site needs for it, if any."""
    if re.match(r"[a-z]+:", link):
        return link, None
    meant = PurePosixPath(os.path.normpath(page.parent / link))
    found = place(str(meant))
    here = place(str(page))
    written = os.path.relpath(found, PurePosixPath(here).parent)
    outside = found.startswith("files/")
    return written, str(meant) if outside else None


def place(path: str) -> str:
    """Where a file of the checkout stands on the site, from its root."""
    if path in MOVED:
        return MOVED[path]
    if path.startswith("docs/") and PurePosixPath(path).suffix in KEPT:
        return path.removeprefix("docs/")
    if re.fullmatch(r"examples/\w+\.py", path):
        return path.removesuffix(".py") + ".md"
    return f"files/{path}"


def rewritten(text: str, page: PurePosixPath) -> tuple[str, set[str]]:
    """The text of a page with its links as the site has them, and the files of the checkout they need."""
    needed: set[str] = set()

    def change(match: re.Match[str]) -> str:
        written, file = target(match[1], page)
        if file is not None:
            needed.add(file)
        return written

    pieces, end = [], 0
    for fence in FENCED.finditer(text):
        pieces += [LINK.sub(change, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*pieces, LINK.sub(change, text[end:])]), needed


class Gathering:
    """Writes what has changed, and removes at the end what nothing wrote: so Sphinx reads again only what is new."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written: set[Path] = set()

    def write(self, name: str, content: str | bytes) -> None:
        """A page or another file, by its path on the site."""
        path = self.folder / name
        data = content.encode() if isinstance(content, str) else content
        self.written.add(path)
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def finish(self) -> None:
        """Remove what is left of earlier times."""
        for path in self.folder.rglob("*"):
            if path.is_file() and path not in self.written:
                path.unlink()


def gather(folder: Path) -> None:
    """All pages of the site."""
    from sitemaker import api, examples

    made = Gathering(folder)
    needed: set[str] = set()
    for path in sorted((ROOT / "docs").rglob("*")):
        name = path.relative_to(ROOT / "docs").as_posix()
        if path.suffix not in KEPT or name.startswith(("_", "sitemaker/")) or ".ipynb_checkpoints" in name:
            continue
        if path.suffix == ".md":
            needed |= page(made, PurePosixPath("docs", name))
        else:
            made.write(name, path.read_bytes())
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        needed |= page(made, PurePosixPath(name))
    for name in sorted(needed):
        path = ROOT / name
        if path.is_file():
            made.write(f"files/{name}", path.read_bytes())
    pages = {**examples.pages(), **api.pages()}
    for name, text in pages.items():
        made.write(name, text)
    index = folder / "index.md"
    names = {
        path.relative_to(folder).with_suffix("").as_posix()
        for path in made.written
        if path.suffix in {".md", ".ipynb", ".rst"}
    }
    made.write("index.md", index.read_text(encoding="utf-8") + navigation(names))
    made.finish()


def page(made: Gathering, path: PurePosixPath) -> set[str]:
    """One page of the checkout; the files it links to that are not pages."""
    text, needed = rewritten((ROOT / path).read_text(encoding="utf-8"), path)
    text = text.replace("**](reference.md)", "**](api/index.rst)")  # the door to the reference leads to its long form
    made.write(place(str(path)), text)
    return needed
