import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.view.scene.layout import lay_out


@pytest.mark.parametrize("name", ["puma560", "panda", "scara_icomatic", "slider_crank"])
def test_frames_are_those_of_the_kinematics(name: str) -> None:
    mechanism = lw.robots.load(name)
    q = np.linspace(-0.4, 0.6, mechanism.n)
    layout = lay_out(mechanism, q)
    assert np.allclose(layout.poses[1:], mechanism.link_poses(q), atol=1e-12)
    assert np.allclose(layout.tool(), mechanism.forward_kinematics(q), atol=1e-12)


def test_a_standard_row_has_a_corner_between_d_and_a() -> None:
    layout = lay_out(lw.Mechanism([lw.Link.dh(0, 0.3, 0.5, 0, convention="standard")]))
    body = layout.world(0, layout.rods[1].points)
    assert np.allclose(body, [[0, 0, 0], [0, 0, 0.3], [0.5, 0, 0.3]])


def test_a_slide_starts_where_its_joint_acts() -> None:
    link = lw.Link(joint="prismatic", axis=(1, 0, 0))
    layout = lay_out(lw.Mechanism([link]), [0.4])
    assert np.allclose(layout.joint_frames()[0, :3, 2], [1, 0, 0])
    assert np.allclose(layout.slides(layout.poses)[0], [[0, 0, 0], [0.4, 0, 0]])


def test_symbols_shrink_where_joints_stand_close() -> None:
    near = lay_out(lw.Mechanism([lw.Link.dh(a=0.1, convention="standard") for _ in range(30)]))
    assert near.extent == pytest.approx(3.0)
    assert near.size == pytest.approx(0.7)


def test_a_mechanism_of_no_extent_has_a_size() -> None:
    assert lay_out(lw.Mechanism([lw.Link()])).size == 1.0


@pytest.mark.parametrize("q", [[1.0], [1.0, 2.0, 3.0], [1.0, np.nan], 1.0])
def test_q_must_be_n_numbers(q: object) -> None:
    with pytest.raises(ArgumentError, match="expected 2 finite numbers"):
        lay_out(lw.robots.load("planar_2r"), q)


def test_a_base_without_orientation_is_refused() -> None:
    craft = lw.Mechanism([lw.Link()], floating=True)
    with pytest.raises(ArgumentError, match="quaternion 0, 0, 0, 0"):
        lay_out(craft, np.zeros(8))
