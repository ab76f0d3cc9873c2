"""Springs with inertias along their lengths: the armature of tendons."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.identification import identify

ROUNDING = 1e-11
"""Of a few hundred products of numbers of the size of one, times the condition of the mass matrix, below 1e3."""


@pytest.fixture(scope="module")
def tendons():
    """A ball joint, two joints on it, a fixed tendon over these and a path from the ground to the last link."""
    links = [
        lw.Link(joint="ball", name="shoulder", mass=2.0, com=(0.1, 0.0, 0.2), inertia=(0.3, 0.2, 0.4)),
        lw.Link.dh(a=0.5, convention="standard", name="elbow", mass=1.0, com=(-0.2, 0, 0), inertia=(0.01, 0.05, 0.05)),
        lw.Link.dh(a=0.4, convention="standard", name="wrist", mass=0.7, com=(-0.2, 0, 0.1), inertia=(0.01, 0.04, 0.03)),
    ]
    springs = [
        lw.Spring({"elbow": 1.0, "wrist": -0.7}, stiffness=3.0, inertia=0.8),
        lw.LinearSpringDamper(
            [("base", (0.3, -0.4, 0.9)), ("shoulder", (0.1, 0.2, 0.1)), ("wrist", (0, 0, 0))], inertia=1.3
        ),
    ]
    return lw.Mechanism(links, springs=springs, name="tendons")


@pytest.fixture(scope="module")
def state(tendons):
    rng = np.random.default_rng(2)
    return tendons.random_configuration(seed=1), rng.normal(size=tendons.nv), rng.normal(size=tendons.nv)


def direct(mechanism, name, *arguments):
    """Without compiling."""
    return mechanism.kernel(name, backend="numpy")(*arguments)


def test_the_energy_gives_mass_matrix_and_efforts(tendons, state):
    q, qd, qdd = state
    mass, coriolis = direct(tendons, "mass_matrix", q), direct(tendons, "coriolis_matrix", q, qd)
    bare = tendons.replace(springs=())
    added = np.linalg.eigvalsh(mass - direct(bare, "mass_matrix", q))
    print("added", added)
    assert (abs(added[:3]) < ROUNDING).all()
    assert (added[3:] > 0.01).all()
    assert abs(direct(tendons, "kinetic_energy", q, qd) - qd @ mass @ qd / 2) < ROUNDING
    tau = direct(tendons, "inverse_dynamics", q, qd, qdd)
    bias = direct(tendons, "bias_torque", q, qd)
    gravity, springs = direct(tendons, "gravity_torque", q), direct(tendons, "spring_torque", q, qd)
    assert abs(bias - coriolis @ qd - gravity).max() < ROUNDING
    assert abs(tau - mass @ qdd - bias - springs).max() < ROUNDING
    assert abs(direct(tendons, "forward_dynamics", q, qd, tau) - qdd).max() < ROUNDING
    assert abs(direct(tendons, "lagrange_dynamics", q, qd, qdd) - tau).max() < ROUNDING
    step = 1e-5
    later, before = (direct(tendons, "mass_matrix", tendons.integrate(q, qd, dt)) for dt in (step, -step))
    skew = (later - before) / (2 * step) - 2 * coriolis
    print("skew", abs(skew + skew.T).max())
    assert abs(skew + skew.T).max() < 1e-8  # step^2 times third derivatives, and rounding over the step


def test_identification_takes_them_as_known():
    arm = lw.robots.planar_2r().replace(springs=[lw.Spring({"link1": 1.0, "link2": 0.5}, stiffness=2.0, inertia=0.4)])
    motion = np.random.default_rng(0).normal(size=(3, 200, 2))
    tau = arm.inverse_dynamics(*motion)
    result = identify(arm, *motion, tau)
    bare = arm.replace(springs=())
    expected = identify(bare, *motion, bare.inverse_dynamics(*motion))
    assert abs(result.values - expected.values).max() < ROUNDING
    assert abs(result.predict(*motion) - tau).max() < ROUNDING * 10


def test_symbols_and_files(tmp_path):
    a = lw.symbols("a")
    length = {"link1": 1.0, "link2": -2.0}
    arm = lw.robots.planar_2r().replace(springs=[lw.Spring(length, inertia=a, name="cord")])
    numbers = arm.substitute({"a": 0.3})
    assert abs(numbers.mass_matrix([0, 1]) - arm.kernel("mass_matrix")([0, 1], [0.3])).max() < ROUNDING
    lw.save(numbers, tmp_path / "arm.toml")
    assert lw.load(tmp_path / "arm.toml").springs == numbers.springs


def test_what_leaves_them_out_refuses(tendons):
    with pytest.raises(ArgumentError, match="springs with inertias"):
        tendons.spatial_operators(tendons.neutral)
    with pytest.raises(ArgumentError, match="springs with inertias"):
        tendons.kernel("mass_matrix", tier="looped")
