"""The regressor and base parameters with loops closed: efforts of the driven coordinates, and the fewest that give them."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Mechanism, Motor, robots
from linkwise.errors import ArgumentError
from support.random_linkages import bennett, closed_state, near_zero, random_loop
from support.random_mechanisms import relative

pytestmark = pytest.mark.usefixtures("uncompiled")

LEGS = [f"leg{k}" for k in range(1, 7)]


def with_friction(mech: Mechanism) -> Mechanism:
    motor = Motor(inertia=1e-4, gear_ratio=5.0, viscous=1e-3, coulomb=(0.02, -0.03))
    return mech.replace(links=[link.replace(motor=motor) for link in mech.links])


def motions(name: str, count: int) -> tuple[Mechanism, list[str], list[np.ndarray]]:
    """A mechanism, driven coordinates, and random closed states q, qd, qdd under random efforts."""
    if name == "bennett":
        mech, q = bennett()
        driven, positions = ["l0"], [q] * count
    elif name == "random":
        mech, q = random_loop(31, "hinge", ["revolute", "prismatic", "screw", "revolute", "revolute", "prismatic"])
        driven, positions = [mech.names[0]], [q] * count
    else:
        mech = robots.load(name).replace()
        mech = mech if name == "stewart" else with_friction(mech)
        driven = {"five_bar": ["left_crank", "right_crank"], "stewart": LEGS}.get(name, ["crank"])
        positions = [near_zero(mech, seed, 0.1) for seed in range(count)]
    states = [closed_state(mech, q, seed) for seed, q in enumerate(positions)]
    kernel = mech.kernel("closed_forward_dynamics", backend="numpy")
    qd = np.array([speeds for speeds, _ in states])
    qdd = np.array([kernel(q, *state)[0] for q, state in zip(positions, states, strict=True)])
    return mech, driven, [np.array(positions), qd, qdd]


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "slider_crank", "bennett", "random", "stewart"])
def test_efforts_are_the_regressor_times_the_parameters(name: str) -> None:
    mech, driven, states = motions(name, 3)
    table = mech.regressor(*states, driven=driven)
    expected = mech.actuator_efforts(*states, driven)
    error = relative(table @ mech.parameters, expected)
    print(name, f"{error:.1e}")
    assert error < 1e-12
    passive = [k for k, speed in enumerate(mech.velocity_names) if speed not in driven]
    assert not table[:, passive].any()
    alone = mech.regressor(*(state[0] for state in states), driven=driven)
    assert relative(alone, table[0]) < 1e-13
    if name == "stewart":
        assert np.array_equal(mech.regressor(*states), table), "its legs have motors"
    q, qd, _ = states
    rest = mech.regressor(q, 0 * qd, 0 * qd, driven)
    assert relative(mech.gravity_regressor(q, driven), rest) < 1e-13
    momentum = mech.momentum_regressor(q, qd, driven) @ mech.parameters
    at = [mech.velocity_names.index(joint) for joint in driven]
    twice = 2.0 * mech.kinetic_energy(q, qd)
    error = np.abs((momentum * qd).sum(axis=-1) - twice).max() / np.abs(twice).max()
    print(name, f"momentum against energy {error:.1e}")
    assert error < 1e-12
    assert not np.delete(momentum, at, axis=-1).any()


@pytest.mark.parametrize(("name", "inertial"), [("four_bar", 8), ("five_bar", 11)])
def test_base_parameters(name: str, inertial: int) -> None:
    """They give all efforts, and none can be left out.

    A planar body has MX, MY and ZZ; a mass at the pin that closes the loop may count to either of its bodies, which is one
    relation: 9 - 1 of a four-bar, 12 - 1 of a five-bar. Rotors of joints on the base count to their links, the others do not
    turn alike with one.
    """
    mech, driven, states = motions(name, 60)
    base = mech.base_parameters()
    table = mech.regressor(*states, driven=driven)
    kinds = [mech.parameter_names[c].rstrip("0123456789") for c in base.columns]
    error = relative(table[..., base.columns] @ base.values, mech.actuator_efforts(*states, driven))
    print(name, len(base), f"{error:.1e}", base.names)
    assert error < 1e-10, "rounding times the condition of the combinations, up to 1e4"
    scaled = table.reshape(-1, table.shape[-1])
    scaled = scaled / np.maximum(np.linalg.norm(scaled, axis=0), 1e-9)
    assert np.linalg.matrix_rank(scaled, 1e-10) == np.linalg.matrix_rank(scaled[:, base.columns], 1e-10)
    assert np.linalg.matrix_rank(scaled[:, base.columns], 1e-10) == len(base)
    assert sum(kind in {"M", "MX", "MY", "ZZ"} for kind in kinds) == inertial
    assert sum(kind in {"B", "Tc+", "Tc-"} for kind in kinds) == 3 * mech.n


def test_energy_needs_no_projection() -> None:
    mech, _, (q, qd, _) = motions("four_bar", 3)
    kinetic, potential = mech.energy_regressor(q, qd)
    assert relative(kinetic @ mech.parameters, mech.kinetic_energy(q, qd)) < 1e-13
    assert relative(potential @ mech.parameters, mech.potential_energy(q)) < 1e-13


def test_what_does_not_fit_is_refused() -> None:
    mech, _, (q, qd, qdd) = motions("five_bar", 1)
    off, arm, still = q + 0.1, robots.planar_2r(), [0.0, 0.0]
    cases = [
        (lambda: mech.regressor(off, qd, qdd, ["left_crank", "right_crank"]), r"are open at q\[0\] by"),
        (lambda: mech.regressor(q, qd + 1.0, qdd, ["left_crank", "right_crank"]), r"qd\[0\] opens loops of 'five_bar'"),
        (lambda: mech.regressor(q, qd, qdd + 1.0, ["left_crank", "right_crank"]), r"qdd\[0\] opens loops of 'five_bar'"),
        (lambda: mech.regressor(q, qd, qdd, ["left_crank"]), "1 coordinates of 'five_bar' are driven; expected as many"),
        (lambda: mech.regressor(q, qd, qdd), "4 coordinates of 'five_bar' are driven; expected as many"),
        (lambda: mech.regressor(q, qd[..., :3], qdd, ["left_crank", "right_crank"]), "closed_regressor: qd"),
        (lambda: arm.regressor(still, still, still, driven=0), "'planar_2r' has no loops"),
        (lambda: mech.kernel("regressor"), "the method regressor of Mechanism takes"),
        (lambda: mech.base_parameters(q=off), r"^base_parameters: loops of 'five_bar' are open at q\[0\]"),
        (lambda: arm.base_parameters(q=still), r"^base_parameters: q is \[0.0, 0.0\], but 'planar_2r' has no loops"),
    ]
    for call, message in cases:
        with pytest.raises(ArgumentError, match=message):
            call()
