"""Forces of several contacts with dry friction: Coulomb's law, checked by itself."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.simulation.coulomb import Cone, coulomb, refined

pytest.importorskip("scipy", reason="least squares over cones")

UP = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize("seed", range(12))
def test_random_contacts_obey_the_law(seed: int) -> None:
    """Pressed or open; inside the cone and at rest, or on it and against the motion. Contacts of one body share its rows."""
    rng = np.random.default_rng(seed)
    count, friction = int(rng.integers(1, 5)), float(rng.choice([0.0, 0.3, 0.7, np.inf]))
    jac = rng.normal(size=(3 * count, 3 * count + 2))
    if seed % 2:  # points of a body of 1 kg, 0.01 kg m2
        arms = np.column_stack([rng.uniform(-0.2, 0.2, (count, 2)), np.full(count, -0.1)])
        jac = np.concatenate([np.hstack([np.eye(3), 10.0 * np.cross(np.eye(3), arm)]) for arm in arms])
    free = jac @ rng.normal(size=jac.shape[1]) - 2.0 * np.tile(UP, count)
    cones = [Cone(slice(3 * k, 3 * k + 3), UP, friction) for k in range(count)]
    forces, motion = coulomb(jac @ jac.T, free, cones)
    small = 1e-5 * np.abs(free).max()  # (a hundred times that to which slides settle, by the conditioning of the matrix)
    assert np.abs(jac @ jac.T @ forces + free - motion).max() < small
    for cone in cones:
        force, rate = forces[cone.rows], motion[cone.rows]
        assert force[2] > -small
        assert rate[2] > -small
        assert force[2] * rate[2] < small * (1.0 + np.abs(forces).max())
        slide = float(np.linalg.norm(rate[:2]))
        if np.isinf(friction):
            assert slide < small or rate[2] > small
            continue
        assert np.linalg.norm(force[:2]) <= friction * force[2] + small
        if slide > 1e2 * small:
            assert np.abs(force[:2] + friction * force[2] * rate[:2] / slide).max() < 1e-2 * (1.0 + np.abs(forces).max())


def test_a_mass_on_an_incline() -> None:
    """It slides where the slope is above the friction, and is held below it, to rounding after the equations are solved."""
    cone = Cone(slice(0, 3), UP, 0.5)
    for pull in (4.0, 6.0):
        forces = refined(np.eye(3) / 2.0, np.array([pull, 0.0, -10.0]), [cone])
        assert np.allclose(forces, [-2.0 * min(pull, 5.0), 0.0, 20.0], rtol=1e-14, atol=1e-14)


def test_what_jams_has_no_forces() -> None:
    """P. Painlevé, 1895: sliding on, pressure would press it down all the more."""
    slides = Cone(slice(0, 3), UP, 2.0, np.array([1.0, 0.0, 0.0]))
    matrix = np.array([[1.0, 0.0, 0.8], [0.0, 1.0, 0.0], [0.8, 0.0, 1.0]])
    assert np.isnan(coulomb(matrix, np.array([0.0, 0.0, -1.0]), [slides])[0]).all()


def test_slides_near_a_jam_settle() -> None:
    """The pressure of one that slides is that at which it has no acceleration along the normal."""
    matrix = np.array([[14.2, 0.4, -4.5], [0.4, 3.0, -3.4], [-4.5, -3.4, 7.9]])
    free, along = np.array([0.0, -0.8, -9.8]), np.array([-1.0, 0.0, 0.0])
    slides = Cone(slice(0, 3), UP, 1.5, along)
    ray = UP - 1.5 * along
    forces, _ = coulomb(matrix, free, [slides])
    pressure = 9.8 / (matrix[2] @ ray)  # (of 7.9 the friction leaves 1.15)
    assert np.abs(forces - pressure * ray).max() < 1e-5 * pressure


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 7])
def test_a_point_that_cannot_move_everywhere_slides_with_forces_that_the_law_has(seed: int) -> None:
    """A point on two freedoms, with rebound: the slides swing without end unless a part of each change is taken."""
    rng = np.random.default_rng(400 + seed)
    jac = rng.normal(size=(3, 2))
    friction, free = float(rng.uniform(0.2, 1.2)), jac @ rng.normal(size=2)
    free *= -np.sign(free[2])
    free[2] *= 1.7
    forces, motion = coulomb(jac @ jac.T, free, [Cone(slice(0, 3), UP, friction)])
    small = 1e-5 * np.abs(free).max() * (1.0 + np.abs(forces).max())  # (as above)
    assert abs(motion[2]) < small
    slide = float(np.linalg.norm(motion[:2]))
    assert np.abs(slide * forces[:2] + friction * forces[2] * motion[:2]).max() < small


def test_forces_that_only_a_compliance_would_bear_are_none() -> None:
    """Where a force within the cone does not move the point at all, it cannot rebound: no finite force would do."""
    rng = np.random.default_rng(406)
    jac = rng.normal(size=(3, 2))
    friction, free = float(rng.uniform(0.2, 1.2)), jac @ rng.normal(size=2)
    free *= -np.sign(free[2])
    assert np.isfinite(coulomb(jac @ jac.T, free, [Cone(slice(0, 3), UP, friction)])[0]).all()
    free[2] *= 1.7
    assert np.isnan(coulomb(jac @ jac.T, free, [Cone(slice(0, 3), UP, friction)])[0]).all()
