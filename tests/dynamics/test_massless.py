"""Mechanisms that lack the inertia that forward dynamics divides by, and those that only seem to."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor, robots
from linkwise.errors import ModelError
from support.messages import unnamed
from support.random_mechanisms import direct, random_body, random_pose

ENDING = "expected a mass, an inertia or a rotor inertia moved by this joint; otherwise its acceleration is undefined"
TILTED = np.array([[1.0, 0, 0, 0.1], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
BODY = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": (0.1, 0.1, 0.1)}


def dividing(mech: Mechanism) -> list[tuple[str, tuple[np.ndarray, ...]]]:
    q, v = np.full(mech.nq, 0.3), np.zeros(mech.nv)
    return [
        ("forward_dynamics", (q, v, v)),
        ("forward_dynamics_derivatives", (q, v, v)),
        ("operational_space_inertia", (q,)),
        ("spatial_operators", (q,)),
    ]


@pytest.mark.parametrize(
    ("mech", "joint"),
    [
        (Mechanism([Link(name="only")]), "only"),
        (Mechanism([Link(name="a", **BODY), Link(name="b")]), "b"),
        (Mechanism([Link(name="a"), Link(name="b", joint="fixed")]), "a"),
        (
            Mechanism(
                [Link(name="a", **BODY), Link(name="b", parent="a", joint="prismatic"), Link(name="c", parent="a", **BODY)]
            ),
            "b",
        ),
        (Mechanism([Link(name="point", mass=2.0)]), "point"),
        (Mechanism([Link(name="first"), Link(name="about the same axis", **BODY)]), "first"),
        (Mechanism([Link(name="a", motor=Motor(viscous=1e-3, coulomb=0.1))]), "a"),
        (robots.load("ur5"), "wrist_3"),
        (robots.load("stanford"), "link6"),
    ],
)
def test_the_joint_is_named(mech: Mechanism, joint: str) -> None:
    """A mass on the axis of a revolute joint counts for nothing, and friction is no inertia."""
    for method, args in dividing(mech):
        with pytest.raises(ModelError) as caught:
            getattr(mech, method)(*args)
        assert unnamed(caught.value, f"joint {joint!r}: inertia is 0.0; {ENDING}") == [], method
    assert mech.mass_matrix(np.full(mech.n, 0.3)).shape == (mech.n, mech.n)
    assert np.isfinite(mech.inverse_dynamics(*[np.full(mech.n, 0.3)] * 3)).all()


@pytest.mark.parametrize(
    "mech",
    [
        Mechanism([Link(name="only", motor=Motor(inertia=1e-4, gear_ratio=50))]),
        Mechanism([Link(name="a", after=TILTED), Link(name="b", **BODY)]),
        Mechanism(
            [Link(name="a"), Link(name="b", before=np.eye(4), axis=(1, 0, 0)), Link(name="c", axis=(0, 1, 0), **BODY)]
        ),
        Mechanism([Link(name="slide", joint="prismatic", mass=1.0)]),
        Mechanism([Link(name="a")]).with_payload(0.5, (0.1, 0, 0)),
        Mechanism([Link(name="screw", joint="screw", pitch=0.1, mass=1.0)]),
    ],
)
def test_what_a_joint_moves_beyond_it_is_enough(mech: Mechanism) -> None:
    """So are the rotor of its motor, or a payload: M is regular at generic coordinates, and the answer is right."""
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (3, mech.n))
    tau = mech.inverse_dynamics(q, qd, qdd)
    assert np.allclose(mech.forward_dynamics(q, qd, tau), qdd, rtol=0, atol=1e-11)


def test_a_floating_base_without_mass() -> None:
    for links, least in (([Link(name="arm", **BODY)], 1), ([Link(name="hull", joint="fixed", mass=1.0)], 0)):
        mech = Mechanism(links, floating=True)
        with pytest.raises(ModelError) as caught:
            mech.forward_dynamics(np.full(mech.nq, 0.3), np.zeros(mech.nv), np.zeros(mech.nv))
        said = str(caught.value)
        assert said.startswith("floating base: mass is "), said
        assert said.endswith(
            "expected a mass and moments of inertia about all axes, on a link that is fixed to the base or beyond its joints"
        )
        assert mech.n == least


def test_no_mass_at_all_has_no_centre() -> None:
    arm = robots.load("elbow")
    for method in ("center_of_mass", "center_of_mass_jacobian"):
        with pytest.raises(ModelError) as caught:
            getattr(arm, method)(np.zeros(6))
        assert unnamed(caught.value, "mechanism 'elbow': mass is 0.0; expected a mass on one link at least") == []
    with pytest.raises(ModelError):
        arm.momentum(np.zeros(6), np.ones(6), about="com")
    assert not arm.momentum(np.zeros(6), np.ones(6)).any()
    assert arm.kinetic_energy(np.zeros(6), np.ones(6)) == 0
    assert len(arm.base_parameters()) == 36, "what there would be to know does not depend on what is known"


def test_a_singular_position_is_no_lack_of_inertia() -> None:
    """A massless shoulder that turns a stretched forearm about its own axis: M is singular there, and only there."""
    mech = Mechanism([Link(name="a"), Link(name="b", axis=(1, 0, 0), mass=1.0, com=(0, 0, 0.3))])
    assert np.isfinite(mech.forward_dynamics([0.0, 0.7], [0.0, 0.0], [0.0, 0.0])).all()
    with np.errstate(all="ignore"):
        assert not np.isfinite(mech.forward_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 1.0])).all()


@pytest.mark.parametrize("seed", range(40))
def test_a_joint_that_moves_nothing_whatever_its_axis(seed: int) -> None:
    """The last link has a mass on its own oblique axis: what is left of its inertia is rounding, and no inertia."""
    rng = np.random.default_rng(seed)
    arm = [Link(before=random_pose(rng), axis=rng.normal(size=3), **random_body(rng)) for _ in range(4)]
    axis = rng.normal(size=3)
    on_axis = Link(before=random_pose(rng), axis=axis, name="idle", mass=2.0, com=rng.uniform(-1, 1) * axis)
    with pytest.raises(ModelError, match=r"joint 'idle': inertia is 0\.0"):
        direct(Mechanism([*arm, on_axis]), "forward_dynamics", np.zeros(5), np.zeros(5), np.zeros(5))


def test_a_small_wrist_on_a_heavy_gantry_is_no_lack_of_inertia() -> None:
    gantry = Link(joint="prismatic", axis=(1, 0, 0), mass=1e4)
    wrist = Link(axis=(0, 0, 1), mass=1e-3, inertia=(1e-9, 1e-9, 1e-9))
    qdd = direct(Mechanism([gantry, wrist]), "forward_dynamics", np.zeros(2), np.zeros(2), np.array([0.0, 1e-9]))
    assert qdd[1] == pytest.approx(1.0, rel=1e-9)
