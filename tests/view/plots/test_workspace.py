import sys

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError, MissingExtraError
from linkwise.plot.rendering import rendered
from linkwise.view.plots.workspace_plot import draw
from linkwise.workspace import Workspace, workspace

FEW = {"samples": 2_000, "cells": 32}
pytestmark = pytest.mark.usefixtures("coarse")

PNG = b"\x89PNG\r\n"


@pytest.fixture(scope="module")
def puma() -> tuple[lw.Mechanism, Workspace]:
    mechanism = lw.robots.load("puma560")
    return mechanism, workspace(mechanism, **FEW)


@pytest.fixture(scope="module")
def flat() -> tuple[lw.Mechanism, Workspace]:
    mechanism = lw.robots.load("planar_2r")
    return mechanism, workspace(mechanism, **FEW)


def gantry(*axes: tuple[int, int, int]) -> lw.Mechanism:
    return lw.Mechanism([lw.Link(joint="prismatic", axis=axis, limits=(0, 1)) for axis in axes])


def panels(made: object) -> list[object]:
    return [axis for axis in made.axes if axis.get_xlabel()]  # type: ignore[attr-defined]


def test_a_plane_through_the_axis_and_the_view_along_it(puma: tuple[lw.Mechanism, Workspace]) -> None:
    made = draw(*puma)
    beside, along = panels(made)
    assert beside.get_xlabel() == "distance from the first axis [m]"
    assert beside.get_ylabel() == "z [m]"
    assert (along.get_xlabel(), along.get_ylabel()) == ("x [m]", "y [m]")
    assert made.get_suptitle() == "puma560: workspace of the tool"
    assert rendered(made, "png").startswith(PNG)


def test_one_panel_where_all_lies_in_a_plane(flat: tuple[lw.Mechanism, Workspace]) -> None:
    (only,) = panels(draw(*flat))
    assert (only.get_xlabel(), only.get_ylabel()) == ("x [m]", "y [m]")


@pytest.mark.parametrize(
    ("plane", "measure"),
    [("auto", "manipulability"), ("xz", "reach"), ("xy", "manipulability"), ("3d", "reach"), ("3d", "manipulability")],
)
def test_every_plane_and_measure(puma: tuple[lw.Mechanism, Workspace], plane: str, measure: str) -> None:
    made = draw(*puma, plane=plane, measure=measure)
    assert rendered(made, "png").startswith(PNG)
    bars = [axis for axis in made.axes if axis.get_ylabel().startswith("manipulability, share of")]
    assert len(bars) == (measure == "manipulability")


def test_scales_are_equal_and_all_is_seen(puma: tuple[lw.Mechanism, Workspace]) -> None:
    mechanism, found = puma
    along = panels(draw(mechanism, found))[1]
    assert along.get_aspect() == 1.0
    (left, right), (low, high) = along.get_xlim(), along.get_ylim()
    assert left < found.bounds[0, 0]
    assert right > found.bounds[1, 0]
    assert low < found.bounds[0, 1]
    assert high > found.bounds[1, 1]


def test_the_colours_are_shares_of_the_greatest(flat: tuple[lw.Mechanism, Workspace]) -> None:
    mechanism, found = flat
    (mesh,) = [one for one in panels(draw(mechanism, found))[0].collections if hasattr(one, "get_coordinates")]
    shown, corners = mesh.get_array(), mesh.get_coordinates()
    middles = 0.5 * (corners[:-1, :-1] + corners[1:, 1:])
    r = np.hypot(middles[..., 0], middles[..., 1])
    exact = np.sqrt(1 - np.clip((r**2 - 2) / 2, -1, 1) ** 2)  # |sin q2| of two links of 1 m
    # A cell is 2 / 32 m deep, and the slope of |sin q2| over the distance is below 1 / sqrt(1 - (r/2)^2).
    inside = r < 1.8
    assert np.abs(shown - exact)[inside].max() < 0.0625 / np.sqrt(1 - 0.9**2)


def test_a_drawing_is_where_the_mechanism_is(puma: tuple[lw.Mechanism, Workspace]) -> None:
    mechanism, found = puma
    beside, along = panels(draw(mechanism, found))
    tool = mechanism.forward_kinematics(found.best_q)[:3, 3]
    assert np.allclose([line.get_xydata()[0] for line in along.lines][-1], tool[:2])
    assert np.allclose([line.get_xydata()[0] for line in beside.lines][-1], [np.hypot(*tool[:2]), tool[2]])


def test_without_a_first_axis_shadows_are_drawn() -> None:
    rails = gantry((1, 0, 0), (0, 1, 0), (0, 0, 1))
    found = workspace(rails, **FEW)
    made = draw(rails, found)
    assert [(a.get_xlabel(), a.get_ylabel()) for a in panels(made)] == [("x [m]", "z [m]"), ("x [m]", "y [m]")]
    flat = gantry((1, 0, 0), (0, 0, 1))
    (only,) = panels(draw(flat, workspace(flat, **FEW)))
    assert (only.get_xlabel(), only.get_ylabel()) == ("x [m]", "z [m]")
    assert rendered(draw(rails, found, plane="3d"), "png")


def test_names_are_drawn_as_they_are(flat: tuple[lw.Mechanism, Workspace]) -> None:
    mechanism, found = flat
    made = draw(mechanism.replace(name="costs $1 and $2"), found)
    assert made.get_suptitle() == "costs $1 and $2: workspace of the tool"
    rendered(made, "png")


def test_what_cannot_be_drawn(puma: tuple[lw.Mechanism, Workspace], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArgumentError, match="plane is 'zx'; expected 'auto', 'xz'"):
        draw(*puma, plane="zx")
    with pytest.raises(ArgumentError, match="measure is 'speed'"):
        draw(*puma, measure="speed")
    lying = lw.Mechanism([lw.Link(axis=(1, 0, 0)), *lw.robots.load("planar_2r").links])
    with pytest.raises(ArgumentError, match="expected 'auto'"):
        draw(lying, workspace(lying, **FEW), plane="xz")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match="matplotlib"):
        draw(*puma)
