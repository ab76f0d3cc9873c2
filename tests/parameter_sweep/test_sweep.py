"""What a sweep computes: samples within their ranges, results of the mechanism with these parameters, the same each time."""

from __future__ import annotations

import numpy as np
import pytest

import linkwise as lw
from linkwise import robots
from linkwise.errors import ArgumentError
from linkwise.parameter_sweep import Sweep

ARM = robots.planar_2r()
OVER = {"mass:link2": (1.0, 5.0), "payload": (0.0, 2.0), "q:link1": (-0.5, 0.5), "qd:link2": (-1.0, 1.0)}


def test_results_are_those_of_the_mechanism_with_the_parameters() -> None:
    sweep = Sweep.of(ARM, "inverse_dynamics", OVER, samples=50, chunk=20)
    arrays = sweep.compute(1)
    assert {name: array.shape for name, array in arrays.items()} == {
        "mass_link2": (20,), "payload": (20,), "q": (20, 2), "qd": (20, 2), "tau": (20, 2)
    }  # fmt: skip
    assert sweep.columns["tau"] == ("tau_link1", "tau_link2")
    assert len(sweep.compute(2)["tau"]) == 10
    for name, values in (
        ("mass:link2", arrays["mass_link2"]),
        ("payload", arrays["payload"]),
        ("q:link1", arrays["q"][:, 0]),
    ):
        low, high = OVER[name]
        assert low <= values.min() < low + 0.2 * (high - low)
        assert high >= values.max() > high - 0.2 * (high - low)
    assert not arrays["qd"][:, 0].any()
    for row in range(3):
        arm = ARM.replace_link("link2", mass=arrays["mass_link2"][row]).with_payload(arrays["payload"][row])
        tau = arm.inverse_dynamics(arrays["q"][row], arrays["qd"][row], np.zeros(2))
        assert np.abs(tau - arrays["tau"][row]).max() < 1e-13  # (efforts of 100 N m, some roundings)


def test_samples_depend_on_the_seed_and_chunk_alone() -> None:
    sweep, other = (Sweep.of(ARM, "gravity_torque", {}, samples=40, chunk=20, seed=seed) for seed in (0, 1))
    assert np.array_equal(sweep.compute(1)["q"], Sweep.of(ARM, "gravity_torque", {}, samples=40, chunk=20).compute(1)["q"])
    assert not np.array_equal(sweep.compute(0)["q"], sweep.compute(1)["q"])
    assert not np.array_equal(sweep.compute(0)["q"], other.compute(0)["q"])


def test_symbols_of_the_mechanism_and_joints_with_quaternions() -> None:
    length = lw.symbols("length")
    arm = lw.Mechanism([lw.Link.dh(a=length, convention="standard", mass=1.0)])
    arrays = Sweep.of(arm, "forward_kinematics", {"length": (1.0, 2.0)}, samples=10).compute(0)
    assert np.abs(np.hypot(*arrays["T"][:, :2, 3].T) - arrays["length"]).max() < 1e-15
    floating = lw.Mechanism([lw.Link(joint="fixed", mass=1.0), lw.Link(mass=1.0, com=(0.1, 0, 0))], floating=True)
    sweep = Sweep.of(floating, "kinetic_energy", {"qd:base_wx": (-1.0, 1.0)}, samples=10)
    assert np.abs(np.linalg.norm(sweep.compute(0)["q"][:, 3:7], axis=1) - 1.0).max() < 1e-15
    with pytest.raises(ArgumentError, match="is a part of a quaternion"):
        Sweep.of(floating, "kinetic_energy", {"q:base_qw": (-1.0, 1.0)}, samples=10)


@pytest.mark.parametrize(
    ("algorithm", "over", "message"),
    [
        ("inverse_dynamics", {"weight": (0, 1)}, "expected 'mass:LINK', 'payload', 'q:JOINT', 'qd:JOINT' or 'qdd:JOINT'"),
        ("gravity_torque", {"qd:link1": (0, 1)}, "no parameter 'qd:link1'"),
        ("gravity_torque", {"mass:elbow": (0, 1)}, "no link 'elbow'"),
        ("gravity_torque", {"q:elbow": (0, 1)}, "no joint 'elbow'; expected 'link1' or 'link2'"),
        ("gravity_torque", {"mass:link1": (2, 1)}, "expected two finite numbers in order"),
        ("gravity_torque", {"payload": (-1, 1)}, "expected a mass of 0 or above"),
        ("integrate", {}, "integrate takes 'q', 'qd' and 'dt'; expected inputs among"),
        ("nothing", {}, "no algorithm 'nothing'"),
    ],
)
def test_refusals(algorithm: str, over: dict, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Sweep.of(ARM, algorithm, over, samples=10)


@pytest.mark.parametrize(
    ("symbol", "over", "other"),
    [
        ("q", {}, "q"),
        ("qd", {}, "qd"),
        ("tau", {}, "tau"),
        ("tau_link1", {}, "tau"),
        ("q_link2", {}, "q"),
        ("mass_link2", {"mass:link2": (1.0, 2.0)}, "mass_link2"),
    ],
)
def test_no_two_quantities_are_stored_under_one_name(symbol: str, over: dict, other: str) -> None:
    arm = ARM.replace_link("link1", mass=lw.symbols(symbol))
    with pytest.raises(ArgumentError, match=f"and '{other}' would both be stored as '{symbol}'"):
        Sweep.of(arm, "inverse_dynamics", {symbol: (1.0, 2.0), **over}, samples=10)


def test_what_random_coordinates_do_not_close_or_has_no_numbers_is_refused() -> None:
    with pytest.raises(ArgumentError, match="has closed loops"):
        Sweep.of(robots.four_bar(), "forward_kinematics", {}, samples=10)
    with pytest.raises(ArgumentError, match="has the symbols 'm' without a range"):
        Sweep.of(lw.Mechanism([lw.Link(mass=lw.symbols("m"))]), "gravity_torque", {}, samples=10)
