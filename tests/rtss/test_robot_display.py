"""What links and robots print, character by character."""

import numpy as np
import pytest

from linkwise.errors import ArgumentError
from linkwise.rtss import rt_link, rt_robot, rt_showlink, showlink_text
from support.messages import unnamed

RULE = "-" * 24


def test_a_link_is_one_line_with_tabs() -> None:
    assert repr(rt_link([-np.pi / 2, 0.4318, 1e-7, -2, 0])) == "-1.570796\t0.431800\t0.000000\t-2.000000\tR\t(std)"
    assert str(rt_link([0, 0, 0, 0, 1], "mod")) == "0.000000\t0.000000\t0.000000\t0.000000\tP\t(mod)"


HEADS = [
    ({}, "noname (2 axis, RP)"),
    ({"name": "arm"}, "arm (2 axis, RP)"),
    ({"name": "arm", "manuf": "Maker"}, "arm (2 axis, RP) [Maker]"),
    ({"name": "arm", "comment": "a note"}, "arm (2 axis, RP) <a note>"),
    ({"name": "arm", "manuf": "Maker", "comment": "a note"}, "arm (2 axis, RP) [Maker] <a note>"),
]


@pytest.mark.parametrize(("names", "head"), HEADS)
def test_a_robot_is_its_names_its_gravity_and_its_links(names: dict[str, str], head: str) -> None:
    robot = rt_robot([[0, 1, 0, 0, 0], [0.5, 0, 0.25, 3, 1]], gravity=(0, -1.25, 9.806), **names)
    assert repr(robot) == (
        f"{head}\n\t\tgrav = [0.00 -1.25 9.81]\t\tstandard D&H parameters\n\n  alpha\t\tA\t\ttheta\t\tD\t\tR/P\n"
        "0.000000\t1.000000\t0.000000\t0.000000\tR\t(std)\n"
        "0.500000\t0.000000\t0.250000\t3.000000\tP\t(std)"
    )


def test_a_robot_says_its_convention_and_its_options() -> None:
    robot = rt_robot([[0, 1, 0, 0], [0, 1, 0, 0]], convention="mod")
    assert "]\t\tmodified D&H parameters\n" in repr(robot)
    robot[0].mdh = 0
    assert "]\t\tmixed D&H parameters\n" in repr(robot)
    other = rt_robot([[0, 1, 0, 0]], friction="toolbox7", gravity_sign="free_fall")
    assert repr(other).splitlines()[1] == (
        "\t\tgrav = [0.00 0.00 -9.81]\t\tstandard D&H parameters, friction rule toolbox7, gravity is free fall"
    )


def test_an_empty_robot() -> None:
    assert repr(rt_robot()) == (
        "noname (0 axis, )\n\t\tgrav = [0.00 0.00 9.81]\t\tstandard D&H parameters\n\n  alpha\t\tA\t\ttheta\t\tD\t\tR/P"
    )
    assert showlink_text(rt_robot()) == ""


BARE = """\
alpha  = 0
A      = 0.5
theta  = 0
D      = 0
sigma  = 0
mdh    = 0
offset = 0
m      =
r      =
I      =
Jm     =
G      =
B      = 0
Tc     = 0  0
qlim   ="""

FULL = """\
alpha  = 1.5707963
A      = 0.4318
theta  = -1.5707963
D      = 1234567.9
sigma  = 1
mdh    = 1
offset = 0.25
m      = 17.4
r      = -0.3638
          0.006
          0.2275
I      =  0.13  -0.01    0.02
         -0.01   0.524  -1e-05
          0.02  -1e-05   0.539
Jm     = 0.0002
G      = -62.6111
B      = 0.00148
Tc     =  0.395  -0.435
qlim   = -inf   2.7925268"""


def full() -> rt_link:
    link = rt_link([np.pi / 2, 0.4318, -np.pi / 2, 1234567.89, 1], "mod")
    link.offset, link.m, link.r, link.I = 0.25, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539, -0.01, -1e-5, 0.02)
    link.Jm, link.G, link.B, link.Tc, link.qlim = 200e-6, -62.6111, 1.48e-3, (0.395, -0.435), (-np.inf, np.radians(160))
    return link


def test_all_fields_of_a_link(capsys: pytest.CaptureFixture[str]) -> None:
    assert showlink_text(rt_link([0, 0.5, 0, 0])) == BARE
    assert showlink_text(full()) == FULL
    assert rt_showlink(full()) is None
    assert capsys.readouterr().out == FULL + "\n"


def test_all_fields_of_all_links(capsys: pytest.CaptureFixture[str]) -> None:
    second = full()
    second.mdh = 0
    rt_showlink(rt_robot([rt_link([0, 0.5, 0, 0]), second]))
    last = FULL.replace("mdh    = 1", "mdh    = 0")
    assert capsys.readouterr().out == f"Link 1{RULE}\n{BARE}\nLink 2{RULE}\n{last}\n"


def test_nothing_else_is_shown() -> None:
    with pytest.raises(ArgumentError) as error:
        rt_showlink([0, 0.5, 0, 0])
    assert unnamed(error.value, "rt_showlink was given [0, 0.5, 0, 0]; expected a link or a robot") == []
