"""The tables of keys on the page of file formats are those of the schemas."""

import runpy

from .conftest import ROOT

PAGE = ROOT / "docs" / "file-formats.md"


def test_tables_are_up_to_date() -> None:
    written = runpy.run_path(str(ROOT / "docs" / "make_file_formats.py"))["page"]()
    assert PAGE.read_text(encoding="utf-8") == written, "run: python docs/make_file_formats.py"
    assert written.count("| table | key |") == 2
