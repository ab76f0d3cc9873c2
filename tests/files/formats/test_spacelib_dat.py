"""SpaceLib's .DAT: read as the manual says, written without loss or not at all, every mistake named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwise import Inertia, Link, Mechanism, Motor, robots
from linkwise.errors import FileError
from linkwise.files import check, load, read, remarks, save
from linkwise.spacelib.programs import formats
from support.messages import unnamed

GOOD = formats.path("SCARA.DAT").read_text()
ONE = "1\n0\n0 0.1 0 0.2 0.3\n1\n0.1 0 0\n0.1 0\n0.1\n0 0 0\n0 0 -9.8\n1 2 3 4 5 6\n"


def written(tmp_path: Path, content: str | bytes, name: str = "arm.dat") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def messages(path: Path) -> list[str]:
    return [str(problem) for problem in check(path)]


@pytest.mark.parametrize(("file", "robot"), [("SCARA.DAT", "scara_icomatic"), ("SMART.DAT", "smart")])
def test_manual_files_are_the_bundled_robots(file: str, robot: str) -> None:
    assert load(formats.path(file)).replace(name=robot) == robots.load(robot)
    assert load(formats.path(file)).name == Path(file).stem


def test_order_of_the_numbers(tmp_path: Path) -> None:
    text = "1 0 0.1 0.2 0.3 0.4 0.5 2 3 0.1 0.2 4 0.3 5 0.6 0.7 0.8 1 2 3 4 5 6 7 8 9"
    description = read(written(tmp_path, text))
    link = description.mechanism.links[0]
    assert link.dh_row is not None
    assert (link.dh_row.theta, link.dh_row.d, link.dh_row.b, link.dh_row.a, link.dh_row.alpha) == (0.1, 0.2, 0.3, 0.4, 0.5)
    assert link.body.mass == 2
    assert link.body.tensor.tolist() == [[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]]
    assert link.body.com.tolist() == [0.6, 0.7, 0.8]
    assert description.mechanism.gravity.tolist() == [1, 2, 3]
    assert description.external.tolist() == [4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    "variant",
    [
        GOOD.replace("\n", " "),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        "\ufeff" + GOOD,
        GOOD.replace(" ", "\t\t"),
        GOOD.replace("0.33", "3.3D-1"),
        GOOD + "\n\n  \n",
    ],
)
def test_any_line_ends_blanks_and_fortran_exponents(tmp_path: Path, variant: str) -> None:
    assert load(written(tmp_path, variant, "SCARA.dat")) == load(formats.path("SCARA.DAT"))


@pytest.mark.parametrize("zero", ["0.0", "0.", "+0", "0e0", "-0.0"])
def test_whole_numbers_with_a_point(tmp_path: Path, zero: str) -> None:
    made = read(written(tmp_path, ONE.replace("1\n0\n", f"1.0\n{zero}\n", 1)))
    assert made.mechanism == read(written(tmp_path, ONE)).mechanism
    prismatic = read(written(tmp_path, ONE.replace("1\n0\n", "1\n1.0\n", 1)))
    assert prismatic.mechanism.links[0].joint == "prismatic"


@pytest.mark.parametrize(
    "text", ["end", "% ROBOT.DAT of 3 links, 1998", "the 7 is not read\n8 9\n", "-- 1 2 3", "infeed arm", "Nanjing 1998"]
)
def test_a_text_after_the_last_number(tmp_path: Path, text: str) -> None:
    """SpaceLib reads as many numbers as it needs. What follows is not read, and a remark says so."""
    path = written(tmp_path, ONE + text)
    made, wanted = read(path), read(written(tmp_path, ONE, "other.dat"))
    assert made.mechanism == wanted.mechanism.replace(name="arm")
    assert made.external.tolist() == wanted.external.tolist()
    first, *_ = text.split()
    (said,) = [str(remark) for remark in remarks(path) if "after the last number" in str(remark)]
    assert said.startswith(f"line 11: {first!r}")
    assert not check(path)


BAD = [
    ("", ["the file is empty"]),
    (" \n\t", ["the file is empty"]),
    ("3.5" + GOOD[1:], ["line 1: '3.5' is not a count of links, a whole number >= 1"]),
    ("0" + GOOD[1:], ["line 1: '0' is not a count of links, a whole number >= 1"]),
    ("-3" + GOOD[1:], ["line 1: '-3' is not a count of links, a whole number >= 1"]),
    (ONE.replace("0.2", "two"), ["line 3: a of link 1: 'two' is not a number"]),
    (ONE.replace("0.2", "0,2"), ["line 3: a of link 1: '0,2' has a decimal comma; write '0.2'"]),
    (ONE.replace("0.2", "NaN"), ["line 3: a of link 1: 'NaN' is not a finite number"]),
    (ONE.replace("0.2", "-inf"), ["line 3: a of link 1: '-inf' is not a finite number"]),
    (ONE.replace("0.2", "1e999"), ["line 3: a of link 1: '1e999' is too large for a number"]),
    (ONE.replace("1\n0\n", "1\n2\n", 1), ["line 2: joint type of link 1 is '2'; expected 0 (revolute) or 1 (prismatic)"]),
    (ONE + "nan\n", ["line 11: 'nan' comes after the last number; 1 link need 26 numbers in all, there are 27 words"]),
    (ONE + "7\n", ["line 11: '7' comes after the last number; 1 link need 26 numbers in all, there are 27 words"]),
    (
        ONE.replace(" 5 6", ""),
        ["line 10: the file ends where cy should follow; 1 link need 26 numbers in all, there are 24"],
    ),
    ("1 0 0", ["line 1: the file ends where d of link 1 should follow; 1 link need 26 numbers in all, there are 3"]),
    (
        ONE.replace("0.1 0 0\n0.1 0\n0.1", "0.1 0 0\n0.1 0\n0.3"),
        [
            "line 5: link 'link1': inertia is [0.1, 0.1, 0.3]; expected principal moments in which none exceeds the sum of "
            "the other two (triangle inequality); reading with physical=False accepts it"
        ],
    ),
    (ONE.replace("0.3\n1\n", "0.3\n-1\n"), ["line 4: link 'link1': mass is -1.0; expected a finite number >= 0"]),
    (
        ONE.replace("0.2", "x").replace("-9.8", "y"),
        ["line 3: a of link 1: 'x' is not a number", "line 9: gz: 'y' is not a number"],
    ),
]


@pytest.mark.parametrize(("content", "expected"), BAD)
def test_each_mistake_is_named(tmp_path: Path, content: str, expected: list[str]) -> None:
    path = written(tmp_path, content)
    assert messages(path) == expected
    with pytest.raises(FileError) as caught:
        read(path)
    assert unnamed(caught.value, "\n".join(f"{path}: {line}" for line in expected)) == []


def test_a_huge_count_fails_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, "1000000000000" + GOOD[1:])
    assert len(messages(path)) == 1
    assert "need 16000000000010 numbers in all, there are 58" in messages(path)[0]
    assert "not a count of links" in messages(written(tmp_path, "9" * 6000 + GOOD[1:]))[0]


def test_moments_filled_in_only_where_they_matter_can_be_read(tmp_path: Path) -> None:
    path = written(tmp_path, ONE.replace("0.1 0 0\n0.1 0\n0.1", "0 0 0\n0 0\n0.3"))
    assert check(path)
    assert read(path, physical=False).mechanism.links[0].body.tensor[2, 2] == 0.3


def test_many_problems_are_cut_short(tmp_path: Path) -> None:
    path = written(tmp_path, "20 " + "x " * (16 * 20 + 9))
    assert len(check(path)) == 101
    assert messages(path)[-1] == "and 229 problems more"


def test_writing_and_reading_back_is_exact(tmp_path: Path) -> None:
    for name in ("scara_icomatic", "smart"):
        save(robots.load(name), tmp_path / f"{name}.dat", external=[0.1, -0.2, 0.3, 1e-17, 5, -6])
        again = read(tmp_path / f"{name}.dat")
        assert again.mechanism == robots.load(name)
        assert again.external.tolist() == [0.1, -0.2, 0.3, 1e-17, 5, -6]


def test_an_offset_is_folded_where_the_sum_is_exact(tmp_path: Path) -> None:
    rows = [
        Link.dh(0.0, 0.1, 0.2, 0.3, convention="standard", offset=0.7),
        Link.dh(0.5, 0.25, 0.2, 0.3, convention="standard", joint="prismatic", offset=0.5),
    ]
    save(Mechanism(rows), tmp_path / "a.dat")
    again = load(tmp_path / "a.dat").links
    assert [link.offset for link in again] == [0, 0]
    assert again[0].dh_row is not None
    assert again[0].dh_row.theta == 0.7
    assert again[1].dh_row is not None
    assert again[1].dh_row.d == 0.75
    for before, after in zip(rows, again, strict=True):
        np.testing.assert_allclose(before.placement(0.3), after.placement(0.3), atol=1e-15)


LOSSES = [
    (Link.dh(a=1, convention="standard", name="arm"), "its name (only link1, link2, ... are implied)"),
    (
        Link.dh(a=1, convention="modified"),
        "its modified Denavit-Hartenberg row (the format has only the standard convention)",
    ),
    (Link(joint="screw", pitch=0.1), "its screw joint (the format has only revolute and prismatic ones)"),
    (Link(axis=(0, 1, 0)), "its placement (no Denavit-Hartenberg row was given)"),
    (Link.dh(0.1, convention="standard", offset=0.2), "its offset (it cannot be added to theta or d without rounding)"),
    (Link.dh(convention="standard", limits=(-1, 1)), "its limits"),
    (Link.dh(convention="standard", joint_name="hinge"), "the name of its joint"),
    (Link.dh(convention="standard", qd_max=3.0), "its greatest speed"),
    (Link.dh(convention="standard", tau_max=3.0), "its greatest effort"),
    (Link.dh(convention="standard", motor=Motor(1.0)), "its motor"),
    (
        Link.dh(convention="standard", motor=Motor(1.0, carrier="base", axis=(0, 0, 1))),
        "its motor, whose rotor is carried by 'base'",
    ),
    (
        Link.dh(convention="standard", motor=Motor(1.0, carrier=0, axis=(0, 0, 1), mass=0.25)),
        "its motor, whose rotor is carried by link 0 (from 0) (0.25 kg)",
    ),
    (Link.dh(convention="standard", physical=False), "its mark physical=False"),
]


@pytest.mark.parametrize(("link", "what"), LOSSES)
def test_a_loss_is_refused(tmp_path: Path, link: Link, what: str) -> None:
    with pytest.raises(FileError) as caught:
        save(Mechanism([link]), tmp_path / "a.dat")
    assert what in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_every_loss_is_told_at_once_and_can_be_allowed(tmp_path: Path) -> None:
    marked = [link.replace(inertia=(0.1, 0.1, 0.1)) for link in robots.puma560().links]
    puma = robots.puma560().replace(links=marked).with_tool(np.diag([-1.0, -1.0, 1.0, 1.0])).replace(payload=Inertia(1.0))
    with pytest.raises(FileError) as caught:
        save(puma, tmp_path / "puma.dat")
    assert len(caught.value.problems) == 6 + 6 + 2 + 2
    assert str(caught.value).count("allow_loss=True") == 1
    save(puma, tmp_path / "puma.dat", allow_loss=True)
    again = load(tmp_path / "puma.dat")
    assert [link.dh_row for link in again.links] == [link.dh_row for link in puma.links]


def test_motors_beside_the_links_are_a_loss(tmp_path: Path) -> None:
    arm = Mechanism([Link.dh(a=1.0, convention="standard")])
    driven = arm.replace(motors=[Motor(1.0, joint="link1"), Motor(joint="link1", carrier="base", axis=(1, 0, 0), mass=2)])
    path = tmp_path / "mechanism.dat"
    with pytest.raises(FileError) as caught:
        save(driven, path)
    assert str(caught.value).splitlines()[:2] == [
        f"{path}: would be lost in a .DAT file: its motor of 'link1'",
        f"{path}: would be lost in a .DAT file: its motor of 'link1', whose rotor is carried by 'base' (2 kg)",
    ]
    save(driven, path, allow_loss=True)
    assert load(path) == arm


def test_a_floating_base_is_never_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    with pytest.raises(FileError) as caught:
        save(Mechanism([Link.dh(a=1.0, convention="standard")], floating=True), path, allow_loss=True)
    assert str(caught.value).splitlines() == [
        f"{path}: cannot be written in a .DAT file at all: its floating base",
        "save as .toml, which holds everything",
    ]
    assert not path.exists()


def test_what_would_be_another_mechanism_is_never_written(tmp_path: Path) -> None:
    arm = Link.dh(a=1.0, convention="standard")
    tree = Mechanism([arm, arm, arm.replace(parent="link1", dh_row=arm.dh_row)])
    fixed = Mechanism([arm, Link.dh(a=1.0, convention="standard", joint="fixed")])
    for mechanism in (tree, fixed, Mechanism([Link(axis=(1, 0, 0))])):
        with pytest.raises(FileError):
            save(mechanism, tmp_path / "a.dat", allow_loss=True)


def test_what_could_not_be_read_again_is_never_written(tmp_path: Path) -> None:
    thin = Link.dh(a=1.0, convention="standard", mass=1.0, inertia=(0, 0, 0.3), limits=(-1, 1), physical=False)
    path = tmp_path / "a.dat"
    with pytest.raises(FileError) as caught:
        save(Mechanism([thin]), path, allow_loss=True)
    assert str(caught.value).splitlines() == [
        f"{path}: would be lost in a .DAT file: link 'link1': its limits",
        f"{path}: cannot be written in a .DAT file at all: link 'link1': its inertia (physical=False, and not that of a "
        "body that can exist: the file could not be read)",
        "save as .toml, which holds everything",
    ]
    assert not path.exists()
    save(Mechanism([thin.replace(inertia=(0.3, 0.3, 0.3))]), path, allow_loss=True)
    assert load(path).links[0].body.tensor[0, 0] == 0.3
