"""The errors themselves: what the hints say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from linkwise.errors import EXTRAS, install_hint

EXTRA_LIBRARIES = tomllib.loads(Path(__file__, "../../pyproject.toml").resolve().read_text())["project"][
    "optional-dependencies"
]


def libraries(extra: str) -> tuple[str, ...]:
    """The libraries of an extra, without the systems they are for, and those of the extras that it takes in too."""
    found: list[str] = []
    for one in EXTRA_LIBRARIES[extra]:
        inner = re.fullmatch(r"linkwise\[(.+)\]", one)
        found += [each for name in inner[1].split(",") for each in libraries(name)] if inner else [one.partition(";")[0]]
    return tuple(found)


@pytest.mark.parametrize("extra", EXTRAS)
def test_hints_name_the_libraries_of_an_extra(extra: str) -> None:
    assert EXTRAS[extra] == libraries(extra)
    assert "'" not in install_hint(extra)  # (cmd.exe would take them as they are, and > for a file to write)
    assert install_hint(extra).split()[:2] == ["pip", "install"]
    assert re.findall('"([^"]+)"', install_hint(extra)) == list(libraries(extra))


def test_every_extra_of_users_has_a_hint() -> None:
    assert set(EXTRAS) == set(EXTRA_LIBRARIES) - {"docs", "dev", "peers"}


def test_no_hint_names_the_package_itself() -> None:
    """It is on no index."""
    source = Path(__file__, "../../src").resolve()
    assert [
        path.name for path in source.rglob("*.py") if re.search(r"install ['\"]?linkwise", path.read_text("utf-8"))
    ] == []
