"""The search for a function: by its names, by what it does, by its heading."""

from typing import Any

import pytest

from linkwise import spacelib
from linkwise.errors import ArgumentError
from linkwise.spacelib import lookfor
from linkwise.spacelib.names import NAMES

CARDAN = "cardatoh cardatol cardatom cardator cardatow cardompt cardtome cardtowp inva mtocarda rtocarda"
"""What the manual's section 2.1.1 shows for lookfor cardan."""


def found(word: str, capsys: Any) -> list[str]:
    lookfor(word)
    return [line.split(" (Spacelib): ")[0] for line in capsys.readouterr().out.splitlines()]


def test_the_manuals_search(capsys: Any) -> None:
    names = found("cardan", capsys)
    assert {*CARDAN.split()} <= {*names}
    assert names == found("  CARDAN ", capsys) == sorted(names, key=str.lower)


def test_other_searches(capsys: Any) -> None:
    assert found("actom", capsys) == ["actom"]
    assert "makel" in found("screw axis", capsys)
    assert found("trasf_mamt4", capsys) == ["mamt"]  # a name of the C release
    assert {*found("spacelib", capsys)} == {row.function for row in NAMES}
    assert all(hasattr(spacelib, name) or row.section == "A" for row in NAMES for name in [row.function])


@pytest.mark.parametrize("word", ["", " ", "nosuchthing", None, 3, ["cardan"]])
def test_nothing_to_be_found(word: Any, capsys: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^lookfor: "):
        lookfor(word)
    assert not capsys.readouterr().out
