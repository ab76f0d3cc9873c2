"""SAT: the printed numbers are checked among the manual's examples; here, that the steps follow from each other."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwise.errors import ArgumentError
from linkwise.spacelib.programs import satellite

ROUNDING = 1e-14
"""Of some ten products of numbers below 10."""


def test_step_4_is_half_a_turn_about_the_diagonal() -> None:
    found = satellite.satellite()
    diagonal = np.array([np.cos(found.beta), np.sin(found.beta), 0.0])
    half = Rotation.from_rotvec(np.pi * diagonal).as_matrix()
    np.testing.assert_allclose(found.M4[:3, :3], half @ found.M3[:3, :3], atol=ROUNDING)
    np.testing.assert_allclose(found.M4[:3, 3], found.M3[:3, 3])


def test_step_5_turns_about_the_hinge() -> None:
    found = satellite.satellite()
    np.testing.assert_allclose(found.Q5 @ satellite.P2, satellite.P2, atol=ROUNDING)
    assert np.degrees(np.arccos((np.trace(found.Q5[:3, :3]) - 1) / 2)) == pytest.approx(26.0, abs=1e-12)
    np.testing.assert_allclose(found.Q5 @ found.M4, found.Mf, atol=ROUNDING)


def test_the_whole_motion_is_a_rotation_about_its_axis() -> None:
    found = satellite.satellite()
    np.testing.assert_allclose(found.Qtot @ found.Mi, found.Mf, atol=ROUNDING)
    np.testing.assert_allclose(found.Qtot @ found.P, found.P, atol=10 * ROUNDING)
    turn = Rotation.from_matrix(found.Qtot[:3, :3])
    np.testing.assert_allclose(turn.as_rotvec(), found.phi * found.u, atol=10 * ROUNDING)
    assert abs(found.h) < 10 * ROUNDING
    assert np.linalg.norm(found.M3[:3, 3] - np.array(satellite.P2[:3])) == pytest.approx(found.d, abs=ROUNDING)


def test_another_last_angle() -> None:
    found = satellite.satellite(turn=0.0)
    np.testing.assert_allclose(found.Mf, found.M4, atol=ROUNDING)


def test_what_is_printed() -> None:
    lines = satellite.text(satellite.satellite()).splitlines()
    assert "alpha = 1.095453 rad = 62.764853 deg" in lines
    assert "Rotation angle about u = 3.116767 rad = 178.577623 deg" in lines
    assert "Axis u of the rototranslation = [0.163282 0.817516 -0.552275]" in lines
    assert "Translation along u = 0 m" in lines


@pytest.mark.parametrize("point", [[1.0, 2.0], [1.0, 2.0, 3.0, 0.0], [1.0, np.nan, 2.0], "P1"])
def test_points_that_are_none(point: object) -> None:
    with pytest.raises(ArgumentError, match="satellite: P1 is"):
        satellite.satellite(P1=point)
