"""Write the tables of keys on the page of file formats: ``python docs/make_file_formats.py``. A test compares the two."""

from __future__ import annotations

import re
from pathlib import Path

from linkwise.control import schema as chain
from linkwise.files.formats import linkwise_toml
from linkwise.files.schema import document

PAGE = Path(__file__).parent / "file-formats.md"
TABLES = {"linkwise": linkwise_toml.TABLES, "chain": chain.TABLES}
_MARKED = re.compile(r"(<!-- keys: (\w+) -->\n).*?(?=\n<!-- end of keys -->)", re.DOTALL)


def page() -> str:
    """The page with the tables as the schemas have them."""
    text = PAGE.read_text(encoding="utf-8")
    return _MARKED.sub(lambda match: f"{match[1]}\n{document(TABLES[match[2]])}", text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
