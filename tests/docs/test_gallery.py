"""The gallery shows what examples draw, and is what its script writes."""

import runpy
import struct
from typing import Any

import pytest

from .conftest import ROOT

SCRIPT = ROOT / "docs" / "images" / "make_gallery.py"
MADE = runpy.run_path(str(SCRIPT))
MOST = 100_000
"""Bytes of a picture in the documentation."""


def test_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert written == MADE["page"](), "run: python docs/images/make_gallery.py --page"


@pytest.mark.parametrize("shown", MADE["GALLERY"], ids=lambda shown: shown.picture)
def test_picture_is_there_and_an_example_draws_it(shown: Any) -> None:
    picture = ROOT / "docs" / "images" / shown.picture
    data = picture.read_bytes()
    width, height = struct.unpack(">II", data[16:24])  # of the header of a PNG
    assert data[:4] == b"\x89PNG"
    assert 300 <= width <= 1400
    assert 150 <= height <= 1400
    assert len(data) <= MOST
    example = (ROOT / "examples" / shown.example).read_text(encoding="utf-8")
    *_, name = shown.drawn.split("/")
    assert "out" in example
    words = [name.removesuffix(".png"), *name.removesuffix(".png").split("_")]
    assert any(f'"{word}"' in example or f"/{word}." in example or f"{word}.png" in example for word in words), shown.drawn


def test_no_picture_is_shown_twice_or_left_over() -> None:
    names = [shown.picture for shown in MADE["GALLERY"]]
    assert len(set(names)) == len(names)
    assert {path.name for path in (ROOT / "docs" / "images").glob("gallery_*")} == {
        n for n in names if n.startswith("gallery_")
    }
