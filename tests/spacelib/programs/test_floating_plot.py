"""The picture of two bodies that float."""

import numpy as np
import pytest

from linkwise.spacelib.programs import formats
from linkwise.spacelib.programs.floating import TwoLinks, read_two_links
from linkwise.spacelib.programs.floating_comparison import POSTURES, centres, compare, draw, names
from linkwise.spacelib.programs.laws import motor_motion

LINKS = read_two_links(formats.path("TEST.DAT"))


@pytest.fixture(scope="module")
def found():
    return compare(LINKS, motor_motion(0.02))


def test_paths_are_those_of_the_centres_of_mass(found) -> None:
    made = draw(LINKS, found, names(found))
    axes = made.axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    assert {"TEST", "TEST_NEW", "Linkwise", "total centre of mass", "link 1", "link 2"} <= lines.keys()
    for one, name in zip(found, names(found), strict=True):
        assert np.array_equal(lines[name].get_xydata(), centres(LINKS, one.history)[0][:, :2])
    total = lines["total centre of mass"].get_xydata()
    assert np.abs(total[:, 1]).max() < 1e-11  # a straight line, to the tolerance of the integration
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x [m]", "y [m]")
    # two links and their joint at each posture, three paths for each program, the total, two for the legend
    assert len(axes.lines) == 3 * POSTURES + 3 * 3 + 1 + 2


def test_errors_are_drawn_against_time(found) -> None:
    made = draw(LINKS, found, names(found))
    distance, change = made.axes[1:]
    for one, line in zip(found, distance.lines, strict=True):
        assert np.array_equal(line.get_xdata(), one.history.t)
        assert np.array_equal(line.get_ydata()[1:], one.distance[1:])
    assert [line.get_label() for line in change.lines] == names(found)
    assert distance.get_yscale() == change.get_yscale() == "log"


def test_the_plane_of_the_motion_is_shown() -> None:
    """The same system turned, so that it moves in x and z."""
    turn = np.eye(4)
    turn[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    turned = TwoLinks(LINKS.J1, LINKS.J2, turn @ LINKS.W1 @ turn.T, turn @ LINKS.m1)
    found = compare(turned, motor_motion(0.02))
    axes = draw(turned, found, names(found)).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x [m]", "z [m]")
