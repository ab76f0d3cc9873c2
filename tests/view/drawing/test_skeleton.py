import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.view.drawing.skeleton import skeleton


@pytest.mark.parametrize("name", ["puma560", "panda", "scara_icomatic", "slider_crank"])
def test_frames_are_those_of_the_kinematics(name: str) -> None:
    mechanism = lw.robots.load(name)
    q = np.linspace(-0.4, 0.6, mechanism.n)
    laid = skeleton(mechanism, q)
    assert np.allclose([place.frame for place in laid.places], mechanism.link_poses(q), atol=1e-12)
    assert np.allclose(laid.tool, mechanism.forward_kinematics(q), atol=1e-12)


def test_a_standard_row_has_a_corner_between_d_and_a() -> None:
    laid = skeleton(lw.Mechanism([lw.Link.dh(0, 0.3, 0.5, 0, convention="standard")]))
    assert np.allclose(laid.places[0].body, [[0, 0, 0], [0, 0, 0.3], [0.5, 0, 0.3]])


def test_a_slide_starts_where_its_joint_acts() -> None:
    link = lw.Link(joint="prismatic", axis=(1, 0, 0))
    place = skeleton(lw.Mechanism([link]), [0.4]).places[0]
    assert np.allclose(place.joint[:3, 3], 0)
    assert np.allclose(place.joint[:3, 2], [1, 0, 0])
    assert np.allclose(place.moved, [0.4, 0, 0])


def test_symbols_shrink_where_joints_stand_close() -> None:
    near = skeleton(lw.Mechanism([lw.Link.dh(a=0.1, convention="standard") for _ in range(30)]))
    assert near.extent == pytest.approx(3.0)
    assert near.size == pytest.approx(0.7)


def test_a_mechanism_of_no_extent_has_a_size() -> None:
    assert skeleton(lw.Mechanism([lw.Link()])).size == 1.0


@pytest.mark.parametrize("q", [[1.0], [1.0, 2.0, 3.0], [1.0, np.nan], 1.0])
def test_q_must_be_n_numbers(q: object) -> None:
    with pytest.raises(ArgumentError, match="expected 2 finite numbers"):
        skeleton(lw.robots.load("planar_2r"), q)


def test_a_base_without_orientation_is_refused() -> None:
    craft = lw.Mechanism([lw.Link()], floating=True)
    with pytest.raises(ArgumentError, match="quaternion 0, 0, 0, 0"):
        skeleton(craft, np.zeros(8))
