"""The energy error of a simulation: against closed forms, its order, and the warning."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from linkwise import Feedback, Link, Mechanism, Motor, robots, simulate
from linkwise.errors import LinkwiseWarning
from linkwise.simulation import Sampled
from linkwise.trajectory import Trajectory

Q = np.array([0.1, 0.2])


def error(mech: Mechanism, **options: object) -> np.ndarray:
    record = simulate(mech, energies=True, **options)  # type: ignore[arg-type]
    assert record.energy_error is not None
    assert record.energy_error.shape == record.kinetic.shape
    assert not np.any(record.energy_error[..., 0])
    return record.energy_error


def test_without_work_it_is_the_change_of_energy() -> None:
    record = simulate(robots.planar_2r(), Q, t=(1.0, 0.05), energies=True)
    assert np.array_equal(record.energy_error, record.energy - record.energy[0])


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ({}, 4), ({"torque": [5.0, 1.0]}, 4), ({"external": [3, 2, 1, 0, 0, 1]}, 4),
        ({"method": "semi_implicit_euler"}, 1), ({"method": "euler"}, 1),
    ],
)  # fmt: skip
def test_it_falls_with_the_order_of_the_method(options: dict[str, object], order: int) -> None:
    """With viscous friction too; half the step, an error less by two to the order, within a factor of 1.5."""
    arm = robots.planar_2r()
    arm = arm.replace(links=[link.replace(motor=Motor(viscous=0.4, gear_ratio=2.0)) for link in arm.links])
    coarse, fine = (np.abs(error(arm, q0=Q, t=(0.5, step), **options)).max() for step in (4e-3, 2e-3))
    assert 2**order / 1.5 < coarse / fine < 2**order * 1.5


def test_the_work_of_a_torque_that_jumps_is_exact() -> None:
    """A point mass on a slide: constant acceleration through each step, which the scheme integrates exactly."""
    slide = Mechanism([Link(joint="prismatic", axis=(1, 0, 0), mass=2.0)])
    torque = np.random.default_rng(0).uniform(-5, 5, (3, 200, 1))
    found = error(slide, torque=torque, t=(2.0, 0.01))
    assert found.shape == (3, 201)
    assert np.abs(found).max() < 200 * 8 * np.finfo(float).eps * 10.0  # roundings of 200 sums of some ten joules


def test_a_floating_base() -> None:
    links = [Link(joint="fixed", mass=2.0, inertia=(1.0, 2.0, 3.0)), Link(axis=(0, 0, 1), mass=1.0, com=(0.3, 0, 0))]
    craft = Mechanism(links, floating=True)
    qd = np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0, 0.5])
    push = {"qd0": qd, "torque": [1, 2, 3, 0.4, 0.5, 0.6, 0.3]}
    coarse, fine = (np.abs(error(craft, t=(0.5, step), **push)).max() for step in (1e-2, 5e-3))
    assert coarse / fine > 3.5, "the work on turning axes is known to the second power of the step"
    assert fine < 1e-3


def test_unknown_where_the_torque_is_unknown_between_records() -> None:
    arm = robots.planar_2r()
    torque = np.ones((100, 2)) * np.linspace(0, 1, 100)[:, None]
    assert simulate(arm, Q, torque=torque, t=(0.1, 1e-3), record=10, energies=True).energy_error is None
    assert simulate(arm, Q, torque=lambda t, q, qd: -qd, t=(0.1, 1e-3), hold=False, energies=True).energy_error is None
    assert simulate(arm, Q, torque=lambda t, q, qd: -qd, t=(0.1, 1e-3), energies=True).energy_error is not None
    assert simulate(arm, Q, torque=[1.0, 2.0], t=(0.1, 1e-3), record=10, energies=True).energy_error is not None
    assert simulate(arm, Q, t=(0.1, 1e-3)).energy_error is None
    linear = Feedback(lambda t, q, qd, push: push, push=Sampled(torque))
    assert simulate(arm, Q, torque=linear, t=(0.1, 1e-3), hold=False, energies=True).energy_error is None
    assert np.abs(simulate(arm, Q, torque=linear, t=(0.1, 1e-3), energies=True).energy_error).max() < 1e-9


@pytest.mark.parametrize("energies", [True, False])
@pytest.mark.parametrize("torque", [None, [0.5, 0.1]])
def test_steps_that_are_far_too_large_are_remarked(energies: bool, torque: list[float] | None) -> None:
    arm = robots.planar_2r()
    with pytest.warns(LinkwiseWarning, match="energy error is .* J") as caught:
        simulate(arm, Q, t=(2.0, 0.2), torque=torque, energies=energies)
    assert caught[0].filename == __file__
    batch = np.stack([Q, np.array([-np.pi / 2, 0.0])])[:, None]  # the second hangs at rest: nothing moves
    with pytest.warns(LinkwiseWarning, match=r"in rollout \(0, 0\)"):
        simulate(arm, batch, t=(2.0, 0.2), energies=energies)


@pytest.mark.parametrize("energies", [True, False])
def test_no_warning_where_steps_are_small_or_nothing_happens(energies: bool) -> None:
    arm = robots.planar_2r()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(arm, Q, t=(2.0, 0.01), energies=energies)
        simulate(arm, [-np.pi / 2, 0.0], t=(1.0, 0.01), energies=energies)
        simulate(arm.replace(gravity=(0, 0, 0)), t=(1.0, 0.01), energies=energies)
        simulate(arm, np.zeros((0, 2)), t=(1.0, 0.01), energies=energies)
        simulate(arm, Q, t=[0.0], energies=energies)


def test_unknown_with_coulomb_friction() -> None:
    """What it holds trembles about rest, and its work within a step is not seen at the instants; no warning either."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = simulate(robots.puma560().replace(gravity=(0, 0, -0.5)), t=(0.1, 1e-3), energies=True)
    assert held.energy_error is None


def test_it_is_cut_and_kept_with_the_trajectory(tmp_path: Path) -> None:
    record = simulate(robots.planar_2r(), np.stack([Q, -Q]), t=(0.1, 0.01), energies=True)
    record.save(tmp_path / "fall.npz")
    again = Trajectory.load(tmp_path / "fall.npz")
    assert np.array_equal(again.energy_error, record.energy_error)
    assert np.array_equal(record.member(1).until(0.05).energy_error, record.energy_error[1, :6])
