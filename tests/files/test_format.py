"""A format is one file: one that is added from outside is read, checked, written and refused as the others are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import linkwise as lw
from linkwise.errors import FileError
from linkwise.files import check, load, loads, read, registry, save
from linkwise.files.registry import FORMATS, formats

STRANGER = '''
from linkwise import Link, Mechanism
from linkwise.errors import FileProblem
from linkwise.files.report import Description, Reading
from linkwise.files.losses import Losses
from linkwise.files.registry import Format, register, stem


class Lengths(Format):
    """Lengths of planar links, a line each."""

    name, title, suffixes, options = "a .lengths", "lengths", (".lengths",), frozenset({"root"})

    def sniff(self, text, options):
        return text.startswith("lengths")

    def read(self, text, path, options):
        problems, links = [], []
        for k, line in enumerate(text.splitlines()[1:], 2):
            try:
                links.append(Link.dh(a=float(line), convention="standard"))
            except ValueError:
                problems.append(FileProblem(k, f"{line!r} is no length"))
        mechanism = None if problems else Mechanism(links, name=options.root or stem(path) or None)
        return Reading(mechanism and Description(mechanism), problems, {})

    def losses(self, description):
        return Losses([f"link {link.name!r}: its mass" for link in description.mechanism.links if link.body.mass])

    def write(self, description):
        yield "lengths\\n"
        yield from (f"{link.dh_row.a!r}\\n" for link in description.mechanism.links)


register(Lengths())
'''


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module beside the tests that registers its format when it is imported."""
    formats()
    (tmp_path / "linkwise_lengths.py").write_text(STRANGER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "FORMATS", list(FORMATS))
    __import__("linkwise_lengths")
    yield
    del sys.modules["linkwise_lengths"]


@pytest.mark.usefixtures("stranger")
def test_a_format_is_added_from_outside(tmp_path: Path) -> None:
    path = tmp_path / "arm.lengths"
    path.write_text("lengths\n0.5\n0.25\n")
    assert [link.dh_row.a for link in load(path).links if link.dh_row] == [0.5, 0.25]
    assert loads(path.read_text()).n == 2
    assert read(path, root="other").mechanism.name == "other"
    save(load(path), tmp_path / "again.lengths")
    assert load(tmp_path / "again.lengths").links == load(path).links
    with pytest.raises(FileError, match="not xacro"):
        load(path, xacro={})
    path.write_text("lengths\n0.5\nx\n")
    assert [(problem.line, problem.message) for problem in check(path)] == [(3, "'x' is no length")]


@pytest.mark.usefixtures("stranger")
def test_its_losses_are_refused_or_allowed(tmp_path: Path) -> None:
    path, arm = tmp_path / "arm.lengths", lw.robots.planar_2r()
    with pytest.raises(FileError, match="link 'link1': its mass"):
        save(arm, path)
    assert not path.exists()
    save(arm, path, allow_loss=True)
    assert load(path).n == 2


@pytest.mark.usefixtures("stranger")
def test_it_is_listed_with_the_others(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"expected .*'\.lengths'"):
        save(lw.robots.planar_2r(), tmp_path / "arm.usd")
    with pytest.raises(FileError, match=r"tried .*lengths"):
        loads("hello there")


def test_own_formats_come_in_a_fixed_order() -> None:
    names = [type(form).__module__.rpartition("formats.")[2] for form in formats()]
    assert names == ["dh", "linkwise_toml", "mjcf", "sdf", "spacelib_dat", "urdf", "xacro"]
    assert all(form.name and form.suffixes for form in formats())
