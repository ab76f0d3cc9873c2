"""The reference page is what the code says, and leaves out no public name."""

import runpy

import linkwise as lw
from linkwise.algorithm import ALGORITHMS, find

from .conftest import ROOT

PAGE = ROOT / "docs" / "reference.md"


def test_page_is_up_to_date() -> None:
    written = runpy.run_path(str(ROOT / "docs" / "make_reference.py"))["page"]()
    assert PAGE.read_text(encoding="utf-8") == written, "run: python docs/make_reference.py"


def test_every_public_name_is_on_the_page() -> None:
    find("jacobian")
    text = PAGE.read_text(encoding="utf-8")
    methods = [name for name in dir(lw.Mechanism) if not name.startswith("_")]
    for name in [*lw.__all__, *ALGORITHMS, *methods, *lw.robots.names()]:
        assert f"`{name}`" in text or f"`{name}(" in text, name


def test_public_names_exist_and_are_described() -> None:
    assert sorted(lw.__all__) == list(lw.__all__)
    for name in lw.__all__:
        assert getattr(lw, name).__doc__, name
